package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
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
	Started time.Time   `json:"started"`
	Stopped *time.Time  `json:"stopped,omitempty"`
	Error   string      `json:"error,omitempty"` // the error's name without its message
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
	Input   string     `json:"input,omitempty"`   // ids, versions and outcomes, but no content
	Output  string     `json:"output,omitempty"`

	gate string // from the input
}

// ErrNoTask means that a task, or a part of it, does not exist.
var ErrNoTask = errors.New("no such task")

// Run returns the data of the run panel. It returns ErrNoTask for an empty id. For a task without runs, the data is
// empty.
func (s *Stack) Run(ctx context.Context, taskID string) (any, error) {
	return s.Task(ctx, taskID)
}

// Task is Run with its type.
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
	run = RunView{Name: aws.ToString(d.Name), Status: string(d.Status), Started: aws.ToTime(d.StartDate),
		Stopped: d.StopDate, Error: aws.ToString(d.Error), States: []StateView{}}
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
			StateView{Name: aws.ToString(d.Name), Entered: at, Input: payload(d.Input), gate: field(d.Input, "gate")})
		return
	}
	if len(r.States) == 0 {
		return
	}
	last := &r.States[len(r.States)-1]
	switch {
	case e.StateExitedEventDetails != nil:
		last.Exited, r.Waiting, last.Output = &at, nil, payload(e.StateExitedEventDetails.Output)
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

// maxPayload is how many characters of a state's input or output are shown.
const maxPayload = 4000

func payload(object *string) string { return short(aws.ToString(object), maxPayload) }

// field returns a text field of a state's input or output, or "".
func field(object *string, name string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(aws.ToString(object)), &fields) != nil {
		return ""
	}
	text, _ := fields[name].(string)
	return text
}
