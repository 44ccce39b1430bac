package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// listing makes these people the approvers.
func (w *world) listing(users, groups []string) tenancy.Settings {
	w.T.Helper()
	return w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	})
}

// direct returns the bot's direct messages to a person, as JSON.
func (w *world) direct(user string) (out []string) {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.Everything(webapi.DirectMessage(user)))(w.T) {
		if m.User == webapi.Bot {
			out = append(out, expect.JSON(m))
		}
	}
	return out
}

func TestCopies(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"go to listed approvers and follow the decision":             testCopiesFollow,
		"leave out whoever may not approve":                          testCopiesOfEligible,
		"beside cards, each person's messages in their own language": testOwnLanguage,
		"tell nobody what they ended themselves":                     testOwnEnd,
	})
}

func testCopiesFollow(t *testing.T, w *world) {
	s := w.listing([]string{webapi.Suzuki}, []string{webapi.Approvers})
	p := w.Prompted(s).Prompt()
	w.done()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		got := w.direct(user)
		expect.Must(t, len(got) == 1 && strings.Contains(got[0], "approve_prompt") && strings.Contains(got[0], p.ID) &&
			strings.Contains(got[0], w.Ref.ID) && strings.Contains(got[0], "/console/tasks/"+w.Ref.ID), "%s got %v", user,
			got)
	}
	w.Approve()
	w.done()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		got := w.direct(user)
		expect.That(t, len(got) == 1 && !strings.Contains(got[0], "approve_prompt") && strings.Contains(got[0], "承認"),
			"%s sees %v", user, got)
	}
}

func testCopiesOfEligible(t *testing.T, w *world) {
	w.listing([]string{webapi.Sato, webapi.Guest, webapi.Stranger, webapi.Suzuki}, nil)
	s := w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(s)
	w.done()
	n := len(w.Load().Copies)
	expect.That(t, n == 1 && len(w.direct(webapi.Suzuki)) == 1, "%d copies: %v", n, w.Load().Copies)
}

// Cards, and the message about a task's end, are in the request's language; a note for one person is in theirs.
func testOwnLanguage(t *testing.T, w *world) {
	expect.NoError(t, w.slack.Speak(webapi.Sato, "en-US"))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
	w.done()
	expect.That(t, strings.Contains(strings.Join(w.direct(webapi.Sato), ""), "キャンセル"), "%v", w.direct(webapi.Sato))
	w.shows("", "キャンセル")
	for _, locale := range slices.Backward(language.All) { // they choose the other one within the minute
		expect.NoError(t, w.slack.Speak(webapi.Sato, locale))
		before := len(w.direct(webapi.Sato))
		c, ref := task.Tell(w.Ref.Tenant, task.Request{TeamID: ringitest.Team, User: webapi.Sato, ChannelType: "im",
			Channel: webapi.DirectMessage(webapi.Sato), Source: task.SourceAgentContainer}, task.ReasonGreeting, locale, "",
			w.Now())
		expect.NoError(t, w.Store.Create(t.Context(), c))
		w.Ref = ref
		w.done()
		said := w.direct(webapi.Sato)[before:]
		greeting := []rune(card.Sentence(locale, task.ReasonGreeting, "", explain.NoRetry))
		expect.That(t, len(said) == 1 && strings.Contains(said[0], string(greeting[:min(len(greeting), 40)])), "%v", said)
		offered := w.slack.Prompts(webapi.DirectMessage(webapi.Sato))
		expect.Is(t, offered[0].Title, card.Suggestions(locale)[0].Title, "suggested")
	}
}

func testOwnEnd(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	expect.Same(t, 0, len(w.direct(webapi.Suzuki))) // a member of the channel
	w.By = w.requester()
	w.Cancel()
	w.done()
	expect.Same(t, 0, len(w.direct(webapi.Sato)))
}

func TestPeopleAreReminded(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"in their direct messages, in their language": testReminded,
		"in a channel, if it is its members'":         testRemindedInChannel,
	})
}

// reminds creates a reminder for somebody or a channel's members, which is drawn twice.
func (w *world) reminds(who string, shared bool) {
	w.T.Helper()
	told := task.Reminded{N: 1, Shared: shared, Items: []task.RemindedItem{{Kind: task.Kind.Name, ID: w.Ref.ID,
		Title: "勤怠の集計", Asker: webapi.Sato, Channel: webapi.HR, TS: "1776675600.000100"}}}
	c, ref := task.Remind(w.Ref.Tenant, ringitest.Team, who, tenancy.DateOf(w.Now().In(tenancy.Zone())), told, w.Now())
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
	for range 2 {
		w.done()
	}
}

func testReminded(t *testing.T, w *world) {
	expect.NoError(t, w.slack.Speak(webapi.Suzuki, "en-US"))
	w.reminds(webapi.Suzuki, false) // whom Ringi has not written to
	said := w.newest(webapi.Suzuki, 1)
	expect.Has(t, said, "Waiting for your approval: 1")
	expect.Has(t, said, "/archives/"+webapi.HR+"/p1776675600000100|Open")
	a := w.Load()
	expect.Is(t, a.Cards[0].Channel, webapi.DirectMessage(webapi.Suzuki))
	expect.That(t, !a.Effects(w.Now()).Cards, "it is drawn for ever: %+v", a.Head)
}

