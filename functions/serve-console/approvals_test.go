package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func TestTheListOfApprovals(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"what waits is listed, the oldest first, with what it would do": testApprovals,
		"a step's check shows the line of its step alone":               testStepApproval,
		"a message that may be a reason waits for its writer":           testSorting,
		"what waits for me is what my click would decide":               testForMe,
		"many pages are gone through for what waits for me":             testManyApprovals,
		"nothing that people or models write runs in the lists":         testListsAreEscaped,
		"another workspace's approvals are not there":                   testForeignApprovals,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func dm(order int, text string) task.Step {
	return pipelinetest.Step(order, "send_slack_dm", aggregate.Write, fmt.Sprintf(`{"recipient":%q,"text":%q,"details":[]}`, workspace.Tanaka, text))
}

// planned approves the policy, and brings these steps to their approval.
func (w *world) planned(steps ...task.Step) {
	w.T.Helper()
	s := expect.Value(w.Store.Settings(w.T.Context(), w.tenant.ID))(w.T)
	w.Approve()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
}

func testApprovals(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	w.as(workspace.Suzuki).get("/console/approvals").says(t, 200, "判断を待っているものはありません")
	w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: "先の依頼"})
	w.Draft(s)
	w.Later(time.Minute)
	later := w.made(requested{user: workspace.Tanaka, channel: workspace.HR, kind: "channel", title: "後の依頼", priority: task.High})
	w.Draft(s)
	w.planned(dm(1, "締切は金曜です"), dm(2, "二通目"))
	got := w.as(workspace.Suzuki).get("/console/approvals")
	got.says(t, 200, "先の依頼", "実行方針 v1", "後の依頼", "実行ステップ v1", ": 田中 恵 ("+workspace.Tanaka+") へ DM: 「締切は金曜です」", "二通目", "#人事", "佐藤 花子", "期限:", "あなたの判断待ち")
	if text := got.text(); strings.Index(text, "先の依頼") > strings.Index(text, "後の依頼") {
		t.Error("the older one is not first")
	}
	if before, after, _ := strings.Cut(got.text(), "後の依頼"); strings.Contains(before, "優先度") || !strings.HasPrefix(strings.TrimSpace(after), "優先度 高") {
		t.Error("which one is urgent is not said, or of the other")
	}
	if !strings.Contains(got.body, `href="/console/tasks/`+later+`"`) || strings.Contains(got.body, "<input type=\"checkbox\"") {
		t.Error("it does not lead to the request, or lets many be decided at once")
	}
	b := w.as(workspace.Suzuki)
	b.locale = "en"
	b.get("/console/approvals").says(t, 200, "Steps v1", "DM to", "Asked by: 佐藤 花子")
	w.Cancel()
	w.as(workspace.Suzuki).get("/console/approvals").saysNot(t, "後の依頼")
}

func testStepApproval(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: "確認つき"})
	w.Draft(s)
	first, second := dm(1, "一通目"), dm(2, "二通目")
	first.RequiresHumanCheck, second.RequiresHumanCheck = true, true
	w.planned(first, second)
	w.Approve()
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: first.ToolInput, Bytes: len(first.ToolInput)}, "hash", w.Now())
	})
	got := w.as(workspace.Suzuki).get("/console/approvals")
	got.says(t, 200, "実行前の確認", "ステップ1", "一通目")
	got.saysNot(t, "二通目")
}

func testSorting(t *testing.T, w *world) {
	w.said++
	now := w.Now()
	ts := fmt.Sprintf("%d.%06d", now.Unix(), w.said)
	w.Receive(task.Request{User: workspace.Alex, Channel: "C0ELSEWHERE", ChannelType: "channel", MessageTS: ts, ThreadTS: "1.1"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(a.Head.Run, task.Beside{TaskID: "01OTHER", ID: "01PROMPT", Kind: task.CardPrompt}, tenancy.DefaultSettings(), now)
	})
	for _, path := range []string{"/console/approvals", "/console/approvals?for=me"} {
		w.as(workspace.Alex).get(path).says(t, 200, "今月の勤怠をまとめて", "依頼か却下理由かの確認", "あなたの判断待ち", "新しい依頼にできる人: Alex Kim")
		w.as(workspace.Tanaka).get(path).saysNot(t, "今月の勤怠をまとめて")
	}
	w.as(workspace.Suzuki).get("/console/approvals").says(t, 200, "今月の勤怠をまとめて")
	w.as(workspace.Suzuki).get("/console/approvals?for=me").says(t, 200, "あなたの判断を待っているものはありません")
}

