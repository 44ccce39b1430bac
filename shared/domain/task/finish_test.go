package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestASecondClickOnRetryStartsNothing(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(failed), s.fail)
	old, at := s.load().Execution().ID, s.now
	again := func(by aggregate.Actor) decision { return s.retries(old, by) }
	s.do(again(person(suzuki)))
	s.nothing(again(person(suzuki)))
	s.refused(again(person(tanaka)), aggregate.ErrDecided{Status: "retried", By: suzuki, At: at})
	s.refused(s.retry, ErrNothingToRetry)
	s.refused(s.retries("01JS0000000000000000000000", person(suzuki)), aggregate.ErrNotFound)
	s.do(s.start, s.claim, s.finish(failed), s.fail)
	s.nothing(again(person(suzuki))) // that attempt was already retried
	s.do(s.retry)
	s.refused(again(person(tanaka)), aggregate.ErrDecided{Status: "retried", By: suzuki, At: at})
}

func TestAProcessIsTriedSoOftenAndNoMore(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(failed), s.fail)
	for range MaxAttempts - 1 {
		s.do(s.retry, s.start, s.claim, s.finish(failed), s.fail)
	}
	s.refused(s.retry, ErrMaxAttempts)
	all := s.load().Executions
	for i, e := range all {
		expect.Must(t, e.Attempt == i+1, "attempt %d is read in place %d", e.Attempt, i+1)
	}
	last := s.load().Execution()
	expect.That(t, last.Attempt == MaxAttempts && ExecutionKey(1, MaxAttempts) > ExecutionKey(1, MaxAttempts-1),
		"the newest is attempt %d", last.Attempt)
}

// failedOverAWrite returns a failed attempt with a write still in flight. The row is set by hand, because no commit
// produces it.
func failedOverAWrite(t *testing.T) *story {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim)
	row := s.load().StepOf(s.load().Execution(), 2)
	s.now = s.now.Add(2 * time.Minute)
	s.do(s.giveUp)
	held := *s.rows[row.Key()].(*StepResult)
	held.Status, held.Claim = StepRunning, &aggregate.Claim{Invocation: "late", LeaseUntil: s.now.Add(time.Minute)}
	s.rows[row.Key()] = &held
	return s
}

func TestLateTruthIsKeptWhereverTheTaskIs(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail, s.retry)
	first := s.load().StepOf(s.load().Executions[0], 2)
	late := func(o Outcome) decision { return finishes(first.Key(), first.Claim.Invocation, o) }
	s.do(late(done))
	a := s.load()
	if got := a.Executions[0].Results[1]; got.Status != StepCompleted || got.Result == nil {
		t.Errorf("the first attempt keeps %+v", got)
	}
	expect.That(t, a.Executions[0].Status == ExecutionFailed && a.Execution().Attempt == 2 && a.Head.Run == 2,
		"attempt 1 is %s, attempt %d in run %d", a.Executions[0].Status, a.Execution().Attempt, a.Head.Run)
	last := s.audit[len(s.audit)-1]
	expect.That(t, last.Action == AuditExecutionLate && last.ResourceID == a.Executions[0].ID &&
		string(last.Details) == (`{"attempt":1,"status":"completed","step":"`+first.StepID+
			`","was":"unknown"}`), "the audit log says %+v", last)
	s.nothing(late(done))
	s.refused(late(failed), aggregate.ErrSuperseded)
	next := a.NextStep(a.Execution())
	expect.That(t, next.Order == 3, "step %d is called next, though the second is done", next.Order)
	if got := a.StepOf(a.Execution(), 2); !got.Reused || got.Result == nil {
		t.Errorf("the second attempt has %+v", got)
	}
	s.do(s.start, s.claim, s.finish(done), s.complete)
	got := s.load().Execution().Results
	expect.That(t, len(got) == 3 && got[1].Reused, "results %+v", got)
}

