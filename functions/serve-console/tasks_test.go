package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// TestTheListOfRequests has all that it does over one database, each part in a table of its own.
func TestTheListOfRequests(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"an empty one says how to begin":                               testEmptyTasks,
		"people see their own requests and those of their channels":    testWhoSeesWhat,
		"filters stay in the address, and a bad one is named":          testTaskFilters,
		"titles are searched for among the latest thousand":            testTaskSearch,
		"pages go on and back and keep the filters":                    testTaskPages,
		"a cursor that is forged or another's is refused and noted":    testForeignCursors,
		"while Slack is silent a member sees their own requests alone": testSilentSlack,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func (a answer) says(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("it is answered %d, want %d: %s", a.status, status, a.text())
	}
	for _, text := range texts {
		if !strings.Contains(a.text(), text) {
			t.Errorf("it does not say %q: %s", text, a.text())
		}
	}
}

func (a answer) saysNot(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("it says %q", text)
		}
	}
}

var linkForm = regexp.MustCompile(`href="([^"]*)"`)

// link is where the link with a rel leads, or the one whose text is this.
func (a answer) link(name string) string {
	for _, tag := range regexp.MustCompile(`<a [^>]*>[^<]*</a>`).FindAllString(a.body, -1) {
		if strings.Contains(tag, `rel="`+name+`"`) || strings.Contains(tag, ">"+name+"<") {
			return strings.ReplaceAll(linkForm.FindStringSubmatch(tag)[1], "&amp;", "&")
		}
	}
	return ""
}

var titleForm = regexp.MustCompile(`<th scope="row"><a href="[^"]*"><bdi>([^<]*)</bdi>`)

// titles are those of the requests that are listed.
func (a answer) titles() (out []string) {
	for _, m := range titleForm.FindAllStringSubmatch(a.body, -1) {
		out = append(out, m[1])
	}
	return out
}

func testEmptyTasks(t *testing.T, w *world) {
	w.as(workspace.Suzuki).get("/console/tasks").says(t, 200, "まだ依頼がありません", "@Ringi")
	w.as(workspace.Sato).get("/console/tasks").says(t, 200, "あなたが参加しているチャンネルの依頼")
	english := w.as(workspace.Sato)
	english.locale = "en"
	english.get("/console/tasks").says(t, 200, "No requests yet")
	w.as(workspace.Suzuki).get("/console/tasks?status=failed").says(t, 200, "条件に合う依頼はありません", "条件を外す")
	if got := w.browser().get("/console/tasks"); got.status != http.StatusSeeOther || !strings.HasPrefix(got.to, "/console/signin") {
		t.Errorf("nobody is answered %d and led to %s", got.status, got.to)
	}
}

func testWhoSeesWhat(t *testing.T, w *world) {
	w.made(requested{user: workspace.Sato, channel: workspace.HR, kind: "channel", title: "佐藤の人事"})
	w.made(requested{user: workspace.Tanaka, channel: workspace.General, kind: "channel", title: "田中の全社"})
	w.made(requested{user: workspace.Tanaka, channel: workspace.DirectMessage(workspace.Tanaka), kind: "im", title: "田中の内緒"})
	w.made(requested{user: workspace.Alex, channel: "C0ELSEWHERE", kind: "channel", title: "アレックスのよそ"})
	w.found("T0OTHER", workspace.Suzuki)
	w.made(requested{team: "T0OTHER", user: workspace.Suzuki, channel: workspace.HR, kind: "channel", title: "別の会社"})
	for user, want := range map[string][]string{
		workspace.Suzuki: {"アレックスのよそ", "田中の内緒", "田中の全社", "佐藤の人事"}, // the administrator
		workspace.Sato:   {"田中の全社", "佐藤の人事"},
		workspace.Tanaka: {"田中の内緒", "田中の全社", "佐藤の人事"},
		workspace.Alex:   {"アレックスのよそ", "田中の全社"},
	} {
		got := w.as(user).get("/console/tasks")
		expect.Same(t, want, got.titles())
		got.saysNot(t, "別の会社")
	}
	for path, want := range map[string][]string{
		"/console/tasks?person=" + workspace.Tanaka: {"田中の全社"},
		"/console/tasks?q=" + url.QueryEscape("田中"): {"田中の全社"},
		"/console/tasks?status=extracted":           {"田中の全社", "佐藤の人事"},
		"/console/tasks?person=me":                  {"佐藤の人事"},
	} {
		expect.Same(t, want, w.as(workspace.Sato).get(path).titles())
	}
	w.as(workspace.Sato).get("/console/tasks").says(t, 200, "田中 恵", "#general", "#人事", "佐藤 花子")
	w.as(workspace.Suzuki).get("/console/tasks").says(t, 200, "ダイレクトメッセージ", "C0ELSEWHERE")
}

