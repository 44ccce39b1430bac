package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// Click waits for a button of a card and presses it. Like a person, it presses again when a note says that nothing was
// saved, and stops when the button has gone: the press was saved after all.
func (r *Request) Click(user, key, action string) {
	r.T.Helper()
	card := r.Card(key, action)
	again := false
	for end := time.Now().Add(r.Timeout); time.Now().Before(end) && r.T.Context().Err() == nil; again = true {
		before := r.askedAgain(user)
		err := r.S.Sandbox.Click(user, r.Channel, card.TS, action)
		if err == nil && r.askedAgain(user) == before || again && errors.Is(err, sandbox.ErrNoButton) {
			return
		}
		if trouble := (sandbox.InteractionError{}); err != nil && !errors.As(err, &trouble) {
			r.T.Fatalf("%s on %s: %v", action, key, err)
		}
		r.T.Logf("%s on %s was not saved in time: %v", action, key, err)
	}
	r.T.Fatalf("%s on %s is never saved", action, key)
}

func (r *Request) ClickUntilTaken(user, key, action string) {
	r.T.Helper()
	r.Press(user, r.Card(key, action), action)
}

// FillUntilTaken presses a button that opens a form, and sends that with these values in its fields, until the card no
// longer shows the button. Other fields keep what they show.
func (r *Request) FillUntilTaken(user, key, action string, filled map[string]any) {
	r.T.Helper()
	r.Fill(user, r.Card(key, action), action, filled)
}

// askedAgain counts the notes that ask a person to try again.
func (r *Request) askedAgain(user string) (n int) {
	for _, note := range r.Notes(user) {
		if AsksAgain(note) {
			n++
		}
	}
	return n
}

// AsksAgain reports whether a text asks a person to try again. The text is in both languages if the settings could not
// be read.
func AsksAgain(text string) bool {
	for _, err := range []error{explain.ErrUnavailable, aggregate.ErrUnconfirmed, explain.ErrUnverified} {
		if strings.Contains(text, card.Note("ja", err)) || strings.Contains(text, card.Note("en", err)) {
			return true
		}
	}
	return false
}

// Reject presses 却下 and sends a reason, until it is taken.
func (r *Request) Reject(user, key, action, reason string) {
	r.T.Helper()
	r.FillUntilTaken(user, key, action, map[string]any{card.ReasonBlock: reason})
}

// Cancel chooses 「キャンセル・終了」 in a message's menu and confirms the dialog. It tries at most five times.
func (r *Request) Cancel(user, ts string) {
	r.T.Helper()
	err := r.TryCancel(user, ts)
	for tries := 0; tries < 4 && err != nil; tries++ {
		r.T.Logf("not cancelled in time: %v", err)
		err = r.TryCancel(user, ts)
	}
	expect.NoError(r.T, err)
}

// TryCancel is one attempt of Cancel. It returns an error if Slack or the app does not answer.
func (r *Request) TryCancel(user, ts string) error {
	if err := r.S.Sandbox.Shortcut(user, r.Channel, ts, "cancel_task"); err != nil {
		return err
	}
	views := r.S.Sandbox.Views(user)
	if len(views) == 0 {
		return errors.New("no dialog asks whether to cancel")
	}
	if _, err := r.S.Sandbox.Submit(user, views[0].ID, nil); err != nil {
		return err
	}
	if len(r.S.Sandbox.Views(user)) > 0 {
		return errors.New("the dialog stays open")
	}
	return nil
}

// Approve stamps the policy and the steps.
func (r *Request) Approve(user string) {
	r.T.Helper()
	r.Click(user, PromptCard, "approve_prompt")
	r.Click(user, ProcessCard, "approve_process")
}

// Notes returns the ephemeral messages that this person sees in the task's thread, or in its channel since it began,
// where the message of a form is.
func (r *Request) Notes(user string) []string {
	var out []string
	for _, m := range r.S.Sandbox.Ephemerals(user) {
		if m.ThreadTS == r.Root || m.TS == r.Root || m.ThreadTS == "" && m.Channel == r.Channel && m.TS > r.Root {
			out = append(out, m.Text)
		}
	}
	return out
}

