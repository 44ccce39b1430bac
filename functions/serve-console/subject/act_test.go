package subject_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/subject"
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
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

const (
	closeButton = `document.querySelector('form:has(input[value="close_session"]) button')`
	closable    = closeButton + `.ariaDisabled === null && !` + closeButton +
		`.form.dataset.over && document.querySelector(".since").innerText === ""`
	closed = closeButton + `.ariaDisabled === "true" && document.querySelector(".since").innerText.includes("今の状態")`
)

// A conversation can't be closed while one of its commands runs. A page that stays open says so, and offers it again
// afterwards.
func TestWhatCanBeDoneAgainIsOfferedAgain(t *testing.T) {
	w := consoletest.Start(t)
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.Answers(conversation.Answer{Text: "はい", Tokens: 3})
	p := sees(w.As(webapi.Sato), chromium.Start(t), k.Page())
	p.Until(closable)
	for range 2 {
		k.Says(webapi.Sato, "走らせて")
		x := k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, `{"rule":"go test"}`)
		k.Begins()
		p.Until(closed)
		k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded})
		k.Answers(conversation.Answer{Text: "終わりました", Tokens: 3})
		p.Until(closable)
	}
	p.Eval(`window.confirm = () => true`)
	p.Press("#others summary")
	p.Press(`form:has(input[value="close_session"]) button`)
	p.Until(`location.search.includes("done=")`)
	p.Clean()
}

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
	return seen{c.Open(b.World.T, b.Serve()+path, window), &sent}
}

const (
	approveButton = `form:has(input[value="approve"]) button`
	dead          = `document.querySelector('` + approveButton + `')?.ariaDisabled === "true"`
)

// says waits until the line about what has changed contains these texts.
func (s seen) says(texts ...string) {
	for _, text := range texts {
		s.Until(fmt.Sprintf(`document.querySelector(".since").innerText.includes(%q)`, text))
	}
}

func TestNothingIsSwappedUnderAPointer(t *testing.T) {
	db, c := storetest.Start(t), chromium.Start(t)
	for name, run := range map[string]func(*testing.T, *consoletest.World, *chromium.Browser){
		"the next step":          pointsAtAStep,
		"an agent's next action": pointsAtAnAction,
		"what comes by itself":   pointsAtNothing,
	} {
		t.Run(name, func(t *testing.T) { run(t, consoletest.New(t, db), c) })
	}
}

// checked brings a task, in a new world, to the gate of the first of two steps that look alike.
func checked(w *consoletest.World) {
	w.T.Helper()
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	first, second := consoletest.Message(1, "一通目"), consoletest.Message(2, "二通目")
	first.RequiresHumanCheck, second.RequiresHumanCheck = true, true
	w.AskForSteps(first, second)
	w.Approve()
	w.Begin()
	checks(w, 1, first)
}

// checks opens a step's gate.
func checks(w *consoletest.World, order int, s task.Step) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, order, aggregate.Blob{JSON: s.ToolInput, Bytes: len(s.ToolInput)}, "hash",
			nil, w.Now())
	})
}

// pointsAtAStep: the pointer is on a button when a colleague stamps the step, and the next step looks the same.
func pointsAtAStep(t *testing.T, w *consoletest.World, c *chromium.Browser) {
	checked(w)
	for _, locale := range language.All {
		b := w.As(webapi.Tanaka).In(locale)
		p := sees(b, c, w.TaskPage())
		at := p.Point(approveButton)
		if locale == "ja" {
			w.Approve()
			w.Ran(consoletest.Inline(string(consoletest.Message(1, "一通目").ToolInput)), consoletest.Inline(`{}`))
			checks(w, 2, consoletest.Message(2, "二通目"))
			p.says("承認待ち: 実行前の確認", "今の内容を開く")
		} else { // the focused element keeps the focus
			p.Eval(fmt.Sprintf(`document.querySelector(%q).focus()`, approveButton))
			w.Approve()
			p.says("Now: Running", "Open the current version")
			p.Until(fmt.Sprintf(`document.activeElement.matches(%q)`, approveButton))
			p.Keys("\r")
		}
		p.Until(dead + ` && document.querySelector(".since[role=status]")`)
		p.PressAt(at)
		p.Until(dead)
		p.Accessible(t)
		p.Fits()
		p.Clean()
		open, waits := w.Load().OpenGate()
		expect.Must(t, waits == (locale == "ja") && p.sent.Load() <= 0,
			"%+v waits: %t, and %d forms were sent: somebody stamped what nobody had read", open, waits, p.sent.Load())
		p.Press(".since a")
		p.Until(`!document.querySelector(".since").innerText && document.querySelector("h1")`)
		if locale == "ja" {
			p.Until(`document.querySelector(".gate").innerText.includes("二通目") && !(` + dead + `)`)
		}
	}
}

