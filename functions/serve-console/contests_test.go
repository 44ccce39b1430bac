package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/contests"
	"ringi/shared/store/contests/conteststest"
	"ringi/shared/store/storetest"
)

func TestContestsOfTeams(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"none yet":                           noContests,
		"a contest while it runs, and after": wholeContest,
		"one in which all failed":            allFailed,
		"nobody else's":                      strangersSeeNoContest,
		"the board names requests":           boardNamesRequests,
		"what models wrote is text":          draftsAreText,
		"cancelled by who may":               cancelsContest,
		"what models were sent":              sentToModels,
		"one whose runs died":                brokenOff,
		"what is too long for a page":        longTalks,
		"which tools members called":         toolsOfMembers,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// competing is a world with a contest.
type competing struct {
	*world
	id string
}

// compete begins a contest of two teams, for a task if there is one.
func (w *world) compete(prompt string, by *aggregate.Ref) *competing {
	w.T.Helper()
	k := &competing{w, contest.NewID()}
	o := contest.Order{
		Execution: k.id, Tenant: w.tenant.ID, Prompt: prompt, Locale: "ja", MaxRounds: 3, MinRounds: 1, TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		Teams: []contest.Entry{{TeamID: "team-a", TeamName: "堅実"}, {TeamID: "team-b", TeamName: "<b>速攻</b>"}}, By: aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki},
	}
	if by != nil {
		o.For, o.ForRow, o.Title, o.Prompt = by, task.PromptKey(1), prompt, "<data>"+prompt+"</data>"
	}
	expect.NoError(w.T, w.c.Contests.Begin(w.T.Context(), o))
	return k
}

// plays is a round of a team.
func (k *competing) plays(place, round int, score float64, text string) {
	k.T.Helper()
	a := expect.Value(k.c.Contests.Load(k.T.Context(), contest.Ref(k.tenant.ID, k.id)))(k.T)
	w := expect.Value(k.c.Contests.Enter(k.T.Context(), a, place))(k.T)
	e := a.Contest.Teams[place-1]
	said := contest.MemberSubmission{AgentName: "analyst", AgentType: contest.Plain, Content: "調べました", Status: contest.Success, Timestamp: k.Now()}
	p := conteststest.Round(k.id, e, round, text, score, k.Now())
	p.Result.EvaluationFeedback, p.Result.ExecutionTimeSeconds = "Relevance (0.90): 要点がそろっています。", 5.2
	p.Result.Usage = contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	p.Record.Submissions = []contest.MemberSubmission{said}
	p.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 90, EvaluatorComment: "要点がそろっています。"}}
	p.Judgment = &contest.Judgment{ShouldContinue: true, Reasoning: "まだ良くなります", ConfidenceScore: 0.75}
	expect.Value(k.c.Contests.SaveRound(k.T.Context(), w.Ref(), p))(k.T)
}

func (k *competing) ends(place int, exit contest.ExitReason, why aggregate.Reason) {
	k.T.Helper()
	a := expect.Value(k.c.Contests.Load(k.T.Context(), contest.Ref(k.tenant.ID, k.id)))(k.T)
	w := expect.Value(k.c.Contests.Enter(k.T.Context(), a, place))(k.T)
	expect.Value(k.c.Contests.End(k.T.Context(), w.Ref(), exit, why, ""))(k.T)
}

func (k *competing) page() string { return "/console/contests/" + k.id }

func noContests(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	b.get("/console/contests").says(t, http.StatusOK, "まだコンテストがありません", "新しいコンテスト")
	b.get("/console/contests/board").says(t, http.StatusOK, "採点されたラウンドがまだありません")
	b.get("/console/contests?cursor=x").says(t, http.StatusBadRequest, "最初のページから")
	b.get("/console/contests/"+contest.NewID()).says(t, http.StatusNotFound)
	b.get("/console/contests/x").says(t, http.StatusNotFound)
}

