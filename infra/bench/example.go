package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/recorder"
	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/tasks"
	"ringi/shared/words/lazy"
)

const requester = "U0BENCH"

// example is a task that waits for its policy's stamp, as the store writes it;
// its rows are what tables are filled with.
type example struct {
	db        *dynamodb.Client
	meter     *recorder.Meter
	described template.Table
	ref       aggregate.Ref
	rows      map[string]string // sort key, or AUDIT → DynamoDB's JSON
}

func newExample(ctx context.Context, endpoint string, described template.Table) (*example, error) {
	db := dynamodb.NewFromConfig(local(endpoint))
	x := &example{db: db, meter: &recorder.Meter{Endpoint: endpoint}, described: described, rows: map[string]string{}}
	if err := x.table(ctx, "example"); err != nil {
		return nil, err
	}
	now, s := time.Now(), tasks.New(db, "example")
	c, ref, err := task.Receive(aggregate.TenantID("T0BENCH"), task.Request{
		TeamID: "T0BENCH", Channel: "C0BENCH", ChannelType: "channel", MessageTS: "1770000000.000100", ThreadTS: "1770000000.000100", User: requester,
		Text: everyTool, Source: task.SourceChannel,
	}, now)
	if err != nil {
		return nil, err
	}
	if err := s.Create(ctx, c); err != nil {
		return nil, err
	}
	x.ref = ref
	for _, decide := range []task.Decision{
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(1, task.Extract{Title: "勤怠の集計", Description: everyTool, Priority: task.Medium, TaskType: task.TypeStandard}, now)
		},
		func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(1, now) },
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FinishPrompt(1, strings.Repeat("従業員ごとに残業時間を集計します。", 20), tenancy.DefaultSettings(), now)
		},
	} {
		if _, err := s.Decide(ctx, ref, decide); err != nil {
			return nil, err
		}
	}
	return x, x.read(ctx)
}

// read keeps the rows as DynamoDB's JSON.
func (x *example) read(ctx context.Context) error {
	items, err := x.meter.Scan(ctx, "example")
	if err != nil {
		return err
	}
	for _, it := range items {
		var pk, sk string
		if err := json.Unmarshal(it["PK"]["S"], &pk); err != nil {
			return err
		}
		if err := json.Unmarshal(it["SK"]["S"], &sk); err != nil {
			return err
		}
		if strings.HasPrefix(pk, "AUDIT#") {
			sk = "AUDIT"
		}
		text, err := json.Marshal(it)
		if err != nil {
			return err
		}
		x.rows[sk] = string(text)
	}
	return nil
}

var moments = lazy.Regexp(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)

// clone is the i-th copy of a row: of another task, and i milliseconds earlier.
func (x *example) clone(row string, i int) string {
	text := strings.ReplaceAll(x.rows[row], x.ref.ID, fmt.Sprintf("01BCH%021d", i))
	return moments().ReplaceAllStringFunc(text, func(at string) string {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return at
		}
		return t.Add(-time.Duration(i) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	})
}

// fill writes n copies of a row into a table of their own.
func (x *example) fill(ctx context.Context, table, row string, n int) error {
	if err := x.table(ctx, table); err != nil {
		return err
	}
	return x.add(ctx, table, row, n)
}

// add writes n copies of a row into a table.
func (x *example) add(ctx context.Context, table, row string, n int) error {
	const most = 25 // that one call takes
	for i := 0; i < n; {
		var puts []string
		for ; i < n && len(puts) < most; i++ {
			puts = append(puts, `{"PutRequest":{"Item":`+x.clone(row, i)+`}}`)
		}
		if err := x.meter.BatchWrite(ctx, table, puts); err != nil {
			return err
		}
	}
	return nil
}

func (x *example) table(ctx context.Context, name string) error {
	described := x.described
	described.Name, described.Stream = name, ""
	if _, err := x.db.CreateTable(ctx, described.Input()); err != nil {
		return fmt.Errorf("make table %s: %w", name, err)
	}
	return nil
}

func local(endpoint string) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}