// If a write of a failed attempt completes late, the next attempt does not repeat it, unless it has already begun the
// write.
func TestAWriteThatCompletesLateIsNotMadeAgain(t *testing.T) {
	// second returns a story in its second attempt, and a decision that records the first attempt's write.
	second := func(t *testing.T) (*story, decision) {
		s := running(t)
		s.do(s.claim, s.finish(done), s.claim)
		first := s.load().StepOf(s.load().Execution(), 2)
		s.do(s.finish(unknown), s.fail, s.retry)
		return s, finishes(first.Key(), first.Claim.Invocation, done)
	}
	next := func(s *story) int { return s.load().NextStep(s.load().Execution()).Order }
	t.Run("before the step", func(t *testing.T) {
		s, late := second(t)
		s.do(s.start, late)
		expect.That(t, next(s) == 3, "step %d is called next", next(s))
	})
	t.Run("while people are asked about it", func(t *testing.T) {
		s, late := second(t)
		s.do(s.start, s.openGate)
		s.now = s.now.Add(time.Hour)
		s.do(late)
		a := s.load()
		if _, waits := a.OpenGate(); waits || a.Gates[0].Status != aggregate.Cancelled || next(s) != 3 {
			t.Errorf("gate %s, step %d is called next", a.Gates[0].Status, next(s))
		}
		expect.That(t, !a.TimeUp(a.Execution(), s.now), "the time that people took counts as the execution's")
		s.do(s.claim, s.finish(done), s.complete)
	})
	t.Run("after it was claimed anew, which stands", func(t *testing.T) {
		s, late := second(t)
		s.do(s.start, s.claim, late)
		row := s.load().StepOf(s.load().Execution(), 2)
		expect.That(t, row.Status == StepRunning && !row.Reused, "%+v", row)
	})
	t.Run("after the second attempt failed too", func(t *testing.T) {
		s, late := second(t)
		s.do(s.start, s.claim, s.finish(unknown), s.fail, late)
		s.do(s.retry, s.start)
		e := s.load().Execution()
		expect.That(t, e.Attempt == 3 && next(s) == 3, "in attempt %d step %d is called next", e.Attempt, next(s))
	})
}

func TestAnAttemptThatOnlyHasToEndBeginsFirst(t *testing.T) {
	s := allDone(t)
	s.do(s.giveUp, s.retry)
	next := s.load().NextStep(s.load().Execution())
	expect.That(t, next == nil, "next is %+v", next)
	s.refused(s.complete, aggregate.ErrMoved)
	s.do(s.start, s.complete)
}

// The audit entry of an end names the writes that earlier attempts made, and no others.
func TestAnEndNamesTheWritesOfEarlierAttempts(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(done), s.fail, s.retry)
	var reused []string
	for _, row := range s.load().StepsOf(s.load().Execution()) {
		if row.Access == aggregate.Write {
			reused = append(reused, row.StepID)
		}
	}
	s.do(s.fail)
	last := s.audit[len(s.audit)-1]
	expect.That(t, len(reused) != 0 && strings.Contains(string(last.Details),
		(`"reused":["`+strings.Join(reused, `","`)+`"]`)) && strings.Contains(string(last.Details), `"ends":{},`) &&
		strings.Contains(string(last.Details), `"writes":{}`), "%v are reused, the entry says %s", reused, last.Details)
}

