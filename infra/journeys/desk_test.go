// Package journeys walks through Ringi as its users do: signed HTTP in at the
// front door, Slack's Web API out, everything between as it runs in AWS.
package journeys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/card"
	"ringi/shared/store"
	"ringi/shared/task"
)

const patience = 60 * time.Second

// desk is one person's request and what became of it.
type desk struct {
	t       *testing.T
	s       *stack.Stack
	store   *store.Store
	channel string
	root    string // the message's timestamp, and the thread's
	ref     task.Ref
}

// ask says something to Ringi in #人事 and waits for the first card.
func ask(t *testing.T, s *stack.Stack, user, text string) *desk {
	t.Helper()
	return askIn(t, s, user, workspace.HR, "<@"+workspace.Bot+"> "+text)
}

func askIn(t *testing.T, s *stack.Stack, user, channel, text string) *desk {
	t.Helper()
	ts, err := s.Sandbox.Say(user, channel, text)
	if err != nil {
		t.Fatal(err)
	}
	d := at(t, s, channel, ts)
	d.card("CARD#task", "")
	return d
}

// at is the desk of a message that was said.
func at(t *testing.T, s *stack.Stack, channel, ts string) *desk {
	t.Helper()
	team := s.Sandbox.TeamID()
	id, err := task.ID(team, channel, ts)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{
		t: t, s: s, channel: channel, root: ts, ref: task.Ref{Tenant: task.TenantID(team), Task: id},
		store: store.New(dynamodb.NewFromConfig(s.AWS), s.TableName),
	}
}

// eventually polls until what holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		tick := time.NewTimer(40 * time.Millisecond)
		<-tick.C
	}
}

// card waits until the task's card with this key shows the text, and returns the message.
func (d *desk) card(key, shows string) workspace.Message {
	d.t.Helper()
	var found workspace.Message
	var seen string
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		cards := d.cards(key)
		if len(cards) > 1 {
			d.t.Fatalf("%s is %d messages", key, len(cards))
		}
		if len(cards) == 1 {
			found, seen = cards[0], face(cards[0])
			if strings.Contains(seen, shows) {
				return found
			}
		}
		tick := time.NewTimer(40 * time.Millisecond)
		<-tick.C
	}
	d.t.Fatalf("%s does not show %q but %s\nrows: %s", key, shows, seen, d.summary())
	return found
}

// cards are the messages that carry this card's name.
func (d *desk) cards(key string) []workspace.Message {
	var out []workspace.Message
	for _, m := range d.s.Sandbox.Messages(d.channel, d.root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if payload["task"] == d.ref.Task && payload["card"] == key {
			out = append(out, m)
		}
	}
	return out
}

// face is everything a person could read or press on a card.
func face(m workspace.Message) string {
	b, err := json.Marshal(m.Attachments)
	if err != nil {
		return err.Error()
	}
	var v any
	_ = json.Unmarshal(b, &v)
	var out []string
	collect(v, &out)
	return strings.Join(out, "\n")
}

func collect(v any, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, out)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if s, ok := v[name].(string); ok {
				*out = append(*out, s)
				continue
			}
			collect(v[name], out)
		}
	}
}

func color(m workspace.Message) string {
	b, _ := json.Marshal(m.Attachments)
	var a []struct {
		Color string `json:"color"`
	}
	_ = json.Unmarshal(b, &a)
	if len(a) == 0 {
		return ""
	}
	return strings.TrimPrefix(a[0].Color, "#")
}

// click presses a button of a card; told that it could not be saved in time, a person presses it again.
func (d *desk) click(user, key, action string) {
	d.t.Helper()
	m := d.card(key, action)
	for range 5 {
		before := d.unsaved(user)
		err := d.s.Sandbox.Click(user, d.channel, m.TS, action)
		if trouble := (sandbox.Trouble{}); err != nil && !errors.As(err, &trouble) {
			d.t.Fatalf("%s on %s: %v", action, key, err)
		}
		if err == nil && d.unsaved(user) == before {
			return
		}
		d.t.Logf("%s on %s was not saved in time: %v", action, key, err)
	}
	d.t.Fatalf("%s on %s is never saved", action, key)
}

// unsaved counts the notes that ask a person to try again.
func (d *desk) unsaved(user string) (n int) {
	for _, note := range d.notes(user) {
		if note == card.Note("ja", card.ErrUnsaved) || note == card.Note("en", card.ErrUnsaved) {
			n++
		}
	}
	return n
}

// reject presses 却下, fills in the reason and sends it.
func (d *desk) reject(user, key, action, reason string) {
	d.t.Helper()
	d.click(user, key, action)
	views := d.s.Sandbox.Views(user)
	if len(views) != 1 {
		d.t.Fatalf("%d dialogs are open; notes: %v", len(views), d.notes(user))
	}
	errs, err := d.s.Sandbox.Submit(user, views[0].ID, map[string]any{"rejection_reason_block": reason})
	if err != nil || len(errs) > 0 {
		d.t.Fatalf("send the reason: %v %v", err, errs)
	}
}

// notes are what only this person sees in the task's thread.
func (d *desk) notes(user string) []string {
	var out []string
	for _, m := range d.s.Sandbox.Ephemerals(user) {
		if m.ThreadTS == d.root || m.TS == d.root {
			out = append(out, m.Text)
		}
	}
	return out
}

func (d *desk) load() *task.Aggregate {
	d.t.Helper()
	a, err := d.store.Load(context.Background(), d.ref)
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// until waits for the rows to be so, and for the cards to show it.
func (d *desk) until(what string, holds func(*task.Aggregate) bool) *task.Aggregate {
	d.t.Helper()
	var a *task.Aggregate
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		a = d.load()
		if holds(a) && a.Head.ShownRev >= a.Head.Rev {
			return a
		}
		tick := time.NewTimer(40 * time.Millisecond)
		<-tick.C
	}
	d.t.Fatalf("not within %s: %s\n%s", patience, what, d.summary())
	return nil
}

// audit is the task's audit log, oldest first, as "action by actor".
func (d *desk) audit() []string {
	d.t.Helper()
	page, err := d.store.Audit(context.Background(), d.ref.Tenant, store.AuditFilter{Resource: d.ref.Task}, "", 100)
	if err != nil {
		d.t.Fatal(err)
	}
	var out []string
	for _, x := range slices.Backward(page.Items) {
		by := x.ActorID
		if x.ActorType == task.ActorSystem {
			by = "system"
		}
		out = append(out, string(x.Action)+" by "+by)
	}
	return out
}

// summary is the rows in short, for a failed test.
func (d *desk) summary() string {
	a, err := d.store.Load(context.Background(), d.ref)
	if err != nil {
		return err.Error()
	}
	var out []string
	out = append(out, fmt.Sprintf("head rev=%d shown=%d run=%d restarts=%d parked=%+v ended=%+v next=%s", a.Head.Rev, a.Head.ShownRev, a.Head.Run, a.Head.Restarts, a.Head.Parked, a.Head.Ended, a.Next(time.Now()).State))
	for key, r := range a.Rows() {
		b, _ := json.Marshal(r)
		out = append(out, fmt.Sprintf("%s %.400s", key, b))
	}
	slices.Sort(out)
	for _, f := range d.s.Template.Functions {
		for _, line := range d.s.Lambda.Logs(f.ID) {
			if strings.Contains(line, `"ERROR"`) || strings.Contains(line, `"WARN"`) {
				out = append(out, f.ID+": "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}
