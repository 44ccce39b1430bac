package page

import (
	"ringi/infra/local/browser"
)

// whatWaits: an approver finds a request in their list, opens it, stamps it, and sees in the panel the prompt exactly
// as it was sent.
func whatWaits(v *visitor) {
	v.asks(v.words.staff)
	card := v.d.Card("CARD#prompt#0001", "approve_prompt")
	entry := `.wait[data-wait="` + card.TS + `"]`
	v.becomes(v.approver)
	v.Press("#open-waits")
	v.Until(`document.querySelector(` + browser.Quote(entry) + `)?.innerText.includes(` + browser.Quote(v.words.policy) + `)`)
	v.looks("waits")
	v.Press(entry)
	v.Until(`document.querySelector('.msg.flash[data-ts="` + card.TS + `"]')`)
	v.presses("approve_prompt")
	v.sees(v.words.steps)
	if v.phone { // where the list covered the conversation, and closed
		v.Press("#open-waits")
	}
	v.lacks(entry)
	v.Press("#tab-run")
	v.Until(`document.querySelector(".task-id code")?.innerText === ` + browser.Quote(v.d.Ref.ID))
	v.Until(`document.querySelector(".usage")?.innerText.includes("$")`)
	const usage = `[...document.querySelectorAll(".panel .row")].find((r) => r.querySelector("code")?.textContent.startsWith("USAGE#"))`
	for _, button := range []string{"whole", "object"} {
		v.Until(usage + `?.querySelector('[data-more="` + button + `"]')`)
		v.Eval(usage + `.querySelector("details").open = true; ` + usage + `.querySelector('[data-more="` + button + `"]').click()`)
	}
	v.Until(`[...document.querySelectorAll(".panel pre.json")].some((x) => x.innerText.includes('"system"') && x.innerText.includes("<data>"))`)
	v.looks("prompt")
	v.Press(".panel-head > .icon-btn")
}
