package console_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/storetest"
)

// turnLooks are pages of gates under a rule as Suzuki reads them: at their turn, at others', and after they acted.
func turnLooks(w *consoletest.World) []look {
	two := consoletest.Desk("経理", 2, webapi.Tanaka, webapi.Alex, webapi.Suzuki)
	act := func(user string, do aggregate.Act, reason string) {
		w.T.Helper()
		b := w.As(user)
		w.Later(60e9)
		b.Post(w.TaskPage()+"/act", b.Get(w.TaskPage()).FormOf(w.T, do, reason))
	}
	opened := func(stages ...circulation.Stage) string {
		w.Ask()
		w.PlannedOnRoute(tenancy.DefaultSettings(), consoletest.Along(stages...), steps()...)
		return w.TaskPage()
	}
	mine := opened(consoletest.ThreeStages()...)
	others := opened(consoletest.Desk("課長", 1, webapi.Tanaka), two, consoletest.Desk("部長", 1, webapi.Alex))
	stamped := opened(two, consoletest.Desk("部長", 1, webapi.Alex))
	act(webapi.Tanaka, aggregate.ActApprove, "")
	back := opened(consoletest.ThreeStages()...)
	act(webapi.Suzuki, aggregate.ActApprove, "")
	round := opened(consoletest.Desk("課長", 1, webapi.Tanaka), two)
	act(webapi.Tanaka, aggregate.ActApprove, "")
	act(webapi.Alex, aggregate.ActReject, "宛名が違います。部署ごとに分けて、営業部の分だけを先に送ってください。")
	s := w.SettingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), two)
		return a.FinishProcessOnRoute(a.Head.Run, steps(), "宛名を直しました。", o, s, w.Now())
	})
	denied := opened(consoletest.ThreeStages()...)
	act(webapi.Suzuki, aggregate.ActDeny, "この依頼は、来期の予算で出し直してください。")
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	k.ProposesAlong(two)
	return []look{
		{name: "turn-mine", path: mine}, {name: "turn-others", path: others}, {name: "turn-two-of-three", path: stamped},
		{name: "turn-take-back", path: back + "?done=act_stamp"}, {name: "turn-round", path: round},
		{name: "turn-denied", path: denied + "?done=act_deny"}, {name: "turn-action", path: k.Page()},
	}
}

// On a page that stays open the forms of a turn are closed when others have stamped, and opened when a stamp is taken
// back. The keys for approving and for the reason lead there.
func TestAnOpenPageClosesTheFormsOfATurnThatIsOver(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Opened(consoletest.Desk("課長", 1, webapi.Suzuki, webapi.Tanaka), consoletest.Desk("部長", 1, webapi.Alex))
	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: web.SessionCookie, Value: suzuki.Cookies["__Host-ringi"]})
		w.Console.Handler().ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	window := browser.Window{Width: 1000, Height: 800, Language: "ja", Hasty: true}
	tab := browser.Start(t).Open(t, server.URL+w.TaskPage(), window)
	tab.Until(`document.readyState === "complete" && document.querySelector("textarea")`)
	for key, at := range map[string]string{"a": "button.button-primary", "r": "textarea"} {
		tab.Eval(`document.activeElement.blur()
			document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "` + key + `", bubbles: true }))`)
		tab.Until(`document.activeElement.matches("` + at + `")`)
	}
	tab.Eval(`document.activeElement.blur()`)
	tanaka.Post(w.TaskPage()+"/act", tanaka.Get(w.TaskPage()).FormOf(t, aggregate.ActApprove, ""))
	tab.Until(`["reject", "deny"].every((act) => document.querySelector("[value=" + act + "]").ariaDisabled === "true")`)
	tab.Until(`document.querySelector(".since").innerText.includes("部長(あと1人): Alex Kim")`)
	tab.Until(`document.querySelector("#gate").innerText.includes("この番は終わりました")`)
	tanaka.Post(w.TaskPage()+"/act", tanaka.Get(w.TaskPage()).FormOf(t, aggregate.ActTakeBack, ""))
	tab.Until(`document.querySelector("[value=deny]").ariaDisabled === null`)
	tab.Until(`document.querySelector("[value=deny]").getAttribute("aria-describedby").startsWith("deny-")`)
	tab.Until(`document.querySelector(".since").innerText === ""`)
}