func wholeContest(t *testing.T, w *world) {
	k, b := w.compete("経費精算の方針を決めて", nil), w.as(workspace.Suzuki)
	b.get("/console/contests").says(t, http.StatusOK, "経費精算の方針を決めて", "進行中", "単独")
	if page := b.get(k.page()); !strings.Contains(page.body, "data-live") || !strings.Contains(page.text(), "チームはまだ始まっていません") {
		t.Errorf("a contest that runs is not followed, or says more than there is: %s", page.text())
	}
	k.plays(1, 1, 0.8, "一行目\n二行目")
	k.plays(2, 1, 0.75, "一行目\n別の行")
	b.get(k.page()).says(t, http.StatusOK, "堅実", "80.00", "75.00", "まだ良くなります", "関連性", "確信度 0.75", "調べました", "二行目")
	k.ends(1, contest.MaxRoundsReached, "")
	k.ends(2, contest.PartialFailure, contest.ReasonLeader)
	expect.Value(w.c.Contests.Settle(t.Context(), contest.Ref(w.tenant.ID, k.id), 1))(t)
	page := b.get(k.page())
	page.says(t, http.StatusOK, "完了", "決められた回数", "リーダーの AI が答えませんでした", "5.2 秒")
	if best := draftKey("team-a", 1); strings.Contains(page.body, "compare?a="+best+"&amp;b="+best) {
		t.Error("the best draft is compared with itself")
	}
	if strings.Contains(page.body, "data-live") {
		t.Error("the page of a contest that is over goes on asking")
	}
	b.get(k.page()+"/compare").says(t, http.StatusOK, "- 別の行", "+ 二行目", "80.00")
	b.get(k.page()+"/compare?a=x.1&b=y.2").says(t, http.StatusNotFound)
	b.get("/console/contests").says(t, http.StatusOK, "堅実", "80.00")
	b.get("/console/contests/board").says(t, http.StatusOK, "高いものから 10 件まで", "80.00", "75.00", "関連性 (90): 要点がそろって")
	b.get("/console/contests/board?team=team-a").says(t, http.StatusOK, "80.00", "チームの成績")
	b.get("/console/contests/board?team=nobody").says(t, http.StatusOK, "nobody", "まだありません")
	log := b.get("/console/audit")
	log.says(t, http.StatusOK, "コンテストを始めた", "コンテストを開く")
	if !strings.Contains(log.body, `href="`+k.page()+`"`) || strings.Contains(log.body, "/console/tasks/"+k.id) {
		t.Error("the audit log leads elsewhere than to the contest")
	}
}

func allFailed(t *testing.T, w *world) {
	k, b := w.compete("備品の方針を決めて", nil), w.as(workspace.Suzuki)
	k.ends(1, contest.PartialFailure, contest.ReasonLeader)
	k.ends(2, contest.PartialFailure, contest.ReasonLeader)
	expect.Value(w.c.Contests.Settle(t.Context(), contest.Ref(w.tenant.ID, k.id), 1))(t)
	b.get("/console/contests").says(t, http.StatusOK, "備品の方針", "すべてのチームが失敗")
	page := b.get(k.page())
	page.says(t, http.StatusOK, "すべてのチームが失敗", "リーダーの AI が答えませんでした")
	if strings.Contains(page.text(), "まだ採点されていません") {
		t.Error("teams that have failed are not scored yet")
	}
}

func strangersSeeNoContest(t *testing.T, w *world) {
	alone := w.compete("誰にも見せない", nil)
	w.ask()
	ref := w.Ref
	of := w.compete("勤怠の方針", &ref)
	member, other := w.as(workspace.Sato), newWorld(t, storetest.Start(t))
	member.get("/console/contests").says(t, http.StatusForbidden)
	member.get("/console/contests/board").says(t, http.StatusForbidden)
	member.get(alone.page()).says(t, http.StatusNotFound)
	member.get(alone.page()+"/compare").says(t, http.StatusNotFound)
	of.plays(1, 1, 0.8, "読める案")
	page := member.get(of.page()) // who may read the request may read what was drafted for it, not what models were told
	page.says(t, http.StatusOK, "読める案", "勤怠の方針")
	lacks(t, page, "&lt;data&gt;")
	w.as(workspace.Suzuki).get(of.page()).says(t, http.StatusOK, "&lt;data&gt;勤怠の方針")
	other.as(workspace.Suzuki).get(of.page()).says(t, http.StatusNotFound)
}

