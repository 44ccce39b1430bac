// Package stories plays what people do with Ringi on the running system, in five modes: undisturbed; with a death at a
// call; with everything delivered twice and late; with calls of AWS and Slack failing; and with the index behind. What
// is there in the end is compared with the undisturbed one.
package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// seed is of all that is drawn at random.
var seed = expect.Seed()

// atOnce is how many disturbed plays there are side by side.
const atOnce = 12

// running is the stack of a workspace without settings of its own. On changing, settings change.
var running, changing = newWorld(), newWorld()

func TestMain(m *testing.M) {
	flag.Parse()
	// What waits longest of all settings has a place at once, not after other tests.
	if err := flag.Set("test.parallel", strconv.Itoa(2*atOnce)); err != nil {
		log.Fatal(err)
	}
	code := driver.Run(m, running.options(), func(s *stack.Stack) {
		running.of(s)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		second, err := driver.Start(ctx, changing.options())
		if err != nil {
			running.Close()
			log.Fatal(err)
		}
		changing.of(second)
	})
	if changing.Stack != nil {
		changing.Close()
	}
	log.Printf("%d disturbances, %d not met, %d deaths; seed %d", tried.Load(), unmet.Load(), made.Load(), seed)
	if !few(unmet.Load(), tried.Load()) { // of one story it may be chance
		log.Print("too few disturbances were met: nothing is proved")
		code = max(code, 1)
	}
	os.Exit(code)
}

// world is a running stack on which stories are played side by side. There are two, because stories need settings, and
// each emulator of AWS has one core at most.
type world struct {
	*stack.Stack
	*injector
	db       *dynamodb.Client
	printed  *printed
	marks    atomic.Int64
	dialogs  sync.Mutex // a person has one dialog open at a time
	sweeping sync.Mutex
	swept    time.Time // when the newest sweep began
	behind   *lag      // the index of plays that see it behind
	tokens   sync.Map  // task tokens of runs that waited
	firsts   sync.Map  // the undisturbed plays of stories, by name
}

func newWorld() *world { return &world{injector: newInjector(), printed: &printed{}} }

func (w *world) options() stack.Options {
	o := driver.Options()
	o.Faults, o.Between, o.FunctionLog = w.injector, w.between, w.printed
	o.SigningSecret, o.BotToken, o.ModelKeys = signingSecret, botToken, map[string]any{"planted": modelKey}
	o.PrepareTeam = func(ctx context.Context, s *stack.Stack, team string) error {
		return errors.Join(driver.Connect(ctx, s, team), driver.LetRead(ctx, s, aggregate.TenantID(team)))
	}
	o.Sandbox.AnswerTime = 10 * time.Second // longer than Slack's three, because the machine may be busy
	return o
}

func (w *world) of(s *stack.Stack) { w.Stack, w.db = s, dynamodb.NewFromConfig(s.AWS) }

// printed is everything that functions print.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (w *world) tenant() string { return aggregate.TenantID(w.Sandbox.TeamID()) }

func (w *world) rows() *store.Store { return store.OpenAll(w.AWS, boot.Table{TableName: w.TableName}) }

