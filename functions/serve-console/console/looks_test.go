package console_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// chrome is the part of a phone's screen above what a page is about.
const chrome = `document.querySelector("main").getBoundingClientRect().top / innerHeight`

// look is a page in one of its states. A page of a form answers to the form that was sent.
type look struct {
	name, path string
	form       url.Values
	file       []byte // that is sent with the form
	nobody     bool   // is signed in
}

// TestLooksOfThePages: empty, full, refused and saved, nothing sticks out of a page, axe finds no serious problem, and
// on a phone the page begins in the first fifth of the screen. By day each page is seen in one language, half of them
// on a phone in the dark. With RINGI_SCREENSHOTS it takes pictures.
func TestLooksOfThePages(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	looks := map[*consoletest.World][]look{}
	for _, of := range []func(*consoletest.World) []look{emptyLooks, fullLooks, ruleLooks, requestLooks, decisionLooks,
		callLooks} {
		w := consoletest.New(t, db)
		looks[w] = of(w)
	}
	for n := range 8 {
		narrow, dark, locale := n&1 > 0, n&2 > 0, language.All[n>>2]
		if !expect.Long() && n > 0 && n < 7 {
			continue
		}
		view := browser.Window{Width: 1440, Height: 900, Dark: dark, Language: locale, Calm: true}
		if narrow {
			view.Width, view.Height, view.Phone = 390, 844, true
		}
		for w, all := range looks {
			for i := len(all) - 1; i >= 0; i-- {
				if !expect.Long() && (i%2 > 0) != narrow {
					all = slices.Delete(slices.Clone(all), i, i+1)
				}
			}
			t.Run(fmt.Sprintf("%s-%d-%t, %d pages", locale, view.Width, dark, len(all)), func(t *testing.T) {
				looked(t, w, b, view, all)
			})
		}
	}
}

// looked looks at pages in a window.
func looked(t *testing.T, w *consoletest.World, b *browser.Browser, view browser.Window, all []look) {
	byPath := map[string]look{}
	for _, x := range all {
		byPath["/look/"+x.name] = x
	}
	user, nobody := w.As(webapi.Suzuki).In(view.Language), w.Browser().In(view.Language)
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, by := byPath[r.URL.Path], user
		if x.nobody {
			by = nobody
		}
		var a consoletest.Answer
		switch {
		case x.file != nil:
			a = by.Upload(x.path, x.form, x.file)
		case x.form != nil:
			a = by.Post(x.path, x.form)
		default:
			a = by.Get(cmp.Or(x.path, r.URL.RequestURI()))
		}
		w.Header().Set("Content-Type", a.Header.Get("Content-Type"))
		w.WriteHeader(a.Status)
		io.WriteString(w, a.Body)
	}))
	tab := b.Open(t, server.URL+"/console/assets/console.css", view)
	for _, x := range all {
		failed := t.Failed()
		tab.Visit(server.URL + "/look/" + x.name)
		tab.Until(`document.querySelector("h1") && !document.querySelector("[data-now]")`)
		tab.Fits()
		tab.Accessible(t)
		if view.Phone {
			share := browser.Read[float64](tab, chrome)
			expect.That(t, share <= 0.2, "the page begins at %.2f of the screen", share)
		}
		if x.name == "rule" || x.name == "rule-wrong" { // of all that writes, and of chosen tools
			shown := browser.Read[bool](tab, `document.querySelector(".of-tools").checkVisibility()`)
			expect.That(t, shown == (x.name == "rule-wrong"), "tools are offered: %t", shown)
		}
		if !failed && t.Failed() {
			t.Logf("above: %s", x.name)
		}
		if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
			tab.Whole(filepath.Join(dir, fmt.Sprintf("%s-%s-%d-%t.png", x.name, view.Language, view.Width, view.Dark)))
		}
	}
}

