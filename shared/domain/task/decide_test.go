package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestASecondClickChangesNothingAndSaysWhoDecided(t *testing.T) {
	for name, from := range map[string]func(testing.TB) *story{"prompt": waitingPrompt, "process": waitingProcess,
		"step": waitingStep} {
		for first, status := range map[string]string{"approve": "approved", "reject": "rejected"} {
			t.Run(name+" "+status, func(t *testing.T) {
				s := from(t)
				open, _ := s.load().OpenGate()
				at := s.now
				s.do(s.on(open.ID, buttons[first], person(suzuki)))
				for button, press := range buttons {
					for _, by := range []aggregate.Actor{person(suzuki), person(tanaka), person("U_OUTSIDER")} {
						if button == first && by.ID == suzuki {
							s.nothing(s.on(open.ID, press, by))
							continue
						}
						s.refused(s.on(open.ID, press, by), aggregate.ErrDecided{Status: status, By: suzuki, At: at})
					}
				}
			})
		}
	}
}

// buttons are the buttons of a card that asks.
var buttons = map[string]act{"approve": approve, "reject": rejecting("短く")}

func TestAButtonOfAnOldVersionSaysWhatBecameOfIt(t *testing.T) {
	s := waitingPrompt(t)
	old, at := s.load().Prompt().ID, s.now
	s.do(s.rejectPrompt, s.beginPrompt, s.finishPrompt)
	s.refused(s.on(old, approve, person(tanaka)), aggregate.ErrDecided{Status: "rejected", By: suzuki, At: at})
	s.refused(s.on("01JS0000000000000000000000", approve, person(tanaka)), aggregate.ErrNotFound)

	a := s.load() // the old version still waits, in rows that no commit produces
	stale := *a.Prompts[0]
	stale.Status, stale.Verdict = aggregate.PendingApproval, aggregate.Verdict{}
	a.Add(&stale)
	expect.Fails(t, expect.Err(approve(a, old, person(tanaka), s.policy, s.now)), aggregate.ErrNotLatest{Latest: 2})
}

func TestTheLastRejectionCancelsTheTask(t *testing.T) {
	s := begin(t)
	s.settings.MaxVersions = 2
	s.do(s.extract, s.finishPrompt, s.rejectPrompt)
	expect.Must(t, s.head.Ended == nil, "ended early: %+v", s.head.Ended)
	s.do(s.beginPrompt, s.finishPrompt, s.rejectPrompt)
	expect.Same(t, &Ended{As: TaskCancelled, At: s.head.ChangedAt, Reason: ReasonMaxVersions}, s.head.Ended)
	last := s.audit[len(s.audit)-2:]
	expect.That(t, last[0].Action == AuditPromptRejected && last[0].ActorID == suzuki &&
		last[1].Action == AuditTaskCancelled && last[1].ActorType == aggregate.ActorSystem &&
		last[1].Details == `{"max_versions":2,"reason":"max_versions"}`, "recorded %+v", last)
}

func TestADecisionRecordsSinceWhenItWasAskedFor(t *testing.T) {
	s := waitingPrompt(t)
	asked := aggregate.TimeText(s.head.ChangedAt)
	s.now = s.now.Add(42 * time.Minute)
	s.do(s.approves(person(suzuki)))
	if last := s.audit[len(s.audit)-1]; last.Details != aggregate.JSON(`{"asked_at":"`+asked+`","hash":"`+
		s.load().Prompt().hash()+`","version":1}`) {
		t.Errorf("details %s, asked at %s", last.Details, asked)
	}
}

// The arguments of a write are in a row that can be changed. Their hash is in an audit entry, which is sealed.
func TestTheArgumentsOfWritesAreInTheAuditLog(t *testing.T) {
	for _, action := range []aggregate.Action{AuditExecutionCancelled, AuditExecutionFailed} {
		s := checked(t)
		s.do(s.openGate, s.approveStep, s.claim)
		row := aggregate.Last(s.load().Steps)
		if action == AuditExecutionCancelled {
			s.do(s.cancel)
		} else {
			s.do(s.finish(Outcome{Status: StepUnknown, Reason: ReasonToolUnknown}), s.failAs(ReasonToolUnknown, ""))
		}
		want := `"writes":{"` + row.StepID + `":"` + aggregate.HashOf(string(row.Arguments.JSON)) + `"}`
		ended := map[aggregate.Action]string{AuditExecutionCancelled: "running", AuditExecutionFailed: "unknown"}[action]
		if !slices.ContainsFunc(s.audit, func(x aggregate.AuditEntry) bool {
			return x.Action == action && row.Access == aggregate.Write && strings.Contains(string(x.Details), want) &&
				strings.Contains(string(x.Details), `"ends":{"`+ended+`":["`+row.StepID+`"]}`)
		}) {
			t.Errorf("%s: %+v", action, s.audit)
		}
	}
}

