package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func TestDraftsOfAContestOnTheTasksPage(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"whose it is, and the others": showsWhoseDraft, "another is taken after it was read": takesAnother, "a stamp was faster": stampWasFaster,
		"who may not": strangersTakeNothing, "what a card could not show": longDraftIsRead, "a contest that goes on": contestGoesOn,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// drafted has two teams draft the policy of a request. The first team's draft waits for a decision.
func (w *world) drafted(first, second string) *competing {
	w.T.Helper()
	k := w.contested()
	k.plays(1, 1, 0.9, first)
	k.plays(2, 1, 0.5, second)
	k.ends(1, contest.MaxRoundsReached, "")
	k.ends(2, contest.TeamTimeout, contest.ReasonTimeout)
	expect.Value(w.c.Contests.Settle(w.T.Context(), contest.Ref(w.tenant.ID, k.id), 1))(w.T)
	outcome, _ := expect.Value(w.c.Contests.Load(w.T.Context(), contest.Ref(w.tenant.ID, k.id)))(w.T).Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ContestEnded(task.PromptKey(1), outcome, w.Now())
	})
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishContest(a.Head.Run, "team-a", first, s, w.Now())
	})
	return k
}

// contested is a request whose policy is left to a contest that has begun.
func (w *world) contested() *competing {
	w.T.Helper()
	w.ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Extracted()
	ref := w.Ref
	k := w.compete("方針を作って", &ref)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.AskContest(a.Head.Run, task.Contest{ExecutionID: k.id, File: "configs/contest.toml", Until: w.Now()}, w.Now())
	})
	return k
}

// other is the page of the other team's draft of the version that waits, and the form there.
func (w *world) other() (path string, form url.Values) {
	w.T.Helper()
	p := w.Load().Prompt()
	e := p.Others()[0]
	return w.page() + "/drafts/" + p.ID + "/" + contest.TeamHash(e.TeamID), url.Values{"hash": {e.Hash}}
}

func contestGoesOn(t *testing.T, w *world) {
	k := w.contested()
	holds(t, w.as(workspace.Sato).get(w.page()), "複数のチームが下書きを競っています", k.page())
}

func showsWhoseDraft(t *testing.T, w *world) {
	k := w.drafted("一行目\n堅実な案", "一行目\n<i>速い案</i>")
	path, _ := w.other()
	sato := w.as(workspace.Sato)
	page := sato.get(w.page())
	holds(t, page, "堅実", "90.00 点", "決められた回数のラウンドを終えました。", "&lt;b&gt;速攻", "50.00 点", "持ち時間が終わったため", `href="`+path+`"`, k.page())
	draft := sato.get(path)
	holds(t, draft, "&lt;i&gt;速い案&lt;/i&gt;", "- 堅実な案", "50.00 点", "この案に替える</button>")
	lacks(t, draft, "<i>速い案", "<b>速攻")
	sato.locale = "en"
	holds(t, sato.get(path), "Take this one</button>", "Its time was over, so it ended")
}

func takesAnother(t *testing.T, w *world) {
	w.drafted("堅実な案", "速い案")
	path, form := w.other()
	suzuki := w.as(workspace.Suzuki)
	if a := suzuki.post(path, with(form, "hash", "x")); a.status != http.StatusConflict || w.Load().Prompt().Version != 1 {
		t.Fatalf("what was not shown: %d", a.status)
	}
	expect.Same(t, w.page()+"?done=act_pick_draft", suzuki.post(path, form).to)
	a := w.Load()
	if p := a.Prompt(); p.Version != 2 || p.Content != "速い案" || p.Author != workspace.Suzuki || p.Status != aggregate.PendingApproval || a.Prompts[0].Status != aggregate.Rejected {
		t.Fatalf("%+v", p)
	}
	page := suzuki.get(w.page())
	holds(t, page, "この案に替えた人: 鈴木", "別の案に変更", "代わりに選ばれたチーム", "prompt.picked", "console")
	lacks(t, page, "前の版の却下理由", ">却下</span>") // nobody rejected it or gave a reason
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	page = suzuki.get(w.page())
	holds(t, page, "自分の依頼は自分で承認できません") // the version is theirs by now
	lacks(t, page, "✅ 承認</button>")
	holds(t, suzuki.get(path), "もう承認を待っていません")
	lacks(t, suzuki.get(path), "この案に替える</button>")
	if a := suzuki.post(path, form); a.status != http.StatusConflict || len(w.Load().Prompts) != 2 {
		t.Errorf("a second time: %d", a.status)
	}
}

func stampWasFaster(t *testing.T, w *world) {
	w.drafted("堅実な案", "速い案")
	path, form := w.other()
	w.Approve()
	a := w.as(workspace.Suzuki).post(path, form)
	if a.status != http.StatusConflict || len(w.Load().Prompts) != 1 {
		t.Errorf("%d %s", a.status, a.text())
	}
	holds(t, a, "承認済み")
}

func strangersTakeNothing(t *testing.T, w *world) {
	w.drafted("堅実な案", "速い案")
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers.Mode, s.Approvers.Users = aggregate.ApproversList, []string{workspace.Suzuki}
	})
	path, form := w.other()
	other := w.found("T0OTHER", "U0OTHER")
	for name, tt := range map[string]struct {
		by     *browser
		status int
	}{
		"a member who is not listed": {w.as(workspace.Tanaka), http.StatusForbidden}, "another workspace": {w.of(other, "U0OTHER"), http.StatusNotFound},
		"somebody out of the channel": {w.as(workspace.Alex), http.StatusNotFound},
	} {
		if a := tt.by.post(path, form); a.status != tt.status {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
		lacks(t, tt.by.get(path), "この案に替える</button>")
	}
	alone := w.as(workspace.Suzuki).get(path) // who would be its author, and is the only one who could approve it
	lacks(t, alone, "この案に替える</button>")
	holds(t, alone, "速い案", "それを承認できる人がほかにいない")
	for _, bad := range []string{w.page() + "/drafts/x/y", strings.Replace(path, "/drafts/", "/drafts/x", 1)} {
		w.as(workspace.Suzuki).get(bad).says(t, http.StatusNotFound)
	}
	if len(w.Load().Prompts) != 1 {
		t.Error("somebody took it")
	}
}

func longDraftIsRead(t *testing.T, w *world) {
	w.drafted("堅実な案", strings.Repeat("長い案です。\n", 6000)+"おわり")
	path, form := w.other()
	suzuki := w.as(workspace.Suzuki)
	page := suzuki.get(path)
	holds(t, page, "おわり", "承認のカードに収まりません")
	lacks(t, page, "この案に替える</button>")
	if a := suzuki.post(path, form); a.status != http.StatusBadRequest || len(w.Load().Prompts) != 1 {
		t.Errorf("%d %s", a.status, a.text())
	}
}