func testTaskFilters(t *testing.T, w *world) {
	w.made(requested{user: workspace.Sato, channel: workspace.HR, title: "昨日", after: -24 * time.Hour})
	w.made(requested{user: workspace.Sato, channel: workspace.HR, title: "取り下げた", cancelled: true})
	w.made(requested{user: workspace.Tanaka, channel: workspace.HR, title: "今日"})
	b := w.as(workspace.Suzuki)
	today := w.Now().In(zone).Format(time.DateOnly)
	yesterday := w.Now().In(zone).AddDate(0, 0, -1).Format(time.DateOnly)
	for query, want := range map[string][]string{
		"":                                   {"今日", "取り下げた", "昨日"},
		"status=cancelled":                   {"取り下げた"},
		"person=" + workspace.Sato:           {"取り下げた", "昨日"},
		"from=" + today:                      {"今日", "取り下げた"},
		"to=" + yesterday:                    {"昨日"},
		"from=" + today + "&to=" + today:     {"今日", "取り下げた"},
		"to=" + yesterday + "&status=failed": nil,
		"status=&person=&from=&to=&q=":       {"今日", "取り下げた", "昨日"}, // as an empty form sends it
		"utm_source=mail":                    {"今日", "取り下げた", "昨日"},
	} {
		expect.Same(t, want, b.get("/console/tasks?"+query).titles())
	}
	for query, want := range map[string]string{
		"status=done": "状態:", "status=answered": "状態:", "person=sato": "依頼した人:", "person=" + url.QueryEscape("U0#X"): "依頼した人:", "from=yesterday": "開始日:", "from=2026-02-30": "開始日:",
		"to=1": "終了日:", "from=2026-04-02&to=2026-04-01": "終了日:", "q=" + strings.Repeat("x", maxSearch+1): "件名:",
	} {
		got := b.get("/console/tasks?" + query)
		got.says(t, 400, want)
		if len(got.titles()) > 0 {
			t.Errorf("%s: requests are listed all the same", query)
		}
	}
	b.get("/console/tasks?status=done&from=x").says(t, 400, "状態:", "開始日:")
	got := b.get("/console/tasks?status=cancelled&person=" + workspace.Sato)
	for _, chosen := range []string{`<option value="cancelled" selected>`, `<option value="` + workspace.Sato + `" selected>`} {
		if !strings.Contains(got.body, chosen) {
			t.Errorf("the form does not keep %s", chosen)
		}
	}
}

func testTaskSearch(t *testing.T, w *world) {
	w.filled(1105, func(n int) (user, channel, title string) {
		title = fmt.Sprintf("残業 %d", n)
		if n%300 == 5 { // 5, 305, 605, 905
			title = fmt.Sprintf("ＡＢＣ　Report %d", n)
		}
		return workspace.Sato, workspace.HR, title
	})
	b := w.as(workspace.Suzuki)
	for search, want := range map[string][]string{
		"report":     {"ＡＢＣ　Report 905", "ＡＢＣ　Report 605", "ＡＢＣ　Report 305"}, // 5 is not among the latest thousand
		"305 abc":    {"ＡＢＣ　Report 305"},
		"ｒｅｐｏｒｔ　605": {"ＡＢＣ　Report 605"},
		"report 5 x": nil,
	} {
		got := b.get("/console/tasks?q=" + url.QueryEscape(search))
		expect.Same(t, want, got.titles())
		got.says(t, 200, "新しい 1,000 件だけを調べました")
	}
	got := b.get("/console/tasks?q=" + url.QueryEscape("残業"))
	got.says(t, 200, "新しい 100 件だけを表示しています")
	if len(got.titles()) != 100 || got.link("next") != "" || strings.Contains(got.body, `id="requests" data-live`) {
		t.Errorf("%d are found, the next page is %q", len(got.titles()), got.link("next"))
	}
	if got := b.get("/console/tasks"); len(got.titles()) != rowsOfPage || got.titles()[0] != "残業 1104" || !strings.Contains(got.body, `id="requests" data-live="/console/tasks"`) {
		t.Errorf("the first page has %d, the newest is %q", len(got.titles()), got.titles()[:1])
	}
	// A member to whom none of them belongs is told that there are older ones, and finds the end.
	alex, pages := w.as(workspace.Alex), 0
	for next := "/console/tasks"; next != ""; pages++ {
		got := alex.get(next)
		if next = got.link("next"); next != "" {
			got.says(t, 200, "次のページに続きがあります")
		}
		got.saysNot(t, "残業 ")
	}
	if pages != 2 {
		t.Errorf("1,105 requests are looked at in %d pages", pages)
	}
}

