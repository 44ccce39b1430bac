package faults

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
)

// end is a scenario's result without values that differ between runs.
type end struct {
	Rows  map[string]any
	Cards map[string]string // what each card shows
	Audit []string
	Sent  map[string]int // calls of write tools that were sent
	Extra []string       // unexpected messages in the thread
}

// Values that differ between runs.
var (
	timeForm  = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`)
	lastForm  = regexp.MustCompile(`\d+(\.\d+)?(分 ?\d+)?秒`) // how long the work took
	blockForm = regexp.MustCompile(`(?m)^b[0-9a-f]{4,}$`)   // Slack's own name of a block that has none
	stampForm = regexp.MustCompile(`\b\d{10}(\.\d{6})?\b`)
	// runOnly are attributes with counts, times or hashes of one run.
	runOnly = map[string]bool{
		"PK": true, "GSI1PK": true, "GSI1SK": true, "rev": true, "run": true, "restarts": true, "last_change": true, "newest": true, "shown_rev": true, "shown_redraws": true, "drawn": true, "redraws": true, "draw_at": true, "due_at": true, "entered": true,
		"settings_rev": true, "noted": true, "duration_ms": true, "waited_ms": true, "hash": true, "sweep_failures": true, "claimed_by": true,
		"crashes": true, "event_id": true, "s3_key": true, "ms": true,
		"asked": true, "revision": true, "route_hash": true, "acts_hash": true, "owed_rev": true,
	}
)

func (d *scenarioRun) normalizedText(s string) string {
	s = tookForm.ReplaceAllString(s, "TOOK")
	s = strings.ReplaceAll(s, d.mark, "MARK")
	s = strings.ReplaceAll(s, strings.ToLower(d.Ref.ID), "task")
	s = idForm.ReplaceAllString(s, "ID")
	s = timeForm.ReplaceAllString(s, "TIME")
	s = lastForm.ReplaceAllString(s, "DURATION")
	s = blockForm.ReplaceAllString(s, "BLOCK")
	return stampForm.ReplaceAllString(s, "STAMP")
}

func (d *scenarioRun) normalized(v any) any {
	switch v := v.(type) {
	case string:
		return d.normalizedText(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = d.normalized(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if !runOnly[name] {
				out[name] = d.normalized(e)
			}
		}
		return out
	}
	return v
}

// partition returns every row of an aggregate.
func (d *scenarioRun) partition(pk string) (rows []map[string]any, err error) {
	pages := dynamodb.NewQueryPaginator(d.db, &dynamodb.QueryInput{
		TableName: &d.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var row map[string]any
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// end collects the scenario's result.
func (d *scenarioRun) end() (end, error) {
	out := end{Rows: map[string]any{}, Cards: map[string]string{}, Sent: map[string]int{writeRows: d.made(execute, writeRows), direct: d.made(execute, direct)}}
	rows, err := d.partition("TASK#" + d.Ref.Tenant + "#" + d.Ref.ID)
	if err != nil {
		return out, err
	}
	for _, row := range rows {
		key := fmt.Sprint(row["SK"])
		if row["type"] == "wait" {
			continue // an answered token's row expires or was deleted; the scenario ended with no run that waits
		}
		if row["type"] == "usage" {
			if key = "USAGE of " + fmt.Sprint(row["made"]); row["made"] == nil {
				continue // repeating a model call after a crash costs again
			}
			if out.Rows[key] != nil {
				return out, fmt.Errorf("two usages made %s", row["made"])
			}
		}
		out.Rows[key] = d.normalized(row)
	}
	if err := driver.Try(context.Background(), func(driver.T) {
		for _, x := range d.AuditRows() {
			out.Audit = append(out.Audit, fmt.Sprintf("%s by %s %s", x.Action, x.ActorType, x.ActorID))
		}
	}); err != nil {
		return out, err
	}
	known := map[string]bool{d.Root: true}
	for key, messages := range d.AllCards() {
		if len(messages) != 1 {
			return out, fmt.Errorf("%s is %d messages", key, len(messages))
		}
		known[messages[0].TS] = true
		out.Cards[key] = d.normalizedText(messages[0].Text + "\n" + driver.Face(messages[0]))
	}
	for _, m := range d.Sandbox.Messages(webapi.HR, d.Root) {
		if !known[m.TS] {
			out.Extra = append(out.Extra, d.normalizedText(m.Text))
		}
	}
	return out, nil
}
