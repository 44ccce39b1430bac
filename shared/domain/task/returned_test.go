package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func (s *story) giveBack(id, user string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.GiveBack, id, "宛先を直して", person(user), s.policy, now)
	}
}

// edits makes the next version of what was given back, as the requester.
func (s *story) edits(e Edit) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Edit(a.Returned().Asks().ID, e, person(requester), s.policy, now)
	}
}

func (w *world) givesBack(id string, by aggregate.Actor, p aggregate.Policy) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.GiveBack, id, "直して", by, p, now)
	}
}

// edit is what an asker makes of steps that were given back: of a form what they type in it again.
func (w *world) edit(a *Aggregate, of *Process) Edit {
	if a.Matter() == nil {
		return Edit{Steps: edited(of.Steps)}
	}
	m := pens
	m.Title = rapid.SampledFrom([]string{pens.Title, betterPens.Title}).Draw(w.rt, "title")
	return Edit{Content: m.Title, Matter: &m}
}

// takes reports whether a change of steps takes what one of the askers wrote.
func takes(was, is aggregate.Row) bool {
	w, wrote := was.(*Process)
	p, steps := is.(*Process)
	return wrote && steps && w.unchecked() && (p.Status == aggregate.PendingApproval || p.Status == aggregate.Approved ||
		p.Terms.Rule != nil)
}

// edited returns steps with other arguments.
func edited(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].ToolInput = aggregate.JSON(strings.Replace(string(steps[i].ToolInput), "}", `,"edited":true}`, 1))
	}
	return steps
}

func (s *story) last() aggregate.AuditEntry { return s.audit[len(s.audit)-1] }

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

// refusesEdit says that the last value of the first step does not fit its tool.
func (s *story) refusesEdit(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.RefuseEdit(s.head.Run, []Misfit{{Order: 1, Why: MisfitForm, Limit: "U0"}}, now)
}

// What doesn't fit its tools waits for another edit of the same version: no version is used up, nothing is recorded,
// and what was typed is kept. The edit that fits is recorded once.
func TestAnEditThatDoesNotFitIsEditedAgain(t *testing.T) {
	s := waitingProcess(t)
	first := s.load().Process().ID
	s.nothing(s.refusesEdit)
	s.do(s.giveBack(first, suzuki))
	s.nothing(s.refusesEdit)
	wrong := edited(s.steps)
	s.do(s.edits(Edit{Steps: wrong}), s.refusesEdit)
	a := s.load()
	p := a.Process()
	expect.That(t, a.Returned() == Gated(p) && p.Version == 2 && Hash(p.Steps) == Hash(wrong) &&
		len(a.MisfitsOf(p.ID)) == 1 && a.Status() == StatusReturned && s.head.Noted == StatusReturned &&
		a.Generating() == (Generation{}), "%+v", p)
	expect.That(t, a.Next(s.now).Outcome == outcomeReturned && a.Effects(s.now).Run == nil, "%+v", a.Next(s.now))
	expect.That(t, a.GivenBackBy(p.ID) == &a.Processes[0].Gate && a.ReturnedTo(p.ID)[0].User == requester, "%+v", p)
	s.nothing(s.refusesEdit)
	s.nothing(s.finishProcess)
	s.nothing(s.beginProcess)
	edit := func(by aggregate.Actor, steps ...Step) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Edit(p.ID, Edit{Steps: steps}, by, s.policy, now)
		}
	}
	s.refused(edit(person(suzuki), wrong...), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
	run, right := s.head.Run, edited(wrong)
	s.do(edit(person(requester), right...))
	s.nothing(edit(person(requester), right...))
	s.refused(edit(person(requester), wrong...), aggregate.ErrMoved) // a stale form
	p = s.load().Process()
	expect.That(t, p.Version == 2 && p.Edits == 2 && p.Misfits == nil && s.head.Run == run+1 &&
		s.head.Noted == StatusDrafting, "%+v", p)
	s.steps = right
	s.do(s.finishProcess)
	expect.Is(t, s.entry(AuditProcessEdited).ActorID, requester)
	user, version := s.load().EditorAfter(ProcessKey(1))
	expect.That(t, user == requester && version == 2, "%s, v%d", user, version)
}

