package subject_test

import (
	"context"
	"html"
	"iter"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/subject"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

func testStuck(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	w.Later(time.Minute)
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	k.ChangeAction(func(g *aggregate.Gate) { g.Terms.ApprovalHours = 72 },
		w.Routed(consoletest.Desk("経理", 1, webapi.Guest), consoletest.Desk("部長", 1, webapi.Alex, gone)))
	b := w.As(webapi.Suzuki)
	b.Get("/console/approvals").Holds(t, `href="/console/successors"`)
	list := b.Get("/console/successors").Says(t, 200, "経理", "ゲスト", "部長", "ワークスペースの外", "2 件を確認しました")
	list.Holds(t, html.EscapeString(page(w, "2", gone)), html.EscapeString(k.Page()+"/successor?"))
	at := strings.Index
	expect.That(t, at(list.Body, k.Page()) < at(list.Body, w.TaskPage()), "the newest isn't first")
	list.Lacks(t, "Alex")
	b.Post(w.TaskPage()+"/successor", form(t, b.Get(page(w, "2", gone)), webapi.Alex, "退職のため")).Says(t, 303)
	b.Get("/console/successors").Lacks(t, w.TaskPage())
	b.Locale = "en"
	b.Get("/console/successors").Says(t, 200, "guest", "Stuck circulations")
	b.Get("/console/successors?cursor=x").Says(t, 400)
}

func testNothingStuck(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/successors").Says(t, 200, "滞っている回覧はありません。")
	waits(w)
	w.Later(2 * time.Minute) // what Slack said is known for one
	w.Console.Listing = silent{w.Console.Listing}
	b.Get("/console/successors").Says(t, 200, "Slack に確認できないため")
}

// silent is a workspace whose people Slack doesn't list.
type silent struct{ people.Listing }

func (silent) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		yield(slackapi.User{}, slackapi.Unknown{Cause: "timeout"})
	}
}

// The page looks at a bounded number of gates; the older ones are on the next page.
func testManyStuck(t *testing.T, w *consoletest.World) {
	subject.Look(t, 1)
	for range 2 {
		waits(w)
		w.Later(time.Minute)
	}
	b := w.As(webapi.Suzuki)
	first := b.Get("/console/successors").Says(t, 200, "1 件を確認しました")
	second := b.Get(first.Link("next")).Says(t, 200, "1 件を確認しました", "新しいものへ")
	expect.That(t, strings.Contains(first.Body, w.TaskPage()) && !strings.Contains(second.Body, w.TaskPage()),
		"the same on both")
}