func TestThreeRestartsWithoutProgressAreEnough(t *testing.T) {
	for _, tt := range []struct {
		name string
		from func(testing.TB) *story
		end  func(*Aggregate) bool
	}{
		{"L1", begin, parkedAt(L1)},
		{"L2", told(begin, func(s *story) { s.do(s.extract) }), parkedAt(L2)},
		{"L3", told(waitingPrompt, func(s *story) { s.do(s.approvePrompt) }), parkedAt(L3)},
		{"a policy that asks nobody", asksNobody(func(s *story) { s.do(s.extract, s.finishPrompt) }), parkedAt(L2)},
		{"steps that ask nobody", asksNobody(func(s *story) {
			s.do(s.extract, s.finishPrompt, s.approveAsSystem, s.finishProcess)
		}), parkedAt(L3)},
		{"L4", running, func(a *Aggregate) bool {
			return a.Execution().Status == ExecutionFailed && a.Execution().Error == ReasonRunFailed &&
				a.Head.Ended.As == TaskFailed
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			for n := 1; n <= MaxRestarts; n++ {
				s.do(s.restart)
				expect.Must(t, s.head.Run == n+1 && s.head.Restarts == n && !tt.end(s.load()), "after %d: %+v", n, s.head)
			}
			s.refused(s.restarts(1), aggregate.ErrSuperseded)
			s.do(s.restart)
			expect.That(t, tt.end(s.load()) && s.head.Run == MaxRestarts+1, "ended as %+v", s.head)
			s.refused(s.restart, aggregate.ErrSuperseded)
			if again := s.retryGeneration; tt.name != "L4" {
				s.do(again)
			} else {
				s.do(s.retry)
			}
			expect.That(t, s.head.Restarts == 0, "%d restarts after a person asked again", s.head.Restarts)
		})
	}
}

func TestAGateThatAsksNobodyAndWhoseRunFailsIsLeftToTheSweeper(t *testing.T) {
	s := asksNobody(func(s *story) { s.do(s.extract, s.finishPrompt) })(t)
	for range MaxRestarts {
		s.nothing(s.giveUp)
		s.do(s.restart)
	}
	s.do(s.giveUp)
	expect.Must(t, parkedAt(L2)(s.load()), "head %+v", s.head)
	s.nothing(s.giveUp)
	s.do(s.retryGeneration)
	expect.Is(t, s.load().Next(s.now).State, StateAwaitPromptApproval)
	s.do(s.approveAsSystem)
	expect.Is(t, s.load().Next(s.now).State, StatePlanProcess)
}

func TestProgressForgivesRestarts(t *testing.T) {
	result := running(t)
	result.do(result.restart, result.restart, result.claim)
	expect.Is(t, result.head.Restarts, 2, "a claim forgives")
	result.do(result.finish(done))
	generation := begin(t)
	generation.do(generation.restart, generation.extract)
	decision := waitingPrompt(t)
	decision.do(decision.approvePrompt, decision.restart, decision.finishProcess, decision.approveProcess)
	step := checked(t)
	step.do(step.restart, step.openGate, step.approveStep)
	unasked := asksNobody(func(s *story) { s.do(s.extract, s.finishPrompt) })(t)
	unasked.do(unasked.restart, unasked.approveAsSystem)
	for name, s := range map[string]*story{"a step's result": result, "a generation": generation, "a decision": decision,
		"a decision on a step": step, "the system's": unasked} {
		expect.That(t, s.head.Restarts == 0, "%s: %d restarts", name, s.head.Restarts)
	}
}

// asksNobody returns a story with approvals switched off.
func asksNobody(then func(*story)) func(testing.TB) *story {
	return func(t testing.TB) *story {
		s := begin(t)
		s.settings.PromptApprovalRequired, s.settings.ProcessApprovalRequired = false, false
		then(s)
		return s
	}
}

func parkedAt(l Layer) func(*Aggregate) bool {
	return func(a *Aggregate) bool { return a.Head.Parked != nil && a.Head.Parked.Layer == l }
}

func TestAFailingRunDoesNotParkWhatWasJustDecided(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  func(testing.TB) *story
		state string
	}{
		{"an approval of the prompt", told(waitingPrompt, func(s *story) { s.do(s.approvePrompt) }), StatePlanProcess},
		{"a rejection of the prompt", told(waitingPrompt, func(s *story) { s.do(s.rejectPrompt) }), StateDraftPrompt},
		{"an approval of the process", told(waitingProcess, func(s *story) { s.do(s.approveProcess) }), StateExecuteProcess},
		{"a rejection of the process", told(waitingProcess, func(s *story) { s.do(s.rejectProcess) }), StatePlanProcess},
		{"an approval of a step", told(waitingStep, func(s *story) { s.do(s.approveStep) }), StateExecuteProcess},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			s.do(s.giveUp)
			next := s.load().Next(s.now)
			expect.That(t, s.head.Run == 2 && s.head.Parked == nil && s.head.Ended == nil && next.State == tt.state,
				"head %+v, next %s", s.head, next.State)
			s.do(s.giveUp) // the next run fails by itself
			expect.That(t, s.head.Run == 2 && (s.head.Parked != nil || s.head.Ended != nil), "head %+v", s.head)
		})
	}
}

