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
	boss := rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "上長", Need: 1, Empty: rules.EmptyRefuse,
		Who: rules.Who{Kind: rules.WhoManager, Level: 1}}}}}
	x := askersOf()
	no := expect.Value(x.By(of(in(boss)), ids{}))(t).Refused
	expect.Must(t, no != nil, "a route is found")
	expect.That(t, no.Why == task.ReasonNoRoute && no.Lacks == rules.LeftVacant && no.Of == "SATO", "%+v", no)
}

// How many different people are needed, and how many can approve, is told with the refusal.
func TestARefusalSaysHowManyPeopleAreNeeded(t *testing.T) {
	stage := func(name string) rules.Stage {
		return rules.Stage{Name: name, Need: 1, Empty: rules.EmptyRefuse,
			Who: rules.Who{Kind: rules.WhoPeople, People: []string{"SUZUKI"}}}
	}
	for hands, want := range map[int]string{0: "hands 2 1", 3: "hands 3 1"} {
		twice := rules.Outcome{Route: &rules.Policy{Hands: hands, Stages: []rules.Stage{stage("課長"), stage("部長")}}}
		no := expect.Value(askersOf().By(of(in(twice)), ids{}))(t).Refused
		expect.Must(t, no != nil, "a route is found")
		expect.That(t, no.Why == task.ReasonNoRoute && no.Detail == "部長" && no.Lacks == want, "%+v", no)
	}
}

// knowsNothing is a directory without departments and posts.
type knowsNothing struct{ ids }

func (knowsNothing) Knows(string, string) bool { return false }

// Of readers whose department nobody knows the rule is named, since they are at no stage.
func TestARefusalForReadersNamesTheRule(t *testing.T) {
	told := rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "課長", Need: 1, Empty: rules.EmptyRefuse,
		Who: rules.Who{Kind: rules.WhoPeople, People: []string{"SUZUKI"}}}},
		Readers: &rules.Readers{Posts: []rules.Who{{Kind: rules.WhoPosition, Positions: []string{"課長"}, Label: "関係課"}}}}}
	no := expect.Value(askersOf().By(of(in(told)), knowsNothing{}))(t).Refused
	expect.Must(t, no != nil, "a route is found")
	expect.That(t, no.Why == task.ReasonUnknownPost && no.Detail == "rule: 関係課", "%+v", no)
}