func testRemindedInChannel(t *testing.T, w *world) {
	before := len(expect.Value(w.slack.Everything(webapi.HR))(t))
	w.reminds(webapi.HR, true)
	all := expect.Value(w.slack.Everything(webapi.HR))(t)
	expect.Must(t, len(all) == before+1, "%d messages, %d before", len(all), before)
	expect.Is(t, all[before].ThreadTS, "")
	expect.Has(t, all[before].Text, "このチャンネルのどなたか 1 人の承認を待っているものが 1 件あります")
}

// opens has a person open the Home tab, and returns it as JSON.
func (w *world) opens(user string) string {
	w.T.Helper()
	expect.Must(w.T, w.send(*effect.OpenedHome("queue", ringitest.Team, user, "event").MessageBody), "given back")
	v, _ := w.slack.Home(user)
	return expect.JSON(v.Blocks)
}

func TestHomeTabs(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"show what waits for a person, and what they asked for": testHomeShows,
		"show nothing of what a person may not decide":          testHomeHides,
		"show calls of outside agents to who decides":           testHomeCalls,
		"have a line for twenty of thirty waiting things":       testHomeThirty,
		"miss nobody who is asked beside another drawing":       testOwedBeside,
	})
}

func testHomeShows(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	shown := w.opens(webapi.Suzuki)
	for _, want := range []string{"/archives/" + webapi.HR, "あなたの番 (1 件)"} {
		expect.That(t, strings.Contains(shown, want), "%s is missing in %s", want, shown)
	}
	mine := w.opens(webapi.Sato)
	expect.That(t, strings.Contains(mine, "承認待ち") && strings.Contains(mine, "あなたの依頼"), "%v", mine)
	expect.Has(t, w.opens(webapi.Alex), "Your turn", "not in English")
}

func testHomeCalls(t *testing.T, w *world) {
	k := withCalls(w)
	w.h.Inbox.Rows, w.h.Inbox.Store = k.all, store.TasksOf(k.all)
	key := k.key()
	for n := range 12 {
		k.asks(key, strconv.Itoa(n))
	}
	suzuki := w.opens(webapi.Suzuki)
	expect.That(t, strings.Contains(suzuki, "あなたの番 (12 件)") && strings.Count(suzuki, "外部エージェントの呼び出し 締め") == 12,
		"%s", suzuki)
}

func testHomeHides(t *testing.T, w *world) {
	w.Prompted(tenancy.DefaultSettings())
	for _, user := range []string{webapi.Guest, webapi.Stranger} {
		shown := w.opens(user)
		expect.That(t, !strings.Contains(shown, "open_entry") && !strings.Contains(shown, w.Ref.ID), "%s sees %s",
			user, shown)
	}
}

func testHomeThirty(t *testing.T, w *world) {
	for i := range 30 {
		ts := fmt.Sprintf("1776675700.%06d", i+1)
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
		w.Prompted(tenancy.DefaultSettings())
	}
	w.slack.Calls()
	shown := w.opens(webapi.Suzuki)
	expect.That(t, strings.Contains(shown, "あなたの番 (30 件)") && strings.Count(shown, "open_entry") == 20 &&
		strings.Contains(shown, "ほか 10 件"), "%s", shown)
	calls := w.slack.Calls("users.info", "users.conversations")
	expect.That(t, len(calls) <= 4, "Slack was asked about people %d times: %v", len(calls), calls)
}

// unreadable is a store whose settings can't be read.
type unreadable struct{ Store }

func (unreadable) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.Settings{}, errors.New("AccessDeniedException")
}

func TestATabThatIsRefusedForGoodLeavesTheQueue(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.h.Store = unreadable{w.h.Store}
	body := *effect.OpenedHome("queue", ringitest.Team, "U1", "event").MessageBody
	for receives := 1; ; receives++ {
		expect.Must(t, receives <= homeTries, "it is given back for ever")
		r := events.SQSMessage{MessageId: "1", Body: body,
			Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(receives)}}
		out := expect.Value(w.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{r}}))(t)
		if len(out.BatchItemFailures) == 0 {
			expect.Is(t, receives, homeTries, "receives")
			return
		}
	}
}

func testOwedBeside(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("経理", 1, webapi.Tanaka, webapi.Alex))
	p := w.Load().Process()
	other := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Tanaka, Stage: 1,
		State: aggregate.CardNone}
	w.h.Store = beside{Store: w.h.Store, loaded: func(a aggregate.Aggregate) aggregate.Aggregate {
		expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{other}))
		return a
	}}
	expect.That(t, !w.deliver(), "nobody finds out who else is asked")
	w.h = w.handler()
	w.done()
	expect.That(t, len(w.direct(webapi.Alex)) == 1 && len(w.direct(webapi.Tanaka)) == 1, "messages")
}
