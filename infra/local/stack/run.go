package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/store"
)

// TaskView shows one task: its runs and rows.
type TaskView struct {
	Task   string    `json:"task"`
	Tenant string    `json:"tenant,omitempty"` // "" before the first run
	Runs   []RunView `json:"executions"`       // oldest first
	Rows   []RowView `json:"rows"`             // in the order of writing
	Usage  UsageView `json:"usage"`
}

type RunView struct {
	Name    string      `json:"name"`
	Status  string      `json:"status"` // RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED
	Waiting *WaitView   `json:"waiting"`
	States  []StateView `json:"states"`
}

// WaitView names the gate at which a run waits.
type WaitView struct {
	Gate  string    `json:"gate"`
	Since time.Time `json:"since"`
}

// StateView is one execution of a state.
type StateView struct {
	Name    string     `json:"name"`
	Entered time.Time  `json:"entered"`
	Exited  *time.Time `json:"exited,omitempty"`
	Outcome string     `json:"outcome,omitempty"` // the state's outcome, or the name of its last error

	gate string // from the input
}

// ErrNoTask means that a task, or a part of it, does not exist.
var ErrNoTask = errors.New("no such task")

// Task returns the data of the run panel. It returns ErrNoTask for an empty id. For a task without runs, the data is
// empty.
func (s *Stack) Task(ctx context.Context, taskID string) (TaskView, error) {
	if taskID == "" {
		return TaskView{}, ErrNoTask
	}
	view := TaskView{Task: taskID, Runs: []RunView{}, Rows: []RowView{}}
	runs := sfn.NewFromConfig(config(s.moto.URL))
	names, err := s.runsOf(ctx, runs, taskID)
	if err != nil {
		return view, fmt.Errorf("list the runs of %s: %w", taskID, err)
	}
	kind := ""
	for _, arn := range names {
		run, in, err := readRun(ctx, runs, arn)
		if err != nil {
			return view, fmt.Errorf("read a run of %s: %w", taskID, err)
		}
		view.Tenant, kind, view.Runs = in.Tenant, in.Kind, append(view.Runs, run)
	}
	partition, known := store.Kinds().Partition(aggregate.Ref{Tenant: view.Tenant, Kind: kind, ID: taskID})
	if view.Tenant == "" || !known {
		return view, nil
	}
	if view.Rows, view.Usage, err = s.rows(ctx, partition); err != nil {
		return view, fmt.Errorf("read the rows of %s: %w", taskID, err)
	}
	return view, nil
}

// runsOf returns the ARNs of a task's executions of every state machine, oldest first. Executions are named
// <task>-<run>.
func (s *Stack) runsOf(ctx context.Context, c *sfn.Client, taskID string) ([]string, error) {
	var found []types.ExecutionListItem
	for _, m := range s.Template.Machines {
		pages := sfn.NewListExecutionsPaginator(c, &sfn.ListExecutionsInput{StateMachineArn: &m.ARN})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, e := range page.Executions {
				if strings.HasPrefix(aws.ToString(e.Name), taskID+"-") {
					found = append(found, e)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b types.ExecutionListItem) int {
		return aws.ToTime(a.StartDate).Compare(aws.ToTime(b.StartDate))
	})
	var arns []string
	for _, e := range found {
		arns = append(arns, aws.ToString(e.ExecutionArn))
	}
	return arns, nil
}

func readRun(ctx context.Context, c *sfn.Client, arn string) (run RunView, of aggregate.Ref, err error) {
	d, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		return run, of, err
	}
	var input pipeline.Input
	if err := json.Unmarshal([]byte(aws.ToString(d.Input)), &input); err != nil {
		return run, of, fmt.Errorf("input: %w", err)
	}
	run = RunView{Name: aws.ToString(d.Name), Status: string(d.Status), States: []StateView{}}
	pages := sfn.NewGetExecutionHistoryPaginator(c, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return run, of, err
		}
		for _, e := range page.Events {
			run.pass(e)
		}
	}
	if d.Status != types.ExecutionStatusRunning {
		run.Waiting = nil
	}
	return run, input.Ref(), nil
}

// pass adds one event of the history.
func (r *RunView) pass(e types.HistoryEvent) {
	at := aws.ToTime(e.Timestamp)
	if d := e.StateEnteredEventDetails; d != nil {
		r.States = append(r.States,
			StateView{Name: aws.ToString(d.Name), Entered: at, gate: field(d.Input, "gate")})
		return
	}
	if len(r.States) == 0 {
		return
	}
	last := &r.States[len(r.States)-1]
	switch {
	case e.StateExitedEventDetails != nil:
		last.Exited, r.Waiting = &at, nil
		if e.Type == types.HistoryEventTypeTaskStateExited && last.Outcome == "" {
			last.Outcome = field(e.StateExitedEventDetails.Output, "outcome")
		}
	case e.TaskSubmittedEventDetails != nil:
		if strings.HasSuffix(aws.ToString(e.TaskSubmittedEventDetails.Resource), ".waitForTaskToken") {
			r.Waiting = &WaitView{Gate: last.gate, Since: at}
		}
	case e.TaskFailedEventDetails != nil:
		last.Outcome, r.Waiting = aws.ToString(e.TaskFailedEventDetails.Error), nil
	case e.TaskTimedOutEventDetails != nil:
		last.Outcome, r.Waiting = aws.ToString(e.TaskTimedOutEventDetails.Error), nil
	case e.TaskSucceededEventDetails != nil:
		last.Outcome = ""
	}
}

