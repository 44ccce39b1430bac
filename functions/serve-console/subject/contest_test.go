package subject_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestContestsOfTeams(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a contest while it runs, and after": wholeContest,
		"nobody else's":                      strangersSeeNoContest,
		"what models were sent":              sentToModels,
		"one whose runs died":                brokenOff,
		"what is too long for a page":        longTalks,
	})
}

func wholeContest(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/contests").Says(t, http.StatusOK, "まだコンテストがありません")
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	b.Get("/console/contests").Says(t, http.StatusOK, "次の依頼の実行方針が、コンテストで作られます").Lacks(t, "有効にすると")
	b.Get("/console/contests?cursor=x").Says(t, http.StatusBadRequest, "最初のページから")
	b.Get("/console/contests/"+contest.NewID()).Says(t, http.StatusNotFound)
	b.Get("/console/contests/x").Says(t, http.StatusNotFound)
	w.Ask()
	ref := w.Ref
	w.Compete("", &ref) // begun before contests kept the title
	k := w.Compete("経費精算の<script>alert(1)</script>"+strings.Repeat("長い", 100)+"終わり", nil)
	b.Get("/console/contests").Says(t, http.StatusOK, "経費精算の", "…", "依頼の実行方針の作成", "進行中").
		Holds(t, `href="`+k.Page()+`"`).Lacks(t, "<script>alert", "&lt;data&gt;", "終わり") // the prompt
	b.Get(k.Page()).Says(t, http.StatusOK, "開始したチームはまだありません").Holds(t, "data-live")
	k.Plays(1, 1, 0.8, "一行目\n同じ\nここも\n二行目")
	k.Plays(2, 1, 0.75, "<img src=x onerror=alert(1)>別の行")
	b.Get(k.Page()).Says(t, http.StatusOK, "堅実", "80.00", "75.00", "関連性", "チームの最良").
		Lacks(t, "🏆", "別の行", "<b>速攻", "<script>alert") // drafts are on the page of the request
	k.Ends(1, contest.MaxRoundsReached, "")
	k.Ends(2, contest.PartialFailure, contest.ReasonLeader)
	expect.Value(w.Console.Contests.Settle(t.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(t)
	page := b.Get(k.Page()).Says(t, http.StatusOK, "完了", "リーダーの AI が応答しませんでした", "5.2秒",
		"🏆 1. 堅実", "2. &lt;b&gt;速攻", "各 3 ラウンドまで").
		Holds(t, `?show=policy-1#policy-1">`)
	page.Lacks(t, "data-live")
	b.Get("/console/contests").Says(t, http.StatusOK, "堅実", "80.00", "上位 50 ラウンド", "1. 堅実", "2. ", "75.00")
	b.Get("/console/contests?team=team-a").Says(t, http.StatusOK, "80.00", "平均").Lacks(t, "2. ")
	b.Get("/console/contests?team=nobody").Says(t, http.StatusOK).Lacks(t, "1. 堅実")
	b.Get("/console/audit").Says(t, http.StatusOK, "コンテストを始めた").Holds(t, `href="`+k.Page()+`"`).
		Lacks(t, "/console/tasks/"+k.ID)
}

// strangersSeeNoContest: who may read the request may read its contest, but not the prompts.
func strangersSeeNoContest(t *testing.T, w *consoletest.World) {
	alone, member := w.Compete("誰にも見せない", nil), w.As(webapi.Sato)
	w.Ask()
	ref := w.Ref
	of := w.Compete("勤怠の方針", &ref)
	of.Plays(1, 1, 0.8, "読める案")
	member.Get(alone.Page()).Says(t, http.StatusNotFound)
	member.Get(of.Page()).Says(t, http.StatusOK, "80.00", "勤怠の方針").Lacks(t, "&lt;data&gt;")
	w.As(webapi.Suzuki).Get(of.Page()).Says(t, http.StatusOK, "&lt;data&gt;勤怠の方針")
}

func sentToModels(t *testing.T, w *consoletest.World) {
	w.Ask()
	ref := w.Ref
	k, b := w.Compete("勤怠の方針", &ref), w.As(webapi.Suzuki)
	k.Plays(1, 1, 0.8, "案")
	keeper := store.Kept{Store: w.Console.Contests, Team: contest.TeamRef(w.Tenant.ID, k.ID, "team-a"), Execution: k.ID,
		ChargedTo: w.Ref.ID}
	w.Results["prompts/x"] = `{"system":"規則","messages":[{"role":"user","content":"依頼"}]}`
	for key, sent := range map[string]*aggregate.Blob{"01/leader/1": {S3Key: "prompts/x", Bytes: 9},
		"01/leader/2": {S3Key: "prompts/gone.json", Bytes: 9}, "01/evaluator/1/1/failed-1": nil} {
		expect.NoError(t, keeper.Keep(t.Context(), key, []byte(`{}`), aggregate.Usage{ID: aggregate.NewID(),
			Model: "claude-x", Prompt: "leader.ja.1", Calls: 1, Cost: 5600, Sent: sent}))
	}
	list := k.Page() + "/sent/" + contest.TeamHash("team-a")
	b.Get(k.Page()).Says(t, http.StatusOK, "AI モデルに送った内容")
	got := b.Get(list).Says(t, http.StatusOK).Holds(t, `"prompt":"leader.ja.1"`, `"sent":{"messages":[{"content":"依頼"`)
	expect.Is(t, strings.Count(got.Body, `"sent"`), 1, "what is not kept is not there")
	b.Get(k.Page()+"/sent/"+contest.TeamHash("nobody")).Says(t, http.StatusNotFound)
	w.As(webapi.Sato).Get(k.Page()).Lacks(t, "送った内容")
}

func brokenOff(t *testing.T, w *consoletest.World) {
	k, b := w.Compete("勤怠の方針", nil), w.As(webapi.Suzuki)
	k.Plays(1, 1, 0.8, "案")
	ref := contest.Ref(w.Tenant.ID, k.ID)
	keeper := store.Kept{Store: w.Console.Contests, Team: contest.TeamRef(w.Tenant.ID, k.ID, "team-a"), Execution: k.ID}
	expect.NoError(t, keeper.Keep(t.Context(), "01/leader/1", []byte(`{}`),
		aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: 250_000}))
	die := func(runs int) {
		for range runs {
			expect.Value(w.Console.Contests.Decide(t.Context(), ref,
				func(a *contest.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, w.Now()) }))(t)
		}
	}
	die(6)
	b.Get(k.Page()).Says(t, http.StatusOK, "中断", "それまでに採点された案と費用は残っています", "80.00")
	die(21)
	b.Get(k.Page()).Says(t, http.StatusOK, "結果をまとめられませんでした", "80.00", "$0.25")
}

