package tenancy

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// stampedBy are rules by which one of these people stamps whatever is asked.
func stampedBy(users ...string) *rules.Rules {
	route := rules.Policy{Stages: []rules.Stage{{
		Name: "経理", Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: 1, Empty: rules.EmptyRefuse,
	}}}
	return &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Route: &route},
	}}}
}

func TestRulesAreSavedWithTheSettingsThatNoteThem(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	now := time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)
	settings := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), UpdatedBy: "U0"}
	none := RulesRow{TenantID: "01T"}

	is, c, err := none.Save(stampedBy("U2"), 0, settings, nil, "01NEW", by, now)
	expect.NoError(t, err)
	noted := c.Writes[2].Row.(SettingsRow)
	expect.That(t, is.Rev == 1 && noted.Rev == 5 && noted.RulesRev == 1 && noted.UpdatedBy == "U0" && noted.ID == "01S",
		"row %+v, settings %+v", is, noted)
	_, key, _ := c.Writes[1].Row.Place()
	expect.That(t, key == "RULES#000001" && c.Writes[1].Over == 0, "kept as %s", key)
	expect.Same(t, []string{`rules.updated {"added":["すべて"],"floor":{"stamps":1},"hash":"` +
		aggregate.HashOf(encoded(stampedBy("U2"))) + `","last":{},"revision":1,"rules":["すべて"]}`}, details(c))

	same := stampedBy("U2")
	same.Rev = 1
	_, c, err = is.Save(same, 1, noted, nil, "", by, now)
	expect.That(t, err == nil && len(c.Writes) == 0, "the same again: %v, %v", c, err)
	_, _, err = is.Save(stampedBy("U3"), 0, noted, nil, "", by, now)
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "over another revision: %v", err)
	_, _, err = is.Save(stampedBy(), 1, noted, nil, "", by, now)
	expect.That(t, fieldOf(err) == "rules[0].route.stages[0].who.people", "nobody: %v", err)
	_, _, err = is.Save(nil, 1, noted, nil, "", aggregate.System(), now)
	expect.That(t, fieldOf(err) == "updated_by", "by the system: %v", err)

	is, c, err = is.Save(nil, 1, noted, nil, "", by, now)
	expect.NoError(t, err)
	noted = c.Writes[2].Row.(SettingsRow)
	expect.That(t, is.Rev == 2 && is.Config() == nil && noted.Rev == 6 && noted.RulesRev == 0 && noted.Settings().Ruled, "ended: %+v, %+v", is, noted)
	expect.That(t, slices.Equal(details(c), []string{
		`rules.updated {"floor":null,"last":null,"removed":["すべて"],"revision":2}`}), "ended: %s", details(c))
}

func TestSavingSettingsKeepsWhatTheyNoteOfRules(t *testing.T) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}
	was := SettingsRow{ID: "01S", TenantID: "01T", Rev: 4, Config: DefaultSettings(), RulesRev: 3, Ruled: true}
	x := was.Settings()
	x.MaxVersions, x.RulesRev = 9, 0
	is, c, err := x.Save(was, Tenant{}, "", by, time.Now())
	expect.That(t, err == nil && is.RulesRev == 3 && c.Writes[0].Row.(SettingsRow).RulesRev == 3 &&
		c.Writes[0].Row.(SettingsRow).Ruled, "%+v, %v", is, err)
}
