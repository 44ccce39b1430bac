package task_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestDraftsOfAContestOnTheTasksPage(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"whose it is, and the others": showsWhoseDraft, "another is taken after it was read": takesAnother, "a stamp was faster": stampWasFaster,
		"who may not": strangersTakeNothing, "what a card could not show": longDraftIsRead, "a contest that goes on": contestGoesOn,
		"teams that people stopped": stoppedTeamsDidNotFail,
		"teams that failed before":  failedTeamsWereNotStopped,
	})
}

// drafted has two teams draft a request's policy. The first team's draft waits for a decision.
func drafted(w *consoletest.World, first, second string) *consoletest.Contest {
	w.T.Helper()
	k := contested(w)
	k.Plays(1, 1, 0.9, first)
	k.Plays(2, 1, 0.5, second)
	k.Ends(1, contest.MaxRoundsReached, "")
	k.Ends(2, contest.TeamTimeout, contest.ReasonTimeout)
	expect.Value(w.Console.Contests.Settle(w.T.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(w.T)
	outcome, _ := expect.Value(w.Console.Contests.Load(w.T.Context(), contest.Ref(w.Tenant.ID, k.ID)))(w.T).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ContestEnded(task.PromptKey(1), outcome, w.Now())
	})
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishContest(a.Head.Run, "team-a", first, s, w.Now())
	})
	return k
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
		return a.AskContest(a.Head.Run, task.Contest{ExecutionID: k.ID, File: "configs/contest.toml", Until: w.Now()}, w.Now())
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

func contestGoesOn(t *testing.T, w *consoletest.World) {
	k := contested(w)
	w.As(webapi.Sato).Get(w.TaskPage()).Holds(t, "複数のチームが下書きを競っています", k.Page())
}

func stoppedTeamsDidNotFail(t *testing.T, w *consoletest.World) {
	page := bestTaken(t, w, contest.ReasonCancelled)
	page.Holds(t, "90.00 点", "コンテストが中止されたため、それまでの最良の案で終了しました。")
	page.Lacks(t, "途中で失敗した")
}

func failedTeamsWereNotStopped(t *testing.T, w *consoletest.World) {
	page := bestTaken(t, w, contest.ReasonLeader)
	page.Holds(t, "90.00 点", "途中で失敗したため、それまでの最良の案で終了しました。 リーダーの AI が応答しませんでした。")
	page.Lacks(t, "コンテストが中止された")
}

// bestTaken returns the page of a task whose contest a person ended with its best draft, of a team that ended for why.
func bestTaken(t *testing.T, w *consoletest.World, why aggregate.Reason) consoletest.Answer {
	k := contested(w)
	k.Plays(1, 1, 0.9, "案")
	suzuki := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: w.Tenant.TeamID, Member: true}
	policy := aggregate.Policy{Team: w.Tenant.TeamID, Mode: aggregate.ApproversChannel}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.TakeBest(a.Prompt().ID, true, suzuki, policy, w.Now())
	})
	k.Ends(1, contest.PartialFailure, why)
	k.Ends(2, contest.PartialFailure, contest.ReasonCancelled)
	expect.Value(w.Console.Contests.Settle(t.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(t)
	outcome, _ := expect.Value(w.Console.Contests.Load(t.Context(), contest.Ref(w.Tenant.ID, k.ID)))(t).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ContestEnded(task.PromptKey(1), outcome, w.Now())
	})
	s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishContest(a.Head.Run, "team-a", "案", s, w.Now())
	})
	return w.As(webapi.Suzuki).Get(w.TaskPage())
}

func showsWhoseDraft(t *testing.T, w *consoletest.World) {
	k := drafted(w, "一行目\n堅実な案", "一行目\n<i>速い案</i>")
	path, _ := other(w)
	sato := w.As(webapi.Sato)
	page := sato.Get(w.TaskPage())
	page.Holds(t, "堅実", "90.00 点", "すべてのラウンドを終えました。", "&lt;b&gt;速攻", "50.00 点", "制限時間に達したため", `href="`+path+`"`, k.Page())
	draft := sato.Get(path)
	draft.Holds(t, "&lt;i&gt;速い案&lt;/i&gt;", "- 堅実な案", "50.00 点", "この案に変更する</button>")
	draft.Lacks(t, "<i>速い案", "<b>速攻")
	sato.Locale = "en"
	sato.Get(path).Holds(t, "Use this draft</button>", "Time ran out, so the best draft")
}

