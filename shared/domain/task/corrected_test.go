package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

const (
	editedAt = "1776675700.000000"
	newText  = "人事部の残業をまとめて"
)

func corrects(text, at string, deleted bool, by string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Correct(text, at, deleted, person(by), now)
	}
}

func (s *story) redraft(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Redraft(person(requester), s.policy, now)
}

// An edit counts at once while nothing is drafted, waits for its author while no step may begin, and is too late then.
// The same edit, an older one, one of somebody else and one that leaves the text change nothing.
func TestAnEditCountsOrIsSaidNotTo(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		t.Run(state.name, func(t *testing.T) {
			before := s.load()
			s.nothing(corrects(before.Request.Text, editedAt, false, requester))
			s.refused(corrects(newText, editedAt, false, suzuki), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
			s.do(corrects(newText, editedAt, false, requester))
			a := s.load()
			late, unread := before.Head.Ended != nil || before.Execution() != nil, before.Task == nil
			switch {
			case late:
				expect.That(t, a.Corrected() != nil && a.Corrected().Late && !a.Redraftable(), "%+v", a.Correction)
			case unread:
				expect.That(t, a.Corrected() == nil && a.Request.Text == newText && a.Head.Run == before.Head.Run+1 &&
					a.Head.Parked == nil, "%q by run %d: %+v", a.Request.Text, a.Head.Run, a.Correction)
			default:
				_, waits := a.OpenGate()
				expect.That(t, a.Corrected() != nil && !a.Corrected().Late && a.Redraftable() == waits &&
					a.Request.Text == before.Request.Text, "%+v", a.Correction)
			}
			s.nothing(corrects(newText, editedAt, false, requester))
			s.nothing(corrects("以前の文", "1776675600.000000", false, requester))
			if !late && !unread {
				s.do(corrects(before.Request.Text, "1776675800.000000", false, requester))
				expect.That(t, s.load().Corrected() == nil && !s.load().Redraftable(), "the old text again is a change")
			}
		})
	}
}

// The requester has the new text drafted anew: what waits closes with its stamps, and the first layer reads again.
func TestTheNewTextIsDraftedAnew(t *testing.T) {
	for name, reach := range map[string]func(testing.TB) *story{"a policy waits": waitingPrompt, "steps wait": waitingProcess} {
		t.Run(name, func(t *testing.T) {
			s := reach(t)
			s.refused(s.redraft, ErrNothingToRetry)
			s.do(corrects(newText, editedAt, false, requester))
			s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Redraft(person(suzuki), s.policy, now)
			}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester})
			open, _ := s.load().OpenGate()
			s.do(s.redraft)
			s.nothing(s.redraft) // a second click
			a := s.load()
			_, waits := a.OpenGate()
			expect.That(t, !waits && a.GateWith(open.ID).Status == aggregate.Cancelled && a.Request.Text == newText &&
				a.Next(s.now).State == StateExtractTask && a.Layer() == L1, "%+v", a.Next(s.now))
			expect.That(t, a.Undecided(open.ID) != nil, "the closed gate can be decided")
			s.do(s.extract)
			a = s.load()
			expect.That(t, a.Prompt().Version == 2 && a.Prompt().Status == aggregate.Generating && a.Corrected() == nil &&
				a.Newest(CardPrompt, a.Prompt().Key()) && a.Next(s.now).State == StateDraftPrompt, "%+v", a.Prompt())
			s.do(s.finishPrompt, s.approvePrompt)
			if s.load().Process().Status != aggregate.Generating { // steps were planned before
				s.do(s.beginProcess)
			}
			s.do(s.finishProcess, s.approveProcess)
			a = s.load()
			expect.That(t, a.Execution() != nil && a.Execution().ProcessVersion == a.Process().Version, "%+v", a.Execution())
			s.do(corrects("別の文", "1776675900.000000", false, requester))
			expect.That(t, s.load().Corrected().Late, "an edit after the decision counts")
		})
	}
}

// A deletion withdraws what no execution has begun, and never what one has.
func TestADeletionWithdrawsWhatWaits(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		t.Run(state.name, func(t *testing.T) {
			before := s.load()
			s.do(corrects("", editedAt, true, requester))
			a := s.load()
			if before.Head.Ended != nil || before.Execution() != nil {
				expect.That(t, a.Corrected() != nil && a.Corrected().Late, "%+v", a.Correction)
				if before.Head.Ended != nil {
					expect.Same(t, before.Head.Ended, a.Head.Ended)
				}
			} else {
				_, waits := a.OpenGate()
				expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == ReasonDeleted && a.Head.Ended.By == requester && !waits,
					"%+v", a.Head.Ended)
			}
			s.nothing(corrects("", editedAt, true, requester))
			s.nothing(corrects(newText, "1776675900.000000", false, requester)) // what comes late
		})
	}
}
