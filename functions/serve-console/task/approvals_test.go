package task_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	taskpages "ringi/functions/serve-console/task"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTheListOfApprovals(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"what waits is listed, the oldest first, with what it would do": testApprovals,
		"a step's check shows the line of its step alone":               testStepApproval,
		"a step's check tells what its plan became":                     testResolvedApproval,
		"an agent's action is told by its payload, not by the agent":    testActionsApproval,
		"thirty are sorted, filtered and grouped":                       testThirtyApprovals,
		"what waits for me is what my click would decide":               testForMe,
		"many pages are gone through for what waits for me":             testManyApprovals,
		"nothing that people or models write runs in the lists":         testListsAreEscaped,
		"another workspace's approvals are not there":                   testForeignApprovals,
		"money stands in a column":                                      testMoneyThatWaits,
	})
}

func testApprovals(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	w.As(webapi.Suzuki).Get("/console/approvals?for=all").Says(t, 200, "承認待ちのものはありません")
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "先の依頼"})
	w.Draft(s)
	w.Later(time.Minute)
	later := w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: "後の依頼",
		Priority: task.High})
	w.Draft(s)
	w.AskForSteps(consoletest.Message(1, "締切は金曜です"), consoletest.Message(2, "二通目"))
	got := w.As(webapi.Suzuki).Get("/console/approvals?for=all").Says(t, 200, "先の依頼", "方針", "連絡",
		"田中 恵", "DM を送ります", "⚠️", "「締切は金曜です」", "「二通目」", "#人事", "佐藤 花子", "期限", "あと 6 日", "あなたの番")
	text := got.Text()
	expect.That(t, strings.Index(text, "先の依頼") <= strings.Index(text, "DM を送ります"),
		"the older one is not first")
	before, after, _ := strings.Cut(text, "DM を送ります")
	urgent := !strings.Contains(before, "High") && strings.Contains(after, "🔴 High")
	expect.That(t, urgent, "which one is urgent is not said")
	w.As(webapi.Suzuki).Get("/console/tasks/"+later).Says(t, 200, "優先度", "🔴 High")
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "🔴 High")
	got.Holds(t, `href="/console/tasks/`+later+`"`).Lacks(t,
		"<input type=\"checkbox\"") // one is decided at a time
	w.As(webapi.Suzuki).In("en").Get("/console/approvals?for=all").Says(t, 200, "Message", "Sends", "DM", "Policy",
		"in 6 days", "Your turn", "佐藤 花子")
	w.Cancel()
	w.As(webapi.Suzuki).Get("/console/approvals?for=all").Says(t, 200, "先の依頼").Lacks(t, "DM を送ります")
}

func testStepApproval(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "確認つき"})
	w.Draft(s)
	first, second := consoletest.Message(1, "一通目"), consoletest.Message(2, "二通目")
	first.RequiresHumanCheck, second.RequiresHumanCheck = true, true
	w.AskForSteps(first, second)
	w.Approve()
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: first.ToolInput, Bytes: len(first.ToolInput)}, "hash",
			w.Now())
	})
	w.As(webapi.Suzuki).Get("/console/approvals?for=all").Says(t, 200, "ステップ1 の実行前の確認", "DM を送ります")
}

// paying is a step whose own check moves money.
func paying(order int, arguments string) task.Step {
	s := pipelinetest.Step(order, "bank.pay", aggregate.Write, arguments)
	s.RequiresHumanCheck = true
	s.Mark = &rules.Mark{Version: s.ToolVersion, How: rules.HowProduct, Currency: "USD",
		Pointers: []string{"/price", "/count"}, Act: rules.ActPayment, Party: "/to"}
	return s
}

