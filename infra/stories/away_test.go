package stories

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/driver"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// What happens when Lambda, the queue or the state machine is away, or the sweeper saw the task long ago.

// TestNoRoomToRun: Lambda refuses to run an approved task's functions for longer than its state retries. Nothing is
// shown as failed and nobody has to act; the task continues once Lambda runs the function.
func TestNoRoomToRun(t *testing.T) {
	t.Parallel()
	tries := 28
	if !expect.Long() {
		tries = 8 // that there are 28 is held by a rule of the stack's
	}
	running.triesSoon(t, tries)
	for name, functions := range map[string][]string{
		"for the steps": {execute}, "for any function of its run": {execute, "ResumeTaskFunction", "GiveUpFunction"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(functions) == 1 {
				expect.AtNight(t)
			}
			running.variant(t, "request", func(p *play) {
				p.asks(month)
				p.approvesPolicy()
				p.Card(driver.ProcessCard, "approve_process")
				p.waitsAt(task.ProcessKey(1))
				p.throttles(functions...)
				p.approvesSteps()
				runs, run := 1, p.Load().Head.Run
				if expect.Long() {
					runs = 2
				}
				for n := 1; n <= runs; n++ {
					p.Eventually("the run has ended", func() bool { return p.failedRun(run) })
					if made := p.refusals(functions[0]) + p.refusals("ResumeTaskFunction"); made < (tries+1)*n {
						failf("%d tries, want %d and the first for each of %d runs", made, tries, n)
					}
					a := p.Load()
					if a.Head.Parked != nil || a.Head.Ended != nil || p.Shows(driver.ExecutionCard, "retry_execution", "❌") {
						failf("parked %+v, ended %+v", a.Head.Parked, a.Head.Ended)
					}
					p.sweep()
					run++
					if h := p.Load().Head; h.Run != run || h.Restarts != 0 || h.PausedUntil == nil {
						failf("while it pauses: %+v", h)
					}
					p.Eventually("the cards are drawn", func() bool { h := p.Load().Head; return h.ShownRev == h.Rev })
					if n == runs {
						p.throttles() // from here on Lambda runs it
					}
					p.passes(p.Ref, aggregate.HeadKey, "SET paused_until = :past", "attribute_exists(paused_until)", nil)
					p.sweep()
				}
				p.untilCompleted()
				if h := p.Load().Head; h.Run != run || h.Restarts != 0 {
					failf("ended by run %d after %d restarts", h.Run, h.Restarts)
				}
			})
		})
	}
}

// TestPeopleAreLookedUpAgainWhileARunWaits: the run leaves its gate, waits there again once people were looked up, and
// goes on with what they decide.
func TestPeopleAreLookedUpAgainWhileARunWaits(t *testing.T) {
	t.Parallel()
	running.variant(t, "request", func(p *play) {
		looksAgain := func(gate string) {
			p.waitsAt(gate)
			before := p.Load().Waits[0].Token
			_, err := p.Store.Decide(context.Background(), p.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
				return a.LookAgain(time.Now())
			})
			expect.NoError(p.t, err)
			p.Eventually("it waits anew", func() bool {
				a := p.Load()
				return !a.Head.LookAgain && len(a.Waits) == 1 && a.Waits[0].Token != before
			})
			p.waitsAt(gate)
		}
		p.asks(month)
		p.Card(driver.PromptCard, "approve_prompt")
		looksAgain(task.PromptKey(1))
		p.approvesPolicy()
		p.Card(driver.ProcessCard, "approve_process")
		looksAgain(task.ProcessKey(1))
		p.approvesSteps()
		p.untilCompleted()
	})
}

// failedRun reports whether a run of the task has failed.
func (p *play) failedRun(run int) bool {
	seen, err := sfn.NewFromConfig(p.AWS).DescribeExecution(context.Background(),
		&sfn.DescribeExecutionInput{ExecutionArn: p.RunARN("Pipeline", p.Ref.ID, run)})
	return err == nil && seen.Status == types.ExecutionStatusFailed
}

// triesSoon shortens the waits between tries to a second until the test ends, the state machine's take twelve minutes,
// and has it try so often again.
func (w *world) triesSoon(t *testing.T, tries int) {
	t.Helper()
	c, arn := sfn.NewFromConfig(w.AWS), aws.String(w.StateMachineARN("Pipeline"))
	was := expect.Value(c.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: arn}))(t)
	soon := regexp.MustCompile(`"MaxDelaySeconds": ?60`).ReplaceAllString(*was.Definition, `"MaxDelaySeconds": 1`)
	soon = regexp.MustCompile(`"MaxAttempts": ?28\b`).ReplaceAllString(soon, fmt.Sprintf(`"MaxAttempts": %d`, tries))
	expect.Must(t, soon != *was.Definition, "the machine has no longest wait")
	expect.Value(c.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: arn,
		Definition: &soon}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: arn, Definition: was.Definition})
		expect.NoError(t, err)
	})
}

