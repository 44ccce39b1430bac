package driver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// Thread is a thread in Slack, as people see it and act in it.
type Thread struct {
	T       T
	S       *stack.Stack
	Channel string
	Root    string // timestamp of the message, which is also the thread's

	Timeout, Poll time.Duration        // bound and interval of each wait
	WhenQuiet     func()               // called from time to time during a wait; may be nil
	QuietTime     func() time.Duration // how long a wait lasts before WhenQuiet is called
	Pressed       func()               // called after each press of Press and Fill; may be nil
}

// In returns the thread of a message.
func In(t T, s *stack.Stack, channel, root string) Thread {
	return Thread{T: t, S: s, Channel: channel, Root: root, Timeout: defaultTimeout, Poll: poll,
		QuietTime: func() time.Duration { return defaultQuietTime }}
}

// Faces returns the app's messages in the thread, and the text of each as people see it.
func (x *Thread) Faces() (all []webapi.Message, texts []string) {
	for _, m := range x.S.Sandbox.Messages(x.Channel, x.Root) {
		if m.User == webapi.Bot {
			all, texts = append(all, m), append(texts, m.Text+"\n"+Face(m))
		}
	}
	return all, texts
}

// Eventually waits until the condition holds. From time to time it calls WhenQuiet.
func (x *Thread) Eventually(what string, holds func() bool) {
	x.T.Helper()
	if !x.wait(holds) {
		_, faces := x.Faces()
		x.T.Fatalf("not within %s: %s; thread %s in %s says\n%s", x.Timeout, what, x.Root, x.Channel,
			strings.Join(faces, "\n---\n"))
	}
}

// wait is Eventually, but reports whether the condition came to hold instead of failing the test.
func (x *Thread) wait(holds func() bool) bool {
	nudge := time.Now().Add(x.QuietTime())
	return expect.Holds(x.T.Context(), x.Timeout, x.Poll, func() bool {
		if holds() {
			return true
		}
		if x.WhenQuiet != nil && time.Now().After(nudge) {
			x.WhenQuiet()
			nudge = time.Now().Add(x.QuietTime())
		}
		return false
	})
}

// Press presses a button until the message no longer shows it.
func (x *Thread) Press(user string, m webapi.Message, action string) {
	x.T.Helper()
	x.untilTaken(m.TS, action, func() { _ = x.S.Sandbox.Click(user, x.Channel, m.TS, action) })
}

// Fill presses a button that opens a form, and sends and closes that, unless the app does not answer in time, until the
// message no longer shows the button.
func (x *Thread) Fill(user string, m webapi.Message, action string, filled map[string]any) {
	x.T.Helper()
	x.untilTaken(m.TS, action, func() {
		if x.S.Sandbox.Click(user, x.Channel, m.TS, action) != nil {
			return
		}
		for _, v := range x.S.Sandbox.Views(user) {
			if problems, err := x.S.Sandbox.Submit(user, v.ID, filled); err != nil || len(problems) > 0 {
				x.T.Logf("the form is not taken: %v %v", problems, err)
			}
			_ = x.S.Sandbox.CloseView(user, v.ID) // which it is when it was taken
		}
	})
}

// untilTaken presses a button until its message no longer shows it.
func (x *Thread) untilTaken(ts, action string, press func()) {
	x.T.Helper()
	x.UntilTaken(action+" is taken", press, func() bool { return !x.offers(ts, action) })
}

// UntilTaken presses until taken reports that the press had its effect. It waits three seconds after each press.
func (x *Thread) UntilTaken(what string, press func(), taken func() bool) {
	x.T.Helper()
	x.Eventually(what, func() bool {
		if taken() {
			return true
		}
		press()
		if x.Pressed != nil {
			x.Pressed()
		}
		return expect.Holds(x.T.Context(), 3*time.Second, x.Poll, taken)
	})
}

