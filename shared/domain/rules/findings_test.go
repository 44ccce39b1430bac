package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// finding is a rule in a company, and what is found about it.
type finding struct {
	d    *company
	rule rules.Rule
	want []rules.Finding
}

func findEach(t *testing.T, table map[string]finding) {
	t.Helper()
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			all := of(c.rule).Findings(c.d, today, next)
			about := slices.DeleteFunc(all, func(f rules.Finding) bool { return f.Rule != c.rule.ID })
			expect.Same(t, about, c.want, cmpopts.EquateEmpty())
		})
	}
}

func found(k rules.FindingKind, stage int, from string) rules.Finding {
	return rules.Finding{Kind: k, Rule: id(2), Stage: stage, From: from}
}

// staffed is a company that changed.
func staffed(change func(*company)) *company {
	c := &company{org: "v1", group: []string{"A", "B"}, holders: map[string][]string{"": {"D"}}}
	if change != nil {
		change(c)
	}
	return c
}

// Stages that find nobody today, or from the next day on which the organisation changes.
func TestVacantStagesAreFound(t *testing.T) {
	findEach(t, map[string]finding{
		"all is well": {
			staffed(nil), rule(2, writing(), group(2, rules.EmptyUp), head(rules.EmptyUp), manager(1, rules.EmptyUp)), nil,
		},
		"a group has too few": {
			staffed(func(c *company) { c.group = []string{"A"} }),
			rule(2, writing(), manager(1, rules.EmptyUp), group(2, rules.EmptyUp)),
			[]rules.Finding{found(rules.FindingVacant, 2, today)},
		},
		"a group is empty": {
			staffed(func(c *company) { c.group = nil }), rule(2, writing(), group(0, rules.EmptySkip)),
			[]rules.Finding{found(rules.FindingVacant, 1, today)},
		},
		"vacant from April": {
			staffed(func(c *company) { c.holders = map[string][]string{today: {"D"}} }),
			rule(2, writing(), head(rules.EmptyUp)), []rules.Finding{found(rules.FindingVacant, 1, next)},
		},
		"two accounts of one person": {
			staffed(func(c *company) { c.accounts = map[string]string{"A": "p1", "B": "p1"} }),
			rule(2, writing(), group(2, rules.EmptyUp)), []rules.Finding{found(rules.FindingVacant, 1, today)},
		},
		"as many as can be": {
			staffed(func(c *company) { c.group = many("U%d", 50) }), rule(2, writing(), group(1, rules.EmptyUp)), nil,
		},
		"a post of one department": {
			staffed(func(c *company) { c.only = map[string]string{"部長": "sales"} }),
			rule(2, writing(), stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}}, 1, rules.EmptyUp)),
			[]rules.Finding{{Kind: rules.FindingElsewhere, Rule: id(2), Stage: 1, Who: "部長 (営業部)"}},
		},
		"and with its name": {
			staffed(func(c *company) { c.only = map[string]string{"部長": "sales"} }), rule(2, writing(), head(rules.EmptyUp)), nil,
		},
		"too many": {
			staffed(func(c *company) { c.group = many("U%d", 51) }), rule(2, writing(), group(1, rules.EmptyUp)),
			[]rules.Finding{found(rules.FindingMany, 1, today)},
		},
		"a contractor alone": {
			staffed(func(c *company) { c.standing = map[string]rules.Employment{"D": rules.EmploymentOther} }),
			rule(2, writing(), head(rules.EmptyUp)), []rules.Finding{found(rules.FindingVacant, 1, today)},
		},
	})
}

func TestWhatCanNeverBeMetIsFound(t *testing.T) {
	ofSales := rules.Conditions{Requester: &rules.Requester{Departments: []string{"sales"}}}
	findEach(t, map[string]finding{
		"a department, no organisation": {
			&company{group: []string{"A", "B"}}, rule(2, ofSales, group(1, rules.EmptyUp)),
			[]rules.Finding{found(rules.FindingUnorganised, 0, "")},
		},
		"a manager, no organisation": {
			&company{}, rule(2, writing(), manager(1, rules.EmptyUp)),
			[]rules.Finding{found(rules.FindingUnorganised, 1, "")},
		},
		"a position, no organisation": {
			&company{}, rule(2, writing(), head(rules.EmptyUp)), []rules.Finding{found(rules.FindingUnorganised, 1, "")},
		},
		"only the channel may be left": {
			staffed(nil), rule(2, writing(), group(1, rules.EmptySkip), channel()),
			[]rules.Finding{found(rules.FindingChannelOnly, 0, "")},
		},
		"another stage always remains": {
			staffed(nil), rule(2, writing(), group(1, rules.EmptySkip), head(rules.EmptyRefuse), channel()), nil,
		},
		"reading asks the channel alone": {staffed(nil), rule(2, only(read), channel()), nil},
	})
}

// Stages that find the same people are too few for different hands, unless who stands above is asked.
func TestStagesThatFindTheSamePeopleAreFound(t *testing.T) {
	alone := func(c *company) { c.group = []string{"D"} }
	findEach(t, map[string]finding{
		"the same one": {
			staffed(alone), rule(2, writing(), group(1, rules.EmptyRefuse), head(rules.EmptyRefuse)),
			[]rules.Finding{found(rules.FindingOverlap, 0, today)},
		},
		"from April": {
			staffed(func(c *company) { c.group, c.holders = []string{"D"}, map[string][]string{today: {"E"}, next: {"D"}} }),
			rule(2, writing(), group(1, rules.EmptyRefuse), head(rules.EmptyRefuse)),
			[]rules.Finding{found(rules.FindingOverlap, 0, next)},
		},
		"who stands above is asked": {staffed(alone), rule(2, writing(), group(1, rules.EmptyRefuse), head(rules.EmptyUp)), nil},
		"another one":               {staffed(nil), rule(2, writing(), group(1, rules.EmptyRefuse), head(rules.EmptyRefuse)), nil},
	})
}