// Told returns the notes that don't ask the person to try again. It merges consecutive equal notes, since a repeated
// press may repeat the note.
func (r *Request) Told(user string) []string {
	return slices.Compact(slices.DeleteFunc(r.Notes(user), AsksAgain))
}

// The keys of the cards for a task's first versions.
const (
	TaskCard      = "CARD#task"
	PromptCard    = "CARD#prompt#0001"
	ProcessCard   = "CARD#process#0001"
	ExecutionCard = "CARD#execution"
)

func (r *Request) Card(key, shows string) webapi.Message {
	r.T.Helper()
	var found webapi.Message
	var seen string
	if r.wait(func() bool {
		cards := r.Cards(key)
		if len(cards) > 1 {
			r.T.Fatalf("%s is %d messages", key, len(cards))
		}
		if len(cards) == 1 {
			found, seen = cards[0], Face(cards[0])
		}
		return len(cards) == 1 && strings.Contains(seen, shows)
	}) {
		return found
	}
	r.T.Fatalf("%s does not show %q but %s\nrows: %s", key, shows, seen, r.Summary())
	return found
}

func (r *Request) Shows(key string, texts ...string) bool {
	return slices.ContainsFunc(r.Cards(key), func(m webapi.Message) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(Face(m), t) })
	})
}

// Cards returns the messages whose metadata has this card key.
func (r *Request) Cards(key string) []webapi.Message { return r.AllCards()[key] }

// AllCards returns the thread's messages that have a card key, grouped by that key.
func (r *Request) AllCards() map[string][]webapi.Message {
	out := map[string][]webapi.Message{}
	for _, m := range r.S.Sandbox.Messages(r.Channel, r.Root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if name, _ := payload["card"].(string); name != "" && payload["task"] == r.Ref.ID {
			out[name] = append(out[name], m)
		}
	}
	return out
}

// Face returns all texts and values of a card, one per line.
func Face(m webapi.Message) string {
	b, err := json.Marshal(m.Attachments)
	if err != nil {
		return err.Error()
	}
	var v any
	_ = json.Unmarshal(b, &v)
	return strings.Join(texts(v), "\n")
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if _, text := e.(string); !text {
				out = append(out, texts(e)...)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, texts(v[name])...)
		}
	}
	return out
}

// Color returns the color of the bar next to a card as six hexadecimal digits, or "" if it has none.
func Color(m webapi.Message) string {
	if len(m.Attachments) == 0 {
		return ""
	}
	a, _ := m.Attachments[0].(map[string]any)
	color, _ := a["color"].(string)
	return color
}

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
		if !holds(a) || a.Head.Shown() {
			late = time.Now().Add(defaultQuietTime)
			return holds(a)
		}
		if r.WhenQuiet == nil && time.Now().After(late) {
			r.T.Logf("the cards show revision %d of %d", a.Head.ShownRev, a.Head.Rev)
			r.SetRow(aggregate.HeadKey, "SET due_at = :v, GSI1SK = :v", time.Now().Add(-time.Minute))
			expect.Value(r.S.Fire(context.Background(), "SweepTasksFunction"))(r.T)
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
	return audit(r.T, r.S, r.Ref)
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
	if err != nil && !errors.As(err, new(*types.ConditionalCheckFailedException)) {
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
	for _, x := range expect.Value(Executions(r.S, r.Ref.ID+"-", status))(r.T) {
		names = append(names, *x.Name)
	}
	return names
}

// Executions returns the runs of all state machines whose names begin so and that have this status, the oldest first;
// "" means any.
func Executions(s *stack.Stack, prefix string, status sfntypes.ExecutionStatus) (
	found []sfntypes.ExecutionListItem, err error) {
	for _, m := range s.Template.Machines {
		pages := sfn.NewListExecutionsPaginator(sfn.NewFromConfig(s.AWS),
			&sfn.ListExecutionsInput{StateMachineArn: &m.ARN, StatusFilter: status})
		for pages.HasMorePages() {
			page, err := pages.NextPage(context.Background())
			if err != nil {
				return nil, err
			}
			for _, x := range page.Executions {
				if strings.HasPrefix(*x.Name, prefix) {
					found = append(found, x)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b sfntypes.ExecutionListItem) int { return a.StartDate.Compare(*b.StartDate) })
	return found, nil
}