func TestDraftsOfAContestOnTheTasksPage(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"whose it is, and the others": showsWhoseDraft, "another is taken after it was read": takesAnother,
		"who may not": strangersTakeNothing, "what a card could not show": longDraftIsRead,
	})
}

// drafted has two teams draft a request's policy. The first team's draft waits for a decision.
func drafted(w *consoletest.World, first, second string) { won(contested(w), first, second) }

// won ends a contest with these drafts, the better one first.
func won(k *consoletest.Contest, first, second string) {
	w := k.World
	w.T.Helper()
	k.Plays(1, 1, 0.9, first)
	k.Plays(2, 1, 0.5, second)
	k.Ends(1, contest.MaxRoundsReached, "")
	k.Ends(2, contest.TeamTimeout, contest.ReasonTimeout)
	expect.Value(w.Console.Contests.Settle(w.T.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(w.T)
	outcome, _ := expect.Value(w.Console.Contests.Load(w.T.Context(), contest.Ref(w.Tenant.ID, k.ID)))(w.T).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ContestEnded(task.PromptKey(1), outcome, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishContest(a.Head.Run, "team-a", first, w.SettingsNow(), w.Now())
	})
}

// contested makes a request whose policy a contest is drafting.
func contested(w *consoletest.World) *consoletest.Contest {
	w.T.Helper()
	w.Ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Extracted()
	ref := w.Ref
	k := w.Compete("方針を作って", &ref)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.AskContest(a.Head.Run, task.Contest{ExecutionID: k.ID, File: "configs/contest.toml", Until: w.Now()},
			w.Now())
	})
	return k
}

// other returns the page of the other team's draft, and the form there.
func other(w *consoletest.World) (path string, form url.Values) {
	w.T.Helper()
	p := w.Load().Prompt()
	e := p.Others()[0]
	return w.TaskPage() + "/drafts/" + p.ID + "/" + contest.TeamHash(e.TeamID), url.Values{"hash": {e.Hash}}
}

