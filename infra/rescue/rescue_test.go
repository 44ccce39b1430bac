package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric"
	"ringi/shared/store/sums"
)

const promptCard = "CARD#prompt#0001"

func TestDeadCardsAreDrawnAfterAReplay(t *testing.T) {
	r := ask(t)
	key := r.card(task.CardPrompt)
	r.spoil(key)
	dead := running.QueueURL("CardDeadLetters")
	for i := range 2 { // the same card may have died twice
		expect.Value(sqs.NewFromConfig(running.AWS).SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &dead, MessageGroupId: &r.ref.ID, MessageDeduplicationId: aws.String(fmt.Sprint(i)),
			MessageBody: aws.String(fmt.Sprintf(`{"tenant":%q,"task":%q}`, r.ref.Tenant, r.ref.ID)),
		}))(t)
	}
	for _, args := range runbook(t, "cards", map[string]string{"CardDeadLettersUrl": dead, "CardQueueUrl": running.QueueURL("CardQueue")}) {
		if said := rescue(t, args); !strings.Contains(said, "2 cards") {
			t.Errorf("said %q", said)
		}
	}
	r.eventually("the card is drawn", func() bool { return strings.Contains(r.shows(key), "approve_prompt") })
	r.empty("CardDeadLetters")
	r.empty("CardQueue")
}

func TestDeadChangesAreLookedAtAgain(t *testing.T) {
	r := ask(t)
	key := r.card(task.CardPrompt)
	r.spoil(key)
	dead := running.QueueURL("ChangeDeadLetters")
	r.giveUp(r.inStream())
	had := r.losesFacts()
	for _, args := range runbook(t, "changes", map[string]string{"ChangeDeadLettersUrl": dead, "TableName": running.TableName}) {
		said := rescue(t, args)
		for _, want := range []string{"task " + r.ref.ID + " is looked at again", "1 ranges"} {
			if strings.Count(said, want) != 1 {
				t.Errorf("want %q once in %q", want, said)
			}
		}
	}
	r.eventually("the card is drawn", func() bool { return strings.Contains(r.shows(key), "approve_prompt") })
	r.empty("ChangeDeadLetters")
	if has := r.facts(); len(had) == 0 || !slices.Equal(has, had) {
		t.Errorf("Insights know %v of the task, and knew %v", has, had)
	}
}

// trimmed is a stream that has forgotten what it is asked for.
type trimmed struct{ reader }

func (trimmed) GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return nil, &streams.TrimmedDataAccessException{}
}

func TestChangesOlderThanTheStreamAreSaidToBeGone(t *testing.T) {
	r := ask(t)
	r.giveUp(batch{ShardID: "shard", Start: "1", End: "2", StreamARN: "arn"})
	var out bytes.Buffer
	c := &changes{letters{sqs.NewFromConfig(running.AWS), running.QueueURL("ChangeDeadLetters")}, trimmed{}, r.store.Of.Store, sums.Of(r.store.Table(), r.store.Kinds()), &out}
	if err := c.replay(t.Context()); err != nil || !strings.Contains(out.String(), "these are gone") {
		t.Errorf("said %q, %v", &out, err)
	}
	r.empty("ChangeDeadLetters")
}

func TestALetterThatNobodyUnderstandsStays(t *testing.T) {
	dead := running.QueueURL("ChangeDeadLetters")
	client := sqs.NewFromConfig(running.AWS)
	expect.Value(client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &dead, MessageBody: aws.String("hello")}))(t)
	t.Cleanup(func() {
		if _, err := client.PurgeQueue(context.Background(), &sqs.PurgeQueueInput{QueueUrl: &dead}); err != nil {
			t.Error(err)
		}
	})
	var out bytes.Buffer
	err := run(t.Context(), running.AWS, []string{"changes", "-from", dead, "-table", running.TableName}, &out)
	if err == nil || !strings.Contains(err.Error(), "no DDBStreamBatchInfo") || !strings.Contains(out.String(), "0 ranges") {
		t.Errorf("said %q, %v", &out, err)
	}
}

func TestMissingRowsComeBack(t *testing.T) {
	r := ask(t)
	values := map[string]string{"RestoredTable": restore(t), "TableName": running.TableName, "tenant": r.ref.Tenant, "task": r.ref.ID}
	r.approve(r.card(task.CardPrompt), "approve_prompt") // is lost: it comes after the moment that is restored
	r.pending(task.CardProcess)
	before := len(r.items())
	r.drop()

	commands := runbook(t, "rows", values)
	said := rescue(t, commands[0])
	if !strings.HasSuffix(said, r.ref.ID+" HEAD\n9 rows are put back\nnothing was written: add -apply to do it\n") || len(r.items()) != 0 {
		t.Errorf("said %q, %d rows are there; want the head last and nothing written", said, len(r.items()))
	}
	rescue(t, commands[1])
	if n := len(r.items()); n == 0 || n >= before {
		t.Errorf("%d rows came back, %d were there later", n, before)
	}
	if said := rescue(t, commands[1]); !strings.HasPrefix(said, "0 rows") {
		t.Errorf("a second time said %q", said)
	}
	r.asks(task.CardPrompt)
	r.eventually("the card asks again", func() bool { return strings.Contains(r.shows(promptCard), "approve_prompt") })
	r.finish(1) // the lost process's card stays; nothing is behind it
}

