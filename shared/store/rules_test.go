package store

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func testRules(t *testing.T, st *taskStore) {
	owner := expect.Value(st.Bootstrap(t.Context(), workspace("T0RULES"), at()))(t)
	x, rev, err := st.Rules(t.Context(), owner.ID)
	expect.That(t, err == nil && x == nil && rev == 0, "before any: %v, %d, %v", x, rev, err)

	save := func(stamps, over int) (int, error) {
		_, rev, err := st.SaveRules(t.Context(), owner.ID,
			&rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: stamps}}, over, nil, approver(), at().Add(time.Hour))
		return rev, err
	}
	rev, err = save(1, 0)
	expect.That(t, err == nil && rev == 1, "saved as %d: %v", rev, err)
	_, err = save(2, 0)
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "over what was there: %v", err)
	rev, err = save(2, 1)
	expect.That(t, err == nil && rev == 2, "saved as %d: %v", rev, err)

	x, rev, err = st.Rules(t.Context(), owner.ID)
	expect.That(t, err == nil && rev == 2 && x.Rev == 2 && x.Floor.Stamps == 2, "%+v, %d, %v", x, rev, err)
	s := expect.Value(st.Settings(t.Context(), owner.ID))(t)
	expect.That(t, s.RulesRev == 2, "the settings note %d", s.RulesRev)
	s.MaxVersions = 9
	s = expect.Value(st.SaveSettings(t.Context(), owner.ID, s, approver(), at()))(t)
	expect.That(t, s.RulesRev == 2, "saved settings note %d", s.RulesRev)

	kept := expect.Value(st.RulesHistory(t.Context(), owner.ID, 5))(t)
	expect.That(t, len(kept) == 2 && kept[0].Rev == 2 && kept[1].Rules.Floor.Stamps == 1, "kept %+v", kept)
	expect.That(t, len(auditOfTenant(t, st, owner.ID)) == 3, "entries")

	placed := func(channels ...string) *rules.Rules {
		return &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
			ID: "01KS00000000000000000000AA", Name: "there", When: rules.Conditions{Places: &rules.Places{Channels: channels}},
			Outcome: rules.Outcome{Refuse: "no"},
		}}}
	}
	_, _, err = st.SaveRules(t.Context(), owner.ID, placed("C1"), 2, nil, approver(), at())
	expect.NoError(t, err)
	expect.NoError(t, st.MoveChannel(t.Context(), owner.ID, "C1", tenancy.Moved{To: "C2", At: "1612206778.000000"}))
	for former, saved := range [][]string{{"C2"}, {"C1"}, {"C1", "C2"}} {
		x, rev, err = st.Rules(t.Context(), owner.ID)
		expect.NoError(t, err)
		expect.Same(t, x.Rules[0].When.Places.Channels, []string{"C2"})
		for _, id := range []string{"C1", "C2"} {
			expect.Is(t, x.At(id, false).Channel, "C2", id)
		}
		_, rev, err = st.SaveRules(t.Context(), owner.ID, placed(saved...), rev, nil, approver(), at())
		expect.That(t, err == nil && rev == 3, "%d: the same channels are saved as %d, %v", former, rev, err)
	}
}