func TestTheSystemStampsOnlyWhatAsksNobody(t *testing.T) {
	s := waitingPrompt(t)
	s.settings.PromptApprovalRequired = false // too late for an open gate
	s.refused(s.approveAsSystem, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})

	s = begin(t)
	s.settings.PromptApprovalRequired = false
	s.do(s.extract, s.finishPrompt)
	s.settings.PromptApprovalRequired = true // too late as well: the open gate still asks nobody
	s.do(s.approveAsSystem)
	p := s.load().Prompt()
	expect.That(t, p.Status == aggregate.Approved && p.ApprovedBy == "" && p.ApprovedAt != nil, "stamped %+v", p.Verdict)
	s.nothing(s.approveAsSystem)
	s.refused(s.on(p.ID, approve, person(suzuki)), aggregate.ErrDecided{Status: "approved", At: *p.ApprovedAt})
	last := s.audit[len(s.audit)-1]
	expect.That(t, last.Action == AuditPromptApproved && last.ActorType == aggregate.ActorSystem && last.ActorID == "",
		"recorded %+v", last)
}

func (s *story) giveBack(id, user string) decision {
	return s.on(id, rejecting("宛先を直して"), person(user))
}

// fills makes the next version of the form that was given back, as the requester.
func (s *story) fills(e Refill) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Refill(a.Returned().ID, e, person(requester), s.policy, now)
	}
}

// refill is what an asker types in a form again that was given back.
func (w *world) refill() Refill {
	m := pens
	m.Title = rapid.SampledFrom([]string{pens.Title, betterPens.Title}).Draw(w.rt, "title")
	return Refill{Content: m.Title, Matter: &m}
}

// entry returns the only entry of an action.
func (s *story) entry(of aggregate.Action) (found aggregate.AuditEntry) {
	for _, e := range s.audit {
		if e.Action == of {
			expect.Is(s.t, found.Action, "")
			found = e
		}
	}
	return found
}

// Who rejected something, or picked another draft, asks for nothing.
func TestWhoRejectsIsNoAsker(t *testing.T) {
	s := contested(t)
	s.do(s.pick(person(suzuki)), s.approvePrompt, s.finishProcess)
	s.do(s.giveBack(s.load().Process().ID, tanaka), s.beginProcess, s.finishProcess)
	expect.Is(t, s.load().Process().Version, 2)
	expect.Same(t, s.load().Askers(), []string{requester})
}

// people are all who may act, with and without permission.
var people = []aggregate.Actor{
	person(requester), person(suzuki), person(tanaka), person("U_OUTSIDER"),
	{Type: aggregate.ActorUser, ID: suzuki, Team: "T_OTHER", Member: true},
	{Type: aggregate.ActorUser, ID: tanaka, Team: team, Guest: true, Member: true},
}

var policies = []aggregate.Policy{
	{Team: team, Mode: aggregate.ApproversList, Approvers: []string{requester, suzuki, tanaka}, AllowSelf: true},
	{Team: team, Mode: aggregate.ApproversList, Approvers: []string{requester, suzuki}},
	{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true},
	{Team: team, Mode: aggregate.ApproversList, AllowSelf: true},
}