// What is given back rests until its asker edits it: no run, no model, no time. The edit is the next version, which
// waits like any other.
func TestWhatIsGivenBackWaitsForItsAsker(t *testing.T) {
	s := waitingProcess(t)
	id, run := s.load().Process().ID, s.head.Run
	s.do(s.giveBack(id, suzuki))
	s.nothing(s.giveBack(id, suzuki))
	a := s.load()
	expect.That(t, s.last().Action == AuditProcessReturned && strings.Contains(string(s.last().Details), "宛先を直して"), "%+v",
		s.last())
	next := a.Next(s.now)
	expect.That(t, a.Returned() == Gated(a.Process()) && next.State == StateFinish && next.Outcome == outcomeReturned &&
		a.Effects(s.now).Run == nil, "%+v", next)
	a.Head.ShownRev = a.Head.Rev
	expect.That(t, a.DueAt(s.now) == nil && s.head.Noted == StatusReturned && s.head.Glance.Detail == "宛先を直して", "%+v",
		s.head)
	s.now = s.now.Add(200 * 24 * time.Hour)
	s.refused(s.expire, aggregate.ErrNotDue)
	s.nothing(s.beginProcess)
	s.refused(s.approveProcess, s.load().Process().Decided())

	s.do(s.edits(Edit{Steps: edited(s.steps)}))
	p := s.load().Process()
	expect.That(t, p.Version == 2 && p.EditedBy == requester && p.Status == aggregate.Generating && s.head.Run == run+1 &&
		s.load().Next(s.now).State == StatePlanProcess, "%+v", p)
	expect.Is(t, s.last().Action, AuditProcessReturned)
	unchecked, before := s.load().Unchecked()
	expect.That(t, unchecked == p && Hash(before) == Hash(s.steps), "%+v", before)
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Edit(id, Edit{Steps: edited(s.steps)}, person(requester), s.policy, now)
	})
	s.steps = edited(s.steps)
	s.do(s.finishProcess)
	taken := s.entry(AuditProcessEdited)
	expect.That(t, taken.ActorID == requester && taken.ResourceID == p.ID &&
		string(taken.Details) == `{"from_version":1,"hash":"`+Hash(s.steps)+`","version":2}`, "%+v", taken)
	s.do(s.approveProcess)
	expect.That(t, s.load().Process().ApprovedHash == Hash(s.steps) && s.head.Noted == StatusRunning, "%+v", s.head)

	s = waitingPrompt(t)
	s.do(s.giveBack(s.load().Prompt().ID, tanaka), s.edits(Edit{Content: "直した方針"}))
	a = s.load()
	expect.That(t, a.Prompt().Content == "直した方針" && a.Prompt().EditedBy == requester && a.WrittenPolicy() == a.Prompt() &&
		a.Next(s.now).State == StateDraftPrompt && s.last().Action == AuditPromptEdited, "%+v", a.Prompt())
	drafted := a.Prompts[0].Content
	expect.That(t, drafted != "" && a.PolicyBeforeEdit() == drafted, "%q", a.PolicyBeforeEdit())
	s.do(s.finishPrompt, s.approvePrompt)
	a = waitingProcess(t).load()
	expect.That(t, a.PolicyBeforeEdit() == "", "nobody edited it: %q", a.PolicyBeforeEdit())
}

// Under a rule the edit goes round again from the first stage, as the next round, and no stamp carries over.
func TestAnEditGoesRoundAnew(t *testing.T) {
	s := onRoute(t)
	s.do(s.does(circulation.Stamp, suzuki), s.does(circulation.GiveBack, tanaka))
	expect.That(t, s.last().Action == AuditProcessReturned && len(s.load().Process().Acts) == 2, "%+v", s.last())
	s.do(s.edits(Edit{Steps: edited(s.steps)}))
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RefuseEdit(s.head.Run, nil, now) })
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		rule := circulation.Rule{ID: "r1", Name: "すべて"}
		return a.FinishProcessUnder(s.head.Run, a.Process().Steps, "", rule, s.settings, now)
	})
	p := s.load().Process()
	expect.That(t, s.load().Unrouted() == Gated(p) && s.load().Generating() == (Generation{}), "%+v", p)
	expect.Is(t, s.entry(AuditProcessEdited).ResourceID, p.ID)
	s.nothing(s.refusesEdit)
	o := along(2, desk(1, suzuki), desk(1, tanaka, ito))
	o.Seen = &aggregate.Seen{}
	s.do(s.openOn(p.Key(), o))
	p = s.load().Process()
	expect.That(t, p.Seen.Round == 2 && len(p.Acts) == 0 && p.Status == aggregate.PendingApproval, "%+v", p)
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyTurn)
}

