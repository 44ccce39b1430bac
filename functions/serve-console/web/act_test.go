package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	chromium "ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// The answer to one decision doesn't show the form of another: the person's next click must not be on something unread.
func TestAnAnswerToOneDecisionAsksForNoOther(t *testing.T) {
	w := consoletest.Start(t)
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	suzuki, form := w.As(webapi.Suzuki), w.Act(aggregate.ActReject, "")
	a := suzuki.Post(w.TaskPage()+"/act", form) // no reason: it is the same decision still
	a.Says(t, http.StatusBadRequest)
	a.Holds(t, `value="reject"`, `class="text asked"`)
	form = w.Act(aggregate.ActApprove, "")
	w.AskForSteps(consoletest.Message(1, "締切は金曜です"))
	a = w.As(webapi.Tanaka).Post(w.TaskPage()+"/act", form)
	a.Says(t, http.StatusConflict)
	a.Holds(t, "に承認しました", "承認待ち: 実行ステップ v1", `<a href="`+w.TaskPage()+`">今の内容を開く</a>`)
	a.Lacks(t, `value="approve"`, `value="reject"`, `value="cancel_task"`)
	a = suzuki.Get(w.TaskPage() + "?done=act_approve")
	a.Holds(t, "承認しました。", "承認待ち: 実行ステップ v1")
	a.Lacks(t, `value="approve"`)
	suzuki.Get(w.TaskPage()).Holds(t, `value="approve"`, "締切は金曜です")
}

// seen is a page of the console that a person has open.
type seen struct {
	*chromium.Tab
	at   string        // its address
	sent *atomic.Int64 // forms
}

// sees opens a page in a window.
func sees(b *consoletest.Browser, c *chromium.Browser, path string) seen {
	b.World.T.Helper()
	var sent atomic.Int64
	console := b.World.Console.Handler()
	b.Over = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent.Add(1)
		}
		console.ServeHTTP(w, r)
	})
	window := chromium.Window{Width: 1000, Height: 700, Hasty: true, Language: b.Locale}
	at := b.Serve() + path
	return seen{c.Open(b.World.T, at, window), at, &sent}
}

const (
	approveButton = `form:has(input[value="approve"]) button`
	offered       = `document.querySelector('` + approveButton + `')`
	dead          = offered + `?.ariaDisabled === "true"`
)

// says waits until the line about what has changed contains these texts.
func (s seen) says(texts ...string) {
	for _, text := range texts {
		s.Until(fmt.Sprintf(`document.querySelector(".since").innerText.includes(%q)`, text))
	}
}

// TestNothingIsSwappedUnderAPointer: a page that stays open says what stands now, but never shows a new decision by
// itself, and never discards a typed reason. Nobody stamps what they have not read.
func TestNothingIsSwappedUnderAPointer(t *testing.T) {
	w, c := consoletest.Start(t), chromium.Start(t)
	w.Ask()
	w.Extracted()
	p := sees(w.As(webapi.Suzuki), c, w.TaskPage())
	p.Until(`document.querySelector("#others button")`)
	w.Draft(tenancy.DefaultSettings())
	p.says("承認待ち: 実行方針 v1")
	p.Until(`document.querySelector("#stands").innerText.includes("承認待ち") && !(` + offered + `) && ` +
		`document.querySelector("#others button").ariaDisabled === null`)
	p.Press(".since a")
	p.Press(".ways summary")
	p.Press("textarea")
	p.Keys("分けて")
	first, second := consoletest.Message(1, "一通目"), consoletest.Message(2, "二通目")
	first.RequiresHumanCheck, second.RequiresHumanCheck = true, true
	w.AskForSteps(first, second)
	p.says("今の内容を開く")
	p.Until(`document.activeElement.matches("textarea[readonly]") && document.activeElement.value === "分けて"`)

	w.Approve()
	w.Begin()
	w.Checks(1, consoletest.Inline(string(first.ToolInput))) // the next step will look the same
	p.Visit(p.at)
	at := p.Point(approveButton)
	p.Eval(fmt.Sprintf(`document.querySelector(%q).focus()`, approveButton))
	w.Approve() // by a colleague
	w.Ran(consoletest.Inline(string(first.ToolInput)), consoletest.Inline(`{}`))
	w.Checks(2, consoletest.Inline(string(second.ToolInput)))
	p.says("承認待ち: 実行前の確認", "今の内容を開く")
	p.Until(dead + ` && document.querySelector(".since[role=status]")`)
	p.Until(fmt.Sprintf(`document.activeElement.matches(%q)`, approveButton)) // the focused element keeps the focus
	p.Keys("\r")
	p.PressAt(at)
	p.Until(dead)
	p.Accessible(t)
	p.Fits()
	open, waits := w.Load().OpenGate()
	expect.Must(t, waits && p.sent.Load() <= 0, "%+v waits: %t, and %d forms were sent", open, waits, p.sent.Load())
	p.Press(".since a")
	p.Until(`document.querySelector(".gate")?.innerText.includes("二通目") && !(` + dead + `)`)
	p.Clean()
	offersAgain(t, w, c)
}

