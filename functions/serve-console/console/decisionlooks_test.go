package console_test

import (
	"net/url"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
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
	w.MatterRecorded()
	w.MatterAsked()
	rejected := w.TaskPage()
	b.Post(rejected+"/act", w.Act(aggregate.ActReject, "見積もりを 2 社から取ってください。"))
	w.MatterAsked()
	all := []look{
		{name: "decision-asked", path: w.TaskPage()}, {name: "decision-recorded", path: recorded},
		{name: "decision-rejected", path: rejected},
	}
	organised(w)
	_, _, err := w.Store.SaveRules(w.T.Context(), w.Tenant.ID, kindsOfRules(), 0, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	list := b.Get(rulesPath)
	return append(all, []look{
		{name: "rules-kinds", path: rulesPath}, {name: "rule-kinds", path: rulesPath, form: list.Hidden("act", "edit.0")},
		{name: "rules-kinds-tried", path: rulesPath, form: list.Hidden("act", "try", "try.tool", "send_slack_dm", "try.who",
			"佐藤", "try.label", "費目\t国内旅費")},
	}...)
}

// kindsOfRules are rules by kinds of spending, for people, of whom any of several is asked.
func kindsOfRules() *rules.Rules {
	people := rules.Who{People: []string{webapi.Tanaka, webapi.Alex}}
	stage := func(name string, who rules.Who) rules.Stage { return rules.Stage{Name: name, Who: who, Need: 1} }
	above := stage("所属", rules.Who{Position: "課長"})
	above.People = people.People
	asked := stage("合議", people)
	of := func(name string, when rules.Conditions, stages ...rules.Stage) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, Conditions: when, Outcome: rules.Outcome{Stages: stages}}
	}
	return &rules.Rules{Rules: []rules.Rule{
		of("旅費", rules.Conditions{People: []string{webapi.Sato, webapi.Alex},
			Labels: map[string][]string{"費目": {"国内旅費", "海外旅費"}, "契約方法": {"随意契約"}}}, asked, above),
		of("そのほかの費目", rules.Conditions{}, stage("上長", rules.Who{Superior: 1})),
	}}
}

// callLooks are pages of what outside agents ask for, as an administrator sees them.
func callLooks(w *consoletest.World) (all []look) {
	const pays = `{"company_id":1,"partner":"株式会社アカツキ商事","amount":128000,"due_date":"2026-05-31"}`
	o := w.KeyOf(webapi.Sato, "mcp__bank__pay", "Bash")
	add := func(name string, a *call.Aggregate) {
		all = append(all, look{name: name, path: "/console/calls/" + a.Call.CallID})
	}
	elsewhere := func(x *call.Proposal) { x.Content.Elsewhere = true }
	add("call-first", o.Asks("Bash",
		`{"command":"tar czf old.tgz invoices/2025 &&\nrm -r invoices/2025","description":"Archive"}`,
		"", elsewhere))
	o.Asks("mcp__bank__pay", `{"company_id":1,"partner":"株式会社アカツキ商事","amount":98000}`, "", nil)
	w.Later(1)
	add("call-asked", o.Asks("mcp__bank__pay", pays, "請求書 INV-2026-0412 の支払期日が 5 月 31 日のためです。", nil))
	add("call-route", o.AsksAlong(consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki),
		consoletest.Desk("部長", 1, webapi.Alex)), "mcp__bank__pay", `{"amount":5}`, "", nil))
	made := o.Asks("mcp__bank__pay", `{"amount":7}`, "", nil)
	b := w.As(webapi.Suzuki)
	path := "/console/calls/" + made.Call.CallID
	b.Post(path+"/act", b.Get(path).FormOf(w.T, aggregate.ActReject, "金額が請求書と違います。"))
	add("call-rejected", made)
	key := url.Values{"act": {"save"}, "name": {""}, "answers": {webapi.Sato}, "quota_day": {"0"}, "elsewhere": {"Bash"}}
	return append(all, look{name: "calls", path: "/console/calls"},
		look{name: "calls-waiting", path: "/console"},
		look{name: "keys", path: "/console/keys"}, look{name: "key-change", path: "/console/keys?key=" + o.ID},
		look{name: "key-refused", path: "/console/keys", form: key}, look{name: "key-made", path: "/console/keys",
			form: url.Values{"act": {"save"}, "name": {"週次の集計"}, "answers": {webapi.Sato}, "channel": {webapi.HR},
				"quota_day": {"50"}, "expires_at": {w.Now().AddDate(0, 1, 0).Format("2006-01-02")}, "elsewhere": {"Bash"}}})
}