// partition returns every row of an aggregate.
func (w *world) partition(ref aggregate.Ref) (rows []map[string]any, err error) {
	pk, _ := store.Kinds().Partition(ref)
	pages := dynamodb.NewQueryPaginator(w.db, &dynamodb.QueryInput{TableName: &w.TableName,
		ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var row map[string]any
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// play is one performance of a story: what people do, and the task, conversation or call that it is about.
type play struct {
	*world
	*trace
	*driver.Request
	story story
	t     driver.T
	mark  string
	also  []aggregate.Ref // whose rows belong to its end, too
	asked int             // how often a person tried again what had failed, or of which nobody knew the outcome
	again func()          // does what people are asked for after that; may be nil
	door  *door

	overdue bool // a lease was ended
}

// failf ends a play; plays returns the reason.
func failf(format string, args ...any) { driver.Failf(format, args...) }

// plays plays a story to its end.
func (w *world) plays(s story, more ...func(*trace)) (*play, error) {
	p := &play{world: w, trace: newTrace(), story: s, mark: fmt.Sprintf("C0FAULT%05d", w.marks.Add(1))}
	for _, of := range more {
		of(p.trace)
	}
	p.unattended = p.unattended || s.unattended
	p.dying = p.leasesEnd
	w.expect(p.mark, p.trace)
	err := driver.Try(context.Background(), func(t driver.T) {
		p.t = t
		s.act(p)
		p.sweep()
		p.untilAtRest()
	})
	if err != nil && p.Request != nil {
		rows, _ := w.partition(p.Ref)
		text, _ := json.Marshal(rows)
		err = fmt.Errorf("%w\n%s %s died: %v, %s%.6000s", err, p.mark, p.Ref, p.dead(), p.timeline(), text)
	}
	return p, err
}

// follows has the play be about an aggregate in a thread.
func (p *play) follows(ref aggregate.Ref, channel, root string) {
	p.belongs(ref.ID, p.mark)
	p.Request = &driver.Request{Thread: driver.In(p.t, p.Stack, channel, root), Ref: ref,
		Store: store.NewTasks(p.db, p.TableName)}
	p.Timeout, p.Poll, p.QuietTime, p.WhenQuiet = patience, 300*time.Millisecond, p.quietTime, p.sweep
	if p.unattended {
		p.Pressed = p.sweep
	}
}

// patience bounds one wait on a busy machine.
const patience = 100 * time.Second

// quietTime is how long nothing may change before a sweep: short where something was disturbed.
func (p *play) quietTime() time.Duration {
	if len(p.dead()) > 0 || p.lag != nil || p.late != nil || p.failing != nil {
		return 3 * time.Second
	}
	return 8 * time.Second
}

// says has a person say something to Ringi, and Slack deliver it twice where all is.
func (p *play) says(user, channel, thread, text string, files ...webapi.File) (ts string) {
	p.delivers(func() {
		ts = expect.Value(p.Sandbox.Attach(user, channel, thread, sandbox.Mention(text), files...))(p.t)
	})
	return ts
}

// delivers has Slack deliver what people do twice where all is.
func (p *play) delivers(does func()) {
	if p.late == nil {
		does()
		return
	}
	p.dialogs.Lock()
	defer p.dialogs.Unlock()
	p.Sandbox.SetToggles(sandbox.Toggles{Twice: true})
	defer p.Sandbox.SetToggles(sandbox.Toggles{})
	does()
}

// asks has Sato ask for something in #人事.
func (p *play) asks(text string) {
	ts := p.says(webapi.Sato, webapi.HR, "", "demo: mark "+p.mark+" "+text)
	p.follows(task.RefOf(p.tenant(), expect.Value(task.ID(p.Sandbox.TeamID(), webapi.HR, ts))(p.t)), webapi.HR, ts)
}

// untilAtRest waits until all is done, said and shown.
func (p *play) untilAtRest() { p.Eventually("all is done and shown", p.rests) }

func (p *play) rests() bool {
	switch p.Ref.Kind {
	case conversation.Kind.Name:
		a := p.talk()
		return a != nil && len(a.Inbox) == 0 && a.Head.Resting && a.Head.Shown() && !p.runs()
	case call.Kind.Name:
		a := p.called()
		return a != nil && a.Head.Shown() && !p.runs()
	}
	a := p.Load()
	running := slices.ContainsFunc(a.Steps, func(s *task.StepResult) bool { return s.Status == task.StepRunning })
	return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev && len(a.Waits) == 0 && !running && told(a)
}

// shown reports whether all that happened is shown.
func (p *play) shown() bool { return p.Load().Head.Shown() }

// runs reports whether the aggregate has a run.
func (p *play) runs() bool {
	found, err := driver.Executions(p.Stack, p.Ref.ID+"-", sfntypes.ExecutionStatusRunning)
	return err != nil || len(found) > 0
}

// told reports whether the requester of an ended task was told, and everybody else who has a copy of a card: a question
// that was over before its message was sent is sent to nobody.
func told(a *task.Aggregate) bool {
	concerns := a.Task != nil && a.Head.Ended.By != a.Head.Requester && !a.Direct() &&
		!card.ToldRequester(a)
	if concerns && !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool {
		return c.CardType == task.CardOutcome && c.Subject == card.Outcome(a)
	}) {
		return false
	}
	return !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool {
		asks := strings.HasPrefix(c.Subject, card.ParkedCopy) ||
			c.CardType != task.CardOutcome && c.CardType != aggregate.CardDecided
		return c.State != aggregate.CardPosted && c.State != aggregate.CardUnreachable &&
			!(asks && c.State == aggregate.CardNone)
	})
}

// passes makes time pass for a row, behind the system's back, if the condition still holds: :past is a time at which
// everything was due.
func (p *play) passes(ref aggregate.Ref, sk, update, condition string, more map[string]string) bool {
	of := driver.Request{Thread: driver.In(p.t, p.Stack, "", ""), Ref: ref}
	texts := map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))}
	maps.Copy(texts, more)
	return of.ChangeRow(sk, update, condition, texts)
}

// leasesEnd ends what a killed process holds: the leases of what it carries out, or its claims on cards.
func (p *play) leasesEnd(c lambda.Call) {
	if p.Request != nil && (slices.Contains(carriers, c.Function) || c.Function == drawer) {
		p.expire(c.Function != drawer)
	}
}

