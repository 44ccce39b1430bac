package subject_test

import (
	"testing"

	"ringi/functions/serve-console/consoletest"
	chromium "ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
)

const (
	closeButton = `document.querySelector('form:has(input[value="close_session"]) button')`
	closable    = closeButton + `.ariaDisabled === null && !` + closeButton + `.form.dataset.over && document.querySelector(".since").innerText === ""`
	closed      = closeButton + `.ariaDisabled === "true" && document.querySelector(".since").innerText.includes("今の状態")`
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
		k.Ends(x, conversation.Result{Status: conversation.ActionSucceeded})
		k.Answers(conversation.Answer{Text: "終わりました", Tokens: 3})
		p.Until(closable)
	}
	p.Eval(`window.confirm = () => true`)
	p.Press(`form:has(input[value="close_session"]) button`)
	p.Until(`location.search.includes("done=")`)
	p.Clean()
}

// A late answer describes an earlier state: it must not offer again what has been decided since.
func TestAnAnswerThatIsLateChangesNothing(t *testing.T) {
	w := consoletest.Start(t)
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.Answers(conversation.Answer{Text: "はい", Tokens: 3})
	p := sees(w.As(webapi.Sato), chromium.Start(t), k.Page())
	p.Until(closable)
	p.Eval(`{
		const ask = fetch;
		let held = false;
		window.answers = 0;
		window.fetch = async (...all) => {
			const answer = await ask(...all);
			if (!held) {
				held = window.held = true;
				await new Promise((go) => { window.release = go; });
				setTimeout(() => { window.late = true; }, 100);
				return answer;
			}
			window.answers++;
			return answer;
		};
	}`)
	p.Until(`window.held`)
	k.Says(webapi.Sato, "走らせて")
	k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, `{"rule":"go test"}`)
	k.Begins()
	p.Until(closed)
	p.Eval(`
		window.opened = 0;
		new MutationObserver(() => { if (!(` + closed + `)) window.opened++; }).observe(document.querySelector("#asks"), { subtree: true, childList: true, attributes: true });
		window.answers = 0;
		window.release();
	`)
	p.Until(`window.late && window.answers > 2`)
	p.Until(`window.opened === 0 && ` + closed)
	p.Clean()
}
