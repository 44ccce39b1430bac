package task

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// story is a task that people and runs take from state to state.
type story struct {
	*table
	now      time.Time
	settings tenancy.Settings
	policy   aggregate.Policy
	steps    []Step
}

type decision func(a *Aggregate, now time.Time) (aggregate.Change, error)

var dawn = time.Date(2026, 4, 18, 5, 30, 0, 0, time.UTC)

const (
	requester = "U_SATO"
	suzuki    = "U_SUZUKI"
	tanaka    = "U_TANAKA"
	team      = "T_RINGI"
)

func person(id string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: team, Member: true}
}

func request() Request {
	return Request{TeamID: team, Text: "今月の勤怠をまとめて", User: requester, Channel: "C_HR", ChannelType: "channel",
		MessageTS: "1776490200.000100", ThreadTS: "1776490200.000100", Source: SourceChannel, EventID: "Ev1"}
}

// threeSteps returns one read and two writes.
func threeSteps() []Step {
	step := func(n int, tool string, e aggregate.Access) Step {
		return Step{StepID: fmt.Sprint("step-", n), Order: n, Tool: tool, ToolInput: `{"month":4}`, Access: e,
			ToolVersion: "v1", Description: "手順 " + fmt.Sprint(n), ExpectedOutput: "結果"}
	}
	return []Step{step(1, "list_employees", aggregate.Read), step(2, "write_rows_to_google_sheet", aggregate.Write),
		step(3, "send_slack_dm", aggregate.Write)}
}

// begin receives a message.
func begin(t testing.TB) *story {
	t.Helper()
	c, _, err := Receive(aggregate.TenantID(team), request(), dawn)
	expect.NoError(t, err)
	return &story{
		table: create(t, c), now: dawn.Add(time.Second), settings: tenancy.DefaultSettings(), steps: threeSteps(),
		policy: aggregate.Policy{Team: team, Mode: aggregate.ApproversList, Approvers: []string{requester, suzuki, tanaka},
			AllowSelf: true},
	}
}

// try makes a decision on the current rows, commits it, and lets a second pass.
func (s *story) try(d decision) (aggregate.Change, error) {
	s.t.Helper()
	a := s.load()
	c, err := d(a, s.now)
	if err != nil {
		return c, err
	}
	if err := s.commit(a.Head, c); err != nil {
		return c, err
	}
	s.now = s.now.Add(time.Second)
	return c, nil
}

// do is try for decisions that must succeed and change something.
func (s *story) do(decisions ...decision) *story {
	s.t.Helper()
	for i, d := range decisions {
		c, err := s.try(d)
		expect.Must(s.t, err == nil, "decision %d: %v", i+1, err)
		expect.Must(s.t, !c.Empty(), "decision %d changed nothing", i+1)
	}
	return s
}

// refused asserts that d fails with want and changes nothing.
func (s *story) refused(d decision, want error) {
	s.t.Helper()
	rev := s.head.Rev
	expect.Fails(s.t, expect.Err(s.try(d)), want)
	expect.Is(s.t, s.head.Rev, rev, "the refusal wrote rev")
}

// nothing asserts that d succeeds without a change.
func (s *story) nothing(d decision) {
	s.t.Helper()
	c, err := s.try(d)
	expect.That(s.t, err == nil && c.Empty(), "change %v, %v, want none", c.Rows, err)
}

func (s *story) extract(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Extracted(s.head.Run, Extract{Title: "勤怠集計", Description: "今月分", Priority: Medium, TaskType: TypeStandard},
		now)
}

// act is what a person does to the row with this id.
type act func(a *Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// asked is Act at the stage that is asked, in one's own name.
func asked(kind circulation.Kind, text string) act {
	return func(a *Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return a.Act(id, cmp.Or(a.Asked(id).Gate, &aggregate.Gate{}).Acting(kind, by, text), by, p, now)
	}
}

var approve = asked(circulation.Stamp, "")

func rejecting(reason string) act { return asked(circulation.SendBack, reason) }

// on is the decision of whoever does this to a row.
func on(id string, do act, by aggregate.Actor, p aggregate.Policy) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return do(a, id, by, p, now) }
}

