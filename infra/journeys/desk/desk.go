// Package desk lets a test do what people do with a running stack, and see what
// they see: requests, cards, clicks, forms; and behind them the rows and runs.
package desk

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/aggregate"
	"ringi/shared/store"
	"ringi/shared/task"
)

// patience is how long one thing may take on a busy machine, and nudgeAfter how
// long a desk waits before it nudges.
const patience, nudgeAfter = 60 * time.Second, 6 * time.Second

// Desk is one person's request and what became of it.
type Desk struct {
	T       *testing.T
	S       *stack.Stack
	Store   *store.Store
	Channel string
	Root    string // the message's timestamp, and the thread's
	Ref     aggregate.Ref

	Patience time.Duration // how long one thing may take
	Nudge    func()        // called now and then while something is waited for; may be nil
}

// Ask says something to Ringi in #人事 and waits for the first card.
func Ask(t *testing.T, s *stack.Stack, user, text string) *Desk {
	t.Helper()
	return AskIn(t, s, user, workspace.HR, "<@"+workspace.Bot+"> "+text)
}

// AskIn is Ask in a channel or direct message, with the text just as it is.
func AskIn(t *testing.T, s *stack.Stack, user, channel, text string) *Desk {
	t.Helper()
	ts, err := s.Sandbox.Say(user, channel, text)
	if err != nil {
		t.Fatal(err)
	}
	d := At(t, s, channel, ts)
	d.Card("CARD#task", "")
	return d
}

// At is the desk of a message that was said.
func At(t *testing.T, s *stack.Stack, channel, ts string) *Desk {
	t.Helper()
	team := s.Sandbox.TeamID()
	id, err := task.ID(team, channel, ts)
	if err != nil {
		t.Fatal(err)
	}
	return &Desk{
		T: t, S: s, Channel: channel, Root: ts, Ref: aggregate.Ref{Tenant: aggregate.TenantID(team), Task: id},
		Store: store.New(dynamodb.NewFromConfig(s.AWS), s.TableName), Patience: patience,
	}
}

// wait polls until what holds, and reports whether it came to that.
func (d *Desk) wait(holds func() bool) bool {
	begun := time.Now()
	nudge := begun.Add(nudgeAfter)
	for !holds() {
		now := time.Now()
		if now.Sub(begun) > d.Patience {
			return false
		}
		if d.Nudge != nil && now.After(nudge) {
			d.Nudge()
			nudge = time.Now().Add(nudgeAfter)
		}
		tick := time.NewTimer(40 * time.Millisecond)
		<-tick.C
	}
	return true
}

// Eventually polls until what holds.
func Eventually(t *testing.T, what string, holds func() bool) {
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
