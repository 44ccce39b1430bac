package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// What is said of a rule for writes, or of those of a department, in a company.
func TestFindings(t *testing.T) {
	ofSales := rules.Conditions{Departments: []string{"sales"}}
	all := func(c *company) {}
	found := func(k rules.FindingKind, stage int, who string) []rules.Finding {
		return []rules.Finding{{Kind: k, Rule: id(2), Stage: stage, Who: who}}
	}
	nobody := func(stage int) []rules.Finding { return found(rules.FindingNobody, stage, "") }
	for name, c := range map[string]struct {
		change func(*company)
		rule   rules.Rule
		want   []rules.Finding
	}{
		"all is well": {all, rule(2, ofSales, group(2), head(), superior(1), channel()), nil},
		"a group has too few": {func(c *company) { c.group = []string{"A"} }, rule(2, writing(), superior(1), group(2)),
			nobody(2)},
		"a group is empty":      {func(c *company) { c.group = nil }, rule(2, writing(), group(0)), nobody(1)},
		"a post is vacant":      {func(c *company) { c.holders = nil }, rule(2, writing(), head()), nobody(1)},
		"whoever is found left": {func(c *company) { c.barred = []string{"D"} }, rule(2, writing(), head()), nobody(1)},
		"another may be above":  {func(c *company) { c.holders = nil }, rule(2, writing(), nearest("部長")), nil},
		"one account twice": {func(c *company) { c.group = []string{"A", "A"} }, rule(2, writing(), group(2)),
			nobody(1)},
		"together they are enough": {all, rule(2, writing(), either(3, group(1), head())), nil},
		"an unknown post": {func(c *company) { c.unknown = []string{"部長 of sales"} },
			rule(2, writing(), people(1, "U1"), head()), found(rules.FindingUnknown, 2, "部長 (sales)")},
		"an unknown department": {func(c *company) { c.unknown = []string{"sales"} }, rule(2, ofSales, people(1, "U1")),
			found(rules.FindingUnknown, 0, "sales")},
		"a manager, no organisation": {func(c *company) { c.org = "" }, rule(2, writing(), superior(1)),
			found(rules.FindingUnknown, 1, "stage superior")},
		"a position, no organisation": {func(c *company) { c.org = "" }, rule(2, writing(), nearest("部長")),
			found(rules.FindingUnknown, 1, "部長")},
	} {
		d := &company{org: "v1", group: []string{"A", "B"}, holders: map[string][]string{"": {"D"}}}
		c.change(d)
		t.Log(name)
		expect.Same(t, of(c.rule).Findings(d), c.want, cmpopts.EquateEmpty())
	}
}

func TestRulesThatTakeNothing(t *testing.T) {
	any, stage := rules.Conditions{}, people(1, "A")
	for name, c := range map[string]struct {
		first, then rules.Conditions
		want        bool
	}{
		"after everything":       {any, from(any, "5"), true},
		"after all that writes":  {any, some(read), false},
		"after itself":           {from(some(pay), "5"), from(some(pay), "5"), true},
		"after one that is less": {some(pay), from(some(pay), "5"), true},
		"nothing said is wider":  {from(any, "5"), any, false},
		"a higher amount":        {from(any, "5"), from(any, "6"), true},
		"below a lower one":      {under(any, "6"), under(any, "5"), true},
		"another tool":           {some(pay), some(dm), false},
		"another amount":         {from(some(pay), "5"), from(some(pay), "4"), false},
	} {
		found := of(rule(1, c.first, stage), rule(2, c.then, stage)).Findings(&company{org: "v1"})
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
				r.Rules[i].Conditions = r.Rules[0].Conditions
				if c := &r.Rules[i]; !c.Bounded() {
					c.Below, c.Currency = "10", "JPY"
				}
			}
		}
		covered := map[string]bool{}
		for _, f := range r.Findings(&company{org: "v1"}) {
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
