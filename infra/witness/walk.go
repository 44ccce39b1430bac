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

// Walk does all that the app knows, as a person in the sandbox.
func Walk(t *testing.T, app App) {
	p := start(t, app, "the-signing-secret")
	root := expect.Value(p.Say(workspace.Sato, workspace.HR, sandbox.Mention("こんにちは <&>")))(t)
	p.eventually("the app answers in the thread", func() bool { return len(p.Messages(workspace.HR, root)) == 2 })
	card := p.Messages(workspace.HR, root)[1]
	if card.ThreadTS != root || card.BotID != workspace.BotID ||
		!strings.Contains(blocks(card), "heard \\u003c@"+workspace.Sato) {
		t.Errorf("the card is %+v", card)
	}
	p.note(root, card.TS)
	p.finish(card.TS)
	if err := p.Shortcut(workspace.Tanaka, workspace.HR, root, "cancel_task"); err != nil {
		t.Errorf("shortcut: %v\n%s", err, p.stderr)
	}
	p.eventually("the shortcut's answer", func() bool { return len(p.Messages(workspace.HR, root)) == 3 })
	if got := p.Messages(workspace.HR, root)[2].Text; got != "cancelled by <@"+workspace.Tanaka+">" {
		t.Errorf("the shortcut's answer is %q", got)
	}
	for _, a := range p.Attempts() {
		if a.Reason != "" || a.Status != http.StatusOK || a.Retry > 0 {
			t.Errorf("delivery %+v did not go well at once", a)
		}
	}
	for _, c := range p.Calls() {
		if c.Error != "" {
			t.Errorf("call %s was answered %s", c.Method, c.Error)
		}
	}
	if said := p.stderr.String(); said != "" {
		t.Errorf("the app complains: %s", said)
	}
}

// message is the card as it is now.
func (p *place) message(card string) workspace.Message {
	p.t.Helper()
	return expect.Value(p.Workspace().Message(workspace.HR, card, workspace.Suzuki))(p.t)
}

// note fills in the card's form: a note that is too short is refused in the open form, a longer one changes the card.
func (p *place) note(root, card string) {
	p.click(workspace.Suzuki, card, "open_form")
	p.eventually("the form opens", func() bool { return len(p.Views(workspace.Suzuki)) == 1 })
	form := p.Views(workspace.Suzuki)[0]
	refused, err := p.Submit(workspace.Suzuki, form.ID, map[string]any{"note_block": "短"})
	if err != nil || refused["note_block"] != "at least three characters" || len(p.Views(workspace.Suzuki)) != 1 {
		p.t.Errorf("a short note: %v %v, %d forms are open; want it refused in the open form", refused, err, len(p.Views(workspace.Suzuki)))
	}
	if refused, err = p.Submit(workspace.Suzuki, form.ID, map[string]any{"note_block": "稟議を<&>回す"}); err != nil ||
		len(refused) > 0 || len(p.Views(workspace.Suzuki)) != 0 {
		p.t.Errorf("a note: %v %v, %d forms are open; want it taken and the form closed\n%s", refused, err, len(p.Views(workspace.Suzuki)), p.stderr)
	}
	p.eventually("the card shows the note", func() bool { return strings.Contains(blocks(p.message(card)), "noted: 稟議を") })
	if m := p.message(card); m.Text != "noted" || strings.Contains(blocks(m), "open_form") ||
		len(p.Messages(workspace.HR, root)) != 2 {
		p.t.Errorf("the updated card is %+v", m)
	}
}

// finish presses the card's other button, which tells the person twice and takes the buttons away.
func (p *place) finish(card string) {
	p.click(workspace.Suzuki, card, "finish")
	p.eventually("the card is finished", func() bool { return strings.Contains(blocks(p.message(card)), "finished, 1 of 2 messages are ours") })
	p.eventually("the person is told twice", func() bool { return len(p.Ephemerals(workspace.Suzuki)) == 2 })
	for i, want := range []string{"for you alone", "by response_url"} {
		if got := p.Ephemerals(workspace.Suzuki)[i].Text; got != want {
			p.t.Errorf("the person is told %q, want %q", got, want)
		}
	}
	if others := p.Ephemerals(workspace.Sato); len(others) > 0 {
		p.t.Errorf("somebody else sees %v", others)
	}
	if err := p.Click(workspace.Suzuki, workspace.HR, card, "finish"); err == nil {
		p.t.Error("a button that is gone can be pressed")
	}
}

// CheckForgeryRefused shows that the app checks signatures: with another secret it refuses every
// call and does nothing. Otherwise Walk would pass for an app that accepts any signature.
func CheckForgeryRefused(t *testing.T, app App) {
	p := start(t, app, "another-secret")
	root, err := p.Say(workspace.Sato, workspace.HR, sandbox.Mention("こんにちは"))
	expect.NoError(t, err)
	p.eventually("the event is given up", func() bool {
		all := p.Attempts()
		return len(all) > 0 && all[len(all)-1].Final
	})
	for _, a := range p.Attempts() {
		if a.Status != http.StatusUnauthorized || a.Reason != "http_error" {
			t.Errorf("attempt %+v, want 401", a)
		}
	}
	err = p.Shortcut(workspace.Sato, workspace.HR, root, "cancel_task")
	if trouble := (sandbox.InteractionError{}); !errors.As(err, &trouble) || trouble.Status != http.StatusUnauthorized {
		t.Errorf("shortcut: %v, want 401", err)
	}
	if n := len(p.Messages(workspace.HR, root)); n != 1 {
		t.Errorf("the thread has %d messages; an app that believes nobody says nothing", n)
	}
	for _, c := range p.Calls() {
		if c.Method != "auth.test" { // a library may ask who it is when it starts
			t.Errorf("an app that believes nobody calls %s", c.Method)
		}
	}
}

func (p *place) click(user, ts, action string) {
	p.t.Helper()
	if err := p.Click(user, workspace.HR, ts, action); err != nil {
		p.t.Fatalf("click %s: %v\n%s", action, err, p.stderr)
	}
}

func blocks(m workspace.Message) string {
	b, err := json.Marshal(m.Blocks)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