// The board names what each round was for: by the request's title, never by what a model was told, and with a link to it.
func boardNamesRequests(t *testing.T, w *world) {
	w.ask()
	ref := w.Ref
	of, alone := w.compete("勤怠の方針", &ref), w.compete("備品の"+strings.Repeat("長い", 100)+"終わり", nil)
	of.plays(1, 1, 0.8, "案")
	of.plays(2, 1, 0.7, "案")
	alone.plays(1, 1, 0.6, "案")
	for _, path := range []string{"/console/contests/board", "/console/contests/board?team=team-a", "/console/contests"} {
		page := w.as(workspace.Suzuki).get(path)
		page.says(t, http.StatusOK, "勤怠の方針", "稟議の方針の作成", "備品の長い長い", "…")
		lacks(t, page, "&lt;data&gt;", "終わり")
		for _, link := range []string{of.page(), alone.page(), "/console/tasks/" + ref.ID} {
			if !strings.Contains(page.body, `href="`+link+`"`) {
				t.Errorf("%s doesn't lead to %s", path, link)
			}
		}
	}
	unnamed := w.compete("", &ref) // begun before contests kept the title
	unnamed.plays(1, 1, 0.9, "案")
	page := w.as(workspace.Suzuki).get("/console/contests/board")
	lacks(t, page, "&lt;data&gt;")
	if n := strings.Count(page.body, `href="`+unnamed.page()+`"`); n != 1 {
		t.Errorf("%d links to a contest without a title", n)
	}
}

func draftsAreText(t *testing.T, w *world) {
	k, b := w.compete("<script>alert(1)</script>", nil), w.as(workspace.Suzuki)
	k.plays(2, 1, 0.5, "<img src=x onerror=alert(1)>\u202e")
	for _, path := range []string{"/console/contests", "/console/contests/board", k.page()} {
		page := b.get(path)
		page.says(t, http.StatusOK)
		for _, raw := range []string{"<script>alert", "<img src=x", "<b>速攻"} {
			if strings.Contains(page.body, raw) {
				t.Errorf("%s has %s", path, raw)
			}
		}
	}
}

func longTalks(t *testing.T, w *world) {
	k, b := w.compete("長い話", nil), w.as(workspace.Suzuki)
	a := expect.Value(w.c.Contests.Load(t.Context(), contest.Ref(w.tenant.ID, k.id)))(t)
	team := expect.Value(w.c.Contests.Enter(t.Context(), a, 1))(t)
	played := conteststest.Round(k.id, a.Contest.Teams[0], 1, "案", 0.8, k.Now())
	played.Metrics = []contest.MetricScore{{MetricName: "Relevance", Score: 90, EvaluatorComment: "講評" + strings.Repeat("長", 2000)}}
	for i := range 60 {
		played.Record.Submissions = append(played.Record.Submissions, contest.MemberSubmission{
			AgentName: "analyst", AgentType: contest.Plain, Content: fmt.Sprintf("%d 番目に%s", i, strings.Repeat("長", 40_000)), Status: contest.Success, Timestamp: k.Now(),
		})
	}
	expect.Value(w.c.Contests.SaveRound(t.Context(), team.Ref(), played))(t)
	page := b.get(k.page())
	page.says(t, http.StatusOK, "案", "59 番目に", "講評")
	if len(page.body) > 2<<20 {
		t.Errorf("the page has %d bytes", len(page.body))
	}
}

