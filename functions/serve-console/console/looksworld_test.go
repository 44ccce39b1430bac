package console_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// fullLooks gives a workspace something to show, and returns its pages.
func fullLooks(w *consoletest.World) []look {
	request := finished(w)
	k := w.Compete("経費精算の手順を決めて", nil)
	k.Plays(1, 1, 0.81, "1. 領収書を集める\n2. 上長が確かめる")
	k.Plays(1, 2, 0.88, "1. 領収書を月末までに集める\n2. 上長が確かめる")
	k.Plays(2, 1, 0.64, "1. 各自が申請する")
	k.Ends(2, contest.PartialFailure, contest.ReasonLeader)
	talk, mark := talked(w), marked(w)
	return append(append(turnLooks(w), organised(w)...), []look{
		{name: "home", path: "/console"}, {name: "audit", path: "/console/audit"},
		{name: "figures", path: "/console/figures"}, {name: "tasks", path: "/console/tasks"},
		{name: "settings", path: "/console/settings"}, {name: "request",
			path: request},
		{name: "contests", path: "/console/contests"}, {name: "contest", path: k.Page()},
		{name: "agents", path: "/console/agents"}, {name: "conversation", path: talk},
		{name: "tool-mark", path: mark}, {name: "tool-mark-refused", path: mark, form: refusedMark},
		{name: "tool-server", path: "/console/tools/servers/office"},
		{name: "stand-ins", path: stoodFor(w)},
	}...)
}

// refusedStandIn is the form of a stand-in for oneself.
var refusedStandIn = url.Values{"act": {"set"}, "principal": {webapi.Suzuki}, "hand": {webapi.Suzuki},
	"from": {"2026-08-01"}, "until": {"2026-08-31"}}

// stoodFor sets who stands in for whom, now and later, and returns the page that lists them.
func stoodFor(w *consoletest.World) string {
	today := tenancy.DateOf(w.Now().In(tenancy.Zone()))
	for i, of := range [][2]string{{webapi.Tanaka, webapi.Suzuki}, {webapi.Alex, webapi.Tanaka}} {
		d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: of[0], Principal: of[1], From: today + tenancy.Date(30*i)}
		d.Until = d.From + 20
		by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: of[1]}}
		expect.NoError(w.T, expect.Err(w.Store.KindStore.SetDelegation(w.T.Context(), d, by, w.Now(), nil)))
	}
	return "/console/stand-ins"
}

// refusedMark is the form of a tool's mark with everything that can be wrong.
var refusedMark = url.Values{
	"act": {"save"}, "currency": {"YEN!"}, "example": {`{"supplier":"Acme","items":[]}`},
	"at": {"/supplier", "/items/*/quantity", "/total"}, "role": {"currency", "times", "plus"},
}

