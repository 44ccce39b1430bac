package driver

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Click waits for a button of a card and presses it. Like a person, it presses again when a note says that nothing was
// saved, and stops when the button has gone: the press was saved after all.
func (r *Request) Click(user, key, action string) {
	r.T.Helper()
	card := r.Card(key, action)
	again := false
	for end := time.Now().Add(r.Timeout); time.Now().Before(end) && r.T.Context().Err() == nil; again = true {
		before := r.askedAgain(user)
		err := r.S.Sandbox.Click(user, r.Channel, card.TS, action)
		if err == nil && r.askedAgain(user) == before || again && errors.Is(err, sandbox.ErrNoButton) {
			return
		}
		if trouble := (sandbox.InteractionError{}); err != nil && !errors.As(err, &trouble) {
			r.T.Fatalf("%s on %s: %v", action, key, err)
		}
		r.T.Logf("%s on %s was not saved in time: %v", action, key, err)
	}
	r.T.Fatalf("%s on %s is never saved", action, key)
}

func (r *Request) ClickUntilTaken(user, key, action string) {
	r.T.Helper()
	r.untilTaken(key, action, func(ts string) { _ = r.S.Sandbox.Click(user, r.Channel, ts, action) })
}

// FillUntilTaken presses a button that opens a form, and sends that with these values in its fields, until the card no
// longer shows the button. Other fields keep what they show.
func (r *Request) FillUntilTaken(user, key, action string, filled map[string]any) {
	r.T.Helper()
	r.untilTaken(key, action, func(ts string) {
		for _, v := range opened(r.S, user, r.Channel, ts, action) {
			_, _ = r.S.Sandbox.Submit(user, v.ID, filled)
			_ = r.S.Sandbox.CloseView(user, v.ID)
		}
	})
}

// opened presses a button that opens a form, and returns the form, or none if the app did not answer in time.
func opened(s *stack.Stack, user, channel, ts, action string) []webapi.View {
	if s.Sandbox.Click(user, channel, ts, action) != nil {
		return nil
	}
	return s.Sandbox.Views(user)
}

// untilTaken presses a button until the card no longer shows it. It waits three seconds after each press.
func (r *Request) untilTaken(key, action string, press func(ts string)) {
	r.T.Helper()
	gone := func() bool { return !r.Shows(key, action) }
	r.Card(key, action)
	r.Eventually(action+" on "+key+" is taken", func() bool {
		if gone() {
			return true
		}
		press(r.Cards(key)[0].TS)
		if r.Pressed != nil {
			r.Pressed()
		}
		return expect.Holds(r.T.Context(), 3*time.Second, r.Poll, gone)
	})
}

// askedAgain counts the notes that ask a person to try again.
func (r *Request) askedAgain(user string) (n int) {
	for _, note := range r.Notes(user) {
		if AsksAgain(note) {
			n++
		}
	}
	return n
}

// AsksAgain reports whether a text asks a person to try again. The text is in both languages if the settings could not
// be read.
func AsksAgain(text string) bool {
	for _, err := range []error{explain.ErrUnavailable, aggregate.ErrUnconfirmed, explain.ErrUnverified} {
		if strings.Contains(text, card.Note("ja", err)) || strings.Contains(text, card.Note("en", err)) {
			return true
		}
	}
	return false
}

// Reject presses 却下 and sends a reason, until it is taken.
func (r *Request) Reject(user, key, action, reason string) {
	r.T.Helper()
	r.FillUntilTaken(user, key, action, map[string]any{card.ReasonBlock: reason})
}

// Cancel chooses 「キャンセル・終了」 in a message's menu and confirms the dialog. It tries at most five times.
func (r *Request) Cancel(user, ts string) {
	r.T.Helper()
	err := r.TryCancel(user, ts)
	for tries := 0; tries < 4 && err != nil; tries++ {
		r.T.Logf("not cancelled in time: %v", err)
		err = r.TryCancel(user, ts)
	}
	expect.NoError(r.T, err)
}

