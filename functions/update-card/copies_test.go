package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// listing makes these people the approvers.
func (w *world) listing(users, groups []string) tenancy.Settings {
	w.T.Helper()
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "x",
		TeamID: ringitest.Team, Admins: []string{}}, w.Now()))(w.T)
	return w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: groups}
	})
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

// reminds creates a reminder for Suzuki, whom Ringi has not written to.
func (w *world) reminds() {
	w.T.Helper()
	told := task.Reminded{N: 1, Items: []task.RemindedItem{{Kind: task.Kind.Name, ID: w.Ref.ID, Title: "勤怠の集計",
		Asker: webapi.Sato, Channel: webapi.HR, TS: "1776675600.000100"}}}
	c, ref := task.Remind(w.Ref.Tenant, ringitest.Team, webapi.Suzuki, tenancy.DateOf(w.Now().In(tenancy.Zone())),
		told, w.Now())
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

// remindedOnce checks that Suzuki has one message, and returns it.
func (w *world) remindedOnce() string {
	w.T.Helper()
	got := w.direct(webapi.Suzuki)
	expect.Must(w.T, len(got) == 1, "reminded of %v", got)
	return got[0]
}

func testReminded(t *testing.T, w *world) {
	expect.NoError(t, w.slack.Speak(webapi.Suzuki, "en-US"))
	w.reminds()
	for range 2 {
		w.done()
	}
	said := w.remindedOnce()
	expect.Has(t, said, "Waiting for your approval: 1")
	expect.Has(t, said, "/archives/"+webapi.HR+"/p1776675600000100|Open")
	a := w.Load()
	expect.Is(t, a.Cards[0].Channel, webapi.DirectMessage(webapi.Suzuki))
	expect.That(t, !a.Effects(w.Now()).Cards, "it is drawn for ever: %+v", a.Head)
}

func testRemindedInChannel(t *testing.T, w *world) {
	before := len(expect.Value(w.slack.Everything(webapi.HR))(t))
	told := task.Reminded{N: 1, Shared: true, Items: []task.RemindedItem{{Kind: task.Kind.Name, ID: w.Ref.ID,
		Title: "勤怠の集計", Asker: webapi.Sato, Channel: webapi.HR, TS: "1776675600.000100"}}}
	c, ref := task.Remind(w.Ref.Tenant, ringitest.Team, webapi.HR, tenancy.DateOf(w.Now().In(tenancy.Zone())),
		told, w.Now())
	expect.NoError(t, w.Store.Create(t.Context(), c))
	w.Ref = ref
	for range 2 {
		w.done()
	}
	all := expect.Value(w.slack.Everything(webapi.HR))(t)
	expect.Must(t, len(all) == before+1, "%d messages, %d before", len(all), before)
	expect.Is(t, all[before].ThreadTS, "")
	expect.Has(t, all[before].Text, "このチャンネルのどなたか 1 人の承認を待っているものが 1 件あります")
}