// click lets any person press any button that was ever shown.
func (w *world) click() {
	by := rapid.SampledFrom(people).Draw(w.rt, "person")
	p := rapid.SampledFrom(policies).Draw(w.rt, "policy")
	a := w.load()
	type button struct {
		name   string
		decide decision
	}
	buttons := []button{
		{"retry generation", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryGeneration(by, p, now)
		}},
	}
	add := func(name string, d decision) { buttons = append(buttons, button{name, d}) }
	of := func(name, id string, do act) { add(name, on(id, do, by, p)) }
	for _, r := range a.Prompts {
		of("reject prompt", r.ID, rejecting("短く"))
		add("pick another draft", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.PickDraft(r.ID, rapid.SampledFrom([]string{"a", "b"}).Draw(w.rt, "team"), "方針", "別の案", by, p, now)
		})
		of("approve prompt", r.ID, approve)
	}
	for _, r := range a.Processes {
		of("reject process", r.ID, rejecting("短く"))
		add("refill", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(r.ID, w.refill(), by, p, now)
		})
		of("approve process", r.ID, approve)
	}
	for _, r := range a.Gates {
		of("reject step", r.ID, rejecting("宛先"))
		of("approve step", r.ID, approve)
	}
	for _, r := range a.Executions {
		of("retry execution", r.ID, (*Aggregate).RetryExecution)
		of("confirm execution", r.ID, (*Aggregate).Confirm)
	}
	if rapid.IntRange(0, 4).Draw(w.rt, "withdraw") == 4 { // rarely, because it ends the story
		add("cancel", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.End(by, p, now) })
		for _, r := range a.Executions {
			of("cancel execution", r.ID, (*Aggregate).CancelExecution)
		}
	}
	b := rapid.SampledFrom(buttons).Draw(w.rt, "button")
	_, err := w.decide("person: "+b.name, b.decide)
	w.answered(a, b.name, by, err)
}

// stamp lets a person with permission press the button that everybody waits for.
func (w *world) stamp() {
	by := rapid.SampledFrom([]aggregate.Actor{person(suzuki), person(tanaka)}).Draw(w.rt, "approver")
	a := w.load()
	if a.Head.Ended != nil && a.Execution() != nil {
		w.decide("person: retry execution", on(a.Execution().ID, (*Aggregate).RetryExecution, by, policies[0]))
		return
	}
	if a.Head.Parked != nil {
		w.decide("person: retry generation", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryGeneration(by, policies[0], now)
		})
		return
	}
	if row := a.Returned(); row != nil {
		e := w.refill()
		w.decide("person: refill", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(row.ID, e, person(requester), policies[0], now)
		})
		return
	}
	if open, waits := a.OpenGate(); waits {
		w.decide("person: approve", on(open.ID, approve, by, policies[0]))
	}
}

// answered asserts that a late click gets the correct decider and time.
func (w *world) answered(a *Aggregate, name string, by aggregate.Actor, err error) {
	var d aggregate.ErrDecided
	if !errors.As(err, &d) {
		return
	}
	for _, r := range w.load().Rows() {
		v := aggregate.Verdict{}
		switch r := r.(type) {
		case *Prompt:
			v = r.Verdict
		case *Process:
			v = r.Verdict
		case *StepGate:
			v = r.Verdict
		}
		if v.ApprovedAt != nil && d.Status == string(aggregate.Approved) && v.ApprovedBy == d.By && v.ApprovedAt.Equal(d.At) {
			return
		}
		if v.RejectedAt != nil && d.Status == string(aggregate.Rejected) && v.RejectedBy == d.By && v.RejectedAt.Equal(d.At) {
			return
		}
	}
	for _, e := range w.load().Executions {
		if d.Status == "retried" && e.RetriedBy == d.By && e.CreatedAt.Equal(d.At) {
			return
		}
	}
	for _, im := range w.images { // a retry may have undone an end meanwhile
		if r := im.head.Retried; r != nil && d.Status == "retried" && r.By == d.By && r.At.Equal(d.At) {
			return
		}
		if e := im.head.Ended; e != nil && d.Status == string(e.As) && e.By == d.By && e.At.Equal(d.At) {
			return
		}
	}
	w.rt.Fatalf("%s by %s: told %v, which nobody did", name, by.ID, d)
}

// sweep makes the decisions that depend only on time.
func (w *world) sweep() {
	w.decide("sweeper: expire", (*Aggregate).Expire)
	w.decide("sweeper: settle", (*Aggregate).RecordCrashedCalls)
	w.decide("sweeper: over limit", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if !a.OverLimit(now) {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.FailExecution(a.Head.Run, ReasonTimeout, fmt.Sprint(a.Execution().Terms.L4TimeoutSeconds), now)
	})
	if rapid.IntRange(0, 3).Draw(w.rt, "somebody left") == 3 {
		w.decide("sweeper: look again", (*Aggregate).LookAgain)
	}
	w.decide("sweeper: lost", (*Aggregate).loseContest)
	w.decide("sweeper: stuck", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if !a.Stuck(now) {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.RestartRun(a.Head.Run, now)
	})
}
