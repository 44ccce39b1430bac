package witness

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
)

// Walk uses everything that the app can do, as a person in the sandbox.
func Walk(t *testing.T, app App) {
	p := start(t, app, "the-signing-secret")
	root := expect.Value(p.Say(workspace.Sato, workspace.HR, sandbox.Mention("こんにちは <&>")))(t)
	p.eventually("the app answers in the thread", func() bool { return len(p.Messages(workspace.HR, root)) == 2 })
	card := p.Messages(workspace.HR, root)[1]
	expect.That(t, card.ThreadTS == root && card.BotID == workspace.BotID &&
		strings.Contains(blocks(card), "heard \\u003c@"+workspace.Sato), "the card is %+v", card)
	p.note(root, card.TS)
	p.finish(card.TS)
	err := p.Shortcut(workspace.Tanaka, workspace.HR, root, "cancel_task")
	expect.That(t, err == nil, "shortcut: %v\n%s", err, p.stderr)
	p.eventually("the shortcut's answer", func() bool { return len(p.Messages(workspace.HR, root)) == 3 })
	expect.Is(t, p.Messages(workspace.HR, root)[2].Text, "cancelled by <@"+workspace.Tanaka+">", "the shortcut's answer")
	for _, a := range p.Attempts() {
		expect.That(t, a.Reason == "" && a.Status == http.StatusOK && a.Retry <= 0, "delivery %+v did not go well at once", a)
	}
	for _, c := range p.Calls() {
		expect.Is(t, c.Error, "", "call %s was answered", c.Method)
	}
	expect.Is(t, p.stderr.String(), "", "the app complains")
}

func (p *place) message(card string) workspace.Message {
	p.t.Helper()
	return expect.Value(p.Workspace().Message(workspace.HR, card, workspace.Suzuki))(p.t)
}

// note fills in the card's form. A note that is too short is refused in the open form; a longer one changes the card.
func (p *place) note(root, card string) {
	p.click(workspace.Suzuki, card, "open_form")
	p.eventually("the form opens", func() bool { return len(p.Views(workspace.Suzuki)) == 1 })
	form := p.Views(workspace.Suzuki)[0]
	refused, err := p.Submit(workspace.Suzuki, form.ID, map[string]any{"note_block": "短"})
	expect.That(p.t, err == nil && refused["note_block"] == "at least three characters" &&
		len(p.Views(workspace.Suzuki)) == 1,
		"a short note: %v %v, %d forms are open; want it refused in the open form", refused, err, len(p.Views(workspace.Suzuki)))
	refused, err = p.Submit(workspace.Suzuki, form.ID, map[string]any{"note_block": "稟議を<&>回す"})
	expect.That(p.t, err == nil && len(refused) == 0 && len(p.Views(workspace.Suzuki)) == 0,
		"a note: %v %v, %d forms are open; want it taken and the form closed\n%s", refused, err, len(p.Views(workspace.Suzuki)), p.stderr)
	p.eventually("the card shows the note", func() bool { return strings.Contains(blocks(p.message(card)), "noted: 稟議を") })
	m := p.message(card)
	expect.That(p.t, m.Text == "noted" && !strings.Contains(blocks(m), "open_form") &&
		len(p.Messages(workspace.HR, root)) == 2, "the updated card is %+v", m)
}

// finish presses the card's other button, which tells the person twice and takes the buttons away.
func (p *place) finish(card string) {
	p.click(workspace.Suzuki, card, "finish")
	p.eventually("the card is finished", func() bool { return strings.Contains(blocks(p.message(card)), "finished, 1 of 2 messages are ours") })
	p.eventually("the person is told twice", func() bool { return len(p.Ephemerals(workspace.Suzuki)) == 2 })
	for i, want := range []string{"for you alone", "by response_url"} {
		expect.Is(p.t, p.Ephemerals(workspace.Suzuki)[i].Text, want, "the person is told")
	}
	others := p.Ephemerals(workspace.Sato)
	expect.That(p.t, len(others) == 0, "somebody else sees %v", others)
	expect.That(p.t, p.Click(workspace.Suzuki, workspace.HR, card, "finish") != nil,
		"a button that is gone can be pressed")
}

// CheckForgeryRefused checks that the app verifies signatures: with another secret it refuses every call and does nothing.
// Walk alone would pass for an app that accepts any signature.
func CheckForgeryRefused(t *testing.T, app App) {
	p := start(t, app, "another-secret")
	root := expect.Value(p.Say(workspace.Sato, workspace.HR, sandbox.Mention("こんにちは")))(t)
	p.eventually("the event is given up", func() bool {
		all := p.Attempts()
		return len(all) > 0 && all[len(all)-1].Final
	})
	for _, a := range p.Attempts() {
		expect.That(t, a.Status == http.StatusUnauthorized && a.Reason == "http_error", "attempt %+v, want 401", a)
	}
	err := p.Shortcut(workspace.Sato, workspace.HR, root, "cancel_task")
	var trouble sandbox.InteractionError
	expect.That(t, errors.As(err, &trouble) && trouble.Status == http.StatusUnauthorized, "shortcut: %v, want 401", err)
	expect.Is(t, len(p.Messages(workspace.HR, root)), 1, "messages in the thread; an app that believes nobody says nothing")
	for _, c := range p.Calls() {
		if c.Method != "auth.test" { // a library may ask who it is when it starts
			t.Errorf("an app that believes nobody calls %s", c.Method)
		}
	}
}

func (p *place) click(user, ts, action string) {
	p.t.Helper()
	err := p.Click(user, workspace.HR, ts, action)
	expect.Must(p.t, err == nil, "click %s: %v\n%s", action, err, p.stderr)
}

func blocks(m workspace.Message) string {
	b, err := json.Marshal(m.Blocks)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