func showsWhoseDraft(t *testing.T, w *consoletest.World) {
	sato := w.As(webapi.Sato)
	k := contested(w)
	sato.Get(w.TaskPage()).Holds(t, "複数のチームが下書きを競っています", k.Page())
	won(k, "一行目\n堅実な案", "一行目\n<i>速い案</i>")
	path, _ := other(w)
	sato.Get(w.TaskPage()).
		Holds(t, "🏆 「堅実」の案です (2 チームの中で最高の 90.00 点)", "&lt;b&gt;速攻", "50.00 点", "制限時間に達したため",
			`href="`+path+`"`, k.Page()).Lacks(t, "すべてのラウンドを終えました。")
	sato.Get(k.Page()).Holds(t, `href="`+path+`"`, `?show=policy-1#policy-1"><bdi>堅実`)
	sato.Get(path).Holds(t, "&lt;i&gt;速い案&lt;/i&gt;", "- <mark>堅実な案</mark>",
		"50.00 点", "この案に変更する</button>").Lacks(t, "<i>速い案", "<b>速攻")
}

func takesAnother(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", "速い案")
	path, form := other(w)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get(path).Holds(t, "この案に変更する</button>").Lacks(t, "✅ 承認</button>") // which would take the waiting one
	suzuki.Post(path, consoletest.With(form, "hash", "x")).Says(t, http.StatusConflict)
	expect.That(t, w.Load().Prompt().Version == 1, "what was not shown")
	suzuki.Post(path, form).Leads(t, w.TaskPage()+"?done=act_pick_draft")
	a := w.Load()
	p := a.Prompt()
	expect.Must(t, p.Version == 2 && p.Content == "速い案" && p.Author == webapi.Suzuki &&
		p.Status == aggregate.PendingApproval && a.Prompts[0].Status == aggregate.Rejected, "%+v", p)
	page := suzuki.Get(w.TaskPage() + "?done=act_pick_draft") // and it is open, since they read it
	page.Holds(t, "✅ 承認</button>", "鈴木 一郎 が別の案に変更しました: ", "代わりに選ばれたチーム", "prompt.picked", "console")
	page.Lacks(t, "前のバージョンの却下理由", ">却下</span>") // nobody rejected it or gave a reason
	suzuki.Get(path).Holds(t, "もう承認待ちではありません")
	suzuki.Get(path).Lacks(t, "この案に変更する</button>")
	suzuki.Post(path, form).Says(t, http.StatusConflict)
	expect.That(t, len(w.Load().Prompts) == 2, "a second time")
}

func strangersTakeNothing(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", "速い案")
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers.Mode, s.Approvers.Users = aggregate.ApproversList, []string{webapi.Suzuki}
	})
	path, form := other(w)
	w.As(webapi.Tanaka).Post(path, form).Says(t, http.StatusForbidden) // a member who is not listed
	w.As(webapi.Tanaka).Get(path).Lacks(t, "この案に変更する</button>")
	for _, bad := range []string{w.TaskPage() + "/drafts/x/y", strings.Replace(path, "/drafts/", "/drafts/x", 1)} {
		w.As(webapi.Suzuki).Get(bad).Says(t, http.StatusNotFound)
	}
	expect.Is(t, len(w.Load().Prompts), 1, "somebody took it")
}

func longDraftIsRead(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", strings.Repeat("長い案です。\n", 6000)+"おわり")
	path, form := other(w)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get(path).Holds(t, "おわり", "承認のカードに収まりません").Lacks(t, "この案に変更する</button>")
	a := suzuki.Post(path, form)
	expect.That(t, a.Status == http.StatusBadRequest && len(w.Load().Prompts) == 1, "%v", a)
}

func promptsAreForFew(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Results["prompts/x"] = `{"system":"あなたは総務の担当です。\n二行目","messages":[{"role":"user","content":"tanaka@example.com ` +
		`<b>今月</b>"}]}`
	bill := task.Charge(aggregate.Usage{ID: "01USE", Provider: "anthropic", Model: "claude-x", Prompt: "extract.ja.2",
		Calls: 1, Input: 1200, Output: 34, Cost: 5600, Sent: &aggregate.Blob{S3Key: "prompts/x", Bytes: 9}}, w.Now(),
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Description: "今月", Priority: task.Medium,
				TaskType: task.TypeStandard}, w.Now())
		})
	w.Decide(bill)
	for user, status := range map[string]int{webapi.Sato: 200, webapi.Suzuki: 200, webapi.Tanaka: 403} {
		b := w.As(user)
		page, sent := b.Get(w.TaskPage()), b.Get(w.TaskPage()+"/sent")
		page.Holds(t, "1,200", "$0.0056")
		expect.That(t, sent.Status == status && strings.Contains(page.Body, "/sent\"") == (status == 200) &&
			strings.Contains(sent.Body, "総務の担当") == (status == 200), "%s gets %d", user, sent.Status)
		sent.Lacks(t, "tanaka@example.com", "<b>")
	}
	delete(w.Results, "prompts/x")
	w.As(webapi.Sato).Get(w.TaskPage()+"/sent").Says(t, 200).Holds(t, `"prompt":"extract.ja.2"}`)
}

