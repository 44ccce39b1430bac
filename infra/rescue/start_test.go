package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests; its sweeper runs only when told.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

// runbook returns this program's commands from the runbook, in order, with <…> replaced by values.
func runbook(t *testing.T, kind string, values map[string]string) [][]string {
	t.Helper()
	b := expect.Value(os.ReadFile("../runbook.md"))(t)
	var all [][]string
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./infra/rescue "+kind+" ")
		if !ok {
			continue
		}
		for name, value := range values {
			rest = strings.ReplaceAll(rest, "<"+name+">", value)
		}
		expect.Must(t, !strings.Contains(rest, "<"), "the runbook's command has a value that the test doesn't know: %s", rest)
		all = append(all, append([]string{kind}, strings.Fields(rest)...))
	}
	expect.Must(t, len(all) != 0, "the runbook has no command for %s", kind)
	return all
}

// rescue runs a command and returns its output.
func rescue(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), running.AWS, args, &out)
	expect.Must(t, err == nil, "rescue %s: %v\n%s", strings.Join(args, " "), err, &out)
	return out.String()
}

// request is one task of the running stack.
type request struct {
	*testing.T
	*driver.Request
}

// ask makes a task and waits until its policy asks for approval. The sweeper doesn't run meanwhile.
func ask(t *testing.T) *request {
	t.Helper()
	r := &request{t, driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")}
	r.WhenQuiet = func() {}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(r.Summary())
		}
	})
	r.pending(task.CardPrompt)
	return r
}

// pending waits until a gate of this kind asks, and its run waits for the answer.
func (r *request) pending(kind aggregate.CardType) {
	r.Helper()
	r.Until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind && slices.ContainsFunc(a.Waits, func(w aggregate.Wait) bool { return w.Gate == p.Key && w.Run == a.Head.Run })
	})
}

// asks waits until a gate of this kind asks, whether or not a run waits for it.
func (r *request) asks(kind aggregate.CardType) {
	r.Helper()
	r.Until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind
	})
}

// message returns the newest message that shows the card with this key.
func (r *request) message(key string) webapi.Message {
	r.Helper()
	cards := r.Cards(key)
	expect.Must(r, len(cards) != 0, "%s is no message", key)
	return cards[len(cards)-1]
}

func (r *request) shows(key string) string { return driver.Face(r.message(key)) }

// approve presses a button until the card no longer has it: if nothing was saved, a person presses again.
func (r *request) approve(key, action string) {
	r.Helper()
	press := func() { _ = running.Sandbox.Click(webapi.Suzuki, webapi.HR, r.message(key).TS, action) }
	driver.UntilTaken(r.T, action, press, func() bool { return !strings.Contains(r.shows(key), action) })
}

// spoil makes a card's message show something else, and removes its hash from the row, as after a lost update.
func (r *request) spoil(key string) {
	r.Helper()
	stale := "stale"
	expect.Value(running.Sandbox.Workspace().Update(webapi.HR, r.message(key).TS, webapi.Bot,
		webapi.Patch{Text: &stale, Attachments: []any{}}))(r)
	_, err := dynamodb.NewFromConfig(running.AWS).UpdateItem(r.Context(), &dynamodb.UpdateItemInput{
		TableName: &running.TableName, UpdateExpression: aws.String("REMOVE #hash"), ExpressionAttributeNames: map[string]string{"#hash": "hash"},
		Key: item{"PK": r.partition(), "SK": &types.AttributeValueMemberS{Value: key}},
	})
	expect.NoError(r, err)
}

func (r *request) partition() types.AttributeValue {
	return &types.AttributeValueMemberS{Value: "TASK#" + r.Ref.Tenant + "#" + r.Ref.ID}
}

// empty waits until a queue has no message, seen or unseen.
func (r *request) empty(id string) {
	r.Helper()
	url := running.QueueURL(id)
	r.Eventually(id+" is empty", func() bool {
		out, err := sqs.NewFromConfig(running.AWS).GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
		})
		return err == nil && out.Attributes["ApproximateNumberOfMessages"] == "0" && out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
	})
}
