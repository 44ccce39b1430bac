// Package effect carries out the effects of committed rows: it starts and wakes runs, asks for cards to be drawn, and
// tells other aggregates. The relay calls it after a change, the sweeper when something is due. Both may act at once
// because carrying out an effect twice does no harm.
//
// A run is started under the name <id>-<run> with the same bytes each time. If Step Functions says that this name
// exists, the run has ended: it is asked how. After NoRoom the head pauses, and no restart counts, for nothing failed.
// Otherwise a commit adds one to run and restarts, on condition that the head still has the run that was tried.
//
// A run that waits has its token in a WAIT row. If its gate is decided, expired or cancelled, or the run isn't the
// head's any more, the token is answered with nothing; the run reads the rows. The row is then dropped, unless the
// head's run has work: only that run's next commit proves that it has left the gate. An invocation of an earlier state
// may commit late and proves nothing, so until then the token is sent again. A refused token says nothing about the run
// either.
//
// Cards are asked for by one message with the head's revision. A drawing counts as shown only what the head had before
// its message was sent, because a Query may return a head that is newer than its rows. Revisions that only show how far
// an execution has come are asked for once in three seconds, in a group of their own, so that what asks people and what
// is final waits behind none of them.
//
// What another aggregate must do is an effect too: an offered request's task, a draft's contest, the end of a task that
// its conversation is told. Each is noted on the one that asked, once, after the other has it.
package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/domain/aggregate"
)

// Store writes the effects' outcome: waits that are over, and runs that ended without finishing.
type Store interface {
	Create(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error
	DropWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error
	Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (
		aggregate.Aggregate, error)
}

// Runs starts and wakes runs of the state machine, and reports how they ended; *sfn.Client implements it.
type Runs interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (
		*sfn.DescribeExecutionOutput, error)
	SendTaskSuccess(context.Context, *sfn.SendTaskSuccessInput, ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error)
}