// offersAgain: a conversation can't be closed while one of its commands runs. A page that stays open says so, and
// offers it again afterwards.
func offersAgain(t *testing.T, w *consoletest.World, c *chromium.Browser) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.Answers(conversation.Answer{Text: "はい", Tokens: 3})
	p := sees(w.As(webapi.Sato), c, k.Page())
	const button = `document.querySelector('form:has(input[value="close_session"]) button')`
	p.Until(button + `.ariaDisabled === null`)
	k.Says(webapi.Sato, "走らせて")
	x := k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, `{"rule":"go test"}`)
	k.Begins()
	p.says("今の状態")
	p.Until(button + `.ariaDisabled === "true"`)
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded})
	k.Answers(conversation.Answer{Text: "終わりました", Tokens: 3})
	p.Until(button + `.ariaDisabled === null && document.querySelector(".since").innerText === ""`)
	p.Eval(`window.confirm = () => true`)
	p.Press("#others summary")
	p.Press(`form:has(input[value="close_session"]) button`)
	p.Until(`location.search.includes("done=")`)
	p.Clean()
}

func written(pieces []web.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text + p.ID)
	}
	return b.String()
}

func TestAPageTellsMoneyFirstAndEveryArgument(t *testing.T) {
	dm := task.Step{StepID: "step-2", Order: 2, Tool: "send_slack_dm", ToolVersion: "v1", Access: aggregate.Write,
		ToolInput: aggregate.JSON(`{"recipient":"U0HANAKO","text":"The order is placed.",` +
			`"details":[{"label":"Text","value":2}` + strings.Repeat(`,{"label":"n","value":3}`, 7) + `]}`)}
	laptop := task.Step{StepID: "step-1", Order: 1, Tool: "rooms.place_order", ToolVersion: "v1", Access: aggregate.Write,
		RequiresHumanCheck: true, LeftOut: `{"note":"none"}`, ToolInput: `{"supplier":"Acme","currency":"JPY",` +
			`"items":[{"name":"Laptop","quantity":2,"unit_price":149000}]}`,
		Mark: &rules.Mark{Version: "v1", How: rules.HowProduct,
			Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}, CurrencyAt: "/currency"}}
	r := web.Reader{Locale: "en", Person: func(string) string { return "Hanako" }}
	sum := r.Sum([]task.Step{laptop, dm})
	expect.Is(t, sum.Amount, "¥298,000")
	expect.Is(t, len(sum.Writes), 2)
	first, second := sum.Writes[0], sum.Writes[1]
	expect.That(t, first.Amount == "" && first.Orders == "1" && first.Warning != "", "%+v", first) // it is within the sum
	expect.Is(t, r.Effect(explain.EffectOf("en", laptop, nil, nil)).Amount, "¥298,000")
	expect.That(t, first.Checked != "" && second.Checked == "", "%+v", second)
	laptop.ToolInput = `{"supplier":"Acme"}` // what it costs nobody knows: no headline says so
	unknown := r.Sum([]task.Step{laptop, dm})
	expect.Is(t, unknown.Amount+unknown.Writes[0].Amount, "")
	expect.That(t, strings.HasSuffix(written(unknown.Writes[0].Sentence), " · amount unknown"), "%+v", unknown)
	all := func(e web.Effect) string {
		return web.Joined(e.Rest, func(a web.Argument) string { return written(a.Name) + "=" + written(a.Value) }, "\n")
	}
	expect.Is(t, all(first), "currency=JPY\nitems=\nsupplier=Acme\nnote (server's default)=none")
	expect.Same(t, *first.Rest[1].Rows, web.Table{Columns: []web.Column{{Name: "#", Number: true}, {Name: "name"},
		{Name: "quantity", Number: true}, {Name: "unit_price", Number: true}},
		Rows: [][]string{{"1", "Laptop", "2", "149000"}}})
	laptop.ToolInput = aggregate.JSON(`{"items":[` + strings.Repeat(`{"name":"Laptop","quantity":2},`, 5) +
		`{"name":"Mouse","quantity":2}]}`)
	expect.Has(t, all(r.Effect(explain.EffectOf("en", laptop, nil, nil))), "items › quantity=all 6 rows 2\n")
	expect.Has(t, written(second.Sentence), "HanakoU0HANAKO")
	expect.Is(t, written(second.Text), "The order is placed.")
	expect.That(t, strings.HasPrefix(all(second), "“Text”=2\n") && len(second.Rest) == 8, "%s", all(second))
}
