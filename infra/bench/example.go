package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/bench/capacity"
	"ringi/infra/bench/recorder"
	"ringi/infra/local/template"
	"ringi/shared/aggregate"
	"ringi/shared/lazy"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

const requester = "U0BENCH"

// example is a task that waits for its policy's stamp, as the store writes it;
// its rows are what tables are filled with.
type example struct {
	db        *dynamodb.Client
	described template.Table
	ref       aggregate.Ref
	rows      map[string]string // sort key, or AUDIT → DynamoDB's JSON
}

func newExample(ctx context.Context, db *dynamodb.Client, described template.Table) (*example, error) {
	x := &example{db: db, described: described, rows: map[string]string{}}
	if err := x.table(ctx, "example"); err != nil {
		return nil, err
	}
	now, s := time.Now(), store.New(db, "example")
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
		func(a *task.Aggregate) (task.Change, error) {
			return a.Extracted(1, task.Extract{Title: "勤怠の集計", Description: everyTool, Priority: task.Medium, TaskType: task.TypeStandard}, now)
		},
		func(a *task.Aggregate) (task.Change, error) { return a.BeginPrompt(1, now) },
		func(a *task.Aggregate) (task.Change, error) {
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
	c := recorder.Meter{Endpoint: aws.ToString(x.db.Options().BaseEndpoint), Client: &http.Client{}}
	items, err := c.Scan(ctx, "example")
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
	text := strings.ReplaceAll(x.rows[row], x.ref.Task, fmt.Sprintf("01BCH%021d", i))
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
	m := recorder.Meter{Endpoint: aws.ToString(x.db.Options().BaseEndpoint), Client: &http.Client{}}
	const most = 25 // that one call takes
	for i := 0; i < n; {
		var puts []string
		for ; i < n && len(puts) < most; i++ {
			puts = append(puts, `{"PutRequest":{"Item":`+x.clone(row, i)+`}}`)
		}
		if err := m.BatchWrite(ctx, table, puts); err != nil {
			return err
		}
	}
	return nil
}

func (x *example) table(ctx context.Context, name string) error {
	schema := func(k template.Key) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &k.Hash, KeyType: types.KeyTypeHash}, {AttributeName: &k.Range, KeyType: types.KeyTypeRange}}
	}
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: schema(x.described.Key)}
	for _, a := range x.described.Attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type)})
	}
	for _, i := range x.described.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(i.Name), KeySchema: schema(i.Key), Projection: &types.Projection{ProjectionType: types.ProjectionType(i.Projection)},
		})
	}
	if _, err := x.db.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("make table %s: %w", name, err)
	}
	return nil
}

func local(endpoint string) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

// counter is an HTTP client that adds up what DynamoDB would charge.
type counter struct {
	meter *recorder.Meter
	mu    sync.Mutex
	units capacity.Units
}

// Do makes a call.
func (c *counter) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var answer []byte
	var status int
	var failed error
	units, err := c.meter.Measure(r.Context(), operation, body, func() (int, []byte) {
		status, answer, failed = c.meter.Call(r.Context(), operation, body)
		return status, answer
	})
	if err := errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	c.mu.Lock()
	c.units = c.units.Plus(units)
	c.mu.Unlock()
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)), Request: r}, nil
}

// take returns the read units since the last take.
func (c *counter) take() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.units
	c.units = capacity.Units{}
	return u.Read
}