// emptyLooks are pages of a workspace in which nothing happened.
func emptyLooks(w *consoletest.World) (all []look) {
	for _, path := range []string{"/audit", "/settings", "/integrations", "/tools", "/organisation", "/contests",
		"/agents", "/tasks", "/stand-ins", "", "/rules", "/tools/marks/send_slack_dm", "/tasks/01NOTHERE"} {
		all = append(all, look{name: "empty" + strings.ReplaceAll(path, "/", "-"), path: "/console" + path})
	}
	refused := w.As(webapi.Suzuki).Get(approvalPage).Hidden("act", "save", "max_versions", "0", "fiscal_year_month", "x")
	return append(all, look{name: "audit-refused", path: "/console/audit?from=yesterday"},
		look{name: "settings-refused", path: approvalPage, form: refused},
		look{name: "signin", path: "/console/signin", nobody: true}, look{name: "signin-refused",
			path: "/console/signin/done?error=access_denied&state=x", nobody: true})
}

const rulesPath, approvalPage = "/console/rules", "/console/settings"

// ruleLooks gives a workspace rules of circulation, and returns their pages.
func ruleLooks(w *consoletest.World) []look {
	const path = rulesPath
	saved, _, err := w.Store.SaveRules(w.T.Context(), w.Tenant.ID, someRules(), 0, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	rule := b.Post(path, list.Hidden("act", "edit.0"))
	wrong := rule.Hidden("act", "keep", "name", "10万円以上の外部書き込み", "use", "some", "tools", "|send_slack_dm", "from",
		"100000",
		"asks", "steps|call", "stages.0.name", "部長", "stages.0.who", "user:"+webapi.Suzuki+"|user:"+webapi.Guest,
		"stages.0.need", "x", "stages.1.name", "", "stages.1.who", "channel:")
	tried := b.Post(path, list.Hidden("act", "down.0")).Hidden("act", "try", "try.tool", "send_slack_dm", "try.amount",
		"50,000", "try.who", "佐藤", "try.place", webapi.HR)
	twice := expect.Value(json.Marshal(map[string]any{"Rev": 1, "Rules": append(saved.Rules, saved.Rules[0])}))(w.T)
	standIn := url.Values{"act": {"set"}, "principal": {webapi.Suzuki}, "hand": {webapi.Suzuki}, "from": {"2026-08-01"},
		"until": {"2026-08-31"}}
	return []look{
		{name: "rules", path: path}, {name: "rule", path: path, form: list.Hidden("act", "edit.0")},
		{name: "rule-wrong", path: path + "/rule", form: wrong}, {name: "rules-tried", path: path, form: tried},
		{name: "rules-wrong", path: path, form: list.Hidden("act", "save", "draft", web.Packed(twice))},
		{name: "settings-ruled", path: approvalPage},
		{name: "stand-ins-refused", path: "/console/stand-ins", form: standIn},
	}
}

// someRules are rules of each kind.
func someRules() *rules.Rules {
	people := func(name string, need int, users ...string) rules.Stage {
		return rules.Stage{Name: name, Who: rules.Who{People: users}, Need: need}
	}
	of := func(name string, when rules.Conditions, out rules.Outcome) rules.Rule {
		return rules.Rule{ID: aggregate.NewID(), Name: name, Conditions: when, Outcome: out}
	}
	return &rules.Rules{Rules: []rules.Rule{
		of("10万円以上の外部書き込み", rules.Conditions{Asks: []rules.Kind{rules.KindSteps}, From: "100000", Currency: "JPY"},
			rules.Outcome{Stages: []rules.Stage{people("部長", 1, webapi.Suzuki), people("経理", 2, webapi.Tanaka, webapi.Alex,
				webapi.Sato), people("総務", 0, webapi.Guest)}, Tells: webapi.HR}),
		of("社外への送信", rules.Conditions{Channels: []string{webapi.HR}}, rules.Outcome{Refuse: "社外への送信は総務部に依頼してください。"}),
		of("営業部の少額", rules.Conditions{Departments: []string{"営業部"}, Only: true, Below: "50000", Currency: "JPY",
			Labels: map[string][]string{"費目": {"国内旅費", "海外旅費"}}, Tools: []rules.Tool{{Name: "send_slack_dm"},
				{Address: "https://rooms.example.com/mcp", Name: "book"}}},
			rules.Outcome{Stages: []rules.Stage{{Name: "上長", Who: rules.Who{Superior: 1}, Need: 1},
				{Name: "所属", Who: rules.Who{Position: "課長", People: []string{webapi.Tanaka}}, Need: 1}}}),
	}}
}

// turnLooks are pages of gates under a rule as Suzuki reads them: at their turn, in the next round, and after they
// acted.
func turnLooks(w *consoletest.World) []look {
	two := consoletest.Desk("経理", 2, webapi.Tanaka, webapi.Suzuki, "U0TAKADA", webapi.Alex)
	opened := func(stages ...circulation.Stage) string {
		w.Ask()
		w.PlannedOnRoute(tenancy.DefaultSettings(), consoletest.Along(stages...), steps()...)
		return w.TaskPage()
	}
	mine := opened(consoletest.ThreeStages()...)
	round := opened(consoletest.Desk("課長", 1, webapi.Tanaka), two)
	w.As(webapi.Tanaka).Acts(aggregate.ActApprove, "")
	w.As(webapi.Alex).Acts(aggregate.ActReject, "宛名が違います。部署ごとに分けて、営業部の分だけを先に送ってください。")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.FinishedOnRoute(w.SettingsNow(), consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), two), steps(),
		"宛名を直しました。")
	return []look{{name: "turn-mine", path: mine}, {name: "turn-round", path: round}}
}

