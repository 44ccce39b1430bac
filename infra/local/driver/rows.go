package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func (r *Request) Load() *task.Aggregate {
	r.T.Helper()
	return expect.Value(r.Store.Load(context.Background(), r.Ref))(r.T)
}

// Until waits until the rows satisfy the condition and the cards show the newest revision. All tests of a stack share
// Slack's rate limit, and a card that only shows progress is skipped while the limit is exhausted. Until therefore runs
// the sweeper when a revision stays undrawn, and the condition must not ask for what the cards show.
func (r *Request) Until(what string, holds func(*task.Aggregate) bool) *task.Aggregate {
	r.T.Helper()
	var a *task.Aggregate
	late := time.Now().Add(defaultQuietTime)
	if r.wait(func() bool {
		a = r.Load()
		if !holds(a) || a.Head.ShownRev >= a.Head.Rev {
			late = time.Now().Add(defaultQuietTime)
			return holds(a)
		}
		if r.WhenQuiet == nil && time.Now().After(late) {
			r.T.Logf("the cards show revision %d of %d", a.Head.ShownRev, a.Head.Rev)
			r.Sweep()
			late = time.Now().Add(defaultQuietTime)
		}
		return false
	}) {
		return a
	}
	r.T.Fatalf("not within %s: %s\n%s", r.Timeout, what, r.Summary())
	return nil
}

// AuditRows returns the task's audit log, oldest first.
func (r *Request) AuditRows() []aggregate.AuditEntry {
	r.T.Helper()
	page := expect.Value(r.Store.Audit(context.Background(), r.Ref.Tenant, store.AuditFilter{Resource: r.Ref.ID}, "",
		100))(r.T)
	slices.Reverse(page.Items)
	return page.Items
}

// Audit returns the task's audit log, oldest first, as "action by actor".
func (r *Request) Audit() []string {
	r.T.Helper()
	var out []string
	for _, x := range r.AuditRows() {
		by := x.ActorID
		if x.ActorType == aggregate.ActorSystem {
			by = "system"
		}
		out = append(out, string(x.Action)+" by "+by)
	}
	return out
}

// Summary describes the rows briefly for the message of a failed test.
func (r *Request) Summary() string {
	a, err := r.Store.Load(context.Background(), r.Ref)
	if err != nil {
		return err.Error()
	}
	head, _ := json.Marshal(a.Head)
	out := []string{fmt.Sprintf("task %s next %s head %s", r.Ref.ID, a.Next(time.Now()).State, head)}
	for key, row := range a.Rows() {
		b, _ := json.Marshal(row)
		out = append(out, fmt.Sprintf("%s %.400s", key, b))
	}
	slices.Sort(out)
	for _, f := range r.S.Template.Functions {
		for _, line := range r.S.Lambda.Logs(f.ID) {
			if strings.Contains(line, r.Ref.ID) && (strings.Contains(line, `"ERROR"`) || strings.Contains(line, `"WARN"`)) {
				out = append(out, f.ID+": "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}

// Moment formats a time as rows store it.
func Moment(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// ChangeRow changes a row directly in the table, to simulate the passing of time or a crash. It returns false, and
// changes nothing, if the condition does not hold.
func (r *Request) ChangeRow(sk, update, condition string, texts map[string]string) bool {
	r.T.Helper()
	pk, _ := store.Kinds().Partition(r.Ref)
	values := map[string]types.AttributeValue{}
	for name, text := range texts {
		values[name] = &types.AttributeValueMemberS{Value: text}
	}
	_, err := dynamodb.NewFromConfig(r.S.AWS).UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &r.S.TableName, UpdateExpression: &update, ConditionExpression: &condition,
		ExpressionAttributeValues: values,
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
		},
	})
	var moved *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &moved) {
		r.T.Fatalf("change %s: %v", sk, err)
	}
	return err == nil
}

// SetRow changes a row that must exist. The value :v in the update is the time.
func (r *Request) SetRow(sk, update string, v time.Time) {
	r.T.Helper()
	expect.Must(r.T, r.ChangeRow(sk, update, "attribute_exists(PK)", map[string]string{":v": Moment(v)}),
		"there is no row %s", sk)
}

// Sweep makes the task due and runs the sweeper once.
func (r *Request) Sweep() {
	r.T.Helper()
	past := time.Now().Add(-time.Minute)
	r.SetRow(aggregate.HeadKey, "SET due_at = :v, GSI1SK = :v", past)
	expect.Value(r.S.Fire(context.Background(), "SweepTasksFunction"))(r.T)
}

func (r *Request) RunsEnd() {
	r.T.Helper()
	expect.Eventually(r.T, "every run has ended", func() bool { return len(r.runs(sfntypes.ExecutionStatusRunning)) == 0 })
}

func (r *Request) RanOnce() {
	r.T.Helper()
	if runs, want := r.runs(""), []string{r.Ref.ID + "-1"}; !slices.Equal(runs, want) {
		r.T.Errorf("runs %v, not %v", runs, want)
	}
}

// runs returns the names of the task's runs that have this status; "" means any.
func (r *Request) runs(status sfntypes.ExecutionStatus) (names []string) {
	r.T.Helper()
	out := expect.Value(sfn.NewFromConfig(r.S.AWS).ListExecutions(context.Background(),
		&sfn.ListExecutionsInput{StateMachineArn: new(r.S.StateMachineARN("Pipeline")), StatusFilter: status}))(r.T)
	for _, x := range out.Executions {
		if strings.HasPrefix(*x.Name, r.Ref.ID) {
			names = append(names, *x.Name)
		}
	}
	return names
}