func TestWhoMayEditWhatAndWhen(t *testing.T) {
	s := waitingProcess(t)
	first := s.load().Process().ID
	edit := func(id string, by aggregate.Actor, steps ...Step) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Edit(id, Edit{Steps: steps}, by, s.policy, now)
		}
	}
	with := edited(s.steps)
	s.refused(edit(first, person(requester), with...), aggregate.ErrMoved) // it waits for others
	s.do(s.giveBack(first, suzuki))
	guest := person(requester)
	guest.Guest = true
	other := person(requester)
	other.Team = "T_OTHER"
	s.refused(edit(first, person(suzuki), with...), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
	s.refused(edit(first, aggregate.System(), with...), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
	s.refused(edit(first, guest, with...), aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest})
	s.refused(edit(first, other, with...), aggregate.ErrNotAllowed{Rule: aggregate.RuleForeign})
	s.refused(edit(s.load().Prompt().ID, person(requester), with...), aggregate.ErrMoved)
	s.refused(edit(aggregate.NewID(), person(requester), with...), aggregate.ErrNotFound)

	swapped := slices.Clone(with)
	swapped[0].Tool = swapped[1].Tool
	moved := slices.Clone(with)
	moved[0], moved[1] = moved[1], moved[0]
	odd := slices.Clone(with)
	odd[0].ToolInput = "{"
	for name, steps := range map[string][]Step{"one more": append(slices.Clone(with), with[0]), "one less": with[:2],
		"none": nil, "another tool": swapped, "moved": moved, "no JSON": odd} {
		_, err := s.try(edit(first, person(requester), steps...))
		field, is := errors.AsType[aggregate.ErrField](err)
		expect.That(t, is && strings.HasPrefix(field.Field, "steps"), "%s: %v", name, err)
	}
	s.do(edit(first, person(requester), with...))
	s.refused(edit(first, person(requester), s.steps...), aggregate.ErrNotLatest{Latest: 2}) // a stale form
	s.do(s.cancel)
	e := s.head.Ended
	s.refused(edit(first, person(requester), s.steps...), aggregate.ErrDecided{Status: "cancelled", By: requester,
		At: e.At, Reason: ReasonByPerson})
}

// The last version can't be given back, and neither can a step or what is asked again.
func TestNothingIsGivenBackThatNobodyCouldMakeAnew(t *testing.T) {
	s := begin(t)
	s.settings.MaxVersions = 1
	s.do(s.extract, s.finishPrompt)
	s.why(s.giveBack(s.load().Prompt().ID, suzuki), circulation.WhyNoVersion)
	expect.That(t, !s.load().MayGiveBack(s.load().Prompt().ID) && !s.load().MayGiveBack("nothing"), "offered")
	s = waitingStep(t)
	s.why(s.giveBack(gateID(s.load()), suzuki), circulation.WhyNoVersion)
	s = onRoute(t)
	s.why(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		act := a.Process().Gate.Acting(circulation.GiveBack, aggregate.Actor{ID: suzuki, Stage: 1}, "")
		return a.Act(a.Process().ID, act, person(suzuki), s.policy, now)
	}, circulation.WhyText)
}

// Whoever asked may withdraw what was given back to them.
func TestWhatWasGivenBackIsWithdrawn(t *testing.T) {
	for _, from := range []func(testing.TB) *story{waitingPrompt, waitingProcess} {
		s := from(t)
		open, _ := s.load().OpenGate()
		s.do(s.giveBack(open.ID, suzuki), s.cancel)
		expect.That(t, s.head.Ended.Reason == ReasonByPerson && s.load().Returned() == nil, "%+v", s.head.Ended)
	}
}

// What is stamped names by whom it was edited, and the steps by which policy they were made.
func TestAStampNamesTheEditorAndThePolicy(t *testing.T) {
	s := waitingProcess(t)
	s.do(s.giveBack(s.load().Process().ID, suzuki), s.edits(Edit{Steps: edited(s.steps)}))
	s.steps = edited(s.steps)
	s.do(s.finishProcess, s.approveProcess)
	a, said := s.load(), string(s.entry(AuditProcessApproved).Details)
	expect.Has(t, said, `"policy":"`+a.Prompt().ID+`"`)
	expect.Has(t, said, `"policy_hash":"`+aggregate.HashOf(a.Prompt().Content)+`"`)
	expect.Has(t, said, `"edited_by":"`+requester+`"`)
}

// So does the stamp on a policy.
func TestAStampNamesTheEditorOfAPolicy(t *testing.T) {
	s := waitingPrompt(t)
	s.do(s.giveBack(s.load().Prompt().ID, suzuki), s.edits(Edit{Content: "別の方針"}))
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishPrompt(s.head.Run, a.WrittenPolicy().Content, s.settings, now)
	}, func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Approve(idOf(a.Prompt()), person(suzuki), s.policy, now)
	})
	expect.Has(t, string(s.entry(AuditPromptApproved).Details), `"edited_by":"`+requester+`"`)
}

// What an asker wrote in place of what was given back is asked about, whatever the settings have become.
func TestWhatAnAskerWroteIsAskedAbout(t *testing.T) {
	s := waitingProcess(t)
	s.do(s.giveBack(s.load().Process().ID, suzuki))
	s.settings.ProcessApprovalRequired = false
	s.steps = edited(s.steps)
	s.do(s.edits(Edit{Steps: s.steps}), s.finishProcess)
	p := s.load().Process()
	_, err := s.try(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.ApproveUnasked(p.ID, now) })
	expect.That(t, err != nil, "version %d, written by %s, waits for nobody", p.Version, p.EditedBy)
}