func testForMe(t *testing.T, w *world) {
	w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: "人事の件"})
	s := w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{workspace.Alex}, Usergroups: []string{workspace.Approvers}}
		s.AllowSelfApproval = false
	})
	w.Draft(s)
	w.made(requested{user: workspace.Alex, channel: "C0ELSEWHERE", kind: "channel", title: "営業の件"})
	w.Draft(s)
	for user, want := range map[string]struct{ all, mine []string }{
		workspace.Suzuki: {[]string{"人事の件", "営業の件"}, []string{"人事の件", "営業の件"}}, // of the group
		workspace.Alex:   {[]string{"人事の件", "営業の件"}, []string{"人事の件"}},         // not his own
		workspace.Sato:   {[]string{"人事の件"}, nil},
	} {
		for path, titles := range map[string][]string{"/console/approvals": want.all, "/console/approvals?for=me": want.mine} {
			got := w.as(user).get(path)
			for _, title := range []string{"人事の件", "営業の件"} {
				if listed := strings.Contains(got.text(), title); listed != strings.Contains(strings.Join(titles, " "), title) {
					t.Errorf("%s, %s: %s is listed: %v", user, path, title, listed)
				}
			}
		}
	}
	w.as(workspace.Alex).get("/console/approvals").says(t, 200, "Alex Kim", "👥")
}

func testManyApprovals(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	for n := range waitingOfPage + 2 {
		r := requested{user: workspace.Tanaka, channel: workspace.HR, kind: "channel", title: fmt.Sprintf("人事 %02d", n)}
		if n == waitingOfPage+1 {
			r.channel, r.title = workspace.General, "全社"
		}
		w.made(r)
		w.Draft(s)
		w.Later(time.Second)
	}
	w.as(workspace.Alex).get("/console/approvals?for=me").says(t, 200, "全社") // on the second page of all
	b := w.as(workspace.Suzuki)
	first := b.get("/console/approvals")
	if n := strings.Count(first.body, "<li>\n  <h3>"); n != waitingOfPage || !strings.Contains(first.text(), "人事 00") {
		t.Errorf("the first page has %d", n)
	}
	second := b.get(first.link("next"))
	second.says(t, 200, "全社", fmt.Sprintf("人事 %02d", waitingOfPage), "最初のページ")
	second.saysNot(t, `data-live`)
	b.get(second.link("prev")).says(t, 200, "人事 00", fmt.Sprintf("人事 %02d", waitingOfPage-1))
}

// payloads are what browsers have run where it was not escaped, or not for its place.
var payloads = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `</title><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`,
	`javascript:alert(1)`, `<iframe srcdoc="<script>alert(1)</script>">`, `<a href="javascript:alert(1)">x</a>`, `{{.}}`, `${alert(1)}`, `<!--<script>`, `" autofocus onfocus=alert(1) x="`,
	`<math><mtext></table><mglyph><style><!--</style><img src onerror=alert(1)>`, "\u202e<b onmouseover=alert(1)>\u2066x",
}

func testListsAreEscaped(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	for n, x := range payloads {
		w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: x})
		w.Draft(s)
		if n == 0 {
			w.planned(dm(1, strings.Join(payloads, " ")))
		}
	}
	w.people.called[workspace.Sato] = payloads[1]
	w.people.channel = payloads[2]
	for _, path := range []string{"/console/tasks", "/console/approvals", "/console/approvals?for=me"} {
		got := w.as(workspace.Suzuki).get(path)
		got.says(t, 200)
		if !strings.Contains(got.body, "&lt;img src=x onerror=alert(1)&gt;") || !strings.Contains(got.body, "&lt;svg/onload=alert(1)&gt;") {
			t.Errorf("%s does not show the names", path)
		}
		harmless(t, path, got)
	}
	for _, x := range payloads {
		q := url.Values{}
		for _, field := range []string{"q", "status", "person", "from", "to", "cursor", "for", "done", "next"} {
			q.Set(field, x)
		}
		for _, path := range []string{"/console/tasks?", "/console/approvals?"} {
			harmless(t, path, w.as(workspace.Sato).get(path+q.Encode()))
		}
	}
}

// harmless fails when a page has an element, or an attribute, that no template of Ringi's has.
func harmless(t *testing.T, path string, got answer) {
	t.Helper()
	_, main, _ := strings.Cut(got.body, "<main")
	for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<style", "<math", "<b ", "href=\"javascript", " onerror=", " onload=", " onfocus=", "\u202e", "<!--"} {
		for rest := main; ; {
			i := strings.Index(rest, bad)
			if i < 0 {
				break
			}
			if before := rest[:i]; bad[0] != ' ' || strings.LastIndex(before, "<") > strings.LastIndex(before, ">") && strings.Count(before[strings.LastIndex(before, "<"):], `"`)%2 == 0 {
				t.Errorf("%s has %q at %.80q", path, bad, rest[i:])
			}
			rest = rest[i+1:]
		}
	}
}

func testForeignApprovals(t *testing.T, w *world) {
	other := w.found("T0OTHER", workspace.Suzuki)
	s := tenancy.DefaultSettings()
	w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: "うちの件"})
	w.Draft(s)
	got := w.of(other, workspace.Suzuki).get("/console/approvals")
	got.says(t, 200, "判断を待っているものはありません")
	got.saysNot(t, "うちの件")
}
