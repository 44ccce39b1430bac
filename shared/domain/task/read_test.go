package task

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// forIto has Kato stamp for Ito.
func forIto(act *circulation.Act) {
	act.Principal = circulation.Person{User: ito}
	act.Found.Delegation = &circulation.Delegation{Key: "U_KATO#" + ito + "#2026-04-01", Rev: 1}
}

func (s *story) reads(user string) decision {
	id := s.ruled().Asks().ID
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.ReadAfter(id, person(user), s.policy, now)
	}
}

// What a stand-in stamped its principal reads, once, also after the task; nobody else does, and nothing waits for it.
func TestAStandInsStampIsReadAfterwards(t *testing.T) {
	s := waitingPrompt(t)
	asks := desk(1, ito)
	asks.ReadAfter = true
	s.do(s.approvePrompt, s.finishOn(along(1, asks)))
	refused := func(user string) {
		t.Helper()
		_, err := s.try(s.reads(user))
		expect.Is(t, err, aggregate.ErrNotFound)
	}
	refused(ito)
	s.do(s.does(circulation.Stamp, "U_KATO", forIto))
	g, who := s.ruled().gate(), circulation.Person{User: ito}
	expect.That(t, g.Status == aggregate.Approved && len(s.load().ToRead(g, who)) == 1, "%+v", g)
	refused("U_KATO")
	refused(requester)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.End(person(requester), s.policy, now)
	})
	was, status := len(s.audit), s.load().Task.Status
	s.do(s.reads(ito))
	last := s.audit[len(s.audit)-1]
	expect.That(t, len(s.audit) == was+1 && last.Action == AuditProcessReadAfter && last.ActorID == ito &&
		s.load().Task.Status == status && len(s.load().ToRead(g, who)) == 0, "%+v", last)
	change, err := s.try(s.reads(ito))
	expect.That(t, err == nil && change.Empty(), "%+v %v", change, err)
}

// Whoever was away or on leave reads what was stamped by whom the rule asked in their place, each for themselves. Of a
// vacant post nobody reads, nor does who stamped or who asks.
func TestWhoWasAwayReadsWhatOthersStampedInTheirPlace(t *testing.T) {
	instead := func(of circulation.Absent, reads bool) *story {
		s := waitingPrompt(t)
		first := desk(1, ito)
		first.ReadAfter = reads
		first.People[0].Via = of.Via("named by the rule")
		s.do(s.approvePrompt, s.finishOn(along(1, first)))
		_, err := s.try(s.reads(suzuki))
		expect.Is(t, err, aggregate.ErrNotFound, "before the stamp")
		expect.That(t, !s.ruled().gate().OnRoute(suzuki, nil), "they see what they needn't read")
		s.do(s.does(circulation.Stamp, ito))
		return s
	}
	s := instead(circulation.Absent{Away: []string{suzuki}, OnLeave: []string{tanaka, "", requester}}, true)
	for _, user := range []string{suzuki, tanaka} {
		g := s.ruled().gate()
		expect.That(t, g.Status == aggregate.Approved && len(s.load().ToRead(g, circulation.Person{User: user})) == 1 &&
			g.OnRoute(user, nil), "%s: %+v", user, g)
		s.do(s.reads(user))
		last := s.audit[len(s.audit)-1]
		expect.That(t, last.Action == AuditProcessReadAfter && last.ActorID == user && strings.Contains(string(last.Details), `"principal":"`+user+`"`) &&
			len(s.load().ToRead(g, circulation.Person{User: user})) == 0, "%+v", last)
	}
	for _, user := range []string{ito, requester} {
		_, err := s.try(s.reads(user))
		expect.Is(t, err, aggregate.ErrNotFound, user)
	}
	for _, s := range []*story{instead(circulation.Absent{Vacant: true}, true),
		instead(circulation.Absent{Away: []string{suzuki}}, false)} {
		_, err := s.try(s.reads(suzuki))
		expect.Is(t, err, aggregate.ErrNotFound, "nothing to read")
	}
}

// The last stage lets nobody act for its people: nor does a step's own gate under the same rule.
func TestNobodyStampsAStepInsteadOfWhoMustThemselves(t *testing.T) {
	last := desk(1, ito)
	last.NoStandIns, last.ReadAfter = true, true
	s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), last}, func(s *story) []decision {
		return []decision{s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, ito)}
	})
	s.do(s.openGate)
	_, err := s.try(s.does(circulation.Stamp, "U_KATO", forIto))
	expect.That(t, err != nil, "Kato stamps for Ito: %s", s.load().GateOf(s.load().Execution(), 2).Status)
}