func toolsOfMembers(t *testing.T, w *world) {
	w.ask()
	ref := w.Ref
	k := w.compete("勤怠の方針", &ref)
	call := func(name string) contest.Part {
		return contest.Part{PartKind: contest.ToolCall, ToolName: name, Args: json.RawMessage(`{"department":"argument"}`), ToolCallID: "call_1_1"}
	}
	back := contest.Part{PartKind: contest.ToolReturn, ToolName: "list_departments", Content: contest.Says("result"), ToolCallID: "call_1_1"}
	a := expect.Value(w.c.Contests.Load(t.Context(), contest.Ref(w.tenant.ID, k.id)))(t)
	team := expect.Value(w.c.Contests.Enter(t.Context(), a, 1))(t)
	played := conteststest.Round(k.id, a.Contest.Teams[0], 1, "案", 0.8, k.Now())
	said := contest.MemberSubmission{AgentName: "analyst", AgentType: contest.Plain, Content: "調べました", Status: contest.Success, Timestamp: k.Now()}
	silent := said
	said.AllMessages = []contest.ModelMessage{
		{Kind: contest.KindResponse, Parts: []contest.Part{call("list_departments"), call("<b>made up\n")}},
		{Kind: contest.KindRequest, Parts: []contest.Part{back}},
		{Kind: contest.KindResponse, Parts: []contest.Part{call("list_departments")}},
	}
	played.Record.Submissions = []contest.MemberSubmission{said, silent}
	expect.Value(w.c.Contests.SaveRound(t.Context(), team.Ref(), played))(t)
	for _, user := range []string{workspace.Sato, workspace.Suzuki} { // who asked, and an administrator
		b := w.as(user)
		page := b.get(k.page())
		page.says(t, http.StatusOK, "呼び出したツール: list_departments 2 回、&lt;b&gt;made up 1 回")
		lacks(t, page, "argument", "result", "<b>made up")
		if n := strings.Count(page.body, "呼び出したツール"); n != 1 {
			t.Errorf("tools of %d members, though one called any", n)
		}
		b.locale = "en"
		b.get(k.page()).says(t, http.StatusOK, "Tools called: list_departments × 2, &lt;b&gt;made up × 1")
	}
}

func sentToModels(t *testing.T, w *world) {
	w.ask()
	ref := w.Ref
	k, b := w.compete("勤怠の方針", &ref), w.as(workspace.Suzuki)
	k.plays(1, 1, 0.8, "案")
	team := contest.TeamRef(w.tenant.ID, k.id, "team-a")
	keeper := contests.Kept{Store: w.c.Contests, Team: team, Execution: k.id, ChargedTo: w.Ref.ID}
	spend := func(key string, sent *aggregate.Blob) string {
		id := aggregate.NewID()
		expect.NoError(t, keeper.Keep(t.Context(), key, []byte(`{}`), aggregate.Usage{ID: id, Model: "claude-x", Prompt: "leader.ja.1", Calls: 1, Cost: 5600, Sent: sent}))
		return id
	}
	gone := spend("01/leader/1", &aggregate.Blob{S3Key: "prompts/" + w.tenant.ID + "/" + k.id + "/gone.json", Bytes: 9})
	unsent := spend("01/leader/1/2/1", nil)
	spend("01/evaluator/1/1/failed-1", nil)
	list := k.page() + "/sent/" + contest.TeamHash("team-a")
	b.get(k.page()).says(t, http.StatusOK, "AI モデルに送った内容")
	b.get(list).says(t, http.StatusOK, "リーダー", "メンバー", "採点", "失敗", "記録なし", "見る", "$0.0056")
	b.get(list+"/"+gone).says(t, http.StatusOK, "保存期間を過ぎたため", "leader.ja.1")
	b.get(list+"/"+unsent).says(t, http.StatusNotFound)
	b.get(k.page()+"/sent/"+contest.TeamHash("nobody")).says(t, http.StatusNotFound)
	member := w.as(workspace.Sato) // may read the request, and what was drafted for it
	if page := member.get(k.page()); strings.Contains(page.text(), "送った内容") {
		t.Error("a member is offered what models were sent")
	}
	member.get(list).says(t, http.StatusForbidden)
	member.get(list+"/"+gone).says(t, http.StatusForbidden)
}

