package task

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func stops(t *testing.T, s *story, d decision, want aggregate.Reason) {
	t.Helper()
	_, err := s.try(d)
	var stop StopError
	expect.Must(t, errors.As(err, &stop) && stop.Reason == want, "%v, want a stop for %s", err, want)
}

func TestOneStepIsClaimedByOneInvocation(t *testing.T) {
	s := running(t)
	saw := s.load()
	other := s.claimsAs("another")
	mine := expect.Value(s.claim(saw, s.now))(t)
	expect.NoError(t, s.commit(saw.Head, mine))
	theirs := expect.Value(other(saw, s.now))(t)
	expect.Fails(t, s.commit(saw.Head, theirs), aggregate.ErrConflict, "the second claim commits")
	s.refused(other, aggregate.ErrInFlight)
	s.refused(finishes(StepKey(1, 1, 1), "another", done), aggregate.ErrSuperseded)
	s.refused(finishes(StepKey(1, 1, 2), "another", done), aggregate.ErrSuperseded)
	s.do(s.finish(done))
	s.nothing(s.finish(done))
}

// A claim leaves the execution's row as it is, unless the step's first call crashed. The row says which step was
// reached whenever the execution rests: at a gate, and after its end.
func TestTheExecutionSaysWhichStepItReached(t *testing.T) {
	s := running(t)
	is := func(want, inRow int) {
		t.Helper()
		a := s.load()
		expect.Is(t, a.CurrentStep(a.Execution()), want, "at step")
		expect.Is(t, a.Execution().CurrentStep, inRow, "in the row, step")
	}
	began := s.load().Execution().Rev
	s.do(s.claim, s.finish(done), s.claim)
	is(2, 0)
	expect.Is(t, s.load().Execution().Rev, began, "the row has revision")
	s.do(s.finish(failed), s.fail)
	is(2, 2)
	s.do(s.retry, s.start)
	is(0, 0) // the first step is carried over
	s = waitingStep(t)
	is(2, 2)
}

func TestACrashedReadIsCalledAgainACrashedWriteNever(t *testing.T) {
	s := running(t)
	s.do(s.claim)
	crashed := s.load().Steps[0].Claim.Invocation
	s.now = s.now.Add(2 * time.Minute)
	s.do(s.claim)
	if row := s.load().Steps[0]; row.Claim.Invocation == crashed || row.Call != 1 {
		t.Errorf("claimed by %s, call %d", row.Claim.Invocation, row.Call)
	}
	s.refused(finishes(StepKey(1, 1, 1), crashed, done), aggregate.ErrSuperseded)
	s.do(s.finish(done), s.claim)
	s.now = s.now.Add(2 * time.Minute)
	stops(t, s, s.claim, ReasonToolUnknown)
	s.do(s.failAs(ReasonToolUnknown, "step-2"))
	a := s.load()
	expect.That(t, a.Steps[1].Status == StepUnknown && a.Execution().Error == ReasonToolUnknown &&
		a.Execution().Results[1].Status == StepUnknown,
		"step %s, execution %s, results %+v", a.Steps[1].Status, a.Execution().Error, a.Execution().Results)
}

func TestAReadThatWasGivenUpIsNotReportedLater(t *testing.T) {
	s := running(t)
	s.do(s.claim)
	s.now = s.now.Add(2 * time.Minute)
	s.do(s.giveUp)
	if row := s.load().Steps[0]; row.Status != StepFailed || row.Error != ReasonInterruptedRead {
		t.Errorf("the read is %s, %s", row.Status, row.Error)
	}
	s.refused(s.finish(done), aggregate.ErrSuperseded)
}

func TestAnExecutionEndsAfterItsTimeLimit(t *testing.T) {
	takes := func(s *story, d time.Duration) {
		s.do(s.claim)
		s.now = s.load().Steps[len(s.load().Steps)-1].StartedAt.Add(d)
		s.do(s.finish(done))
	}
	s := running(t)
	takes(s, 300*time.Second)
	takes(s, 60*time.Second)
	expect.That(t, !s.load().OverLimit(s.now), "over at the limit itself")
	s = running(t)
	takes(s, 300*time.Second)
	takes(s, 60*time.Second+time.Millisecond)
	expect.That(t, s.load().OverLimit(s.now), "not over after the limit")
	stops(t, s, s.claim, ReasonTimeout)
	s.do(s.failAs(ReasonTimeout, "360"))
	if e := s.load().Execution(); e.Status != ExecutionFailed || e.Error != ReasonTimeout || e.ErrorDetail != "360" {
		t.Errorf("%s for %s %q", e.Status, e.Error, e.ErrorDetail)
	}
	s = running(t)
	takes(s, 30*time.Second)
	takes(s, 30*time.Second)
	takes(s, 301*time.Second)
	expect.That(t, !s.load().OverLimit(s.now), "the last call was made: only the end is missing")
}