// marked allows a server's tool that orders goods, marks it, and returns the page of its mark.
func marked(w *consoletest.World) string {
	const name, address = "office.order", "https://office.example/mcp"
	x := w.SettingsNow()
	if len(x.MCPServers) == 0 {
		x.MCPServers = []tenancy.MCPServer{{Name: "office", URL: address}}
		expect.Value(w.Store.SaveSettings(w.T.Context(), w.Tenant.ID, x, w.By, w.Now()))(w.T)
	}
	p, _, err := w.Store.ToolPermission(w.T.Context(), w.Tenant.ID, name)
	expect.NoError(w.T, err)
	p.Allowed, p.Pin = true, &tenancy.Pin{
		URL: address, Title: "取引先への発注", Description: "Orders goods from a supplier.", Access: aggregate.Write,
		Hash: "4f0c", Input: `{"type":"object","properties":{"supplier":{"type":"string","title":"取引先"},` +
			`"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
			`"quantity":{"type":"integer","title":"数量"},"unit_price":{"type":"number","title":"単価"}}}},` +
			`"total":{"type":"number","title":"合計"}},` +
			`"examples":[{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000}],"total":298000}]}`,
	}
	p.Mark = &rules.Mark{Version: p.Pin.Version(), How: rules.HowProduct,
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}, Currency: "JPY"}
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, w.By, w.Now()))(w.T)
	return "/console/tools/marks/" + name
}

// prompt is a request to a model, with a tool's call in between.
const prompt = `{"model":"claude-x","max_tokens":4096,"system":[{"type":"text","text":"あなたは総務の担当です。\n依頼を読み取り、` +
	`題名と内容にまとめてください。"}],` +
	`"messages":[{"role":"user","content":[{"type":"text","text":"{\"message\":\"今月の勤怠をまとめて\",` +
	`\"requester\":\"U0SANDSATO\"}"}]},` +
	`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"lookup","input":{"q":"勤怠"}}]},{"role":"user",` +
	`"content":[{"type":"tool_result","tool_use_id":"t1","content":"42 rows"}]}]}`

func usage(id, key string) aggregate.Usage {
	return aggregate.Usage{ID: id, Provider: "anthropic", Model: "claude-x", Prompt: "extract.ja.2", Calls: 1,
		Input: 1200, Output: 34, Cost: 5600, Sent: &aggregate.Blob{S3Key: key, Bytes: 9}}
}

// finished brings a request, sent back once, to its end, and leaves another one waiting. It returns the first one's
// page.
func finished(w *consoletest.World) (page string) {
	w.Ask()
	w.Results["prompts/x"] = prompt
	w.Decide(task.Charge(usage("01USE", "prompts/x"), w.Now(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Description: "今月の勤怠を部署ごとにまとめ、スプレッドシートに書き出す。",
			Priority: task.High, TaskType: task.TypeStandard}, w.Now())
	}))
	w.Draft(tenancy.DefaultSettings())
	w.As(webapi.Suzuki).Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, "部署ごとに分けてください"))
	w.Draft(tenancy.DefaultSettings())
	w.Later(4 * time.Minute)
	w.Approve()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Later(20 * time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps(), "部署ごとに分けました。", w.SettingsNow(), w.Now())
	})
	w.Later(9 * time.Minute)
	w.Approve()
	w.Begin()
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf(`{"num":"%d","name":"従業員 %d","email":"a%d@example.com","department":"営業部",`+
			`"hours":%d}`, 100+i, i, i, i*3))
	}
	w.Later(700 * time.Millisecond)
	w.Ran(consoletest.Inline(`{"department":"営業部","status":"active"}`),
		consoletest.Inline(`{"employees":[`+strings.Join(rows, ",")+`],"total":60}`))
	w.Ran(consoletest.Inline(`{"spreadsheet_id":"1aB"}`),
		consoletest.Inline(`{"url":"https://docs.google.com/spreadsheets/d/1aBcDeFgHiJkLmNoPqRsTuVwXyZ/edit","rows":42}`))
	w.Ran(consoletest.Inline(`{"recipient":"x","text":"完了"}`),
		consoletest.Inline(`{"url":"https://example.slack.com/archives/C1/p1"}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "42 名分の勤怠を部署ごとにまとめ、シート「2026-10」に書き出しました。残業が 45 時間を超えた人はいません。", w.Now())
	})
	page = w.TaskPage()
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	return page
}

func steps() []task.Step {
	all := []task.Step{
		ringitest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
		ringitest.Step(2, "write_rows_to_google_sheet", aggregate.Write,
			`{"spreadsheet_id":"1aB","sheet":"2026-10","columns":[{"key":"h","title":"残業時間"}],"rows":[{"h":25.5}]}`),
		ringitest.Step(3, "send_slack_dm", aggregate.Write, `{"recipient":"`+webapi.Sato+`","text":"完了"}`),
	}
	for n, title := range []string{"営業部の従業員を読む", "残業時間を書き出す", "完了を知らせる"} {
		all[n].Title = title
	}
	return all
}

// talked returns the page of a conversation in which a command waits for approval.
func talked(w *consoletest.World) string {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	k.Run()
	w.Results["prompts/talk"] = prompt
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "承認されたら走らせます。",
			Usage: usage("01TALK", "prompts/talk")}, w.Now())
	})
	k.Says(webapi.Sato, "お願いします")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	return k.Page()
}

// organised has a company of forty people stand, and returns the pages on it: what stands, and files with mistakes.
func organised(w *consoletest.World) []look {
	var b strings.Builder
	b.WriteString("メール,氏名,部署,役職,部署の長,上長\n")
	for _, u := range w.Slack.Users() {
		switch {
		case u.ID == webapi.Suzuki:
			fmt.Fprintf(&b, "%s,%s,みどり製作所ホールディングス株式会社,代表取締役社長,はい\n", u.Email, u.Name)
		case !u.Bot && !u.Stranger:
			fmt.Fprintf(&b, "%s,%s,みどり製作所ホールディングス株式会社/人事部,課長\n", u.Email, u.Name)
		}
	}
	for i := range 35 {
		fmt.Fprintf(&b, "shain.%d@example.com,社員 %d,みどり製作所ホールディングス株式会社/第 %d 営業部東日本法人課,,,tanaka@example.com\n", i, i, i%4)
	}
	file := b.String()
	o, problems := organisation.Read([]byte(file))
	expect.NoError(w.T, problems.Err())
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	expect.NoError(w.T, w.Store.SaveOrganisation(w.T.Context(), w.Tenant.ID, 0, o, by, w.Now()))
	wrong := file + "yamamoto,山本 明,Z,,?,9\nshain.1@example.com,山本 明,人事部\n"
	const page = "/console/organisation"
	return []look{
		{name: "organisation", path: page},
		{name: "organisation-wrong", path: page, form: url.Values{}, file: []byte(wrong)},
		{name: "organisation-unknown", path: page, form: url.Values{},
			file: []byte("Nr,Vor,Zu,Bereich\n7,Ichiro,Suzuki,Leitung/Einkauf\n")},
	}
}

// requestLooks fills a workspace with requests in every status, and returns their pages and lists. By day each is seen.
func requestLooks(full *consoletest.World) (all []look) {
	ids := standing(full)
	for n := range 12 {
		r := consoletest.Requested{User: []string{webapi.Sato, webapi.Tanaka, webapi.Alex}[n%3], Channel: webapi.HR,
			Kind:  "channel",
			Title: []string{"営業部の残業を月ごとに集計して", "Book a room for Friday 15:00 and tell the team", "全員の有給の残りをシートに書き出して"}[n%3]}
		if n == 4 {
			r.Priority = task.Urgent
		}
		full.Made(r)
		if full.Draft(tenancy.DefaultSettings()); n%2 == 0 {
			full.AskForSteps(consoletest.Message(1, "集計の結果をお送りします。"), consoletest.Message(2, "ご確認をお願いします。"))
		}
	}
	for name, path := range map[string]string{
		"home-requests": "", "requests": "/tasks", "requests-bad": "/tasks?status=x&from=x", "requests-none": "/tasks?q=zzz",
	} {
		all = append(all, look{name: name, path: "/console" + path, daily: true})
	}
	for _, s := range task.Statuses {
		all = append(all, look{name: "request-" + string(s), path: "/console/tasks/" + ids[s], daily: true})
	}
	slices.SortFunc(all, func(a, b look) int { return strings.Compare(a.name, b.name) })
	return all
}

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