func (s *story) on(id string, do act, by aggregate.Actor) decision { return on(id, do, by, s.policy) }

func (s *story) beginPrompt(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.BeginPrompt(s.head.Run, now)
}

func (s *story) finishPrompt(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FinishPrompt(s.head.Run, Drafted{Content: "方針"}, s.settings, now)
}

func (s *story) approvePrompt(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return approve(a, idOf(s.load().Prompt()), person(suzuki), s.policy, now)
}

func (s *story) approveAsSystem(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.ApproveUnasked(idOf(s.load().Prompt()), now)
}

func (s *story) rejectPrompt(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return rejecting("もっと詳しく")(a, idOf(s.load().Prompt()), person(suzuki), s.policy, now)
}

func (s *story) beginProcess(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.BeginProcess(s.head.Run, now)
}

func (s *story) finishProcess(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FinishProcess(s.head.Run, s.steps, "", s.settings, now)
}

func (s *story) approveProcess(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return approve(a, idOf(s.load().Process()), person(suzuki), s.policy, now)
}

func (s *story) rejectProcess(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return rejecting("確認を増やして")(a, idOf(s.load().Process()), person(suzuki), s.policy, now)
}

func (s *story) start(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.StartExecution(s.head.Run, Series{}, now)
}

func (s *story) claim(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.ClaimStep(s.head.Run, call(a, now), now)
}

func (s *story) claimsAs(invocation string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		c.Claim.Invocation = invocation
		return a.ClaimStep(s.head.Run, c, now)
	}
}

func (s *story) openGate(a *Aggregate, now time.Time) (aggregate.Change, error) {
	c := call(a, now)
	return a.OpenStepGate(s.head.Run, c.Order, c.Arguments, c.ArgumentsHash, nil, now)
}

func (s *story) approveStep(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return approve(a, gateID(s.load()), person(suzuki), s.policy, now)
}

func (s *story) rejectStep(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return rejecting("宛先が違う")(a, gateID(s.load()), person(suzuki), s.policy, now)
}

func (s *story) complete(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.CompleteExecution(s.head.Run, "42 名分を集計しました", now)
}

func (s *story) fail(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FailExecution(s.head.Run, ReasonToolFailed, "", now)
}

func (s *story) retry(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.RetryExecution(idOf(s.load().Execution()), person(requester), s.policy, now)
}

func (s *story) cancel(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.End(person(requester), s.policy, now)
}

func (s *story) cancelExecution(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.CancelExecution(idOf(s.load().Execution()), person(requester), s.policy, now)
}

func (s *story) expire(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Expire(now) }

func (s *story) settle(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.RecordCrashedCalls(now)
}

func (s *story) giveUp(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.GiveUp(s.head.Run, ReasonRunFailed, now)
}

func (s *story) restart(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.RestartRun(s.head.Run, now)
}

func (s *story) restarts(run int) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RestartRun(run, now) }
}

func (s *story) park(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Park(s.head.Run, a.Generating(), ReasonModelRefused, "", now)
}

func (s *story) retryGeneration(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.RetryGeneration(person(requester), s.policy, now)
}

func (s *story) pause(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.WaitUntil(s.head.Run, a.Generating(), now.Add(time.Minute), now)
}

// finish ends the newest claimed call of the newest attempt.
func (s *story) finish(o Outcome) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		rows := a.StepsOf(a.Execution())
		row := rows[len(rows)-1]
		return a.FinishStep(row.Key(), row.Claim.Invocation, o, now)
	}
}

// finishes ends a call that an invocation claimed.
func finishes(key, invocation string, o Outcome) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishStep(key, invocation, o, now)
	}
}

