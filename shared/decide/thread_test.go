package decide

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// inThread is what becomes of a write that a requester asks in a thread with words of these people.
func inThread(t *testing.T, route *rules.Policy, d Seats, requester string, words ...string) Found {
	t.Helper()
	x := askersOf(task.Step{StepID: "step-1", Order: 1, Tool: "send_slack_dm", ToolVersion: "1", Access: "write",
		ToolInput: `{"to":"x"}`})
	x.Task.Head.Requester, x.Task.Request.User = requester, requester
	x.Task.Request.RouteAskers = words
	return expect.Value(x.By(of(writing(in(rules.Outcome{Route: route}))), d))(t)
}

// Whose words stand in the thread is no reason to leave out their stage, or to ask fewer people; the requester's own stage
// is left out if the policy says so.
func TestAThreadRemovesNobodysStage(t *testing.T) {
	stage := func(name string, own rules.Then, users ...string) rules.Stage {
		return rules.Stage{Name: name, Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: 1,
			Empty: rules.Empty{Vacant: rules.ThenRefuse, Own: own, Twice: rules.ThenSkip}}
	}
	two := &rules.Policy{Stages: []rules.Stage{stage("manager", rules.ThenRefuse, "MORI"), stage("cfo", rules.ThenSkip, "CFO")}}
	one := &rules.Policy{Stages: two.Stages, Hands: 1}
	desk := &rules.Policy{Stages: []rules.Stage{stage("accounting", rules.ThenRefuse, "STRICT", "FRIEND")}}
	for name, c := range map[string]struct {
		policy    *rules.Policy
		requester string
		words     []string
		why       string // of the refusal
		leftOut   string // of the last stage
		owes      int
	}{
		"nobody else wrote":                   {two, "SATO", nil, "", "", 1},
		"the CFO wrote something":             {two, "SATO", []string{"CFO"}, "askers_route cfo", "", 0},
		"so did others":                       {one, "SATO", []string{"TANAKA", "CFO", "ITO"}, "askers_route cfo", "", 0},
		"the CFO asks":                        {one, "CFO", nil, "", rules.LeftOwn, 1},
		"the CFO asks where others wrote":     {one, "CFO", []string{"ITO"}, "", rules.LeftOwn, 1},
		"two have to, and the CFO asks":       {two, "CFO", nil, "no_route cfo", "", 0},
		"one of two accountants wrote":        {desk, "SATO", []string{"STRICT"}, "", "", 1},
		"both wrote":                          {desk, "SATO", []string{"STRICT", "FRIEND"}, "askers_route accounting", "", 0},
		"one of them asks, the other wrote":   {desk, "STRICT", []string{"FRIEND"}, "askers_route accounting", "", 0},
		"one of them asks, and somebody else": {desk, "STRICT", []string{"ITO"}, "", "", 1},
	} {
		found := inThread(t, c.policy, ids{}, c.requester, c.words...)
		if no := found.Refused; no != nil {
			expect.Is(t, string(no.Why)+" "+no.Detail, c.why, name)
			continue
		}
		route := found.Opening.Route
		last := route.Stages[len(route.Stages)-1]
		st := circulation.Walk(circulation.Gate{Rule: &found.Opening.Rule, AskedAt: time.Unix(0, 0).UTC(), Hours: 1,
			Asked: "h", Askers: found.Opening.Askers, Route: &route})
		expect.That(t, c.why == "" && last.LeftOut == c.leftOut && len(st.Owes()) == c.owes, "%s: %+v", name, route)
	}
	// who is named at the desk keeps their word on it, and may not stamp
	found := inThread(t, desk, ids{}, "SATO", "STRICT")
	expect.Is(t, len(found.Opening.Route.Stages[0].People), 2)
}