func testTaskPages(t *testing.T, w *world) {
	w.filled(130, func(n int) (user, channel, title string) {
		return []string{workspace.Sato, workspace.Tanaka}[n%2], workspace.HR, fmt.Sprint(n)
	})
	for _, path := range []string{"/console/tasks", "/console/tasks?person=" + workspace.Sato + "&status=completed"} {
		b := w.as(workspace.Suzuki)
		first := b.get(path)
		there, last := first.titles(), first
		for next := first.link("next"); next != ""; next = last.link("next") {
			if !strings.Contains(next, strings.TrimPrefix(path, "/console/tasks?")) && strings.Contains(path, "?") && !strings.Contains(next, "person="+workspace.Sato+"&status=completed") {
				t.Fatalf("the filters are lost in %s", next)
			}
			last = b.get(next)
			there = append(there, last.titles()...)
		}
		want := 130
		if strings.Contains(path, "?") {
			want = 65
		}
		if len(there) != want || there[0] < there[1] && want == 65 {
			t.Errorf("%d of %d are on the pages", len(there), want)
		}
		back := last.titles()
		for prev := last.link("prev"); prev != ""; prev = last.link("prev") {
			if last = b.get(prev); last.status == http.StatusSeeOther { // at the beginning, the page that is kept up to date
				expect.Same(t, path, last.to)
				last = b.get(last.to)
			}
			back = append(last.titles(), back...)
		}
		expect.Same(t, there, back)
	}
}

func testForeignCursors(t *testing.T, w *world) {
	w.filled(120, func(n int) (user, channel, title string) { return workspace.Sato, workspace.HR, fmt.Sprint(n) })
	other := w.found("T0OTHER", workspace.Suzuki)
	log := logged(t)
	cursor := func(path string) string {
		u := expect.Value(url.Parse(w.as(workspace.Suzuki).get(path).link("next")))(t)
		return u.Query().Get("cursor")
	}
	mine := cursor("/console/tasks")
	inside := string(expect.Value(base64.RawURLEncoding.DecodeString(mine))(t))
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(inside, w.tenant.ID, other.ID)))
	answers := map[string]answer{
		"another tenant's":  w.of(other, workspace.Suzuki).get("/console/tasks?cursor=" + mine),
		"forged":            w.as(workspace.Suzuki).get("/console/tasks?cursor=" + forged),
		"of other filters":  w.as(workspace.Suzuki).get("/console/tasks?status=completed&cursor=" + mine),
		"of another list":   w.as(workspace.Suzuki).get("/console/approvals?cursor=" + mine),
		"nonsense":          w.as(workspace.Suzuki).get("/console/tasks?cursor=nonsense"),
		"far too long":      w.as(workspace.Suzuki).get("/console/tasks?cursor=" + strings.Repeat("A", 5000)),
		"a member's forged": w.as(workspace.Alex).get("/console/tasks?cursor=" + forged),
	}
	for name, got := range answers {
		if got.status != http.StatusBadRequest || len(got.titles()) > 0 || !strings.Contains(got.text(), "このページへのリンクは使えません") {
			t.Errorf("%s is answered %d: %s", name, got.status, got.text())
		}
	}
	if n := strings.Count(log.String(), "msg=refused"); n != len(answers) {
		t.Errorf("%d refusals are noted of %d", n, len(answers))
	}
	if strings.Contains(log.String(), inside) {
		t.Error("the cursor is in the log")
	}
	// A member who takes an administrator's cursor sees no more than before.
	if got := w.as(workspace.Alex).get("/console/tasks?cursor=" + mine); len(got.titles()) > 0 {
		t.Errorf("others' requests are shown: %q", got.titles())
	}
}

// silent is a directory that lists no channels.
type silent struct{ *directory }

func (silent) Channels(context.Context, string, ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) { yield(slackapi.Channel{}, errors.New("timeout")) }
}

func testSilentSlack(t *testing.T, w *world) {
	w.made(requested{user: workspace.Sato, channel: workspace.HR, title: "佐藤の依頼"})
	w.made(requested{user: workspace.Tanaka, channel: workspace.HR, title: "田中の依頼"})
	w.c.People.Slack = silent{w.people}
	got := w.as(workspace.Sato).get("/console/tasks")
	got.says(t, 200, "今はあなた自身の依頼だけ")
	expect.Same(t, []string{"佐藤の依頼"}, got.titles())
	expect.Same(t, []string{"田中の依頼", "佐藤の依頼"}, w.as(workspace.Suzuki).get("/console/tasks").titles())
}