func TestATaskIsSetBackUnlessItsStepsWereCalled(t *testing.T) {
	r := ask(t)
	values := map[string]string{"RestoredTable": restore(t), "TableName": running.TableName, "tenant": r.ref.Tenant, "task": r.ref.ID}
	r.approve(promptCard, "approve_prompt")
	r.pending(task.CardProcess)
	was := r.until("", func(*task.Aggregate) bool { return true })

	commands := runbook(t, "rows", values)
	if said := rescue(t, commands[2]); !strings.Contains(said, "set back PROMPT#0001") || !strings.Contains(said, "remove PROCESS#0001") || !strings.Contains(said, "nothing was written") {
		t.Errorf("said %q", said)
	}
	rescue(t, commands[3])
	r.asks(task.CardPrompt)
	now := r.until("", func(*task.Aggregate) bool { return true })
	if now.Head.Rev <= was.Head.Rev || now.Head.Run <= was.Head.Run || len(now.Processes) != 0 {
		t.Errorf("head was rev %d run %d, is rev %d run %d with %d processes; they must go forward", was.Head.Rev, was.Head.Run, now.Head.Rev, now.Head.Run, len(now.Processes))
	}
	if spent, before := now.Used(), was.Used(); spent.Calls < before.Calls || spent.Input < before.Input || len(was.Uses) < 3 {
		t.Errorf("%d rows came to %+v, now to %+v; what was spent stays spent", len(was.Uses), before, spent)
	}
	r.eventually("the card asks again", func() bool { return strings.Contains(r.shows(promptCard), "approve_prompt") })
	r.finish(0)

	var out bytes.Buffer
	if err := run(t.Context(), running.AWS, commands[3], &out); err == nil || !strings.Contains(err.Error(), "was called since") {
		t.Errorf("after its steps were called: %v", err)
	}
}

func TestWhatIsNoStateOfATaskIsNotSetBack(t *testing.T) {
	for _, sk := range []string{"WAIT#1", "CARD#prompt", "USAGE#01", "LEASE#EXECUTION#0001", "STEP#1", "PROMPT#0001", "GATE#PROMPT#0001"} {
		if kept := !strings.ContainsAny(sk[:1], "SPG"); bookkept(sk) != kept {
			t.Errorf("%s is kept: %v", sk, !kept)
		}
	}
}

// What alarms and the dashboard are made of comes from running functions.
func TestFunctionsCountWhatIsWatched(t *testing.T) {
	r := ask(t)
	r.approve(promptCard, "approve_prompt")
	r.pending(task.CardProcess)
	expect.Value(running.Fire(t.Context(), "SweepTasksFunction"))(t)
	for function, names := range map[string][]metric.Name{
		"UpdateCardFunction":         {metric.SlackCalled, metric.SlackFailed},
		"ReceiveInteractionFunction": {metric.SlackCalled, metric.SlackFailed, metric.DecisionSeconds},
		"SweepTasksFunction":         {metric.SweepRepaired, metric.SweepFailed},
	} {
		for _, name := range names {
			r.eventually(function+" counts "+string(name), func() bool {
				return slices.ContainsFunc(running.Lambda.Logs(function), func(line string) bool {
					var m map[string]any
					_ = json.Unmarshal([]byte(line), &m)
					_, there := m[string(name)].(float64)
					return there && m["_aws"] != nil && m["function"] != ""
				})
			})
		}
	}
}

func TestBadCommandsSayWhatIsWanted(t *testing.T) {
	tests := []struct {
		name string
		args string
		want string
	}{
		{"nothing", "", "say what to rescue"},
		{"something else", "people -from a -table b", "none of cards"},
		{"no source", "cards -to b", "-from is missing"},
		{"no queue", "cards -from a", "-to is missing"},
		{"no table", "rows -from a", "-table is missing"},
		{"the same queue", "cards -from a -to a", "another than"},
		{"the same table", "rows -from a -table a", "another than"},
		{"half a task", "rows -from a -table b -task x/y", "two ids of 26 characters"},
		{"no contest", "contest -table b", "<tenant>/<execution>"},
		{"a task as a contest", "contest -table b -contest 01ARZ3NDEKTSV4RRFFQ69G5FAV/01ARZ3NDEKTSV4RRFFQ69G5FAV", "a UUID"},
		{"no conversation", "session -table b -session 01ARZ3NDEKTSV4RRFFQ69G5FAV/x", "a UUID"},
		{"no tenant", "rounds -table b", "-tenant"},
		{"a stray word", "rows -from a -table b now", `unexpected argument "now"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(t.Context(), running.AWS, strings.Fields(tt.args), &out); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestSequenceNumbersAreLongerThanIntegers(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"99", "100", -1}, {"100000000000000000000000000002", "100000000000000000000000000001", 1}, {"007", "7", 0},
	} {
		if got := compare(tt.a, tt.b); got != tt.want {
			t.Errorf("compare(%s, %s) is %d", tt.a, tt.b, got)
		}
	}
}

// card is the key of the card that shows the pending gate.
func (r *request) card(kind aggregate.CardType) string {
	r.Helper()
	a := r.until("", func(*task.Aggregate) bool { return true })
	for _, c := range a.Cards {
		if c.CardType == kind {
			return c.Key()
		}
	}
	r.Fatalf("no card of %s", kind)
	return ""
}

// finish stamps what is left; the thread then has the request, four cards, and
// those that were left over.
func (r *request) finish(left int) {
	r.Helper()
	r.approve(promptCard, "approve_prompt")
	r.minute() // no run waits for this decision
	r.pending(task.CardProcess)
	r.approve(r.card(task.CardProcess), "approve_process")
	r.until("the work is done", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	if n := len(running.Sandbox.Messages(workspace.HR, r.root)); n != 5+left {
		r.Errorf("the thread has %d messages, want the request, four cards and %d left over", n, left)
	}
}