// TestTheSweeperSawTheTaskLongAgo: the sweeper acts on an old read of the index or the task, which has finished since.
func TestTheSweeperSawTheTaskLongAgo(t *testing.T) {
	for i, at := range []point{
		{function: sweeper, kind: "DynamoDB.Query", ordinal: 1}, {function: sweeper, kind: "DynamoDB.UpdateItem", ordinal: 1},
	} {
		t.Run(at.moment(), func(t *testing.T) {
			if i > 0 {
				expect.AtNight(t)
			}
			running.variant(t, "request", func(p *play) {
				release := p.holds(at.moment())
				defer release()
				p.asks(month)
				p.Card(driver.PromptCard, "approve_prompt")
				p.waitsAt(task.PromptKey(1))
				var swept sync.WaitGroup
				defer swept.Wait()
				defer release()
				p.due()
				swept.Go(func() {
					_, err := p.Fire(context.Background(), sweeper)
					expect.That(t, err == nil, "%v", err)
				})
				p.Eventually("the sweeper is at it", func() bool { return p.met(at.function, at.kind) >= at.ordinal })
				p.approvesGates()
				p.Card(driver.ExecutionCard, "✅ 実行完了")
				release()
				swept.Wait()
				p.untilCompleted()
			})
		})
	}
}

// queueClockAndStateMachineFail has one task meet a queue that is down and holds bad messages, a click in
// the last moment, a run that somebody stops, and the loss of the state machine with all runs and tokens, as the
// emulator has it when it restarts: the rows are enough to continue.
func (w *world) queueClockAndStateMachineFail(t *testing.T) {
	queue := cardQueue{sqs.NewFromConfig(w.AWS), w.QueueURL("CardQueue")}
	p := w.variant(t, "request", func(p *play) {
		p.asks(month)
		queue.poison(p)
		const send = "AmazonSQS.SendMessage" // the relay returns the records to the stream until it can send
		p.refuses(send, http.StatusServiceUnavailable)
		p.Eventually("the relay tried twice", func() bool { return p.met("RelayChangesFunction", send) > 3 })
		p.refuses(send, 0)
		p.stopsAt(task.PromptKey(1))
		p.Card(driver.PromptCard, "approve_prompt")
		p.passes(p.Ref, task.PromptKey(1), "SET terms.decide_by = :past", "attribute_exists(PK)", nil) // the click counts
		p.approvesPolicy()
		p.sweep() // starts a run in the place of the stopped one
		p.Card(driver.ProcessCard, "approve_process")
		p.waitsAt(task.ProcessKey(1))
		p.losesTheMachine()
		p.approvesSteps()
		p.sweep()
		p.untilCompleted()
		p.Eventually("the queue is empty", queue.empty)
	})
	run := p.Load().Head.Run
	expect.Is(t, run, 2, "the run that ended it: that in the place of the stopped one, begun again")
}

// losesTheMachine makes the state machine anew.
func (p *play) losesTheMachine() {
	ctx, c, arn := context.Background(), sfn.NewFromConfig(p.AWS), aws.String(p.StateMachineARN("Pipeline"))
	m, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: arn})
	if err == nil {
		_, err = c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: arn})
	}
	if err == nil {
		_, err = c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: m.Name, Definition: m.Definition,
			RoleArn: m.RoleArn})
	}
	expect.NoError(p.t, err)
}

type cardQueue struct {
	*sqs.Client
	url string
}

// poison sends bad messages, which delay neither other tasks' cards nor their own task's other cards.
func (q cardQueue) poison(p *play) {
	nobody := `{"tenant":"` + p.Ref.Tenant + `","kind":"task","id":"` + aggregate.NewID() + `"}`
	for _, body := range []string{"no JSON", `{"tenant":1}`, nobody} {
		for _, group := range []string{p.Ref.ID, "another"} {
			expect.Value(q.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: &q.url,
				MessageBody: aws.String(body), MessageGroupId: &group,
				MessageDeduplicationId: aws.String(aggregate.NewID())}))(p.t)
		}
	}
}

func (q cardQueue) empty() bool {
	out, err := q.GetQueueAttributes(context.Background(),
		&sqs.GetQueueAttributesInput{QueueUrl: &q.url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		failf("read the queue: %w", err)
	}
	return out.Attributes["ApproximateNumberOfMessages"] == "0" &&
		out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
}