// Somebody who left is named, though others of the stage remain.
func TestSomebodyWhoMayNotStampIsFound(t *testing.T) {
	d := &company{standing: map[string]rules.Employment{"U2": rules.EmploymentNone}}
	r := of(rule(1, writing(), people(1, rules.EmptyUp, "U1", "U2")))
	gone := rules.Finding{Kind: rules.FindingGone, Rule: id(1), Stage: 1, From: today, Who: "U2"}
	expect.Same(t, r.Findings(d, today, ""), []rules.Finding{gone})
	r.Last.Writes.Route = policy(0, people(2, rules.EmptyUp, "U1", "U2"))
	vacant := rules.Finding{Kind: rules.FindingVacant, Rule: rules.LastID, Stage: 1, From: today}
	expect.Same(t, r.Findings(d, today, "")[2], vacant)
}

// A post or department that the organisation has on no day is named once, whatever the day, by the stage or the
// condition that names it.
func TestWhatTheOrganisationHasOnNoDayIsFound(t *testing.T) {
	d := &company{org: "v1", unknown: []string{"部長 of sales", "0010"}}
	in := rules.Conditions{Requester: &rules.Requester{Departments: []string{"sales", "0010"}}}
	r := of(rule(1, in, people(1, rules.EmptySkip, "U1"), head(rules.EmptySkip)))
	want := []rules.Finding{{Kind: rules.FindingUnknown, Rule: id(1), Who: "0010"},
		{Kind: rules.FindingUnknown, Rule: id(1), Stage: 2, Who: "部長 (営業部)"}}
	expect.Same(t, r.Findings(d, today, next)[:2], want)
	filled := of(rule(1, in, people(1, rules.EmptySkip, "U1"), head(rules.EmptyUp)))
	want[1].Kind = rules.FindingUnnamed
	expect.Same(t, filled.Emptied(d, today, next), want)
	d.unknown = []string{"sales"}
	expect.Is(t, r.Findings(d, today, "")[1].Who, "sales")
}

// Without an organisation, what asks for it finds nobody, or is never met: whoever removes it is told.
func TestWhatARemovedOrganisationEmptiesIsFound(t *testing.T) {
	in := rules.Conditions{Requester: &rules.Requester{Departments: []string{"sales"}}}
	r := of(rule(1, in, people(1, refuse, "U1")), rule(2, writing(), manager(1, skip), head(up), group(1, refuse)))
	expect.Same(t, r.Emptied(&company{}, today), []rules.Finding{{Kind: rules.FindingUnorganised, Rule: id(1)},
		{Kind: rules.FindingUnorganised, Rule: id(2), Stage: 1}, {Kind: rules.FindingUnorganised, Rule: id(2), Stage: 2}})
}

// Of a rule that takes no request it isn't said that its requests are refused.
func TestNothingIsRefusedThatARuleDoesNotTake(t *testing.T) {
	r := of(rule(1, writing(), people(1, refuse, "A")), rule(2, writing(), manager(1, up)))
	covered := rules.Finding{Kind: rules.FindingNever, Rule: id(2), By: id(1)}
	expect.Same(t, r.Findings(&company{}, today, ""), []rules.Finding{covered})
}

func TestRulesThatTakeNothing(t *testing.T) {
	any, stage := rules.Conditions{}, people(1, rules.EmptyRefuse, "A")
	for name, c := range map[string]struct {
		first, then rules.Conditions
		want        bool
	}{
		"after everything":       {any, some(pay), true},
		"after itself":           {from(some(pay), "5"), from(some(pay), "5"), true},
		"after one that is less": {some(pay), from(some(pay), "5"), true},
		"nothing said is wider":  {some(pay), any, false},
		"another tool":           {some(pay), some(dm), false},
		"another amount":         {from(some(pay), "5"), from(some(pay), "4"), false},
	} {
		found := of(rule(1, c.first, stage), rule(2, c.then, stage)).Findings(&company{org: "v1"}, today, "")
		expect.Is(t, len(found) == 1 && found[0].Kind == rules.FindingNever, c.want, "%s: %v", name, found)
	}
}

// A rule that is called covered takes no request, whatever is asked.
func TestACoveredRuleNeverDecides(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		r := drawnRules(t)
		for i := range r.Rules { // copies with one condition less are often covered
			if i > 0 && rapid.Bool().Draw(t, "narrower") {
				r.Rules[i].When = r.Rules[0].When
				if c := &r.Rules[i].When; c.Amount == nil {
					c.Amount = &rules.Between{Below: "10", Currency: "JPY"}
				}
			}
		}
		covered := map[string]bool{}
		for _, f := range r.Findings(&company{org: "v1"}, today, "") {
			covered[f.Rule] = covered[f.Rule] || f.Kind == rules.FindingNever
		}
		for range 20 {
			f := drawnFacts(t)
			expect.That(t, !covered[r.Match(f).Rule.ID], "%+v is taken by a rule that is covered: %+v", f, r)
		}
		for _, is := range covered {
			if is {
				met++
			}
		}
	})
	t.Logf("%d rules were covered", met)
	expect.That(t, met > 20 || testing.Short(), "only %d rules were covered", met) // short: few tries
}
