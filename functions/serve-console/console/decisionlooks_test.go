package console_test

import (
	"fmt"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// decisionLooks are pages of requests for a decision alone, and of rules that tell them apart by kinds, days and
// positions.
func decisionLooks(w *consoletest.World) []look {
	b := w.As(webapi.Suzuki)
	w.MatterAsked()
	recorded := w.TaskPage()
	b.Post(recorded+"/act", w.Act(aggregate.ActApprove, ""))
	number := fmt.Sprintf("%d-000001", w.MatterRecorded())
	w.MatterAsked()
	rejected := w.TaskPage()
	b.Post(rejected+"/act", w.Act(aggregate.ActReject, "見積もりを 2 社から取ってください。"))
	w.MatterAsked()
	all := []look{
		{name: "decision-asked", path: w.TaskPage()}, {name: "decision-recorded", path: recorded},
		{name: "decision-rejected", path: rejected},
		{name: "decision-register", path: "/console/register?by=decisions"},
		{name: "decision-sheet", path: "/console/register/" + number},
	}
	organised(w)
	_, _, err := w.Store.SaveRules(w.T.Context(), w.Tenant.ID, kindsOfRules(), 0, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	list := b.Get(rulesPath)
	down := b.Post(rulesPath, list.Hidden("act", "down.0"))
	return append(all, []look{
		{name: "rules-kinds", path: rulesPath}, {name: "rule-kinds", path: rulesPath, form: list.Hidden("act", "edit.0")},
		{name: "rules-kinds-tried", path: rulesPath, form: list.Hidden("act", "try", "try.tool", " send_slack_dm", "try.who",
			"佐藤", "try.labels.0", "国内旅費")},
		{name: "rules-kinds-check", path: rulesPath, form: down.Hidden("act", "check")},
	}...)
}

// kindsOfRules are rules by kinds of spending, for people, of whom any of several is asked.
func kindsOfRules() *rules.Rules {
	people := rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Tanaka, webapi.Alex}}
	stage := func(name string, who rules.Who) rules.Stage {
		return rules.Stage{Name: name, Who: who, Need: 1}
	}
	above := stage("所属", rules.Who{Kind: rules.WhoPosition, Position: "課長"})
	above.Who = rules.Who{Kind: rules.WhoAny, Any: []rules.Who{above.Who, people}}
	asked := stage("合議", people)
	of := func(name string, when rules.Conditions, stages ...rules.Stage) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, When: when,
			Outcome: rules.Outcome{Route: &rules.Policy{Stages: stages}}}
	}
	return &rules.Rules{Form: rules.Form, Rules: []rules.Rule{
		of("旅費", rules.Conditions{
			Requester: &rules.Requester{People: []string{webapi.Sato, webapi.Alex}},
			Labels: []rules.Labelled{{Name: "費目", List: []string{"国内旅費", "海外旅費"}},
				{Name: "契約方法", List: []string{"随意契約"}}}}, asked, above),
		of("そのほかの費目", rules.Conditions{}, stage("上長", rules.Who{Kind: rules.WhoManager, Level: 1})),
	}}
}
