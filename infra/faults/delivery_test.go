package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
)

// TestDeliveriesTwiceLateAndOutOfOrder: events, stream records and queue messages arrive twice at once, late and
// shuffled; every scenario ends as it does undisturbed.
func TestDeliveriesTwiceLateAndOutOfOrder(t *testing.T) {
	b := running
	all := b.undisturbed(t)
	b.Sandbox.SetToggles(sandbox.Toggles{Twice: true})
	defer b.Sandbox.SetToggles(sandbox.Toggles{})
	end := b.delivery.disturb(seed)
	var trials []trial
	seen := map[string]bool{}
	for _, x := range all {
		if !seen[x.scenario.name] {
			seen[x.scenario.name] = true
			x.kills = nil
			trials = append(trials, x)
		}
	}
	survived(t, b, trials, len(trials))
	if n := end(); n < len(trials)*5 {
		t.Errorf("only %d deliveries were disturbed", n)
	} else {
		t.Logf("%d disturbed deliveries", n)
	}
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
			running.runHappy(t, func(d *scenarioRun) {
				release := d.holds(at.moment())
				defer release()
				d.Eventually("the gate is open", func() bool {
					return d.Shows("CARD#prompt#0001", "approve_prompt") && len(d.Load().Waits) == 1
				})
				var swept sync.WaitGroup
				defer swept.Wait()
				defer release()
				d.clock.due(d)
				swept.Go(func() {
					_, err := d.Fire(context.Background(), sweeper)
					expect.That(t, err == nil, "%v", err)
				})
				d.Eventually("the sweeper is at it", func() bool { return d.met(at.function, at.kind) >= at.ordinal })
				d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
				d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
				d.Eventually("the work is done", func() bool { return d.Shows("CARD#execution", "✅ 実行完了") })
				release()
				swept.Wait()
				d.untilCompleted()
			})
		})
	}
}

// TestQueueClockAndStateMachineFailOneTask has one task meet a queue that is down and holds bad messages, a click in
// the last moment, and the loss of the state machine.
func TestQueueClockAndStateMachineFailOneTask(t *testing.T) {
	queue := cardQueue{sqs.NewFromConfig(running.AWS), running.QueueURL("CardQueue")}
	running.runHappy(t, func(d *scenarioRun) {
		queue.poison(d)
		d.withoutQueue()
		d.clickedInTheLastMoment()
		d.loseTheMachine()
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.untilCompleted()
		d.Eventually("the queue is empty", queue.empty)
	})
}

// withoutQueue refuses messages to the card queue: the relay returns the records to the stream until it can send.
func (d *scenarioRun) withoutQueue() {
	const send = "AmazonSQS.SendMessage"
	d.refuses(send, http.StatusServiceUnavailable)
	d.Eventually("the relay tried twice", func() bool { return d.met("RelayChangesFunction", send) > 3 })
	d.refuses(send, 0)
}

type cardQueue struct {
	*sqs.Client
	url string
}