// Queue takes the messages for the card updater; *sqs.Client implements it.
type Queue interface {
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Runner carries out effects.
type Runner struct {
	Store    Store
	Runs     Runs
	Queue    Queue
	Machines map[string]string // ARN of the state machine by kind
	Kinds    aggregate.Kinds   // for the first rows of ordered aggregates
	QueueURL string
	Now      func() time.Time
}

// New makes a runner with real clients.
func New(cfg aws.Config, s Store, kinds aggregate.Kinds, machines map[string]string, queueURL string) Runner {
	return Runner{
		Store: s, Runs: sfn.NewFromConfig(cfg), Queue: sqs.NewFromConfig(cfg),
		Machines: machines, Kinds: kinds, QueueURL: queueURL, Now: time.Now,
	}
}

// ErrQueue is the only failure after which the relay returns a record to the stream.
var ErrQueue = errors.New("the card queue does not take messages")

// Run carries out a's effects but its cards: it wakes runs whose gates no longer wait. It also starts the run that
// should be open if start is true or a wake-up was refused; if that run has ended, the next one supersedes it. It
// returns how many effects it carried out. For the sweeper these are repairs: effects that the relay has missed.
func (r Runner) Run(ctx context.Context, a aggregate.Aggregate, e aggregate.Effects, start bool) (
	repairs int, err error) {
	var errs []error
	if e.Begin != nil {
		began, err := r.Store.Decide(ctx, a.Ref(), e.Begin)
		switch {
		case err == nil:
			repairs++
			a, e, start = began, began.Effects(r.Now()), true
		case errors.Is(err, aggregate.ErrNotDue), errors.Is(err, aggregate.ErrSuperseded): // another caller was faster
		default:
			errs = append(errs, fmt.Errorf("begin the next run: %w", err))
		}
	}
	open := false // the head's current run was woken
	for _, m := range e.Make {
		if err := r.make(ctx, a.Ref(), m); err != nil {
			errs = append(errs, err)
			continue
		}
		repairs++
	}
	for _, t := range e.Tell {
		told, err := r.tell(ctx, a.Ref(), t)
		if err != nil {
			errs = append(errs, err)
		}
		if told {
			repairs++
		}
	}
	for _, w := range e.Wake {
		refused, err := Wake(ctx, r.Runs, w.Token)
		if err == nil {
			if !refused {
				repairs++
			}
			current := w.Run == a.Root().Common().Run
			if current {
				start, open = start || refused, open || !refused
			}
			// If the run has work, its next commit proves that it has left the gate, and the row expires.
			if refused || !current || e.Run == nil {
				err = r.Store.DropWait(ctx, a.Ref(), w)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("wake run %d at %s: %w", w.Run, w.Gate, err))
		}
	}
	if e.Run != nil && start && !open {
		moved, err := r.start(ctx, a.Ref(), *e.Run)
		if err != nil {
			errs = append(errs, err)
		}
		if moved {
			repairs++
		}
	}
	return repairs, errors.Join(errs...)
}

// make creates an aggregate that another one needs, once, and records that in the other one.
func (r Runner) make(ctx context.Context, by aggregate.Ref, m aggregate.Making) error {
	if m.Order != "" {
		kind, known := r.Kinds.Named(m.Ref.Kind)
		if !known || kind.Begin == nil {
			return fmt.Errorf("make %s: this release makes none of that kind by an order", m.Ref)
		}
		begin, err := kind.Begin(m.Ref, m.Order, r.Now())
		if err != nil {
			return fmt.Errorf("begin %s: %w", m.Ref, err)
		}
		m.Begin = begin
	}
	if err := r.Store.Create(ctx, m.Ref, m.Begin); err != nil && !errors.Is(err, aggregate.ErrExists) {
		return fmt.Errorf("make %s: %w", m.Ref, err)
	}
	if _, err := r.Store.Decide(ctx, by, m.Made); err != nil && !errors.Is(err, aggregate.ErrNotDue) {
		return fmt.Errorf("note that %s is made: %w", m.Ref, err)
	}
	return nil
}

// tell commits a decision to another aggregate, and then records that in the one that asked for it. told is false if
// the decision was made before.
func (r Runner) tell(ctx context.Context, by aggregate.Ref, t aggregate.Telling) (told bool, err error) {
	switch _, err = r.Store.Decide(ctx, t.Ref, t.Decide); {
	case err == nil:
		told = true
	case t.Absent && errors.Is(err, aggregate.ErrNotFound):
	case !errors.Is(err, aggregate.ErrNotDue):
		return false, fmt.Errorf("tell %s: %w", t.Ref, err)
	}
	if t.Told == nil {
		return told, nil
	}
	if _, err := r.Store.Decide(ctx, by, t.Told); err != nil && !errors.Is(err, aggregate.ErrNotDue) {
		return told, fmt.Errorf("note that %s is told: %w", t.Ref, err)
	}
	return told, nil
}

// fresh is the largest age of a run that counts as just opened, with room for clock differences. The sweeper comes a
// minute after the relay should have opened a run.
const fresh = 20 * time.Second

// start opens the run, or supersedes it when it has ended. It reports whether it did either: StartExecution for an open
// run succeeds and returns that run.
func (r Runner) start(ctx context.Context, ref aggregate.Ref, run aggregate.Run) (moved bool, err error) {
	out, err := r.Runs.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(r.Machines[ref.Kind]), Name: &run.Name, Input: &run.Input,
	})
	switch {
	case err == nil:
		return out.StartDate != nil && r.Now().Sub(*out.StartDate) < fresh, nil
	case !errors.As(err, new(*sfntypes.ExecutionAlreadyExists)):
		return false, fmt.Errorf("start run %s: %w", run.Name, err)
	}
	next, err := r.next(ctx, ref, run)
	if err != nil {
		return false, err
	}
	_, err = r.Store.Decide(ctx, ref, next)
	switch {
	case errors.Is(err, aggregate.ErrSuperseded), errors.Is(err, aggregate.ErrInFlight):
		return false, nil // another caller was faster, or a call is in progress and the task is due when its lease ends
	case err != nil:
		return false, fmt.Errorf("restart run %s: %w", run.Name, err)
	}
	return true, nil
}

// next returns the decision that supersedes an ended run. A run that ended for lack of capacity is paused, which does
// not count as a restart.
func (r Runner) next(ctx context.Context, ref aggregate.Ref, run aggregate.Run) (
	aggregate.Decision[aggregate.Aggregate], error) {
	arn := strings.Replace(r.Machines[ref.Kind], ":stateMachine:", ":execution:", 1) + ":" + run.Name
	ended, err := r.Runs.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		return nil, fmt.Errorf("ask how run %s ended: %w", run.Name, err)
	}
	if aws.ToString(ended.Error) != aggregate.EndedNoRoom {
		return func(a aggregate.Aggregate) (aggregate.Change, error) { return a.RestartRun(run.Run, r.Now()) }, nil
	}
	until := RoomAt(aws.ToTime(ended.StopDate))
	return func(a aggregate.Aggregate) (aggregate.Change, error) { return a.PauseRun(run.Run, until, r.Now()) }, nil
}

// noRoomFor is the least pause of a run whose functions could not be invoked even after its state's retries.
const noRoomFor = 5 * time.Minute