// untold leaves requests of Sato's whose pages look otherwise than that of a request that comes to its end: a draft
// that failed, a run, a run that failed, one that was cancelled, and one that Ringi can't do. It returns their pages.
func untold(w *consoletest.World) (all []look) {
	w.T.Helper()
	run := func() {
		w.Draft(tenancy.DefaultSettings())
		w.AskForSteps(consoletest.Message(1, "営業部の勤怠をお送りします。"))
		w.Approve()
		w.Begin()
	}
	does := func(f task.Decision) func() { return func() { w.Decide(f) } }
	for name, comes := range map[string][]func(){
		"not-drafted": {does(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) }),
			does(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
			})},
		"running": {run},
		"to-retry": {run, does(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
		})},
		"cancelled": {func() { w.Cancel() }},
	} {
		w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel",
			Title: "営業部の今月の勤怠をまとめて、部長に送って"})
		for _, do := range comes {
			do()
		}
		all = append(all, look{name: "request-" + name, path: w.TaskPage()})
	}
	w.Asked(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "天気は"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindUnsupported, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
	})
	return append(all, look{name: "request-refused", path: w.TaskPage()})
}

// fullLooks gives a workspace something to show, and returns its pages.
func fullLooks(w *consoletest.World) []look {
	request := finished(w)
	k := w.Compete("経費精算の手順を決めて", nil)
	k.Plays(1, 1, 0.81, "1. 領収書を集める\n2. 上長が確かめる")
	k.Plays(1, 2, 0.88, "1. 領収書を月末までに集める\n2. 上長が確かめる")
	k.Plays(2, 1, 0.64, "1. 各自が申請する")
	k.Ends(2, contest.PartialFailure, contest.ReasonLeader)
	c := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	c.Answers(conversation.Answer{Text: "承認されたら走らせます。"})
	c.Says(webapi.Sato, "お願いします")
	c.Proposes(conversation.ShellCommand, consoletest.Script, "")
	mark := marked(w)
	d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: webapi.Alex, Principal: webapi.Tanaka,
		From: tenancy.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From + 20
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka}}
	expect.Value(w.Store.KindStore.SetDelegation(w.T.Context(), d, by, w.Now(), nil))(w.T)
	all := append(turnLooks(w), organised(w)...)
	for _, name := range []string{"audit", "figures", "tasks", "settings", "contests", "agents", "tools/servers/office",
		"stand-ins"} {
		all = append(all, look{name: strings.ReplaceAll(name, "/", "-"), path: "/console/" + name})
	}
	return append(all, look{name: "home", path: "/console"}, look{name: "request", path: request},
		look{name: "contest", path: k.Page()}, look{name: "conversation", path: c.Page()},
		look{name: "tool-mark", path: mark}, look{name: "tool-mark-refused", path: mark, form: refusedMark})
}

