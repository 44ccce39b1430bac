package task

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Whatever the settings switch off, a gate under a rule waits for its people: of steps whose route is known at once or
// looked up, of an attempt, and of a step. The system neither approves it nor acts on it, nor does a person by a click.
func TestNoSwitchLetsTheSystemApproveAGateUnderARule(t *testing.T) {
	for switches := range 16 {
		set := func(s *story) *story {
			s.settings.PromptApprovalRequired = switches&1 != 0
			s.settings.ProcessApprovalRequired = switches&2 != 0
			s.settings.AutoApproveTools = switches&4 != 0
			s.settings.AllowSelfApproval = switches&8 != 0
			return s
		}
		for kind, opened := range map[string]func() *story{
			"steps by id": func() *story {
				s := set(waitingPrompt(t))
				return s.do(s.approvePrompt, s.finishOn(along(1, desk(1, suzuki))))
			},
			"steps looked up": func() *story {
				s := set(waitingPrompt(t))
				rule := along(1).Rule
				s.do(s.approvePrompt, func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					return a.FinishProcessUnder(s.head.Run, s.steps, "", rule, s.settings, now)
				})
				s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					return a.ApproveUnasked(a.Process().ID, now)
				}, aggregate.ErrNotFound)
				return s.do(s.openOn(ProcessKey(1), along(1, desk(1, suzuki))))
			},
			"an attempt": func() *story {
				s := set(askedAgain(t))
				return s.do(s.openOn(AgainKey(1, 2), along(1, desk(1, suzuki))))
			},
			"a step": func() *story {
				return set(waitingOnRoute(t, along(1, desk(1, suzuki))))
			},
		} {
			s := opened()
			id := s.ruled().Asks().ID
			for _, by := range []aggregate.Actor{aggregate.System(), {Type: aggregate.ActorAgent, ID: suzuki}, {}} {
				act := circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: by.ID},
					Principal: circulation.Person{User: by.ID}, Stage: 1, Hash: s.ruled().gate().Asked}
				s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					return a.Act(id, act, by, s.policy, now)
				}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})
			}
			a := s.load()
			waits, is := a.OpenGate()
			expect.That(t, is && waits.ID == id && waits.Terms.ApprovalRequired && a.Asked() != nil, "%s, switches %04b: %+v",
				kind, switches, waits)
			expect.That(t, a.Next(s.now).State != StateExecuteProcess, "%s: a run executes it", kind)
		}
	}
}

// A version that has the very bytes of one that was sent back has none of its stamps, and takes none of its acts.
func TestNoStampIsCarriedToTheSameBytesOfANextVersion(t *testing.T) {
	s := waitingPrompt(t)
	o := along(2, desk(1, suzuki), desk(1, tanaka, ito))
	s.do(s.approvePrompt, s.finishOn(o), s.does(circulation.Stamp, suzuki))
	first := *s.load().Process()
	s.do(s.does(circulation.SendBack, tanaka), s.beginProcess, s.finishOn(o))
	second := s.load().Process()
	expect.Must(t, second.Version == 2 && second.hash() == first.hash() && second.Asked != first.Asked, "%+v", second.Gate)
	expect.That(t, len(second.Acts) == 0 && len(second.Given()) == 0, "%d acts are carried", len(second.Acts))
	s.why(s.does(circulation.Stamp, suzuki, func(act *circulation.Act) { act.Hash = first.Asked }), circulation.WhyHash)
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyTurn)
	act := first.Acts[0]
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Act(first.ID, act, person(suzuki), s.policy, now)
	})
	act.Hand, act.Principal, act.Stage = circulation.Person{User: ito}, circulation.Person{User: ito}, 2
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Act(first.ID, act, person(ito), s.policy, now)
	}, aggregate.ErrDecided{Status: "rejected", By: tanaka, At: *s.load().Processes[0].RejectedAt})
	copied := *second // as if somebody copied the rows of acts
	copied.Acts = first.Acts
	s.rows[copied.Key()] = &copied
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyUnknown)
}

// A gate keeps the rule and revision by which it opened, whatever the rules say later: both are in the entry of its
// opening and of its settlement. What was opened while the rules were others is seen there.
func TestAGateKeepsTheRevisionByWhichItOpened(t *testing.T) {
	s := waitingPrompt(t)
	relaxed := along(1, desk(1, suzuki))
	relaxed.Rule.Revision = 8
	s.do(s.approvePrompt, s.finishOn(relaxed))
	s.settings.Rev, s.settings.RulesRev = s.settings.Rev+2, 10 // changed back, and once more
	s.do(s.does(circulation.Stamp, suzuki), s.start, s.claim)
	for _, e := range s.audit {
		if e.Action == AuditProcessRouted || e.Action == AuditProcessApproved {
			expect.That(t, strings.Contains(string(e.Details), `"revision":8`), "%s says %s", e.Action, e.Details)
		}
	}
	strict := along(2, desk(1, suzuki), desk(1, tanaka))
	strict.Rule.Revision = 10
	s = waitingPrompt(t)
	c, err := s.do(s.approvePrompt).try(s.finishOn(strict))
	expect.NoError(t, err)
	on := slices.ContainsFunc(c.Owned, func(o aggregate.Owned) bool { return o.Key == tenancy.SettingsKey && o.Rev == s.settings.Rev })
	expect.That(t, on, "it doesn't rely on the settings that note the rules: %+v", c.Owned)
}