// carriers are the functions that hold leases.
var carriers = []string{execute, "RunActionFunction", "CallToolFunction", "AnswerMessageFunction",
	"FetchSourceFunction"}

// expire ends the leases of all rows, or the claims on cards.
func (p *play) expire(leases bool) {
	for _, ref := range append([]aggregate.Ref{p.Ref}, p.also...) {
		rows, err := p.partition(ref)
		if err != nil {
			failf("%w", err)
		}
		for _, row := range rows {
			sk := fmt.Sprint(row["SK"])
			claim, _ := row["claim"].(map[string]any)
			if by, _ := claim["invocation"].(string); by != "" && leases {
				p.overdue = p.passes(ref, sk, "SET claim.lease_until = :past", "claim.invocation = :by",
					map[string]string{":by": by}) || p.overdue
			}
			if by, _ := row["claimed_by"].(string); by != "" && row["state"] == string(aggregate.CardPosting) && !leases {
				p.passes(ref, sk, "SET claimed_at = :past", "claimed_by = :by", map[string]string{":by": by})
			}
		}
	}
}

// due makes all due that ever is.
func (p *play) due() {
	for _, ref := range append([]aggregate.Ref{p.Ref}, p.also...) {
		p.passes(ref, aggregate.HeadKey, "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)", nil)
	}
}

// sweep runs the sweeper, once all is due. Plays share a run, unless its calls are to belong to one of them.
func (p *play) sweep() {
	if rows, err := p.partition(p.Ref); err != nil || len(rows) == 0 {
		return
	}
	p.due()
	if p.failing != nil { // so is the lease of a process whose every try failed
		p.expire(true)
	}
	asked := time.Now()
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	event := map[string]any{"source": "aws.events", "detail": map[string]string{}}
	switch {
	case p.unattended || p.lag != nil || p.late != nil:
		event["detail"] = map[string]string{"play": p.mark}
	case p.swept.After(asked):
		return
	default:
		p.swept = time.Now()
	}
	body := expect.Value(json.Marshal(event))(p.t)
	if _, err := p.between(p.Lambda).Invoke(context.Background(), sweeper, body); err != nil {
		failf("sweep: %w", err)
	}
}

// reject presses a 却下 button and sends the reason.
func (p *play) reject(user, key, action, reason string) {
	p.fills(user, key, action, map[string]any{card.ReasonBlock: reason})
}

// fills presses a button that opens a form, and sends that.
func (p *play) fills(user, key, action string, filled map[string]any) {
	p.Card(key, action)
	p.dialogs.Lock()
	defer p.dialogs.Unlock()
	p.FillUntilTaken(user, key, action, filled)
}

// timeline lists the states of the runs, in seconds from the first, to show where time went.
func (p *play) timeline() string {
	var out strings.Builder
	runs, _ := driver.Executions(p.Stack, p.Ref.ID+"-", "") // the test has failed already; without them it says less
	for _, run := range runs {
		fmt.Fprintf(&out, "\n  %s %s:", *run.Name, run.Status)
		events, _ := p.eventsOf(run.ExecutionArn)
		for _, e := range events {
			if d := e.StateEnteredEventDetails; d != nil {
				fmt.Fprintf(&out, " %.1f %s", e.Timestamp.Sub(*runs[0].StartDate).Seconds(), *d.Name)
			}
		}
	}
	return out.String() + "\n"
}

// eventsOf returns every event of a run, as the console shows them.
func (w *world) eventsOf(arn *string) (all []sfntypes.HistoryEvent, err error) {
	pages := sfn.NewGetExecutionHistoryPaginator(sfn.NewFromConfig(w.AWS),
		&sfn.GetExecutionHistoryInput{ExecutionArn: arn})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return all, err
		}
		all = append(all, page.Events...)
	}
	return all, nil
}

// stops stops a run, as somebody does at the console of AWS.
func (p *play) stops(machine, id string, run int) {
	if _, err := sfn.NewFromConfig(p.AWS).StopExecution(context.Background(),
		&sfn.StopExecutionInput{ExecutionArn: p.RunARN(machine, id, run)}); err != nil {
		failf("stop run %d of %s: %w", run, id, err)
	}
}

// policy is by whom actions and calls may be decided.
func (w *world) policy() aggregate.Policy {
	return aggregate.Policy{Team: w.Sandbox.TeamID(), AllowSelf: true}
}

// settled changes the settings until a test ends.
func (w *world) settled(t *testing.T, apply func(*tenancy.Settings)) {
	t.Helper()
	driver.Leave(t, w.Stack)
	driver.Settings(t, w.Stack, apply)
}