// refusedMark is the form of a tool's mark with everything that can be wrong.
var refusedMark = url.Values{
	"act": {"save"}, "currency": {"YEN!"}, "example": {`{"supplier":"Acme","items":[]}`},
	"at": {"/supplier", "/items/*/quantity", "/total"}, "role": {"currency", "times", "plus"},
}

// marked allows a server's tool that orders goods, marks it, and returns the page of its mark.
func marked(w *consoletest.World) string {
	const name, address = "office.order", "https://office.example/mcp"
	w.Settings(func(x *tenancy.Settings) { x.MCPServers = []tenancy.MCPServer{{Name: "office", URL: address}} })
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

// finished brings a request, sent back once, to its end, and leaves another one waiting. It returns the first one's
// page.
func finished(w *consoletest.World) (page string) {
	w.Ask()
	use := aggregate.Usage{ID: "01USE", Provider: "anthropic", Model: "claude-x", Prompt: "extract.ja.2", Calls: 1,
		Input: 1200, Output: 34, Cost: 5600, Sent: &aggregate.Blob{S3Key: "prompts/x", Bytes: 9}}
	w.Decide(task.Charge(use, w.Now(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Description: "今月の勤怠を部署ごとにまとめ、スプレッドシートに書き出す。",
			Priority: task.High, TaskType: task.TypeStandard}, w.Now())
	}))
	w.Draft(tenancy.DefaultSettings())
	w.Redrafted("部署ごとに分けてください")
	w.AskForSteps(steps()...)
	w.Later(9 * time.Minute)
	w.Approve()
	w.Begin()
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf(`{"num":"%d","name":"従業員 %d","email":"a%d@example.com","department":"営業部",`+
			`"hours":%d}`, 100+i, i, i, i*3))
	}
	w.Ran(consoletest.Inline(`{"department":"営業部","status":"active"}`),
		consoletest.Inline(`{"employees":[`+strings.Join(rows, ",")+`],"total":60}`))
	w.Ran(consoletest.Inline(`{"spreadsheet_id":"1aB"}`),
		consoletest.Inline(`{"url":"https://docs.google.com/spreadsheets/d/1aBcDeFgHiJkLmNoPqRsTuVwXyZ/edit","rows":42}`))
	w.Ran(consoletest.Inline(`{"recipient":"x","text":"完了"}`),
		consoletest.Inline(`{"url":"https://example.slack.com/archives/C1/p1"}`))
	w.Completed("42 名分の勤怠を部署ごとにまとめ、シート「2026-10」に書き出しました。残業が 45 時間を超えた人はいません。")
	page = w.TaskPage()
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	return page
}

func steps() []task.Step {
	return []task.Step{
		ringitest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
		ringitest.Step(2, "write_rows_to_google_sheet", aggregate.Write,
			`{"spreadsheet_id":"1aB","sheet":"2026-10","columns":[{"key":"h","title":"残業時間"}],"rows":[{"h":25.5}]}`),
		ringitest.Step(3, "send_slack_dm", aggregate.Write, `{"recipient":"`+webapi.Sato+`","text":"完了"}`),
	}
}