func TestTheTimeLimitExcludesWaiting(t *testing.T) {
	waits := func(s *story, d time.Duration, when string) {
		t.Helper()
		s.now = s.now.Add(d)
		expect.That(t, !s.load().OverLimit(s.now), "over %s", when)
	}
	s := waitingStep(t)
	waits(s, 100*time.Hour, "while a person is asked")
	s.do(s.approveStep, s.claim)
	s = running(t)
	s.do(s.claim)
	waits(s, time.Hour, "while nobody works, after a lease that died")
	s.do(s.claim, s.finish(done))
	waits(s, time.Hour, "while there is no room to run between two steps")
	s.do(s.claim, s.finish(done))
	s = allDone(t)
	waits(s, time.Hour, "when only its end is missing")
	s.do(s.complete)
	waits(s, 200*time.Hour, "after it ended")
}

func TestAFailureThatTheRowsDoNotShowFailsNothing(t *testing.T) {
	s := running(t)
	s.refused(s.failAs(ReasonInterruptedRead, "step-1"), aggregate.ErrMoved)
	s.refused(s.failAs(ReasonTimeout, "360"), aggregate.ErrMoved)
	s.refused(s.failAs(ReasonToolUnknown, ""), aggregate.ErrMoved)
}

func TestIdempotencyKeysGrowOnlyAfterADefiniteFailure(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(done))
	key := func() string {
		a := s.load()
		return a.IdempotencyKey(a.Execution(), s.steps[1])
	}
	process := s.load().Process().ID
	want := func(n string) {
		t.Helper()
		expect.Is(t, key(), process+"/step-2/"+n, "key of number %s", n)
	}
	again := func(o Outcome) {
		t.Helper()
		s.do(s.claim, s.finish(o), s.fail, s.retry, s.start)
	}
	want("1")
	again(unknown)
	want("1")
	again(failed)
	want("2")
	s.do(s.fail, s.retry, s.start) // this attempt never reached the step
	want("2")
	again(unknown)
	want("2")
	s.do(s.claim)
	want("2")
	first := s.load().Steps[1]
	s.do(finishes(first.Key(), first.Claim.Invocation, failed)) // the first call failed, as is known only now
	want("2")
	row := s.load().StepOf(s.load().Execution(), 2)
	expect.Is(t, row.Call, 2, "claimed with number")
}

func TestTheHashSeesWhatAPersonStampsAndNoWhitespace(t *testing.T) {
	base := Hash(threeSteps())
	for name, change := range map[string]func([]Step) []Step{
		"order of steps": func(s []Step) []Step { s[0], s[1] = s[1], s[0]; return s },
		"one fewer":      func(s []Step) []Step { return s[:2] },
		"one twice":      func(s []Step) []Step { return append(s, s[2]) },
		"an input":       func(s []Step) []Step { s[0].ToolInput = `{"month":40}`; return s },
		"a description":  func(s []Step) []Step { s[0].Description += "。"; return s },
		"an output":      func(s []Step) []Step { s[0].ExpectedOutput = ""; return s },
		"a flag":         func(s []Step) []Step { s[2].RequiresHumanCheck = true; return s },
		"a tool":         func(s []Step) []Step { s[2].Tool = "delete_employees"; return s },
		"its version":    func(s []Step) []Step { s[2].ToolVersion = "v2"; return s },
		"what it may":    func(s []Step) []Step { s[2].Access = aggregate.Read; return s },
		"a title":        func(s []Step) []Step { s[2].Title = "別の手順"; return s },
		"an id":          func(s []Step) []Step { s[2].StepID = "step-9"; return s },
		"a number":       func(s []Step) []Step { s[2].Order = 9; return s },
	} {
		got := Hash(change(threeSteps()))
		expect.That(t, got != base && len(got) == 64, "%s: %s", name, got)
	}
	spaced := threeSteps()
	spaced[0].ToolInput = "{ \"month\" : 4 }\n"
	expect.Is(t, Hash(spaced), base, "whitespace changes the hash")
}

func TestJSONIsKeptAsItsText(t *testing.T) {
	type row struct {
		V aggregate.JSON `json:"v"`
	}
	for text, want := range map[aggregate.JSON]string{`{"a":1}`: `{"v":{"a":1}}`, `"文"`: `{"v":"文"}`, "": `{"v":null}`,
		"null": `{"v":null}`} {
		b, err := json.Marshal(row{text})
		expect.That(t, err == nil && string(b) == want, "%q: %s, %v", text, b, err)
	}
	var back row
	err := json.Unmarshal([]byte(`{"v": {"a": [1, 2.50]} }`), &back)
	expect.That(t, err == nil && back.V == `{"a": [1, 2.50]}`, "%q, %v", back.V, err)
	expect.That(t, expect.Err(json.Marshal(row{`{"a":`})) != nil, "half a value is marshalled")
}

