package task_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestContestsOfTeams(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"none yet":                           noContests,
		"a contest while it runs, and after": wholeContest,
		"nobody else's":                      strangersSeeNoContest,
		"requests are named by their titles": listNamesRequests,
		"what models wrote is text":          draftsAreText,
		"what models were sent":              sentToModels,
		"one whose runs died":                brokenOff,
		"what is too long for a page":        longTalks,
	})
}

func noContests(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/contests").Says(t, http.StatusOK, "まだコンテストがありません")
	b.Get("/console/contests?cursor=x").Says(t, http.StatusBadRequest, "最初のページから")
	b.Get("/console/contests/"+contest.NewID()).Says(t, http.StatusNotFound)
	b.Get("/console/contests/x").Says(t, http.StatusNotFound)
}

func wholeContest(t *testing.T, w *consoletest.World) {
	k, b := w.Compete("経費精算の方針を決めて", nil), w.As(webapi.Suzuki)
	b.Get("/console/contests").Says(t, http.StatusOK, "経費精算の方針を決めて", "進行中")
	b.Get(k.Page()).Says(t, http.StatusOK, "開始したチームはまだありません").Holds(t, "data-live")
	k.Plays(1, 1, 0.8, "一行目\n同じ\nここも\n二行目")
	k.Plays(2, 1, 0.75, "一行目\n同じ\nここも\n別の行")
	b.Get(k.Page()).Says(t, http.StatusOK, "堅実", "80.00", "75.00", "関連性", "チームの最良").
		Lacks(t, "別の行") // drafts are on the page of the request
	k.Ends(1, contest.MaxRoundsReached, "")
	k.Ends(2, contest.PartialFailure, contest.ReasonLeader)
	expect.Value(w.Console.Contests.Settle(t.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(t)
	page := b.Get(k.Page())
	page.Says(t, http.StatusOK, "完了", "すべてのラウンドを終えました", "リーダーの AI が応答しませんでした", "5.2秒")
	page.Lacks(t, "data-live")
	b.Get("/console/contests").Says(t, http.StatusOK, "堅実", "80.00", "上位 50 ラウンド", "1. 堅実", "2. ", "75.00")
	b.Get("/console/contests?team=team-a").Says(t, http.StatusOK, "80.00", "平均").Lacks(t, "2. ")
	b.Get("/console/contests?team=nobody").Says(t, http.StatusOK).Lacks(t, "1. 堅実")
	log := b.Get("/console/audit")
	log.Says(t, http.StatusOK, "コンテストを始めた")
	log.Holds(t, `href="`+k.Page()+`"`).Lacks(t, "/console/tasks/"+k.ID)
}

func strangersSeeNoContest(t *testing.T, w *consoletest.World) {
	alone := w.Compete("誰にも見せない", nil)
	w.Ask()
	ref := w.Ref
	of := w.Compete("勤怠の方針", &ref)
	member, other := w.As(webapi.Sato), consoletest.Start(t)
	member.Get(alone.Page()).Says(t, http.StatusNotFound)
	of.Plays(1, 1, 0.8, "読める案")
	page := member.Get(of.Page()) // may read the request, so its contest too, but not the prompts
	page.Says(t, http.StatusOK, "80.00", "勤怠の方針")
	page.Lacks(t, "&lt;data&gt;")
	w.As(webapi.Suzuki).Get(of.Page()).Says(t, http.StatusOK, "&lt;data&gt;勤怠の方針")
	other.As(webapi.Suzuki).Get(of.Page()).Says(t, http.StatusNotFound)
}

// The list names what each contest was for by the request's title, and never by the prompt.
func listNamesRequests(t *testing.T, w *consoletest.World) {
	w.Ask()
	ref := w.Ref
	of, alone := w.Compete("勤怠の方針", &ref), w.Compete("備品の"+strings.Repeat("長い", 100)+"終わり", nil)
	of.Plays(1, 1, 0.8, "案")
	unnamed := w.Compete("", &ref) // begun before contests kept the title
	unnamed.Plays(1, 1, 0.9, "案")
	page := w.As(webapi.Suzuki).Get("/console/contests")
	page.Says(t, http.StatusOK, "勤怠の方針", "依頼の実行方針の作成", "備品の長い長い", "…")
	page.Lacks(t, "&lt;data&gt;", "終わり")
	for _, k := range []*consoletest.Contest{of, alone, unnamed} {
		page.Holds(t, `href="`+k.Page()+`"`)
	}
}

func draftsAreText(t *testing.T, w *consoletest.World) {
	k, b := w.Compete("<script>alert(1)</script>", nil), w.As(webapi.Suzuki)
	k.Plays(2, 1, 0.5, "<img src=x onerror=alert(1)>\u202e")
	for _, path := range []string{"/console/contests", k.Page()} {
		b.Get(path).Says(t, http.StatusOK).Lacks(t, "<script>alert", "<img src=x", "<b>速攻")
	}
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