func takesAnother(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", "速い案")
	path, form := other(w)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Post(path, consoletest.With(form, "hash", "x")).Says(t, http.StatusConflict)
	expect.That(t, w.Load().Prompt().Version == 1, "what was not shown")
	expect.Same(t, w.TaskPage()+"?done=act_pick_draft", suzuki.Post(path, form).To)
	a := w.Load()
	if p := a.Prompt(); p.Version != 2 || p.Content != "速い案" || p.Author != webapi.Suzuki ||
		p.Status != aggregate.PendingApproval || a.Prompts[0].Status != aggregate.Rejected {
		t.Fatalf("%+v", p)
	}
	page := suzuki.Get(w.TaskPage())
	page.Holds(t, "この案に変更した人: 鈴木", "別の案に変更", "代わりに選ばれたチーム", "prompt.picked", "console")
	page.Lacks(t, "前のバージョンの却下理由", ">却下</span>") // nobody rejected it or gave a reason
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	page = suzuki.Get(w.TaskPage())
	page.Holds(t, "自分の依頼は自分で承認できません") // the version is theirs by now
	page.Lacks(t, "✅ 承認</button>")
	suzuki.Get(path).Holds(t, "もう承認待ちではありません")
	suzuki.Get(path).Lacks(t, "この案に変更する</button>")
	suzuki.Post(path, form).Says(t, http.StatusConflict)
	expect.That(t, len(w.Load().Prompts) == 2, "a second time")
}

func stampWasFaster(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", "速い案")
	path, form := other(w)
	w.Approve()
	a := w.As(webapi.Suzuki).Post(path, form)
	expect.That(t, a.Status == http.StatusConflict && len(w.Load().Prompts) == 1, "%v", a)
	a.Holds(t, "承認済み")
}

func strangersTakeNothing(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", "速い案")
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers.Mode, s.Approvers.Users = aggregate.ApproversList, []string{webapi.Suzuki}
	})
	path, form := other(w)
	other := w.Found("T0OTHER", "U0OTHER")
	for name, tt := range map[string]struct {
		by     *consoletest.Browser
		status int
	}{
		"a member who is not listed": {w.As(webapi.Tanaka), http.StatusForbidden}, "another workspace": {w.Of(other,
			"U0OTHER"), http.StatusNotFound},
		"somebody out of the channel": {w.As(webapi.Alex), http.StatusNotFound},
	} {
		expect.Is(t, tt.by.Post(path, form).Status, tt.status, name)
		tt.by.Get(path).Lacks(t, "この案に変更する</button>")
	}
	alone := w.As(webapi.Suzuki).Get(path) // would be its author, and is the only possible approver
	alone.Lacks(t, "この案に変更する</button>")
	alone.Holds(t, "速い案", "承認できる人がほかにいない")
	for _, bad := range []string{w.TaskPage() + "/drafts/x/y", strings.Replace(path, "/drafts/", "/drafts/x", 1)} {
		w.As(webapi.Suzuki).Get(bad).Says(t, http.StatusNotFound)
	}
	expect.That(t, len(w.Load().Prompts) == 1, "somebody took it")
}

func longDraftIsRead(t *testing.T, w *consoletest.World) {
	drafted(w, "堅実な案", strings.Repeat("長い案です。\n", 6000)+"おわり")
	path, form := other(w)
	suzuki := w.As(webapi.Suzuki)
	page := suzuki.Get(path)
	page.Holds(t, "おわり", "承認のカードに収まりません")
	page.Lacks(t, "この案に変更する</button>")
	a := suzuki.Post(path, form)
	expect.That(t, a.Status == http.StatusBadRequest && len(w.Load().Prompts) == 1, "%v", a)
}
