package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/driver"
	"ringi/infra/local/admin"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/tasks"
)

// running is the one stack of this package's tests; its sweeper runs only when told.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if driver.LeftOut() {
			return 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		o := stack.Options{Model: "demo", ByHand: true, FunctionLog: io.Discard, Artifacts: os.Getenv("RINGI_ARTIFACTS")}
		admin.Configure(&o)
		s, err := stack.Start(ctx, o)
		if err != nil {
			log.Println("start the stack:", err)
			return 1
		}
		defer s.Close()
		running = s
		return m.Run()
	}())
}

// runbook reads the commands of this program from the runbook, in its order, and puts the stack's values in the place
// of <…>.
func runbook(t *testing.T, kind string, values map[string]string) [][]string {
	t.Helper()
	root := expect.Value(process.ModuleRoot())(t)
	b := expect.Value(os.ReadFile(filepath.Join(root, "infra/runbook.md")))(t)
	var all [][]string
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./infra/rescue "+kind+" ")
		if !ok {
			continue
		}
		for name, value := range values {
			rest = strings.ReplaceAll(rest, "<"+name+">", value)
		}
		if strings.Contains(rest, "<") {
			t.Fatalf("the runbook's command has a value that the test doesn't know: %s", rest)
		}
		all = append(all, append([]string{kind}, strings.Fields(rest)...))
	}
	if len(all) == 0 {
		t.Fatalf("the runbook has no command for %s", kind)
	}
	return all
}

// rescue runs a command and returns what it said.
func rescue(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), running.AWS, args, &out); err != nil {
		t.Fatalf("rescue %s: %v\n%s", strings.Join(args, " "), err, &out)
	}
	return out.String()
}

// request is one task of the running stack.
type request struct {
	*testing.T
	root  string
	ref   aggregate.Ref
	store *tasks.Store
}

// ask makes a task and waits until its policy asks for approval.
func ask(t *testing.T) *request {
	t.Helper()
	root := expect.Value(running.Sandbox.Say(workspace.Sato, workspace.HR, sandbox.Mention("今月の勤怠をまとめて")))(t)
	id := expect.Value(task.ID(running.Sandbox.TeamID(), workspace.HR, root))(t)
	r := &request{t, root, task.RefOf(aggregate.TenantID(running.Sandbox.TeamID()), id), tasks.New(dynamodb.NewFromConfig(running.AWS), running.TableName)}
	r.pending(task.CardPrompt)
	return r
}

// until waits for the rows to be so and for the cards to show it.
func (r *request) until(what string, holds func(*task.Aggregate) bool) *task.Aggregate {
	r.Helper()
	var a *task.Aggregate
	r.eventually(what, func() bool {
		var err error
		a, err = r.store.Load(r.Context(), r.ref)
		return err == nil && holds(a) && a.Head.ShownRev >= a.Head.Rev
	})
	return a
}

// pending waits until a gate of this kind asks, and its run waits for the answer.
func (r *request) pending(kind aggregate.CardType) {
	r.Helper()
	r.until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind && slices.ContainsFunc(a.Waits, func(w aggregate.Wait) bool { return w.Gate == p.Key && w.Run == a.Head.Run })
	})
}

// asks waits until a gate of this kind asks, whether or not a run waits for it.
func (r *request) asks(kind aggregate.CardType) {
	r.Helper()
	r.until(string(kind)+" asks", func(a *task.Aggregate) bool {
		p, ok := a.OpenGate()
		return ok && p.Kind == kind
	})
}

// minute is what a minute would bring: the task is due, and the sweeper passes.
func (r *request) minute() {
	r.Helper()
	r.eventually("the task is due", func() bool {
		h, err := r.store.Head(r.Context(), r.ref)
		now := time.Now()
		return err == nil && r.store.Postpone(r.Context(), r.ref, h.Head, &now) == nil
	})
	if _, err := running.Fire(r.Context(), "SweepTasksFunction"); err != nil {
		r.Fatal(err)
	}
}

func (r *request) eventually(what string, holds func() bool) {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			var lines []string
			for _, f := range running.Template.Functions {
				for _, line := range running.Lambda.Logs(f.ID) {
					if strings.Contains(line, `"ERROR"`) || strings.Contains(line, `"WARN"`) {
						lines = append(lines, f.ID+": "+line)
					}
				}
			}
			a, err := r.store.Load(r.Context(), r.ref)
			if err == nil {
				for key, row := range a.Rows() {
					b, _ := json.Marshal(row)
					lines = append(lines, fmt.Sprintf("%s %.300s", key, b))
				}
				lines = append(lines, fmt.Sprintf("%+v", a.Head))
			}
			r.Fatalf("never happened: %s\n%s", what, strings.Join(lines, "\n"))
		}
		tick := time.NewTimer(40 * time.Millisecond)
		<-tick.C
	}
}

// message is the newest message that shows the card with this key.
func (r *request) message(key string) workspace.Message {
	r.Helper()
	var found []workspace.Message
	for _, m := range running.Sandbox.Messages(workspace.HR, r.root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if payload["task"] == r.ref.ID && payload["card"] == key {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		r.Fatalf("%s is no message", key)
	}
	return found[len(found)-1]
}

func (r *request) shows(key string) string {
	b, err := json.Marshal(r.message(key).Attachments)
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// approve presses a button until the card has it no more: told that nothing was saved, a person presses again.
func (r *request) approve(key, action string) {
	r.Helper()
	press := func() { _ = running.Sandbox.Click(workspace.Suzuki, workspace.HR, r.message(key).TS, action) }
	driver.UntilTaken(r.T, action, press, func() bool { return !strings.Contains(r.shows(key), action) })
}

// spoil makes a card's message show something else, and its row forget what it showed, as after a lost update.
func (r *request) spoil(key string) {
	r.Helper()
	stale := "stale"
	if _, err := running.Sandbox.Workspace().Update(workspace.HR, r.message(key).TS, workspace.Bot, workspace.Patch{Text: &stale, Attachments: []any{}}); err != nil {
		r.Fatal(err)
	}
	_, err := dynamodb.NewFromConfig(running.AWS).UpdateItem(r.Context(), &dynamodb.UpdateItemInput{
		TableName: &running.TableName, UpdateExpression: aws.String("REMOVE #hash"), ExpressionAttributeNames: map[string]string{"#hash": "hash"},
		Key: item{"PK": r.partition(), "SK": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *request) partition() types.AttributeValue {
	return &types.AttributeValueMemberS{Value: "TASK#" + r.ref.Tenant + "#" + r.ref.ID}
}

// empty waits until a queue has no message, seen or unseen.
func (r *request) empty(id string) {
	r.Helper()
	url := running.QueueURL(id)
	r.eventually(id+" is empty", func() bool {
		out, err := sqs.NewFromConfig(running.AWS).GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
		})
		return err == nil && out.Attributes["ApproximateNumberOfMessages"] == "0" && out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
	})
}
