package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// listing makes these people the approvers.
func (w *world) listing(users, groups []string) tenancy.Settings {
	w.T.Helper()
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x", Slug: "default",
		TeamID: slacktest.Team, Admins: []string{}}, w.Now()))(w.T)
	return w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	})
}

// drawn draws the cards and, if they were requested, the copies.
func (w *world) drawn() {
	w.T.Helper()
	w.queue.sent = nil
	w.done()
	for _, m := range w.queue.sent {
		if strings.Contains(*m.MessageBody, `"copies":true`) {
			expect.That(w.T, *m.MessageGroupId != w.Ref.ID, "copies hold the cards up")
			w.send(*m.MessageBody)
		}
	}
}

// direct returns the bot's direct messages to a person, as JSON.
func (w *world) direct(user string) (out []string) {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.Everything(webapi.DirectMessage(user)))(w.T) {
		if m.User == webapi.Bot {
			out = append(out, string(expect.Value(json.Marshal(m))(w.T)))
		}
	}
	return out
}

func TestCopies(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"go to listed approvers and follow the decision":             testCopiesFollow,
		"are none for members of the channel, and none when so set":  testNoCopies,
		"leave out whoever may not approve":                          testCopiesOfEligible,
		"survive people who can't be written to":                     testCopiesUnreachable,
		"are posted once, though the answer was lost":                testCopiesLost,
		"are twenty at most, and the card counts the others":         testCopiesCounted,
		"beside cards, each person's messages in their own language": testOwnLanguage,
		"and Home tabs in the language of now":                       testOpenedInAnotherLanguage,
		"tell nobody what they ended themselves":                     testOwnEnd,
	})
}

func testCopiesFollow(t *testing.T, w *world) {
	s := w.listing([]string{webapi.Suzuki}, []string{webapi.Approvers})
	p := w.Prompted(s).Prompt()
	w.drawn()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		got := w.direct(user)
		if len(got) != 1 || !strings.Contains(got[0], "approve_prompt") || !strings.Contains(got[0], p.ID) ||
			!strings.Contains(got[0], w.Ref.ID) || !strings.Contains(got[0], "/archives/"+webapi.HR) {
			t.Fatalf("%s got %v", user, got)
		}
	}
	w.drawn()
	n := len(w.queue.sent)
	expect.That(t, n == 0, "asked for %d messages, and nothing changed", n)
	w.Approve()
	w.drawn()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		if got := w.direct(user); len(got) != 1 || strings.Contains(got[0], "approve_prompt") ||
			!strings.Contains(got[0], "承認") {
			t.Errorf("%s sees %v", user, got)
		}
	}
}

func testNoCopies(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	w.drawn()
	got := w.direct(webapi.Suzuki)
	expect.That(t, len(got) == 0, "members of the channel got %v", got)
}

func testCopiesOfEligible(t *testing.T, w *world) {
	w.listing([]string{webapi.Sato, webapi.Guest, webapi.Stranger, webapi.Suzuki}, nil)
	s := w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(s)
	w.drawn()
	if n := len(w.Load().Copies); n != 1 || len(w.direct(webapi.Suzuki)) != 1 {
		t.Errorf("%d copies: %v", n, w.Load().Copies)
	}
}

func testCopiesUnreachable(t *testing.T, w *world) {
	s := w.listing([]string{webapi.Tanaka, webapi.Suzuki}, nil)
	w.Prompted(s)
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"})
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"})
	w.drawn()
	for _, c := range w.Load().Copies {
		expect.That(t, c.State == aggregate.CardUnreachable && c.Refusal == "user_disabled", "%+v", c)
	}
	w.Approve()
	w.drawn()
	expect.That(t, len(w.direct(webapi.Tanaka)) == 0 && len(w.queue.hidden) == 0,
		"tried again, or given back for %v", w.queue.hidden)
}

func testCopiesLost(t *testing.T, w *world) {
	s := w.listing([]string{webapi.Suzuki}, nil)
	w.Prompted(s)
	w.done()
	copies := *w.queue.sent[len(w.queue.sent)-1].MessageBody
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	w.send(copies)
	w.Later(time.Minute)
	w.send(copies)
	expect.Same(t, 1, len(w.direct(webapi.Suzuki)))
	c := w.Load().Copies[0]
	expect.That(t, c.State == aggregate.CardPosted && c.MessageTS != "", "%+v", c)
}

func testCopiesCounted(t *testing.T, w *world) {
	users := []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}
	for i := range 22 {
		users = append(users, fmt.Sprintf("U0NOBODY%02d", i)) // whom Slack doesn't know: they may not approve
	}
	w.listing(users, nil)
	var made []*aggregate.Card
	p := w.Prompted(expect.Value(w.Store.Store.Settings(t.Context(), w.Ref.Tenant))(t)).Prompt()
	for i := range mostCopies {
		made = append(made, &aggregate.Card{CardType: task.CardPrompt, Subject: p.Key(), User: users[i], Others: 5,
			State: aggregate.CardUnreachable, CreatedAt: w.Now()})
	}
	expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, made))
	err := w.Store.AddCopies(t.Context(), w.Ref, made)
	expect.That(t, err != nil, "made twice")
	w.drawn()
	w.shows("", "ほか 5 人の承認者には DM を送っていません")
}

