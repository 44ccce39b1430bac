package task

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func TestASecondClickChangesNothingAndSaysWhoDecided(t *testing.T) {
	for _, tt := range []struct {
		name   string
		from   func(testing.TB) *story
		first  func(*story) decision
		status string
	}{
		{"approved prompt", waitingPrompt, func(s *story) decision { return s.approvePrompt }, "approved"},
		{"rejected prompt", waitingPrompt, func(s *story) decision { return s.rejectPrompt }, "rejected"},
		{"approved process", waitingProcess, func(s *story) decision { return s.approveProcess }, "approved"},
		{"rejected process", waitingProcess, func(s *story) decision { return s.rejectProcess }, "rejected"},
		{"approved step", waitingStep, func(s *story) decision { return s.approveStep }, "approved"},
		{"rejected step", waitingStep, func(s *story) decision { return s.rejectStep }, "rejected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			open, _ := s.load().OpenGate()
			at := s.now
			s.do(tt.first(s))
			for button, press := range buttons {
				same := button == strings.TrimSuffix(tt.status, "ed") || button == strings.TrimSuffix(tt.status, "d")
				for _, by := range []aggregate.Actor{person(suzuki), person(tanaka), person("U_OUTSIDER")} {
					if same && by.ID == suzuki {
						s.nothing(press(s, open.ID, by))
						continue
					}
					s.refused(press(s, open.ID, by), aggregate.ErrDecided{Status: tt.status, By: suzuki, At: at})
				}
			}
		})
	}
}

// buttons are the buttons of a card that asks.
var buttons = map[string]func(*story, string, aggregate.Actor) decision{
	"approve": func(s *story, id string, by aggregate.Actor) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Approve(id, by, s.policy, now) }
	},
	"reject": func(s *story, id string, by aggregate.Actor) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(id, "短く", by, s.policy, now)
		}
	},
}

func TestAButtonOfAnOldVersionSaysWhatBecameOfIt(t *testing.T) {
	s := waitingPrompt(t)
	old, at := s.load().Prompt().ID, s.now
	s.do(s.rejectPrompt, s.beginPrompt, s.finishPrompt)
	s.refused(buttons["approve"](s, old, person(tanaka)), aggregate.ErrDecided{Status: "rejected", By: suzuki, At: at})
	s.refused(buttons["approve"](s, "01JS0000000000000000000000", person(tanaka)), aggregate.ErrNotFound)

	a := s.load() // the old version still waits, in rows that no commit produces
	stale := *a.Prompts[0]
	stale.Status, stale.Verdict = aggregate.PendingApproval, aggregate.Verdict{}
	a.Add(&stale)
	expect.Fails(t, expect.Err(a.Approve(old, person(tanaka), s.policy, s.now)), aggregate.ErrNotLatest{Latest: 2})
}

func TestALateClickSaysThatTheTaskIsOver(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(*story)
		by     string
		reason aggregate.Reason
	}{
		{"cancelled by a person", func(s *story) { s.do(s.cancel) }, requester, ReasonByPerson},
		{"expired", func(s *story) { s.now = s.now.Add(168 * time.Hour); s.do(s.expire) }, "", ReasonExpired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := waitingProcess(t)
			id := s.load().Process().ID
			tt.end(s)
			want := aggregate.ErrDecided{Status: "cancelled", By: tt.by, At: s.head.ChangedAt, Reason: tt.reason}
			for _, press := range buttons {
				s.refused(press(s, id, person(suzuki)), want)
			}
			s.refused(s.retryGeneration, want)
		})
	}
}

func TestTheFifthRejectionCancelsTheTask(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		from                  func(testing.TB) *story
		reject, begin, finish func(*story) decision
		action                aggregate.Action
	}{
		{"prompt", waitingPrompt, func(s *story) decision { return s.rejectPrompt },
			func(s *story) decision { return s.beginPrompt },
			func(s *story) decision { return s.finishPrompt }, AuditPromptRejected},
		{"process", waitingProcess, func(s *story) decision { return s.rejectProcess },
			func(s *story) decision { return s.beginProcess },
			func(s *story) decision { return s.finishProcess }, AuditProcessRejected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			for range 4 {
				s.do(tt.reject(s))
				expect.Must(t, s.head.Ended == nil, "ended early: %+v", s.head.Ended)
				s.do(tt.begin(s), tt.finish(s))
			}
			s.do(tt.reject(s))
			expect.Same(t, &Ended{As: TaskCancelled, At: s.head.ChangedAt, Reason: ReasonMaxVersions}, s.head.Ended)
			expect.Is(t, s.load().Task.Status, TaskCancelled, "the task")
			last := s.audit[len(s.audit)-2:]
			expect.That(t, last[0].Action == tt.action && last[0].ActorID == suzuki && last[1].Action == AuditTaskCancelled &&
				last[1].ActorType == aggregate.ActorSystem, "recorded %+v", last)
			expect.Is(t, last[1].Details, `{"max_versions":5,"reason":"max_versions"}`, "details")
		})
	}
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
	s.refused(buttons["approve"](s, p.ID, person(suzuki)), aggregate.ErrDecided{Status: "approved", At: *p.ApprovedAt})
	last := s.audit[len(s.audit)-1]
	expect.That(t, last.Action == AuditPromptApproved && last.ActorType == aggregate.ActorSystem && last.ActorID == "",
		"recorded %+v", last)
}

func (s *story) giveBack(id, user string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.SendBack, id, "宛先を直して", person(user), s.policy, now)
	}
}

// fills makes the next version of the form that was given back, as the requester.
func (s *story) fills(e Refill) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Refill(a.Returned().ID, e, person(requester), s.policy, now)
	}
}

func (w *world) givesBack(id string, by aggregate.Actor, p aggregate.Policy) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.SendBack, id, "直して", by, p, now)
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