// organised has a company of forty people stand, and returns the pages on it: what stands, and files with mistakes.
func organised(w *consoletest.World) []look {
	var b strings.Builder
	b.WriteString("メール,氏名,部署,役職,部署の長,上長\n")
	b.WriteString("suzuki@example.com,鈴木 一郎,みどり製作所ホールディングス株式会社,代表取締役社長,はい\n" +
		"tanaka@example.com,田中 恵,みどり製作所ホールディングス株式会社/人事部,課長\n")
	for i := range 35 {
		fmt.Fprintf(&b, "shain.%d@example.com,社員 %d,みどり製作所ホールディングス株式会社/第 %d 営業部東日本法人課,,,tanaka@example.com\n", i, i, i%4)
	}
	file := b.String()
	o, problems := rules.ReadOrganisation([]byte(file))
	expect.NoError(w.T, problems.Err())
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	expect.NoError(w.T, w.Store.SaveOrganisation(w.T.Context(), w.Tenant.ID, 0, o, by, w.Now()))
	wrong := file + "yamamoto,山本 明,Z,,?,9\nshain.1@example.com,山本 明,人事部\n"
	const page = "/console/organisation"
	return []look{
		{name: "organisation", path: page},
		{name: "organisation-wrong", path: page, form: url.Values{}, file: []byte(wrong)},
	}
}

// requestLooks fills a workspace with requests, and returns their pages and lists.
func requestLooks(full *consoletest.World) (all []look) {
	all = untold(full)
	for _, title := range []string{"営業部の残業を月ごとに集計して", "Book a room for Friday 15:00 and tell the team"} {
		full.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: title,
			Priority: task.Urgent})
		full.Draft(tenancy.DefaultSettings())
		full.AskForSteps(consoletest.Message(1, "集計の結果をお送りします。"), consoletest.Message(2, "ご確認をお願いします。"))
	}
	for _, path := range []string{"", "/tasks", "/tasks?q=zzz"} {
		all = append(all, look{name: "requests" + strings.NewReplacer("/", "-", "?", "-").Replace(path),
			path: "/console" + path})
	}
	return append(all, look{name: "request-waits", path: full.TaskPage()})
}

// decisionLooks are pages of requests for a decision alone.
func decisionLooks(w *consoletest.World) []look {
	b := w.As(webapi.Suzuki)
	w.MatterAsked()
	recorded := w.TaskPage()
	b.Acts(aggregate.ActApprove, "")
	w.MatterRecorded()
	w.MatterAsked()
	rejected := w.TaskPage()
	b.Acts(aggregate.ActReject, "見積もりを 2 社から取ってください。")
	w.MatterAsked()
	return []look{{name: "decision-asked", path: w.TaskPage()}, {name: "decision-recorded", path: recorded},
		{name: "decision-rejected", path: rejected}}
}

// callLooks are pages of what outside agents ask for, as an administrator sees them.
func callLooks(w *consoletest.World) []look {
	const pays = `{"company_id":1,"partner":"株式会社アカツキ商事","amount":128000,"due_date":"2026-05-31"}`
	o := w.KeyOf(webapi.Sato, "mcp__bank__pay", "Bash")
	first := o.Asks("Bash", `{"command":"tar czf old.tgz invoices/2025 &&\nrm -r invoices/2025","description":"Archive"}`,
		"",
		func(x *call.Proposal) { x.Content.Elsewhere = true })
	asked := o.Asks("mcp__bank__pay", pays, "請求書 INV-2026-0412 の支払期日が 5 月 31 日のためです。", nil)
	key := url.Values{"act": {"save"}, "name": {""}, "answers": {webapi.Sato}, "channel": {webapi.HR}, "quota_day": {"50"},
		"expires_at": {w.Now().AddDate(0, 1, 0).Format("2006-01-02")}, "elsewhere": {"Bash"}}
	return []look{{name: "call-first", path: "/console/calls/" + first.Call.CallID},
		{name: "call-asked", path: "/console/calls/" + asked.Call.CallID}, {name: "calls", path: "/console/calls"},
		{name: "keys", path: "/console/keys"}, {name: "key-refused", path: "/console/keys", form: key},
		{name: "key-made", path: "/console/keys", form: consoletest.With(key, "name", "週次の集計")}}
}