func TestACompletedTaskKeepsItsResultsInOrder(t *testing.T) {
	s := allDone(t)
	s.do(s.complete)
	e := s.load().Execution()
	var got []string
	for _, r := range e.Results {
		expect.That(t, r.DurationMS == 1000 && r.CompletedAt != nil && r.CompletedAt.Sub(r.StartedAt) == time.Second &&
			r.Result != nil, "%s took %d ms, %+v", r.StepID, r.DurationMS, r)
		got = append(got, r.StepID+" "+string(r.Status))
	}
	want := []string{"step-1 completed", "step-2 completed", "step-3 completed"}
	expect.That(t, slices.Equal(got, want) && e.Summary != "" && e.CompletedAt != nil &&
		s.load().Task.Status == TaskCompleted &&
		s.head.Ended.Reason == ReasonDone, "results %v, %+v, ended %+v", got, e, s.head.Ended)
}

// A person who saw that a write of unknown outcome arrived goes on after it: it is not called again, whatever is
// answered later. The log names them.
func TestAPersonConfirmsAnUnknownOutcome(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail)
	old, at := s.load().Execution(), s.now
	row := s.load().StepOf(old, 2)
	confirm := func(by aggregate.Actor) decision { return s.on(old.ID, (*Aggregate).Confirm, by) }
	stranger := person("U0GUEST")
	stranger.Guest = true
	s.refused(confirm(stranger), aggregate.ErrNotAllowed{Rule: "neither_requester_nor_approver"})
	s.do(confirm(person(suzuki)))
	s.nothing(confirm(person(suzuki))) // a double click
	s.refused(confirm(person(tanaka)), aggregate.ErrDecided{Status: "retried", By: suzuki, At: at})
	a := s.load()
	is := a.StepOf(a.Execution(), 2)
	expect.Must(t, a.Execution().Attempt == 2 && is != nil && is.Reused && is.ConfirmedBy == suzuki, "%+v", is)
	expect.That(t, a.NextStep(a.Execution()).Order == 3 && a.Executions[0].Results[1].Status == StepCompleted, "%+v",
		a.Executions[0].Results)
	late := s.audit[len(s.audit)-2]
	expect.That(t, late.Action == AuditExecutionLate && late.ActorID == suzuki &&
		strings.Contains(string(late.Details), `"was":"unknown"`), "%+v", late)
	for o, want := range map[StepStatus]error{StepCompleted: nil, StepFailed: aggregate.ErrSuperseded} {
		c, err := s.load().FinishStep(row.Key(), row.Claim.Invocation, Outcome{Status: o}, s.now)
		expect.That(t, errors.Is(err, want) && len(c.Rows) == 0, "a late %s: %v, %d rows", o, err, len(c.Rows))
	}
	s.do(s.start, s.claim, s.finish(done), s.complete)
	expect.Is(t, s.load().Task.Status, TaskCompleted)
}

// What an answer made known meanwhile nobody confirms.
func TestAKnownOutcomeIsNotConfirmed(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail, s.finish(done))
	_, err := s.load().Confirm(s.load().Execution().ID, person(suzuki), s.policy, s.now)
	expect.Fails(t, err, ErrNothingToRetry)
}

