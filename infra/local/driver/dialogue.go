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

// Dialogue is a thread in which people talk to an agent.
type Dialogue struct {
	T       T
	S       *stack.Stack
	User    string // who began the dialogue
	Channel string
	Root    string
	Timeout time.Duration // how long one wait may take
}

func Talk(t T, s *stack.Stack, user, text string) *Dialogue {
	t.Helper()
	channel := webapi.DirectMessage(user)
	root := expect.Value(s.Sandbox.Say(user, channel, text))(t)
	return &Dialogue{T: t, S: s, User: user, Channel: channel, Root: root, Timeout: defaultTimeout}
}

// Reply posts a message in the thread and returns its timestamp.
func (d *Dialogue) Reply(text string) string {
	d.T.Helper()
	return expect.Value(d.S.Sandbox.Reply(d.User, d.Channel, d.Root, text))(d.T)
}

// Faces returns the app's messages in the thread, and the text of each as people see it.
func (d *Dialogue) Faces() (all []webapi.Message, texts []string) {
	for _, m := range d.S.Sandbox.Messages(d.Channel, d.Root) {
		if m.User == webapi.Bot {
			all, texts = append(all, m), append(texts, m.Text+"\n"+Face(m))
		}
	}
	return all, texts
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
		return slices.ContainsFunc(d.S.Sandbox.Workspace().Sessions(d.Channel), func(x webapi.Session) bool {
			return x.ThreadTS == d.Root && x.Status == want
		})
	})
}

// Press presses a button until the card no longer shows it.
func (d *Dialogue) Press(user string, m webapi.Message, action string) {
	d.T.Helper()
	d.untilTaken(m, action, func() { _ = d.S.Sandbox.Click(user, d.Channel, m.TS, action) })
}

// Reject rejects an action, or a call of an outside agent.
func (d *Dialogue) Reject(user string, m webapi.Message, reason string) {
	d.T.Helper()
	action := card.RejectAction
	if d.offers(m.TS, rejectCall) {
		action = rejectCall
	}
	filled := map[string]any{card.ReasonBlock: reason}
	d.untilTaken(m, action, func() { fillIn(d.T, d.S, user, d.Channel, m.TS, action, filled) })
}

// rejectCall is the button on the card of a call of an outside agent.
const rejectCall = "reject_call"

func (d *Dialogue) untilTaken(m webapi.Message, action string, press func()) {
	d.T.Helper()
	UntilTaken(d.T, action+" is taken", press, func() bool { return !d.offers(m.TS, action) })
}

func (d *Dialogue) offers(ts, action string) bool {
	for _, m := range d.S.Sandbox.Messages(d.Channel, d.Root) {
		text, err := json.Marshal(m)
		if err == nil && m.TS == ts {
			return strings.Contains(string(text), `"`+action+`"`)
		}
	}
	return false
}

func (d *Dialogue) Eventually(what string, holds func() bool) {
	d.T.Helper()
	if !expect.Holds(d.T.Context(), d.Timeout, poll, holds) {
		_, faces := d.Faces()
		d.T.Fatalf("conversation %s: not within %s: %s; the thread says\n%s", d.Ref().ID, d.Timeout, what,
			strings.Join(faces, "\n---\n"))
	}
}

func (d *Dialogue) Ref() aggregate.Ref {
	team := d.S.Sandbox.TeamID()
	return conversation.RefOf(aggregate.TenantID(team), conversation.ID(team, d.Channel, d.Root))
}

func (d *Dialogue) Rows() *store.ConversationStore {
	return store.NewConversations(dynamodb.NewFromConfig(d.S.AWS), d.S.TableName)
}

// Page is the path of the conversation's page in the console.
func (d *Dialogue) Page() string { return "/console/sessions/" + d.Ref().ID }

// Audit returns the conversation's audit entries for these actions.
func (d *Dialogue) Audit(actions ...aggregate.Action) []aggregate.AuditEntry {
	d.T.Helper()
	page := expect.Value(d.Rows().KindStore.Store.Audit(context.Background(), d.Ref().Tenant,
		store.AuditFilter{Resource: d.Ref().ID}, "", 100))(d.T)
	return slices.DeleteFunc(page.Items, func(e aggregate.AuditEntry) bool { return !slices.Contains(actions, e.Action) })
}

func (d *Dialogue) Load() *conversation.Aggregate {
	d.T.Helper()
	return expect.Value(d.Rows().Load(context.Background(), d.Ref()))(d.T)
}

// Rests waits until the agent has nothing to do and its cards are up to date.
func (d *Dialogue) Rests() *conversation.Aggregate {
	d.T.Helper()
	var a *conversation.Aggregate
	d.Eventually("it rests", func() bool {
		a = d.Load()
		idle := a.Next(time.Now()).State == aggregate.StateFinish // a newly approved action may not have started yet
		return a.Head.Resting && idle && len(a.Inbox) == 0 && a.Head.ShownRev >= a.Head.Rev
	})
	return a
}