// TryCancel is one attempt of Cancel. It returns an error if Slack or the app does not answer.
func (r *Request) TryCancel(user, ts string) error {
	if err := r.S.Sandbox.Shortcut(user, r.Channel, ts, "cancel_task"); err != nil {
		return err
	}
	views := r.S.Sandbox.Views(user)
	if len(views) == 0 {
		return errors.New("no dialog asks whether to cancel")
	}
	if _, err := r.S.Sandbox.Submit(user, views[0].ID, nil); err != nil {
		return err
	}
	if len(r.S.Sandbox.Views(user)) > 0 {
		return errors.New("the dialog stays open")
	}
	return nil
}

// Approve stamps the policy and the steps.
func (r *Request) Approve(user string) {
	r.T.Helper()
	r.Click(user, PromptCard, "approve_prompt")
	r.Click(user, ProcessCard, "approve_process")
}

// Notes returns the ephemeral messages that this person sees in the task's thread, or in its channel since it began,
// where the message of a form is.
func (r *Request) Notes(user string) []string {
	var out []string
	for _, m := range r.S.Sandbox.Ephemerals(user) {
		if m.ThreadTS == r.Root || m.TS == r.Root || m.ThreadTS == "" && m.Channel == r.Channel && m.TS > r.Root {
			out = append(out, m.Text)
		}
	}
	return out
}

// Told returns the notes that don't ask the person to try again. It merges consecutive equal notes, since a repeated
// press may repeat the note.
func (r *Request) Told(user string) []string {
	return slices.Compact(slices.DeleteFunc(r.Notes(user), AsksAgain))
}

// Notified counts the direct messages that this task's steps sent to a person.
func (r *Request) Notified(a *task.Aggregate, user string) (n int) {
	for _, m := range r.S.Sandbox.Messages(webapi.DirectMessage(user), "") {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if key, _ := payload["key"].(string); strings.HasPrefix(key, a.Process().ID) {
			n++
		}
	}
	return n
}

// The keys of the cards for a task's first versions.
const (
	TaskCard      = "CARD#task"
	PromptCard    = "CARD#prompt#0001"
	ProcessCard   = "CARD#process#0001"
	ExecutionCard = "CARD#execution"
)

func (r *Request) Card(key, shows string) webapi.Message {
	r.T.Helper()
	var found webapi.Message
	var seen string
	if r.wait(func() bool {
		cards := r.Cards(key)
		if len(cards) > 1 {
			r.T.Fatalf("%s is %d messages", key, len(cards))
		}
		if len(cards) == 1 {
			found, seen = cards[0], Face(cards[0])
		}
		return len(cards) == 1 && strings.Contains(seen, shows)
	}) {
		return found
	}
	r.T.Fatalf("%s does not show %q but %s\nrows: %s", key, shows, seen, r.Summary())
	return found
}

func (r *Request) Shows(key string, texts ...string) bool {
	return slices.ContainsFunc(r.Cards(key), func(m webapi.Message) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(Face(m), t) })
	})
}

// Cards returns the messages whose metadata has this card key.
func (r *Request) Cards(key string) []webapi.Message { return r.AllCards()[key] }

// AllCards returns the thread's messages that have a card key, grouped by that key.
func (r *Request) AllCards() map[string][]webapi.Message {
	out := map[string][]webapi.Message{}
	for _, m := range r.S.Sandbox.Messages(r.Channel, r.Root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if name, _ := payload["card"].(string); name != "" && payload["task"] == r.Ref.ID {
			out[name] = append(out[name], m)
		}
	}
	return out
}

// Face returns all texts and values of a card, one per line.
func Face(m webapi.Message) string {
	b, err := json.Marshal(m.Attachments)
	if err != nil {
		return err.Error()
	}
	var v any
	_ = json.Unmarshal(b, &v)
	return strings.Join(texts(v), "\n")
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if _, text := e.(string); !text {
				out = append(out, texts(e)...)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, texts(v[name])...)
		}
	}
	return out
}

// Color returns the color of the bar next to a card as six hexadecimal digits, or "" if it has none.
func Color(m webapi.Message) string {
	if len(m.Attachments) == 0 {
		return ""
	}
	a, _ := m.Attachments[0].(map[string]any)
	color, _ := a["color"].(string)
	return color
}
