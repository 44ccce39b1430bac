package decide

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Where no rule fits, or a rule refuses without a word, who asks is told what to do.
func TestARefusalWithoutWordsSaysWhatToDo(t *testing.T) {
	for locale, says := range map[string][2]string{
		"ja": {"そのほか|「回覧ルール」で、この内容を受け付けるルールを加えるよう", "rule|「回覧ルール」でこのルールを見直すよう"},
		"en": {"Everything else|No other rule fits. Ask an administrator to add a rule for it",
			"rule|ask an administrator to change this rule in the console under “Routing rules”"},
	} {
		last := of()
		last.Last.Writes = rules.Outcome{}
		for i, r := range []*rules.Rules{last, of(in(refuses("")))} {
			x := askersOf()
			x.Settings.Locale = locale
			x.Calls = []rules.Call{{Access: aggregate.Write}}
			no := expect.Value(x.ByIDs(r))(t).Refused
			name, next, _ := strings.Cut(says[i], "|")
			expect.Must(t, no != nil && no.Why == task.ReasonRuleRefuses, "%+v", no)
			expect.Is(t, no.Rule.Name, name)
			expect.Has(t, no.Detail, next)
		}
	}
}

// Above whom nobody is found is told with the refusal.
func TestARefusalNamesWhoHasNoManager(t *testing.T) {
	boss := rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "上長", Need: 1,
		Who: rules.Who{Kind: rules.WhoManager, Level: 1}}}}}
	x := askersOf()
	no := expect.Value(x.By(of(in(boss)), ids{}))(t).Refused
	expect.Must(t, no != nil, "a route is found")
	expect.That(t, no.Why == task.ReasonNoRoute && no.Lacks == rules.LeftVacant && no.Of == "SATO", "%+v", no)
}