// What a step's check asks about is in the list if it is stored there; if not, the row says that it has the plan's.
func testResolvedApproval(t *testing.T, w *consoletest.World) {
	planned := paying(2, `{"to":{"$ref":"step-1.result.to"},"price":{"$ref":"step-1.result.price"},"count":30}`)
	for _, tt := range []struct {
		is   aggregate.Blob
		says []string
	}{
		{consoletest.Inline(`{"to":"Mallory","price":149000,"count":30}`),
			[]string{"「 Mallory 」に支払います", "4,470,000 USD"}},
		{consoletest.Inline(`{"to":{"$ref":"step-1.result.to"},"price":149000,"count":30}`),
			[]string{"支払います"}},
		{aggregate.Blob{S3Key: "arguments/x", Bytes: 15000, Preview: "長"},
			[]string{"ステップ1の結果", "金額不明", "計画時の内容です"}},
	} {
		w.Ask()
		w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "bank.quote", aggregate.Read, `{}`), planned)
		w.Approve()
		w.Begin()
		w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"to":"Mallory","price":149000}`))
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(a.Head.Run, 2, tt.is, "hash", w.Now())
		})
		got := w.As(webapi.Suzuki).Get("/console/approvals?for=all")
		if got.Says(t, 200, tt.says...); tt.is.JSON != "" {
			got.Lacks(t, "ステップ1の結果")
		}
	}
}

// What an agent says of its action is the agent's words, and never stands for what the action does.
func testActionsApproval(t *testing.T, w *consoletest.World) {
	was := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "README.md", Content: "x\n"}}))(t)
	kept, problems := conversation.Payload{Delete: []string{"README.md"},
		Files: []files.File{{Path: "a", Content: "y\n"}}}.
		Complete(conversation.CodeGenerate, conversation.On{}, was)
	expect.Must(t, problems == nil, "%v", problems)
	for payload, tt := range map[string]struct {
		typ    conversation.ActionType
		ja, en string
	}{
		kept.JSON(): {conversation.CodeGenerate, "削除 1 件: README.md · 新規 1 件: a", "1 deleted: "},
		`{"script":"rm -rf x\u202e\nmake","timeout_seconds":5,"base":""}`: {
			conversation.ShellCommand, "rm -rf x⟨U&#43;202E⟩", "rm -rf x"},
		`{"script":"rm y","timeout_seconds":5,"base":""}`: {conversation.ShellCommand, "rm y", "rm y"},
		`{"argv":["go","test","./a b",""],"timeout_seconds":5,"base":""}`: {
			conversation.TestRun, "go test &#34;./a b&#34; &#34;&#34;", "go test"},
	} {
		k := w.Talked(webapi.Sato, webapi.HR, "channel", "直して")
		k.Proposes(tt.typ, payload, "")
		for locale, want := range map[string]string{"ja": tt.ja, "en": tt.en} {
			b := w.As(webapi.Sato).In(locale)
			got := b.Get("/console/approvals?for=all").Text()
			expect.Has(t, got, want)
			_, said, _ := strings.Cut(got, map[string]string{"ja": "の説明 (実行内容ではありません)",
				"en": "’s description (not what will run)"}[locale])
			expect.That(t, strings.HasPrefix(strings.TrimSpace(said), ":"), "the agent's words are not called so: %s", got)
		}
	}
}

// testThirtyApprovals is for somebody whom thirty people ask.
func testThirtyApprovals(t *testing.T, w *consoletest.World) {
	people := []string{webapi.Sato, webapi.Tanaka, webapi.Alex}
	for n := range 30 {
		r := consoletest.Requested{User: people[n%3], Channel: webapi.HR, Kind: "channel",
			Title: fmt.Sprintf("依頼 %02d", n)}
		if n == 20 {
			r.Priority = task.Urgent
		}
		w.Made(r)
		s := tenancy.DefaultSettings()
		if n == 25 {
			s.ApprovalTimeoutHours = 1
		}
		w.Draft(s)
		if n == 7 {
			w.AskForSteps(consoletest.Message(1, "一通"))
		}
		w.Later(time.Second)
	}
	b := w.As(webapi.Suzuki)
	sends := "田中 恵 さんに DM を送ります"
	for query, want := range map[string]struct {
		first string
		n     int
	}{
		"":                                    {"依頼 25", 30},
		"?sort=oldest":                        {"依頼 00", 30},
		"?sort=priority":                      {"依頼 20", 30},
		"?sort=amount":                        {"依頼 25", 30},
		"?kind=process":                       {sends, 1},
		"?kind=prompt":                        {"依頼 25", 29},
		"?person=" + webapi.Tanaka:            {"依頼 25", 10},
		"?person=me":                          {"", 0},
		"?act=message":                        {sends, 1},
		"?act=sheet":                          {"", 0},
		"?act=other":                          {"", 0},
		"?act=read":                           {"", 0},
		"?act=unplanned":                      {"依頼 25", 29},
		"?kind=process&person=" + webapi.Sato: {"", 0},
		"?for=me":                             {"依頼 25", 30},
	} {
		got := b.Get("/console/approvals" + query)
		titles := got.Titles()
		expect.Must(t, got.Status == 200 && len(titles) == want.n, "%s: %d with %d", query, got.Status, len(titles))
		expect.That(t, want.n == 0 || titles[0] == want.first, "%s begins with %v", query, titles[:min(1, len(titles))])
		if want.n == 0 {
			got.Says(t, 200, "条件に合うものはありません", "条件を外す")
		}
		expect.That(t, len(got.Body) <= 150<<10, "%s weighs %d bytes", query, len(got.Body))
	}
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.As(webapi.Sato).Get("/console/approvals?for=all").Says(t, 200, "あなたの番", "ほかの人の番")
	for query, field := range map[string]string{"kind=x": "判断すること", "person=sato": "依頼した人",
		"person=U0NOBODY": "依頼した人", "sort=x": "並び順", "act=x": "実行内容"} {
		got := b.Get("/console/approvals?" + query)
		got.Says(t, 200, "読み取れない指定がありました: "+field+"。")
		expect.Is(t, len(got.Titles()), 30, query)
	}
}

func testForMe(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "人事の件"})
	s := w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Alex},
			Usergroups: []string{webapi.Approvers}}
		s.AllowSelfApproval = false
	})
	w.Draft(s)
	w.Made(consoletest.Requested{User: webapi.Alex, Channel: "C0ELSEWHERE", Kind: "channel", Title: "営業の件"})
	w.Draft(s)
	for user, want := range map[string]struct{ all, mine []string }{
		webapi.Suzuki: {[]string{"人事の件", "営業の件"}, []string{"人事の件", "営業の件"}}, // of the group
		webapi.Alex:   {[]string{"人事の件", "営業の件"}, []string{"人事の件"}},         // not his own
		webapi.Sato:   {[]string{"人事の件"}, nil},
	} {
		opens := want.mine // what is one's turn, if anything is
		if opens == nil {
			opens = want.all
		}
		for path, titles := range map[string][]string{"/console/approvals?for=all": want.all,
			"/console/approvals?for=me": want.mine, "/console/approvals": opens} {
			got := w.As(user).Get(path)
			for _, title := range []string{"人事の件", "営業の件"} {
				listed := strings.Contains(got.Text(), title)
				expect.That(t, listed == strings.Contains(strings.Join(titles, " "), title), "%s, %s: %s is listed: %v", user,
					path, title, listed)
			}
		}
	}
	w.As(webapi.Alex).Get("/console/approvals?for=all").Says(t, 200, "Alex Kim")
}

func testManyApprovals(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	for n := range taskpages.WaitingOfPage + 2 {
		r := consoletest.Requested{User: []string{webapi.Tanaka, webapi.Sato}[n%2], Channel: webapi.HR, Kind: "channel",
			Title: fmt.Sprintf("人事 %02d", n)}
		if n == taskpages.WaitingOfPage+1 {
			r.Channel, r.Title = webapi.General, "全社"
		}
		w.Made(r)
		w.Draft(s)
		w.Later(time.Second)
	}
	w.As(webapi.Alex).Get("/console/approvals?for=me").Says(t, 200, "全社") // on the second page of all
	b := w.As(webapi.Suzuki)
	first := b.Get("/console/approvals?for=all")
	if n := strings.Count(first.Body, "<tr data-row>"); n != taskpages.WaitingOfPage ||
		!strings.Contains(first.Text(), "人事 00") {
		t.Errorf("the first page has %d", n)
	}
	second := b.Get(first.Link("next"))
	second.Says(t, 200, "全社", fmt.Sprintf("人事 %02d", taskpages.WaitingOfPage), "最初のページ",
		"並び順は、ページごとに適用されます").Lacks(t, `data-live`)
	b.Get(second.Link("prev")).Says(t, 200, "人事 00", fmt.Sprintf("人事 %02d", taskpages.WaitingOfPage-1))
}

func testListsAreEscaped(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	for n, x := range consoletest.Payloads {
		w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: x})
		w.Draft(s)
		if n == 0 {
			w.AskForSteps(consoletest.Message(1, strings.Join(consoletest.Payloads, " ")))
		}
	}
	w.People.Called[webapi.Sato] = consoletest.Payloads[1]
	w.People.Channel = consoletest.Payloads[2]
	for _, path := range []string{"/console/tasks", "/console/approvals", "/console/approvals?for=me"} {
		got := w.As(webapi.Suzuki).Get(path).Says(t, 200).Holds(t, "&lt;img src=x onerror=alert(1)&gt;",
			"&lt;svg/onload=alert(1)&gt;")
		consoletest.Harmless(t, path, got)
	}
	for _, x := range consoletest.Payloads {
		q := url.Values{}
		for _, field := range []string{"q", "status", "person", "from", "to", "cursor", "for", "done", "next"} {
			q.Set(field, x)
		}
		for _, path := range []string{"/console/tasks?", "/console/approvals?"} {
			consoletest.Harmless(t, path, w.As(webapi.Sato).Get(path+q.Encode()))
		}
	}
}

func testForeignApprovals(t *testing.T, w *consoletest.World) {
	other := w.Found("T0OTHER", webapi.Suzuki)
	s := tenancy.DefaultSettings()
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "うちの件"})
	w.Draft(s)
	w.Of(other, webapi.Suzuki).Get("/console/approvals?for=all").Says(t, 200, "承認待ちのものはありません").Lacks(t,
		"うちの件")
}

// ordering is a step that orders a laptop from Acme for an amount of yen.
func ordering(order int, amount string) task.Step {
	s := consoletest.Message(order, "")
	s.Tool, s.ToolInput = "shop__order", aggregate.JSON(`{"supplier":"Acme","item":"Laptop","total":`+amount+`}`)
	s.Mark = &rules.Mark{Version: s.ToolVersion, How: rules.HowSum, Pointers: []string{"/total"}, Currency: "JPY",
		Act: rules.ActOrder, Party: "/supplier", Item: "/item"}
	return s
}

func testMoneyThatWaits(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	for _, amount := range []string{"298000", "1084600", `"many"`} {
		w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "発注"})
		w.Draft(s)
		step := ordering(1, amount)
		if amount == `"many"` {
			step.ToolInput = aggregate.JSON(strings.Replace(string(step.ToolInput), "Laptop", strings.Repeat("Cable ", 200), 1))
		}
		w.AskForSteps(step, consoletest.Message(2, "届きます"))
	}
	_, now := w.Asked(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel",
		Title: "アクメに ¥447,000 の PC を発注して"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "アクメへの発注", Description: "PC", Priority: task.Medium,
			TaskType: task.TypeStandard}, now)
	})
	w.Draft(s)
	b := w.As(webapi.Suzuki)
	b.Get("/console/approvals?for=all").Says(t, 200,
		"方針 アクメへの発注 アクメに ¥447,000 の PC を発注して · 書き込みはまだ行いません")
	b.Get("/console/approvals?for=all").Says(t, 200, "Cable Cable").Lacks(t, strings.Repeat("Cable ", 40))
	b.Get("/console/approvals?for=all").Says(t, 200,
		"発注 「 Acme 」に「 Laptop 」を発注します",
		"¥298,000", "¥1,084,600", "DM を送ります")
	w.As(webapi.Suzuki).In("en").Get("/console/approvals?for=all").Says(t, 200, "Order Orders")
	b.Get("/console/approvals?sort=amount").Says(t, 200, "¥1,084,600")
	body := b.Get("/console/approvals?sort=amount&act=order").Body
	at := func(money string) int { return strings.Index(body, `<td class="money">`+money) }
	unknown, more, less := at("金額不明"), at("¥1,084,600"), at("¥298,000")
	expect.That(t, 0 < unknown && unknown < more && more < less, "%d, %d, %d", unknown, more, less)
}