func pointsAtAnAction(t *testing.T, w *consoletest.World, c *chromium.Browser) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	p := sees(w.As(webapi.Suzuki), c, k.Page())
	at := p.Point(approveButton)
	tanaka := w.As(webapi.Tanaka)
	tanaka.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActReject, x, "だめ")).Says(t, http.StatusSeeOther)
	p.says("今の内容を開く")
	next := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	p.says("承認待ち", fmt.Sprintf("#%d", next.Number))
	p.Until(dead + ` && document.querySelector("#course").innerText.includes("却下")`) // all else goes on
	p.PressAt(at)
	p.Until(dead)
	p.Accessible(t)
	p.Clean()
	now := k.Load().Current()
	expect.Must(t, now.ActionID == next.ActionID && now.Status == conversation.ActionPending && p.sent.Load() <= 0,
		"%+v: somebody stamped what nobody had read", now)
	p.Press(".since a")
	p.Until(fmt.Sprintf(`document.querySelector("#asked-%d") && !(%s)`, next.Number, dead))
	p.Press(approveButton)
	p.Until(`location.search.includes("done=act_approve")`)
}

// pointsAtNothing: a page never shows a new decision by itself, and never discards a typed reason.
func pointsAtNothing(t *testing.T, w *consoletest.World, c *chromium.Browser) {
	w.Ask()
	w.Extracted()
	p := sees(w.As(webapi.Suzuki), c, w.TaskPage())
	p.Until(`document.querySelector("#others button")`)
	w.Draft(tenancy.DefaultSettings())
	p.says("承認待ち: 実行方針 v1")
	p.Until(`document.querySelector("#stands").innerText.includes("承認待ち") && !document.querySelector("` +
		strings.ReplaceAll(approveButton, `"`, `\"`) + `") && document.querySelector("#others button").ariaDisabled === null`)
	p.Press(".since a")
	p.Press(".ways summary")
	p.Press("textarea")
	p.Keys("分けて")
	w.Approve()
	p.says("今の内容を開く")
	p.Until(`document.activeElement.matches("textarea[readonly]") && document.activeElement.value === "分けて"`)
	p.Clean()
}

func order(items string) task.Step {
	return task.Step{
		StepID: "step-1", Order: 1, Tool: "rooms.place_order", ToolVersion: "v1", Access: aggregate.Write,
		RequiresHumanCheck: true, LeftOut: `{"note":"none"}`,
		ToolInput: aggregate.JSON(`{"supplier":"Acme","currency":"JPY","items":[` + items + `]}`),
		Mark: &rules.Mark{Version: "v1", How: rules.HowProduct,
			Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}, CurrencyAt: "/currency"},
	}
}

func written(pieces []subject.Piece) string {
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
	for _, locale := range language.All {
		r := subject.Reader{Locale: locale, Person: func(string) string { return "Hanako" }}
		sum := r.Sum([]task.Step{order(`{"name":"Laptop","quantity":2,"unit_price":149000}`), dm})
		expect.Is(t, sum.Amount, "¥298,000")
		expect.Is(t, len(sum.Writes), 2)
		first, second := sum.Writes[0], sum.Writes[1]
		expect.Is(t, first.Amount, "")
		alone := r.Effect(explain.EffectOf(locale, order(`{"name":"Laptop","quantity":2,"unit_price":149000}`), nil, nil))
		expect.Is(t, alone.Amount, "¥298,000")
		expect.Is(t, first.Orders, "1")
		expect.That(t, first.Checked != "" && second.Checked == "" && first.Warning != "", "%s: %+v", locale, first)
		all := func(e subject.Effect) string {
			return web.Joined(e.Rest, func(a subject.Argument) string { return written(a.Name) + "=" + written(a.Value) }, "\n")
		}
		by := map[string]string{"ja": " (サーバーの既定値)", "en": " (server's default)"}[locale]
		expect.Is(t, all(first), "currency=JPY\nitems › 1=name: Laptop · quantity: 2 · unit_price: 149000\nsupplier=Acme\n"+
			"note"+by+"=none")
		expect.That(t, strings.Contains(written(second.Sentence), "HanakoU0HANAKO"), "%s: %+v", locale, second)
		expect.Is(t, written(second.Text), "The order is placed.")
		label := map[string]string{"ja": "「Text」=2", "en": "“Text”=2"}[locale]
		expect.That(t, strings.HasPrefix(all(second), label+"\n") && len(second.Rest) == 8, "%s: %s", locale, all(second))
	}
}