// A call that crashed is first of unknown outcome: whoever confirms then has seen that.
func TestACrashedCallIsNotConfirmedUnseen(t *testing.T) {
	s := failedOverAWrite(t)
	confirm := s.on(s.load().Executions[0].ID, (*Aggregate).Confirm, person(suzuki))
	s.refused(confirm, aggregate.ErrInFlight)
	s.now = s.now.Add(2 * time.Minute)
	c, err := s.try(confirm)
	expect.Must(t, err == nil && errors.Is(c.Then, aggregate.ErrUncovered), "then %v, %v", c.Then, err)
	late := s.audit[len(s.audit)-1]
	expect.That(t, late.Action == AuditExecutionLate && late.ActorType == aggregate.ActorSystem &&
		s.load().Steps[1].Status == StepUnknown, "%+v", late)
	s.do(confirm)
	expect.Is(t, s.load().Execution().Attempt, 2, "attempt")
}

// Whoever may cancel ends what nobody will know, and that it is unknown stays in the log.
func TestATaskOfUnknownOutcomeIsEnded(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail)
	a, at := s.load(), s.now
	row := a.StepOf(a.Execution(), 2)
	end := func(by aggregate.Actor) decision { return s.cancels(a.Execution().ID, by) }
	s.refused(end(person("U0OTHER")), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty})
	s.do(end(person(suzuki)))
	s.nothing(end(person(suzuki)))
	over := aggregate.ErrDecided{Status: "cancelled", By: suzuki, At: at, Reason: ReasonByPerson}
	s.refused(end(person(tanaka)), over)
	s.refused(s.retry, over)
	last := s.audit[len(s.audit)-1]
	expect.That(t, last.Action == AuditTaskCancelled && last.ActorID == suzuki &&
		strings.Contains(string(last.Details), `"ends":{"unknown":["`+row.StepID+`"]}`), "%+v", last)
	a = s.load()
	expect.That(t, a.Task.Status == TaskCancelled && a.Head.Noted == StatusCancelled && len(a.Offers()) == 0,
		"%+v", a.Head)
	s.do(finishes(row.Key(), row.Claim.Invocation, done)) // what is answered late is recorded all the same
	expect.Is(t, s.load().Execution().Results[1].Status, StepCompleted)
}

// What Ringi itself sees arrive is done, by no person, and the log says so. It looks at no call that goes on.
func TestRingiSeesThatAWriteArrived(t *testing.T) {
	for _, crashed := range []bool{false, true} {
		s := running(t)
		find := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.FindStep(s.head.Run, 2, aggregate.Blob{JSON: `{"rows":1}`}, now)
		}
		s.do(s.claim, s.finish(done))
		s.refused(find, aggregate.ErrMoved)
		s.do(s.claim)
		s.refused(find, aggregate.ErrInFlight)
		if s.now = s.now.Add(2 * time.Minute); !crashed {
			s.do(s.finish(unknown))
		}
		row := s.load().StepOf(s.load().Execution(), 2)
		s.do(find)
		s.refused(find, aggregate.ErrMoved)
		is, last := s.load().StepOf(s.load().Execution(), 2), s.audit[len(s.audit)-1]
		expect.That(t, is.Status == StepCompleted && is.Found && is.Result.JSON == `{"rows":1}` &&
			last.Action == AuditExecutionLate && last.ActorType == aggregate.ActorSystem &&
			strings.Contains(string(last.Details), `"found":true`), "crashed %v: %+v, %+v", crashed, is, last)
		s.nothing(finishes(row.Key(), row.Claim.Invocation, done))
		s.do(s.claim, s.finish(done), s.complete)
	}
}

// Where another step needs what the call returned, nobody can go on without that.
func TestAWriteWhoseResultIsNeededIsNotConfirmed(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail)
	a := s.load()
	steps := a.Process().Steps
	steps[2].ToolInput = `{"text":{"$ref":"step-2.result.url"}}`
	expect.That(t, steps[1].StepID == "step-2" && !slices.ContainsFunc(a.Offers(), func(o aggregate.Offer) bool {
		return o.Act == ActConfirm
	}), "%+v", a.Offers())
	expect.Fails(t, expect.Err(a.Confirm(a.Execution().ID, person(suzuki), s.policy, s.now)), ErrNothingToRetry)
}