// filesForSpreadsheets have all rows of what the page shows the beginning of, and no formula of anybody's.
func filesForSpreadsheets(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "list_employees", aggregate.Read, `{}`),
		ringitest.Step(2, "list_employees", aggregate.Read, `{}`), ringitest.Step(3, "list_employees", aggregate.Read, `{}`))
	w.Approve()
	w.Begin()
	w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"rows":[{"id":"=HYPERLINK(\"http://evil\")","n":-5,`+
		`"mail":"tanaka@example.com"},{"id":"@SUM(1)","n":2,"mail":"+81"}],"note":"-1+2"}`))
	rows := strings.Repeat(`{"id":1,"name":"従業員"},`, 999) + `{"id":2,"name":"従業員"}`
	w.Results["results/large"] = aggregate.JSON(`{"employees":[` + rows + `]}`)
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/large", Bytes: len(rows)})
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/gone", Bytes: 5000})
	sato, page := w.As(webapi.Sato), w.TaskPage()
	a := sato.Get(page + "/results/1-1-1/1.csv")
	expect.Is(t, a.Body, "\ufeff\"id\",\"mail\",\"n\"\r\n\"'=HYPERLINK(\"\"http://evil\"\")\",\"t*****@example.com\","+
		"\"-5\"\r\n\"'@SUM(1)\",\"'+81\",\"2\"\r\n")
	expect.Has(t, a.Header.Get("Content-Type"), "text/csv")
	expect.Has(t, a.Header.Get("Content-Disposition"), "attachment")
	expect.Is(t, sato.Get(page+"/results/1-1-1/values.csv").Body, "\ufeff\"name\",\"value\"\r\n\"note\",\"'-1+2\"\r\n")
	sato.Get(page).Holds(t, "900 行は表示していません", "/results/1-1-2/1.csv", "保存期間を過ぎたため")
	expect.Is(t, strings.Count(sato.Get(page+"/results/1-1-2/1.csv").Body, "従業員"), 1000, "the file has … rows")
	for _, path := range []string{"1-1-1/2.csv", "1-1-1/1.html", "1-1-4/1.csv", "x/1.csv", "1-1-1/-1.csv", "1-1-1/0.csv"} {
		sato.Get(page+"/results/"+path).Says(t, 404)
	}
}

func unreadArguments(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.Approve()
	w.Begin()
	w.Results["arguments/x"] = aggregate.JSON(`{"text":"` + strings.Repeat("長\u200b", 5000) + `終わり"}`)
	w.Checks(1, aggregate.Blob{S3Key: "arguments/x", Bytes: 15000})
	suzuki, form := w.As(webapi.Suzuki), w.Act(aggregate.ActApprove, "")
	suzuki.Get(w.TaskPage()).Holds(t, "終わり", "✅ 承認</button>")
	delete(w.Results, "arguments/x")
	suzuki.Get(w.TaskPage()).Holds(t, "全部を表示できないため、承認できません", `value="reject"`).Lacks(t, "✅ 承認</button>")
	suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusBadRequest) // what can't be read can't be approved
}

// unreadSteps is what nobody can approve, since nobody can tell what it would do.
func unreadSteps(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `["U0SATO"]`))
	suzuki, form := w.As(webapi.Suzuki), w.Act(aggregate.ActApprove, "")
	suzuki.Get(w.TaskPage()).Holds(t, "何が行われるか分かりません", `value="reject"`).Lacks(t, "✅ 承認</button>")
	suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusBadRequest)
}

func longTalks(t *testing.T, w *consoletest.World) {
	k, b := w.Compete("長い話", nil), w.As(webapi.Suzuki)
	a := expect.Value(w.Console.Contests.Load(t.Context(), contest.Ref(w.Tenant.ID, k.ID)))(t)
	team := expect.Value(w.Console.Contests.Enter(t.Context(), a, 1))(t)
	played := storetest.Round(k.ID, a.Contest.Teams[0], 1, "案", 0.8, k.Now())
	played.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 90,
		EvaluatorComment: "講評" + strings.Repeat("長", 2000)}}
	expect.Value(w.Console.Contests.SaveRound(t.Context(), team.Ref(), played))(t)
	page := b.Get(k.Page()).Says(t, http.StatusOK, "講評")
	expect.That(t, strings.Count(page.Body, "長") < 1600, "the page has all of a comment")
}
