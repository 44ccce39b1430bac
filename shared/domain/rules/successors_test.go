package rules_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// superiors stand above A; R, who is between them, asks.
const superiors = "M:manager 1 of A as of 2026-11-22 P:manager 3 of A as of 2026-11-22"

const byRule = ":named by the rule"

func TestWhoMayTakeAPlace(t *testing.T) {
	named := func(name string, s rules.Stage) rules.Stage {
		s.Name = name
		return s
	}
	of2 := func(stages ...rules.Stage) *rules.Rules { return of(rule(1, rules.Conditions{}, stages...)) }
	slack := &company{group: []string{"A", "B", "R", "G"}, standing: map[string]rules.Standing{"G": rules.StandingNone}}
	org := &company{org: "v1", managers: map[string]string{"A": "M", "M": "R", "R": "P"}, holders: map[string][]string{
		"": {"A", "H"}}, standing: map[string]rules.Standing{"K": rules.StandingOther},
		over: map[string]string{"部長 of sales": "M"}}
	below := *org // A's superior M stands below the post, over which Z stands
	below.over = map[string]string{"部長 of sales": "Z"}
	last := of2()
	last.Rules, last.Last.Writes = nil, rules.Outcome{Route: policy(0, people(1, rules.EmptyRefuse, "L"))}
	others := people(1, rules.EmptyRefuse, "K", "A")
	others.Others = true
	for name, c := range map[string]struct {
		rules *rules.Rules
		d     *company
		rule  string
		stage int
		name  string
		want  string
	}{
		"a group of today": {of2(group(1, rules.EmptyRefuse)), slack,
			id(1), 1, "stage group", "B:group @S1"},
		"people by name, as edited": {of2(people(1, rules.EmptyRefuse, "A", "N")), slack,
			id(1), 1, "stage people", "N" + byRule},
		"people by name, unedited": {of2(people(1, rules.EmptyRefuse, "A")), slack,
			id(1), 1, "stage people", ""},
		"no rules any more":       {nil, slack, id(1), 1, "stage people", ""},
		"another rule":            {of2(group(1, rules.EmptyRefuse)), slack, id(2), 1, "stage group", ""},
		"a stage of another name": {of2(group(1, rules.EmptyRefuse)), slack, id(1), 1, "x", ""},
		"a stage that moved": {of2(named("x", others), group(1, rules.EmptyRefuse)), slack,
			id(1), 1, "stage group", "B:group @S1"},
		"two of one name, at its place": {of2(named("x", people(1, rules.Empty{}, "B")), named("x", people(1, rules.Empty{}, "N"))), slack,
			id(1), 2, "x", "N" + byRule},
		"two of one name, elsewhere": {of2(named("x", people(1, rules.Empty{}, "B")), named("x", people(1, rules.Empty{}, "N"))), slack,
			id(1), 3, "x", ""},
		"the last rule": {last, slack, rules.LastID, 1, "stage people", "L" + byRule},
		"a position, and who stands above": {of2(head(rules.EmptyRefuse)), org, id(1), 1, "stage position",
			"H:部長 of sales as of 2026-11-22 " + superiors},
		"a position, and who stands over it": {of2(head(rules.EmptyRefuse)), &below, id(1), 1, "stage position",
			"H:部長 of sales as of 2026-11-22 Z:over 部長 of sales as of 2026-11-22"},
		"who stands above, without a rule": {nil, org, id(1), 1, "x",
			superiors},
		"who is no employee": {of2(people(1, rules.Empty{}, "K")), org, id(1), 1, "stage people", superiors},
		"who is no employee, at a stage for it": {of2(others), org,
			id(1), 1, "stage people", "K" + byRule + " " + superiors},
	} {
		f := asked()
		f.Requester = c.d.Person("R")
		f.Askers = []circulation.Person{f.Requester}
		var got []string
		desk := rules.Desk{Rule: c.rule, Number: c.stage, Name: c.name, Of: c.d.Person("A")}
		for _, p := range c.rules.Successors(desk, f, c.d) {
			got = append(got, p.User+":"+p.Via)
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
}

// Whom the home lists today may take the place of one of its list, whatever the rules are.
func TestWhoMayTakeAPlaceOfTheHome(t *testing.T) {
	slack := &company{standing: map[string]rules.Standing{"G": rules.StandingNone}}
	f := asked()
	f.Home = rules.Home{Users: []string{"A", "N", "R", "G"}}
	for _, r := range []*rules.Rules{nil, of(rule(1, rules.Conditions{}, channel()))} {
		desk := rules.Desk{Rule: id(1), Number: 1, Name: "stage channel", Of: slack.Person("A")}
		expect.Is(t, len(r.Successors(desk, f, slack)), 0, "somebody of another stage")
		desk.Of.Via = "approver of direct messages"
		got := r.Successors(desk, f, slack)
		expect.That(t, r.Names(desk) && len(got) == 1 && got[0].User == "N" && got[0].Via == desk.Of.Via, "%+v", got)
	}
}