// poison sends bad messages, which delay neither other tasks' cards nor their own task's other cards.
func (q cardQueue) poison(d *scenarioRun) {
	nobody := `{"tenant":"` + d.Ref.Tenant + `","kind":"task","id":"` + aggregate.NewID() + `"}`
	for _, body := range []string{"no JSON", `{"tenant":1}`, nobody} {
		for _, group := range []string{d.Ref.ID, "another"} {
			_, err := q.SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: &q.url,
				MessageBody: aws.String(body), MessageGroupId: &group, MessageDeduplicationId: aws.String(aggregate.NewID())})
			if err != nil {
				failf("send: %w", err)
			}
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

// clickedInTheLastMoment approves the policy after decide_by, but before the sweeper runs: the click counts.
func (d *scenarioRun) clickedInTheLastMoment() {
	d.Eventually("the gate is open", func() bool { return d.Shows("CARD#prompt#0001", "approve_prompt") })
	d.clock.set(d, "PROMPT#0001", "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
}

// TestARunStoppedByHand: at each gate somebody stops the run; the approval starts another.
func TestARunStoppedByHand(t *testing.T) {
	t.Parallel()
	running.runHappy(t, func(d *scenarioRun) {
		d.stop("PROMPT#0001")
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stop("PROCESS#0001")
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.untilCompleted()
		if run := d.Load().Head.Run; run != 3 {
			failf("run %d ended it, not the third", run)
		}
	})
}

// stop stops the run that waits at a gate.
func (d *scenarioRun) stop(gate string) {
	d.Eventually("the run waits", func() bool {
		a, err := d.Store.Load(context.Background(), d.Ref) // at first the message is not stored yet
		return err == nil && len(a.Waits) == 1 && a.Waits[0].Gate == gate
	})
	arn := d.RunARN("Pipeline", d.Ref.ID, d.Load().Head.Run)
	if _, err := sfn.NewFromConfig(d.AWS).StopExecution(context.Background(),
		&sfn.StopExecutionInput{ExecutionArn: arn}); err != nil {
		failf("stop: %w", err)
	}
}

// loseTheMachine recreates the state machine between the gates, without its runs and tokens, as the emulator does when
// it restarts; the rows are enough to continue.
func (d *scenarioRun) loseTheMachine() {
	d.Eventually("the run waits", func() bool {
		return len(d.Load().Waits) == 1 && d.Shows("CARD#process#0001", "approve_process")
	})
	ctx, c := context.Background(), sfn.NewFromConfig(d.AWS)
	m, err := c.DescribeStateMachine(ctx,
		&sfn.DescribeStateMachineInput{StateMachineArn: aws.String(d.StateMachineARN("Pipeline"))})
	if err == nil {
		_, err = c.DeleteStateMachine(ctx,
			&sfn.DeleteStateMachineInput{StateMachineArn: aws.String(d.StateMachineARN("Pipeline"))})
	}
	if err == nil {
		_, err = c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: m.Name, Definition: m.Definition,
			RoleArn: m.RoleArn})
	}
	if err != nil {
		failf("make the state machine anew: %w", err)
	}
}

// delivery passes on invocations by streams, queues and schedules; while disturbed, it delivers some batches twice,
// late or shuffled.
type delivery struct {
	next lambda.Invoker
	lost func(record []byte) bool // records that never reach the relay

	mu     sync.Mutex
	random *rand.Rand // nil while undisturbed
	times  int        // disturbed deliveries
}

func (p *delivery) wrap(next lambda.Invoker) lambda.Invoker {
	p.next = next
	return p
}

// disturb starts random faults of deliveries by the seed. end stops them and returns how many deliveries were
// disturbed.
func (p *delivery) disturb(seed uint64) (end func() int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random, p.times = rand.New(rand.NewPCG(seed, 2)), 0
	return func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.random = nil
		return p.times
	}
}

// Invoke implements lambda.Invoker.
func (p *delivery) Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error) {
	payload, some := p.withoutLost(payload)
	if !some {
		return lambda.Result{Payload: []byte(`{"batchItemFailures":[]}`)}, nil
	}
	twice, late, mixed := p.draw(payload)
	if err := clock.Sleep(ctx, late); err != nil {
		return lambda.Result{}, err
	}
	if twice {
		var copies sync.WaitGroup
		defer copies.Wait()
		// The copy's answer is dropped: AWS too uses only one.
		copies.Go(func() { _, _ = p.next.Invoke(ctx, function, payload) })
	}
	return p.next.Invoke(ctx, function, mixed)
}

// draw decides at random what happens to a delivery.
func (p *delivery) draw(payload []byte) (twice bool, late time.Duration, mixed []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random == nil {
		return false, 0, payload
	}
	twice = p.random.IntN(2) == 0
	if p.random.IntN(3) == 0 {
		late = time.Duration(p.random.IntN(600)) * time.Millisecond
	}
	mixed = payload
	var batch struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(payload, &batch) == nil && len(batch.Records) > 1 {
		p.random.Shuffle(len(batch.Records), func(i, j int) {
			batch.Records[i], batch.Records[j] = batch.Records[j],
				batch.Records[i]
		})
		if b, err := json.Marshal(batch); err == nil {
			mixed = b
		}
	}
	if twice || late > 0 || len(batch.Records) > 1 {
		p.times++
	}
	return twice, late, mixed
}

// withoutLost removes lost records from a batch of the table's changes, and reports whether any are left; it returns
// other payloads unchanged.
func (p *delivery) withoutLost(payload []byte) (rest []byte, some bool) {
	var batch struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(payload, &batch) != nil {
		return payload, true
	}
	kept := slices.DeleteFunc(slices.Clone(batch.Records), func(r json.RawMessage) bool {
		return bytes.Contains(r, []byte(`"aws:dynamodb"`)) && p.lost(r)
	})
	if len(kept) == len(batch.Records) {
		return payload, true
	}
	batch.Records = kept
	rest, err := json.Marshal(batch)
	return rest, err == nil && len(kept) > 0
}
