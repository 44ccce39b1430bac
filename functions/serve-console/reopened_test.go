package main

import (
	"testing"

	chromium "ringi/infra/local/browser"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/conversation"
	"ringi/shared/store/storetest"
)

const (
	closeButton = `document.querySelector('form:has(input[value="close_session"]) button')`
	closable    = closeButton + `.ariaDisabled === null && !` + closeButton + `.form.dataset.over && document.querySelector(".since").innerText === ""`
	closed      = closeButton + `.ariaDisabled === "true" && document.querySelector(".since").innerText.includes("今の状態")`
)

// A conversation can't be ended while a command of it runs. A page that stays open says so meanwhile, and offers it again then.
func TestWhatCanBeDoneAgainIsOfferedAgain(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.answers(conversation.Answer{Text: "はい", Tokens: 3})
	p := w.as(workspace.Sato).sees(chromium.Start(t), k.page())
	p.Until(closable)
	for range 2 {
		k.says(workspace.Sato, "走らせて")
		x := k.proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, `{"rule":"go test"}`)
		k.begins()
		p.Until(closed)
		k.ends(x, conversation.Result{Status: conversation.ActionSucceeded})
		k.answers(conversation.Answer{Text: "終わりました", Tokens: 3})
		p.Until(closable)
	}
	p.Eval(`window.confirm = () => true`)
	p.Press(`form:has(input[value="close_session"]) button`)
	p.Until(`location.search.includes("done=")`)
	p.Clean()
}

// An answer that is late says how things stood: nothing that was decided since then opens again.
func TestAnAnswerThatIsLateChangesNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.answers(conversation.Answer{Text: "はい", Tokens: 3})
	p := w.as(workspace.Sato).sees(chromium.Start(t), k.page())
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
	k.says(workspace.Sato, "走らせて")
	k.proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, `{"rule":"go test"}`)
	k.begins()
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