// Cards, and the message about a task's end, are in the request's language; a note for one person is in theirs.
func testOwnLanguage(t *testing.T, w *world) {
	expect.NoError(t, w.slack.Speak(webapi.Sato, "en-US"))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
	w.drawn()
	expect.That(t, strings.Contains(strings.Join(w.direct(webapi.Sato), ""), "キャンセル"), "%v",
		w.direct(webapi.Sato))
	w.shows("", "キャンセル")
	before := len(w.direct(webapi.Sato))
	c, ref := task.Tell(w.Ref.Tenant, task.Request{TeamID: slacktest.Team, User: webapi.Sato, ChannelType: "im",
		Channel: webapi.DirectMessage(webapi.Sato), Source: task.SourceAgentContainer}, task.ReasonGreeting, "x", "", w.Now())
	expect.NoError(t, w.Store.Create(t.Context(), c))
	w.Ref = ref
	w.done()
	said := w.direct(webapi.Sato)[before:]
	greeting := card.Sentence("en", task.ReasonGreeting, "", explain.NoRetry)
	expect.That(t, len(said) == 1 && strings.Contains(said[0], greeting[:40]), "%v",
		said)
	offered := w.slack.Prompts(webapi.DirectMessage(webapi.Sato))
	expect.Is(t, offered[0].Title, card.Suggestions("en")[0].Title, "suggested")
}

// A Home tab is in the language that the person has chosen by now.
func testOpenedInAnotherLanguage(t *testing.T, w *world) {
	w.withHomes()
	ja := w.opens(webapi.Suzuki)
	expect.NoError(t, w.slack.Speak(webapi.Suzuki, "en-US"))
	en := w.opens(webapi.Suzuki)
	expect.That(t, strings.Contains(ja, "あなたの依頼") && strings.Contains(en, "Your requests"), "%s\n%s", ja, en)
}

func testOwnEnd(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	w.By = w.requester()
	w.Cancel()
	w.drawn()
	expect.Same(t, 0, len(w.direct(webapi.Sato)))
}

// A person listed by name gets a copy even if a listed user group was deleted.
func TestCopiesBesideAGroupThatIsGone(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	s := w.listing([]string{webapi.Suzuki}, []string{"S0GONE"})
	w.Prompted(s)
	w.slack.Faults.Add(webapi.Fault{Method: "usergroups.users.list", Kind: webapi.Refused, Code: "no_such_subteam",
		Times: 1000})
	w.drawn()
	got := w.direct(webapi.Suzuki)
	expect.That(t, len(got) == 1 && strings.Contains(got[0], "approve_prompt"),
		"who is listed by name got %v; given back for %v", got, w.queue.hidden)
}

// crowded is a pace whose calls others use up for an hour.
type crowded struct {
	Pace
	now   func() time.Time
	until time.Time
}

func (p *crowded) TakePace(_ context.Context, b records.Budget, _ int, now time.Time) (time.Time, error) {
	if now.Before(p.until) {
		return now.Add(b.Window), nil
	}
	return time.Time{}, nil
}
func (p *crowded) TakeCalls(ctx context.Context, now time.Time, takes ...records.Take) (records.Short, error) {
	until, err := p.TakePace(ctx, takes[0].From, takes[0].Spare, now)
	return records.Short{Take: takes[0], Until: until}, err
}
func (p *crowded) HoldPace(context.Context, records.Budget, time.Time) error { return nil }
func (p *crowded) SilentSince(context.Context, string, time.Time) (time.Time, error) {
	return time.Time{}, nil
}
func (p *crowded) JoinLine(_ context.Context, _ records.Budget, _ int, now time.Time) (time.Time, error) {
	return now, nil
}

func TestCopiesThatWait(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"for Slack's pace are not given up": func(t *testing.T, w *world) {
			s := w.listing([]string{webapi.Suzuki}, nil)
			w.Prompted(s)
			w.done()
			body := *w.queue.sent[len(w.queue.sent)-1].MessageBody
			w.h.Pace, w.h.PaceScale = &crowded{nil, w.Now, w.Now().Add(time.Hour)}, 1
			began := w.Now()
			for received := 1; received <= 600; received++ {
				w.queue.hidden, w.queue.sent = nil, nil
				out := expect.Value(w.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
					MessageId: "m1", ReceiptHandle: "r1", Body: body,
					Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(received), "MessageGroupId": "group"},
				}}}))(t)
				if received > 100 {
					t.Fatalf("received %d times: the queue sets it aside after %v, for a wait that is an hour", received,
						w.Now().Sub(began).Round(time.Second))
				}
				if len(out.BatchItemFailures) == 0 {
					if len(w.queue.sent) == 0 {
						break
					}
					body, received = *w.queue.sent[0].MessageBody, 0
					continue
				}
				w.Later(time.Duration(w.queue.hidden[0]) * time.Second)
			}
			expect.That(t, len(w.direct(webapi.Suzuki)) == 1, "no copy")
		},
	})
}
