package task_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestDraftsOfAContestOnTheTasksPage(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"whose it is, and the others": showsWhoseDraft, "another is taken after it was read": takesAnother,
		"who may not": strangersTakeNothing, "what a card could not show": longDraftIsRead,
		"a contest that goes on": contestGoesOn,
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

func contestGoesOn(t *testing.T, w *consoletest.World) {
	k := contested(w)
	w.As(webapi.Sato).Get(w.TaskPage()).Holds(t, "複数のチームが下書きを競っています", k.Page())
}

func showsWhoseDraft(t *testing.T, w *consoletest.World) {
	k := drafted(w, "一行目\n堅実な案", "一行目\n<i>速い案</i>")
	path, _ := other(w)
	sato := w.As(webapi.Sato)
	sato.Get(w.TaskPage()).
		Holds(t, "🏆 2 チームから選ばれた、堅実 の案です (90.00 点)", "&lt;b&gt;速攻", "50.00 点", "制限時間に達したため",
			`href="`+path+`"`, k.Page()).Lacks(t, "すべてのラウンドを終えました。")
	sato.Get(path).Holds(t, "&lt;i&gt;速い案&lt;/i&gt;", "- 堅実な案", "50.00 点", "この案に変更する</button>").Lacks(t, "<i>速い案", "<b>速攻")
	sato.In("en").Get(path).Holds(t, "Use this draft</button>", "Time ran out, so the best draft")
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
	page := suzuki.Get(w.TaskPage())
	page.Holds(t, "鈴木 一郎 が別の案に変更しました: ", "代わりに選ばれたチーム", "prompt.picked", "console")
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
	for _, bad := range []string{w.TaskPage() + "/drafts/x/y", strings.Replace(path, "/drafts/", "/drafts/x", 1)} {
		w.As(webapi.Suzuki).Get(bad).Says(t, http.StatusNotFound)
	}
	expect.That(t, len(w.Load().Prompts) == 1, "somebody took it")
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

func filesForSpreadsheets(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "list_employees", aggregate.Read, `{}`))
	w.Approve()
	w.Begin()
	w.Ran(consoletest.Inline(`{}`),
		consoletest.Inline(`{"rows":[{"id":"=HYPERLINK(\"http://evil\")","n":-5,"mail":"tanaka@example.com"},{"id":"@SUM(`+
			`1)","n":2,"mail":"+81"}],"note":"-1+2"}`))
	sato := w.As(webapi.Sato)
	a := sato.Get(w.TaskPage() + "/results/1-1-1/1.csv")
	want := "\ufeff\"id\",\"mail\",\"n\"\r\n\"'=HYPERLINK(\"\"http://evil\"\")\",\"t*****@example.com\"," +
		"\"-5\"\r\n\"'@SUM(1)\",\"'+81\",\"2\"\r\n"
	expect.That(t, a.Body == want && strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") &&
		strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment"), "%d %v %q", a.Status, a.Header, a.Body)
	a = sato.Get(w.TaskPage() + "/results/1-1-1/values.csv")
	expect.That(t, a.Body == "\ufeff\"name\",\"value\"\r\n\"note\",\"'-1+2\"\r\n", "%d %q", a.Status, a.Body)
	for _, path := range []string{"1-1-1/2.csv", "1-1-1/1.html", "1-1-2/1.csv", "x/1.csv", "1-1-1/-1.csv", "1-1-1/0.csv"} {
		sato.Get(w.TaskPage()+"/results/"+path).Says(t, 404)
	}
}

func largeStory(t *testing.T, w *consoletest.World) {
	steps := make([]task.Step, task.MaxSteps)
	for i := range steps {
		steps[i] = ringitest.Step(i+1, "list_employees", aggregate.Read, `{"department":"営業部"}`)
	}
	w.Steps(steps...)
	w.Approve()
	w.Begin()
	var rows bytes.Buffer
	for i := range 1000 {
		if i > 0 {
			rows.WriteByte(',')
		}
		rows.WriteString(`{"id":` + strings.Repeat("1", 1+i%3) + `,"name":"従業員"}`)
	}
	w.Results["results/large"] = aggregate.JSON(`{"employees":[` + rows.String() + `]}`)
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/large", Bytes: rows.Len()})
	for range task.MaxSteps - 2 {
		w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"n":1}`))
	}
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/gone", Bytes: 5000})
	sato := w.As(webapi.Sato)
	began := time.Now()
	a := sato.Get(w.TaskPage())
	t.Logf("60 steps, 1,000 rows: %d bytes in %s", len(a.Body), time.Since(began).Round(time.Millisecond))
	a.Holds(t, "900 行は表示していません", "/results/1-1-1/1.csv", "保存期間を過ぎたため", "step-1-1-60")
	expect.Is(t, strings.Count(sato.Get(w.TaskPage()+"/results/1-1-1/1.csv").Body, "従業員"), 1000, "the file has … rows")
}

func unreadArguments(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.Approve()
	w.Begin()
	w.Results["arguments/x"] = aggregate.JSON(`{"text":"` + strings.Repeat("長\u200b", 5000) + `終わり"}`)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{S3Key: "arguments/x", Bytes: 15000}, "hash", nil,
			w.Now())
	})
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