// RoomAt returns when a run that ended for lack of capacity may continue. It adds up to a quarter of the pause at
// random, so that such runs don't all return together.
func RoomAt(ended time.Time) time.Time { return ended.Add(noRoomFor + rand.N(noRoomFor/4+1)) }

// Wake answers a task token with {}: a woken run reads its rows, so the answer carries nothing. refused means only that
// no run waits with this token.
func Wake(ctx context.Context, runs Runs, token string) (refused bool, err error) {
	_, err = runs.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String("{}")})
	if errors.As(err, new(*sfntypes.TaskDoesNotExist)) || errors.As(err, new(*sfntypes.TaskTimedOut)) ||
		errors.As(err, new(*sfntypes.InvalidToken)) {
		return true, nil
	}
	return false, err
}

// Redraw asks the card updater to compare an aggregate's cards with its rows, which are those of the given head or
// newer. SQS drops messages with a repeated deduplication id.
func (r Runner) Redraw(ctx context.Context, ref aggregate.Ref, h aggregate.Head, deduplication string) error {
	return r.ask(ctx, ref, h, time.Time{}, ref.ID, deduplication)
}

// ask sends a message about an aggregate's cards to a group of the queue. It isn't handled before the time after.
func (r Runner) ask(
	ctx context.Context, ref aggregate.Ref, h aggregate.Head, after time.Time, group, deduplication string,
) error {
	asks := Message{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Rev: h.Rev, Redraws: h.Redraws}
	if !after.IsZero() {
		asks.After = after.Unix()
	}
	if _, err := r.Queue.SendMessage(ctx, asks.to(r.QueueURL, group, deduplication)); err != nil {
		return fmt.Errorf("%w: %w", ErrQueue, err)
	}
	return nil
}

// ProgressEvery is how often cards that only show progress are drawn.
const ProgressEvery = 3 * time.Second

// RedrawLater is Redraw for progress, at the end of the current interval. Messages for the same end are deduplicated.
func (r Runner) RedrawLater(ctx context.Context, ref aggregate.Ref, h aggregate.Head) (at time.Time, err error) {
	at = r.Now().Truncate(ProgressEvery).Add(ProgressEvery)
	return at, r.ask(ctx, ref, h, at, ref.ID+progress, fmt.Sprintf("%s%s-%d", ref.ID, progress, at.Unix()))
}

// SQS gives the messages of a group to one invocation at a time, in their order. A group is an aggregate, so that
// nothing waits behind another one. Messages that only ask for progress wait for their time in a group beside: what
// asks for a decision doesn't wait behind them.
const progress = "-progress"

// Message is a message of the card queue. It names an aggregate whose cards are to be drawn, or a Home tab.
type Message struct {
	Tenant string `json:"tenant"`
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Team   string `json:"team,omitempty"`  // Slack's id of the workspace, of a Home tab
	After  int64  `json:"after,omitempty"` // it must not be handled before, in Unix seconds; 0: at once
	// Rev and Redraws are the head's, as they were before the message was sent.
	Rev     int `json:"rev,omitempty"`
	Redraws int `json:"redraws,omitempty"`
}

// to returns the message for the card queue in a group.
func (m Message) to(queueURL, group, deduplication string) *sqs.SendMessageInput {
	body, _ := json.Marshal(m) // strings and numbers can always be encoded
	return &sqs.SendMessageInput{
		QueueUrl: &queueURL, MessageBody: aws.String(string(body)), MessageGroupId: &group,
		MessageDeduplicationId: &deduplication,
	}
}

// Ref returns the aggregate whose cards are to be drawn; of a Home tab, its person as the id.
func (m Message) Ref() aggregate.Ref { return aggregate.Ref{Tenant: m.Tenant, Kind: m.Kind, ID: m.ID} }

// home is the kind of messages that ask for one person's Home tab, whose id is the person's.
const home = "home"

// OpenedHome returns a message that asks for the Home tab that a person has opened.
func OpenedHome(queueURL, team, user, event string) *sqs.SendMessageInput {
	asks := Message{Tenant: aggregate.TenantID(team), Kind: home, ID: user, Team: team}
	return asks.to(queueURL, asks.Tenant+"-"+user, event)
}

// Tab reports whether the message asks for a Home tab, and not for cards.
func (m Message) Tab() bool { return m.Kind == home }

// ReadMessage reads a message of the card queue. Its error says that the message names no aggregate.
func ReadMessage(body string) (m Message, err error) {
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, fmt.Errorf("read a message of the card queue: %w", err)
	}
	if !aggregate.ValidID(m.Tenant) || m.ID == "" {
		return m, errors.New("the message names no aggregate")
	}
	return m, nil
}