// An agent worded the request, so people must approve its policy whatever the settings are.
func TestARequestOfAnAgentIsStampedAlways(t *testing.T) {
	for event, want := range map[string]bool{"Ev0PV52K21": false,
		OfferedIn("0fe7e56a-224d-8456-acd3-eaccf5c4ee7b"): true} {
		s := begin(t)
		s.settings.PromptApprovalRequired = false
		s.do(s.extract)
		a := s.load()
		request := *a.Request
		request.EventID = event
		a.Request = &request
		c := expect.Value(a.FinishPrompt(a.Head.Run, Drafted{Content: "方針"}, s.settings, s.now))(t)
		p := c.Written(a.Prompt().Key()).(*Prompt)
		expect.That(t, p.Terms.ApprovalRequired == want, "%s: a stamp is needed: %t", event, p.Terms.ApprovalRequired)
	}
}

// An attempt without writes records that it made none, and who worded the request, so that nobody can claim otherwise.
func TestAnEndSaysWhatWasNot(t *testing.T) {
	for event, want := range map[string]string{"Ev0PV52K21": `"offered":{}`,
		OfferedIn("6f0f5a52"): `"offered":{"session_id":"6f0f5a52"}`} {
		for name, end := range map[string]func(s *story) decision{
			"failed": func(s *story) decision { return s.fail }, "cancelled": func(s *story) decision { return s.cancel },
		} {
			s := running(t)
			c, err := s.try(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				request := *a.Request
				request.EventID = event
				a.Request = &request
				return end(s)(a, now)
			})
			expect.NoError(t, err)
			got := string(c.Audit[0].Details)
			expect.That(t, strings.Contains(got, want) && strings.Contains(got, `"writes":{}`) &&
				strings.Contains(got, `"ends":{}`), "%s, %s: %s", event, name, got)
		}
	}
}

// What an agent wrote is the agent's wording: the message's change is the conversation's.
func TestAnAgentsRequestIsNotWhatItsMessageSays(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	r := *a.Request
	r.EventID = OfferedIn("s1")
	a.Request = &r
	c := expect.Value(a.Deleted(requester, s.now))(t)
	expect.That(t, c.Empty(), "%+v", c)
}

func TestWhatRefusesAClaimWithTheChangeBeforeIt(t *testing.T) {
	for name, tt := range map[string]struct {
		tell  func(testing.TB) *story
		first func(s *story) decision
		edit  func(a *Aggregate, c *Call)
		want  error
	}{
		"a failed step":            {claimed, func(s *story) decision { return s.finish(failed) }, nil, aggregate.ErrMoved},
		"an unknown step":          {claimed, func(s *story) decision { return s.finish(unknown) }, nil, aggregate.ErrMoved},
		"the last step":            {lastClaimed, func(s *story) decision { return s.finish(done) }, nil, aggregate.ErrMoved},
		"another step":             {claimed, nil, func(_ *Aggregate, c *Call) { c.Order++ }, aggregate.ErrMoved},
		"a gate that a step needs": {claimed, nil, func(_ *Aggregate, c *Call) { c.NeedsGate = true }, aggregate.ErrMoved},
		"a pause": {claimed, nil, func(a *Aggregate, _ *Call) {
			until := a.Head.ChangedAt.Add(time.Hour)
			a.Head.PausedUntil = &until
		}, aggregate.ErrMoved},
		"an end": {claimed, nil, func(a *Aggregate, _ *Call) { a.Head.Ended = &Ended{As: TaskCancelled} },
			aggregate.ErrMoved},
		"other steps than the approved ones": {claimed, nil, func(a *Aggregate, _ *Call) {
			p := *a.Process()
			p.ApprovedHash = "another"
			a.Processes = []*Process{&p}
		}, StopError{Reason: ReasonStepsChanged}},
		"the time limit": {claimed, nil, func(a *Aggregate, _ *Call) {
			e := *a.Execution()
			e.Terms.L4TimeoutSeconds = 0
			a.Executions = []*Execution{&e}
		}, StopError{ReasonTimeout, "0"}},
		"a managed session": {claimed, nil, func(a *Aggregate, _ *Call) {
			e := *a.Execution()
			e.Terms.Executor = "managed"
			a.Executions = []*Execution{&e}
		}, aggregate.ErrMoved},
		"a change that makes nothing": {claimed, func(*story) decision {
			return func(*Aggregate, time.Time) (aggregate.Change, error) { return aggregate.Change{}, nil }
		}, nil, aggregate.ErrMoved},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.tell(t)
			first := s.finish(done)
			if tt.first != nil {
				first = tt.first(s)
			}
			s.now = s.now.Add(time.Second)
			a := s.load()
			cl := call(a, s.now)
			cl.Order++
			if tt.edit != nil {
				tt.edit(a, &cl)
			}
			c := expect.Value(first(a, s.now))(t)
			expect.Fails(t, expect.Err(a.ClaimAfter(c, s.head.Run, cl)), tt.want, "the claim is made")
			expect.That(t, expect.Err(a.ClaimAfter(c, s.head.Run+1, cl)) != nil, "another run claims")
		})
	}
}

func claimed(t testing.TB) *story {
	s := running(t)
	return s.do(s.claim)
}

func lastClaimed(t testing.TB) *story {
	s := claimed(t)
	return s.do(s.claimAfter(s.finish(done)), s.claimAfter(s.finish(done)))
}