func cancelsContest(t *testing.T, w *world) {
	k := w.compete("経費精算の方針を決めて", nil)
	k.plays(1, 1, 0.8, "できたところまで")
	member, suzuki := w.as(workspace.Sato), w.as(workspace.Suzuki)
	if a := member.post(k.page()+"/cancel", nil); a.status != http.StatusNotFound {
		t.Errorf("a member: %d", a.status)
	}
	believed := w.of(tenancy.Tenant{ID: w.tenant.ID, TeamID: w.tenant.TeamID, Admins: []string{workspace.Sato}}, workspace.Sato)
	if a := believed.post(k.page()+"/cancel", nil); a.status != http.StatusNotFound {
		t.Errorf("whose session only believes that he is an administrator: %d", a.status)
	}
	suzuki.get(k.page()).says(t, http.StatusOK, "コンテストを中止する", "費用は残ります")
	expect.Same(t, k.page()+"?done=contest_cancelled", suzuki.post(k.page()+"/cancel", nil).to)
	expect.Same(t, k.page()+"?done=contest_cancelled", suzuki.post(k.page()+"/cancel", nil).to) // a second click
	suzuki.get(k.page()).says(t, http.StatusOK, "中止", "答えを待って終わります")
	expect.Value(w.c.Contests.Settle(t.Context(), contest.Ref(w.tenant.ID, k.id), 1))(t)
	suzuki.get(k.page()).says(t, http.StatusOK, "できたところまで", "80.00", "コンテストが中止されたため、それまでの最良の案で終えました。")
	log := expect.Value(w.Store.Audit(t.Context(), w.tenant.ID, store.AuditFilter{Resource: k.id}, "", 10))(t)
	if len(log.Items) != 3 || !strings.Contains(string(log.Items[1].Details)+string(log.Items[0].Details), `"surface":"console"`) {
		t.Errorf("recorded: %+v", log.Items)
	}
	w.ask()
	ref := w.Ref
	of := w.compete("勤怠の方針", &ref)
	page := suzuki.get(of.page())
	page.says(t, http.StatusOK, "依頼を取り消すと一緒に終わります")
	lacks(t, page, "/cancel\"")
	if a := suzuki.post(of.page()+"/cancel", nil); a.status != http.StatusForbidden {
		t.Errorf("one that drafts a policy: %d", a.status)
	}
	mine := w.compete("自分のコンテスト", nil) // by Suzuki, who is no administrator any more
	former := w.of(tenancy.Tenant{ID: w.tenant.ID, TeamID: w.tenant.TeamID}, workspace.Suzuki)
	former.get(mine.page()).says(t, http.StatusOK, "自分のコンテスト")
	expect.Same(t, mine.page()+"?done=contest_cancelled", former.post(mine.page()+"/cancel", nil).to)
}

func brokenOff(t *testing.T, w *world) {
	k, b := w.compete("勤怠の方針", nil), w.as(workspace.Suzuki)
	k.plays(1, 1, 0.8, "案")
	ref := contest.Ref(w.tenant.ID, k.id)
	keeper := contests.Kept{Store: w.c.Contests, Team: contest.TeamRef(w.tenant.ID, k.id, "team-a"), Execution: k.id}
	expect.NoError(t, keeper.Keep(t.Context(), "01/leader/1", []byte(`{}`), aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: 250_000}))
	die := func(runs int) {
		for range runs {
			expect.Value(w.c.Contests.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, w.Now()) }))(t)
		}
	}
	die(6)
	b.get(k.page()).says(t, http.StatusOK, "中断", "それまでの案をまとめています", "80.00")
	die(21)
	b.get(k.page()).says(t, http.StatusOK, "結果をまとめられませんでした", "80.00", "$0.25")
	a := expect.Value(w.c.Contests.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) { return a.Rerun(false, w.Now()) }))(t)
	expect.Value(w.c.Contests.Settle(t.Context(), ref, a.Head.Run))(t)
	b.get(k.page()).says(t, http.StatusOK, "採点された案と費用は残っています", "80.00", "$0.25")
}