// field returns a text field of a state's input or output, or "".
func field(object *string, name string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(aws.ToString(object)), &fields) != nil {
		return ""
	}
	text, _ := fields[name].(string)
	return text
}

// UsageView sums up a task's model calls.
type UsageView struct {
	Calls    int64 `json:"calls"`
	Input    int64 `json:"input_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Cost     int64 `json:"cost_micro_usd"` // of calls with a known price
	Unpriced int64 `json:"unpriced_calls,omitempty"`
}

// add adds a row of type usage.
func (u *UsageView) add(item map[string]dynamotypes.AttributeValue) error {
	var one UsageView
	if err := attributevalue.UnmarshalMapWithOptions(item, &one,
		func(o *attributevalue.DecoderOptions) { o.TagKey = "json" }); err != nil {
		return fmt.Errorf("read the usage %s: %w", plain(item["SK"]), err)
	}
	u.Calls, u.Input, u.Cached, u.Output = u.Calls+one.Calls, u.Input+one.Input, u.Cached+one.Cached, u.Output+one.Output
	u.Cost, u.Unpriced = u.Cost+one.Cost, u.Unpriced+one.Unpriced
	return nil
}

type RowView struct {
	Key     string `json:"key"` // SK
	Type    string `json:"type"`
	Rev     int64  `json:"rev"`
	At      string `json:"at,omitempty"` // its latest time in the past
	Summary string `json:"summary"`      // its attributes without keys and ids, truncated
}

// The lengths of a summary, in characters.
const (
	shortValue   = 40
	shortSummary = 160
)

// rows reads a partition in the order of writing, and sums up the usage of models.
func (s *Stack) rows(ctx context.Context, partition string) (rows []RowView, used UsageView, err error) {
	rows, now := []RowView{}, time.Now().UTC().Format("2006-01-02T15:04:05.999Z")
	of := map[string]dynamotypes.AttributeValue{":p": &dynamotypes.AttributeValueMemberS{Value: partition}}
	pages := dynamodb.NewQueryPaginator(dynamodb.NewFromConfig(config(s.moto.URL)), &dynamodb.QueryInput{
		TableName: &s.TableName, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :p"),
		ExpressionAttributeValues: of,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, used, err
		}
		for _, item := range page.Items {
			if plain(item["type"]) == "usage" {
				if err := used.add(item); err != nil {
					return nil, used, err
				}
			}
			rows = append(rows, viewRow(item, now))
		}
	}
	// Rows without a rev, such as a wait, change independently of the task. They come last.
	slices.SortStableFunc(rows, func(a, b RowView) int {
		return cmp.Or(cmp.Compare(uint64(a.Rev-1), uint64(b.Rev-1)), cmp.Compare(a.At, b.At))
	})
	return rows, used, nil
}

func viewRow(item map[string]dynamotypes.AttributeValue, now string) RowView {
	row := RowView{Key: plain(item["SK"]), Type: plain(item["type"])}
	row.Rev, _ = strconv.ParseInt(plain(item["rev"]), 10, 64)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		text := plain(item[name])
		if strings.HasSuffix(name, "_at") && text <= now && text > row.At {
			row.At = text
		}
		switch part := name + " " + short(text, shortValue); {
		case bookkeeping(name) || text == "":
		case name == "status":
			parts = slices.Insert(parts, 0, part)
		default:
			parts = append(parts, part)
		}
	}
	row.Summary = short(strings.Join(parts, " · "), shortSummary)
	return row
}

// bookkeeping reports whether an attribute is left out of a row's summary.
func bookkeeping(name string) bool {
	switch name {
	case "PK", "SK", "type", "rev", "schema_version", "id", "hash", "last_change", "token", "task_token":
		return true
	}
	return strings.HasPrefix(name, "GSI") || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_at")
}

// plain formats a value for people.
func plain(v dynamotypes.AttributeValue) string {
	var value any
	_ = attributevalue.Unmarshal(v, &value) // what can't be read is empty
	if text, ok := value.(string); ok || v == nil {
		return text
	}
	text, _ := json.Marshal(value) // of texts, numbers, lists and maps
	return strings.ReplaceAll(string(text), `"`, "")
}

// short puts a text on one line and truncates it.
func short(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit-1]) + "…"
}