// What an agent makes of a conversation is nobody's own alone: who spoke last has only said thanks.
func TestAThanksMakesNobodysStageTheirOwn(t *testing.T) {
	x := askersOf(task.Step{StepID: "step-1", Order: 1, Tool: "send_slack_dm", ToolVersion: "1", Access: "write",
		ToolInput: `{"to":"x"}`})
	x.Task.Head.Requester, x.Task.Request.User, x.Task.Request.EventID = "CFO", "CFO", task.HandedOverBy("S1")
	cfo := in(asks(rules.EmptySkip, "CFO"))
	cfo.Outcome.Route.Stages = append(cfo.Outcome.Route.Stages, in(asks(rules.EmptyRefuse, "MORI")).Route.Stages...)
	cfo.Outcome.Route.Hands = 1
	found := expect.Value(x.By(of(writing(cfo)), ids{}))(t)
	expect.That(t, found.Refused != nil && found.Refused.Why == task.ReasonAskersRoute, "%+v", found)
}

// Nobody is forgotten where the words of very many led to a request: it is refused, and says how to go on.
func TestMoreAskersThanARouteTakes(t *testing.T) {
	desk := in(asks(rules.EmptyRefuse, "TANAKA")).Outcome
	var words []string
	for i := range rules.MaxAskers - 1 {
		words = append(words, fmt.Sprintf("W%03d", i))
	}
	found := inThread(t, desk.Route, ids{}, "SATO", words...)
	expect.That(t, found.Opening != nil && len(found.Opening.Askers) == rules.MaxAskers, "%+v", found.Refused)
	found = inThread(t, desk.Route, ids{}, "SATO", append(words, "ONE MORE")...)
	expect.Must(t, found.Refused != nil && found.Refused.Why == task.ReasonManyAskers, "%+v", found)
	for locale, want := range map[string]string{"ja": "新しいスレッドか会話で", "en": "in a new thread or conversation"} {
		expect.Has(t, explain.Ended(locale, found.Refused.Why, found.Refused.Detail), want)
	}
}

// Where an organisation stands, an asker without a row there opens nothing: nobody knows whose second account it is.
func TestAStrangerToTheOrganisationOpensNoRoute(t *testing.T) {
	desk := in(asks(rules.EmptyRefuse, "TANAKA"))
	d := office{}
	for name, c := range map[string]struct {
		requester string
		words     []string
		want      string
	}{
		"all have a row":        {"SATO", []string{"ITO"}, ""},
		"the requester hasn't":  {"X", []string{"ITO"}, "no_row"},
		"somebody's words":      {"SATO", []string{"ITO", "X"}, "no_row_words X"},
		"the requester left":    {"LEFT", nil, "no_row"},
		"somebody who left":     {"SATO", []string{"ITO", "LEFT"}, "no_row_words LEFT"},
		"neither":               {"X", []string{"X"}, "no_row"},
		"without organisations": {"X", []string{"X"}, ""},
	} {
		of := Seats(strangers{d})
		if name == "without organisations" {
			of = ids{}
		}
		found := inThread(t, desk.Route, of, c.requester, c.words...)
		got := ""
		if no := found.Refused; no != nil {
			got = string(no.Why)
			if no.Detail != "" {
				got += " " + no.Detail
			}
		}
		expect.Is(t, got, c.want, name)
	}
	x := askersOf()
	x.Task.Head.Requester = "X"
	no := expect.Value(x.Early(of(desk), strangers{d}))(t)
	expect.That(t, no != nil && no.Why == task.ReasonNoRow, "before a model is paid: %+v", no)
	expect.Is(t, Stranger(strangers{d}, time.Unix(0, 0), "SATO", "LEFT"), "LEFT")
	expect.Is(t, Stranger(strangers{d}, time.Unix(0, 0), "SATO", "ITO"), "")
}

// strangers is an office to which X belongs in no way.
type strangers struct{ office }

func (s strangers) Person(user string) circulation.Person {
	p := s.office.Person(user)
	if p.User == "X" {
		p.Person = ""
	}
	return p
}