func (x *Thread) offers(ts, action string) bool {
	for _, m := range x.S.Sandbox.Messages(x.Channel, x.Root) {
		text, err := json.Marshal(m)
		if err == nil && m.TS == ts {
			return strings.Contains(string(text), `"`+action+`"`)
		}
	}
	return false
}

// audit returns the audit log of a task or conversation, oldest first.
func audit(t T, s *stack.Stack, of aggregate.Ref) []aggregate.AuditEntry {
	t.Helper()
	page := expect.Value(rows(s).Audit(context.Background(), of.Tenant, store.AuditFilter{Resource: of.ID}, "", 100))(t)
	slices.Reverse(page.Items)
	return page.Items
}

// Dialogue is a thread in which people talk to an agent.
type Dialogue struct {
	Thread
	User string // who began the dialogue
}

func Talk(t T, s *stack.Stack, user, text string) *Dialogue {
	t.Helper()
	channel := webapi.DirectMessage(user)
	return &Dialogue{Thread: In(t, s, channel, expect.Value(s.Sandbox.Say(user, channel, text))(t)), User: user}
}

// Reply posts a message in the thread and returns its timestamp.
func (d *Dialogue) Reply(text string) string {
	d.T.Helper()
	return expect.Value(d.S.Sandbox.Attach(d.User, d.Channel, d.Root, text))(d.T)
}

// Shows waits for a message that contains all of these texts, and returns the newest such message.
func (d *Dialogue) Shows(texts ...string) webapi.Message {
	d.T.Helper()
	var found webapi.Message
	d.Eventually("a message with "+strings.Join(texts, ", "), func() bool {
		all, faces := d.Faces()
		for i, face := range faces {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(face, text) }) {
				found = all[i]
			}
		}
		return found.TS != ""
	})
	return found
}

// Status waits until Slack shows this status for the agent.
func (d *Dialogue) Status(want string) {
	d.T.Helper()
	d.Eventually("the agent is "+want, func() bool {
		return slices.ContainsFunc(d.S.Sandbox.Workspace.Sessions(d.Channel), func(x webapi.Session) bool {
			return x.ThreadTS == d.Root && x.Status == want
		})
	})
}

// Reject rejects an action, or a call of an outside agent.
func (d *Dialogue) Reject(user string, m webapi.Message, reason string) {
	d.T.Helper()
	action := card.RejectAction
	if d.offers(m.TS, rejectCall) {
		action = rejectCall
	}
	d.Fill(user, m, action, map[string]any{card.ReasonBlock: reason})
}

// rejectCall is the button on the card of a call of an outside agent.
const rejectCall = "reject_call"

func (d *Dialogue) Ref() aggregate.Ref {
	team := d.S.Sandbox.TeamID()
	return conversation.RefOf(aggregate.TenantID(team), conversation.ID(team, d.Channel, d.Root))
}

// Page is the path of the conversation's page in the console.
func (d *Dialogue) Page() string { return "/console/sessions/" + d.Ref().ID }

// Audit returns the conversation's audit entries for these actions.
func (d *Dialogue) Audit(actions ...aggregate.Action) []aggregate.AuditEntry {
	d.T.Helper()
	return slices.DeleteFunc(audit(d.T, d.S, d.Ref()), func(e aggregate.AuditEntry) bool {
		return !slices.Contains(actions, e.Action)
	})
}

func (d *Dialogue) Load() *conversation.Aggregate {
	d.T.Helper()
	rows := store.NewConversations(dynamodb.NewFromConfig(d.S.AWS), d.S.TableName)
	return expect.Value(rows.Load(context.Background(), d.Ref()))(d.T)
}

// Rests waits until the agent has nothing to do and its cards are up to date.
func (d *Dialogue) Rests() *conversation.Aggregate {
	d.T.Helper()
	var a *conversation.Aggregate
	d.Eventually("it rests", func() bool {
		a = d.Load()
		idle := a.Next(time.Now()).State == aggregate.StateFinish // a newly approved action may not have started yet
		return a.Head.Resting && idle && len(a.Inbox) == 0 && a.Head.Shown()
	})
	return a
}