func extracts(e Extract) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Extracted(a.Head.Run, e, now) }
}

func (s *story) failAs(why aggregate.Reason, detail string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FailExecution(s.head.Run, why, detail, now)
	}
}

func (s *story) ends(by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.End(by, s.policy, now) }
}

func (s *story) approves(by aggregate.Actor) decision {
	return s.on(idOf(s.load().Prompt()), approve, by)
}

func (s *story) acts(id string, act circulation.Act, by aggregate.Actor) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Act(id, act, by, s.policy, now) }
}

func (s *story) retries(id string, by aggregate.Actor) decision {
	return s.on(id, (*Aggregate).RetryExecution, by)
}

func (s *story) cancels(id string, by aggregate.Actor) decision {
	return s.on(id, (*Aggregate).CancelExecution, by)
}

// finishRunning completes the first call that is under way.
func (s *story) finishRunning(a *Aggregate, now time.Time) (aggregate.Change, error) {
	for _, row := range a.Steps {
		if row.Status == StepRunning {
			return a.FinishStep(row.Key(), row.Claim.Invocation, done, now)
		}
	}
	return aggregate.Change{}, aggregate.ErrMoved
}

// claimAfter adds the next step's claim to what d changes.
func (s *story) claimAfter(d decision) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		first, err := d(a, now)
		if err != nil || first.Head == nil {
			return first, err
		}
		return a.ClaimAfter(first, s.head.Run, call(a.Apply(first), now))
	}
}

var (
	done    = Outcome{Status: StepCompleted, Result: &aggregate.Blob{JSON: `{"count":42}`, Bytes: 12}}
	failed  = Outcome{Status: StepFailed, Reason: ReasonToolFailed, Detail: "403"}
	unknown = Outcome{Status: StepUnknown, Reason: ReasonToolUnknown}
)

// call returns a call of the next step with the step's own arguments.
func call(a *Aggregate, now time.Time) Call {
	e := a.Execution()
	if e == nil || a.NextStep(e) == nil {
		return Call{Order: 1}
	}
	step := *a.NextStep(e)
	return Call{
		Order: step.Order, Arguments: aggregate.Blob{JSON: step.ToolInput},
		ArgumentsHash: aggregate.HashOf(string(step.ToolInput)),
		Claim: aggregate.Claim{Invocation: fmt.Sprintf("invocation-%d-%d", a.Head.Run, a.Head.Rev),
			LeaseUntil: now.Add(75 * time.Second)},
		Tool: ToolRef{Name: step.Tool},
	}
}

// Stories that many tests begin with.

func waitingPrompt(t testing.TB) *story {
	s := begin(t)
	return s.do(s.extract, s.finishPrompt)
}

func waitingProcess(t testing.TB) *story {
	s := waitingPrompt(t)
	return s.do(s.approvePrompt, s.finishProcess)
}

func running(t testing.TB) *story {
	s := waitingProcess(t)
	return s.do(s.approveProcess, s.start)
}

// checked returns a running story in which people look at every write.
func checked(t testing.TB) *story {
	s := waitingPrompt(t)
	s.settings.AutoApproveTools = false
	return s.do(s.approvePrompt, s.finishProcess, s.approveProcess, s.start, s.claim, s.finish(done))
}

func waitingStep(t testing.TB) *story {
	s := checked(t)
	return s.do(s.openGate)
}

// idOf returns the id of a row, or an unused id for nil.
func idOf(r aggregate.Row) string {
	switch r := r.(type) {
	case *Prompt:
		if r != nil {
			return r.ID
		}
	case *Process:
		if r != nil {
			return r.ID
		}
	case *Execution:
		if r != nil {
			return r.ID
		}
	}
	return "01JS0000000000000000000000"
}

func gateID(a *Aggregate) string {
	if len(a.Gates) == 0 {
		return "01JS0000000000000000000000"
	}
	return a.Gates[len(a.Gates)-1].ID
}
