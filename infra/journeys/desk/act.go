package desk

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/task"
)

// Click presses a button of a card; told that it could not be saved in time, a
// person presses it again, unless the button is gone because it was.
func (d *Desk) Click(user, key, action string) {
	d.T.Helper()
	m := d.Card(key, action)
	for try := range 5 {
		before := d.unsaved(user)
		err := d.S.Sandbox.Click(user, d.Channel, m.TS, action)
		if try > 0 && errors.Is(err, sandbox.ErrNoButton) {
			return
		}
		if trouble := (sandbox.Trouble{}); err != nil && !errors.As(err, &trouble) {
			d.T.Fatalf("%s on %s: %v", action, key, err)
		}
		if err == nil && d.unsaved(user) == before {
			return
		}
		d.T.Logf("%s on %s was not saved in time: %v", action, key, err)
	}
	d.T.Fatalf("%s on %s is never saved", action, key)
}

// unsaved counts the notes that ask a person to try again.
func (d *Desk) unsaved(user string) (n int) {
	for _, note := range d.Notes(user) {
		if asksAgain(note) {
			n++
		}
	}
	return n
}

// asksAgain reports whether a note says that nothing was saved, or that it isn't known.
func asksAgain(note string) bool {
	for _, err := range []error{card.ErrUnsaved, aggregate.ErrUnconfirmed} {
		if note == card.Note("ja", err) || note == card.Note("en", err) {
			return true
		}
	}
	return false
}

// Reject presses 却下, fills in the reason and sends it; told that it could not be saved, a person sends it again.
func (d *Desk) Reject(user, key, action, reason string) {
	d.T.Helper()
	d.Click(user, key, action)
	views := d.S.Sandbox.Views(user)
	if len(views) != 1 {
		d.T.Fatalf("%d dialogs are open; notes: %v", len(views), d.Notes(user))
	}
	for range 5 {
		errs, err := d.S.Sandbox.Submit(user, views[0].ID, map[string]any{"rejection_reason_block": reason})
		if trouble := (sandbox.Trouble{}); err == nil && len(errs) == 0 {
			return
		} else if !errors.As(err, &trouble) && !slices.ContainsFunc(slices.Collect(maps.Values(errs)), asksAgain) {
			d.T.Fatalf("send the reason: %v %v", err, errs)
		}
		d.T.Log("the reason was not saved in time")
	}
	d.T.Fatal("the reason is never saved")
}

// Cancel chooses 「タスクをキャンセル」 in the menu of a message and says yes to the
// dialog; told that it could not be saved, a person says yes again.
func (d *Desk) Cancel(user, ts string) {
	d.T.Helper()
	if err := d.TryCancel(user, ts); err != nil {
		d.T.Fatal(err)
	}
}

// TryCancel is Cancel where Slack or the app may not answer.
func (d *Desk) TryCancel(user, ts string) error {
	if err := d.S.Sandbox.Shortcut(user, d.Channel, ts, "cancel_task"); err != nil {
		return err
	}
	err := errors.New("no dialog asks whether to cancel")
	for range 5 {
		views := d.S.Sandbox.Views(user)
		if len(views) == 0 {
			return err
		}
		if _, err = d.S.Sandbox.Submit(user, views[len(views)-1].ID, nil); err == nil && len(d.S.Sandbox.Views(user)) < len(views) {
			return nil
		}
	}
	return err
}

// Approve stamps the policy and the steps.
func (d *Desk) Approve(user string) {
	d.T.Helper()
	d.Click(user, "CARD#prompt#0001", "approve_prompt")
	d.Click(user, "CARD#process#0001", "approve_process")
}

// Notes are what only this person sees in the task's thread.
func (d *Desk) Notes(user string) []string {
	var out []string
	for _, m := range d.S.Sandbox.Ephemerals(user) {
		if m.ThreadTS == d.Root || m.TS == d.Root {
			out = append(out, m.Text)
		}
	}
	return out
}

// Notified counts the direct messages that this task's steps sent to a person.
func (d *Desk) Notified(a *task.Aggregate, user string) (n int) {
	for _, m := range d.S.Sandbox.Messages(workspace.DirectMessage(user), "") {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if key, _ := payload["key"].(string); strings.HasPrefix(key, a.Process().ID) {
			n++
		}
	}
	return n
}
