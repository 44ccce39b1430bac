package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func TestUpdateCard(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"arguments that are kept elsewhere":                                       testLargeArguments,
		"a card is posted once and follows its rows":                              testFollows,
		"an acceptance, which changes no card, writes nothing":                    testAccepted,
		"what begins with a result is shown with it":                              testBegun,
		"repeated, late and parallel messages are harmless":                       testRepeated,
		"the language of the request, or else of the settings":                    testLocale,
		"a post that hangs is adopted where it appears":                           testHangs,
		"or made again when the claim is free, counted from the post":             testHangsForGood,
		"a post at which Slack itself failed is looked for twice":                 testOwnFault,
		"a crash between post and save: the earliest is adopted":                  testCrash,
		"a claim lost meanwhile: our own message is taken back":                   testLostClaim,
		"an archived channel":                                                     testArchived,
		"a card that can't be updated for now delays none that is posted":         testShortOfUpdates,
		"what is refused to the app is no card's refusal":                         testAppRefused,
		"a fault while updating":                                                  testUpdateFault,
		"a redraw heals what was shown":                                           testRedraw,
		"a redraw that is asked for while cards are being drawn is not forgotten": testRedrawMeanwhile,
		"two updates of a message at the same time end in the newer content":      testTwoUpdatesAtOnce,
		"an update without an answer that overtook another is noticed":            testOvertaken,
		"nor one of a task with many cards":                                       testForgotLaterAmongMany,
		"nor one that posts anew what was deleted since":                          testPostsAnewLater,
		"a workspace that is none of ours is sent nothing":                        testForeign,
	})
}

func testFollows(t *testing.T, w *world) {
	w.done()
	first := w.shows("受け付けました")
	alone, err := w.Store.Head(t.Context(), w.Ref)
	head := w.Load().Head
	expect.That(t, err == nil && head.ShownRev == head.Rev && alone.ShownRev == 0,
		"shown %d of %d, the head alone says %d, %v; want the card to say so", head.ShownRev, head.Rev, alone.ShownRev, err)
	w.slack.Calls()
	w.done()
	expect.Same(t, 0, len(w.slack.Calls()))
	w.Extracted()
	w.done()
	expect.That(t, w.shows("勤怠")[0].TS == first[0].TS, "the card is another message")
	c := w.Load().Card("CARD#task")
	expect.That(t, c.State == aggregate.CardPosted && c.Hash != "" && c.ClaimedBy == "", "%+v", c)
}

// The first card is posted while the request is accepted. A drawing for the acceptance then finds nothing to do.
func testAccepted(t *testing.T, w *world) {
	first := w.Load().Head
	a := w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(1, w.requester(), tenancy.DefaultSettings(), w.Now())
	})
	expect.Must(t, w.deliverAt(first) && w.deliverAt(a.Head), "it was given back")
	w.shows("受け付けました")
	after := w.Load()
	expect.That(t, after.Head.ShownRev == first.Rev && !after.Effects(w.Now()).Cards, "shown %d", after.Head.ShownRev)
}

// What follows from a result or a stamp begins with it, and is shown with it.
func testBegun(_ *testing.T, w *world) {
	w.Last = false
	w.done()
	w.Extracted()
	w.done()
	w.shows("勤怠", "生成中")
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.Approve()
	w.done()
	w.shows("勤怠", "承認: ", "生成中")
}

func testRepeated(t *testing.T, w *world) {
	results, body := make(chan bool, 8), asking(w.Ref, w.head())
	for range cap(results) {
		h := w.handler()
		go func() {
			out, err := h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m", Body: body}}})
			results <- err == nil && len(out.BatchItemFailures) == 0
		}()
	}
	done := 0
	for range cap(results) {
		if <-results {
			done++
		}
	}
	expect.That(t, done != 0, "nobody came through")
	w.h.NewID = aggregate.NewID
	w.done()
	w.shows("受け付けました")
}

func testLocale(t *testing.T, w *world) {
	w.Settings(func(s *tenancy.Settings) { s.Locale = "en" })
	w.shows()
	for text, said := range map[string]string{
		"今月の勤怠をまとめて": "受け付けました", "Overtime of 営業部 for last month": "Got it.", "2026-10 :tada:": "Got it.",
	} {
		w.root = w.slack.Say(t, webapi.Sato, webapi.HR, text)
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: w.root,
			ThreadTS: w.root, Text: text})
		w.done()
		w.shows(said)
	}
}

// A channel that is archived makes its cards unreachable, of which the requester is told once. Slack doesn't tell the
// app that it is open again: a gate's card is tried again every hour, any other one when its task moves.
func testArchived(t *testing.T, w *world) {
	expect.NoError(t, w.slack.SetArchived(webapi.HR, true))
	w.done()
	c := w.Load().Card("CARD#task")
	expect.Must(t, c.State == aggregate.CardUnreachable && c.Refusal == "is_archived" && c.TriedRev == 1, "%+v", c)
	still := func(what string) {
		w.slack.Calls()
		w.done()
		expect.Is(t, len(w.slack.Calls()), 0, what)
	}
	still("calls at the same revision")
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	told := w.direct(webapi.Sato)
	expect.Must(t, len(told) == 1 && strings.Contains(told[0], "is_archived") && strings.Contains(told[0], webapi.HR),
		"the requester was told %v", told)
	c = w.Load().Card("CARD#prompt#0001")
	expect.Must(t, c.State == aggregate.CardUnreachable && c.TriedAt != nil, "%+v", c)
	expect.NoError(t, w.slack.SetArchived(webapi.HR, false))
	w.Later(time.Hour - time.Second)
	expect.That(t, !w.Load().Effects(w.Now()).Cards, "the sweeper asks for cards within the hour")
	still("calls within the hour")
	w.Later(time.Second)
	expect.That(t, w.Load().Effects(w.Now()).Cards, "after an hour the sweeper asks for no cards")
	w.done()
	w.shows("勤怠", "approve_prompt")
	c = w.Load().Card("CARD#prompt#0001")
	expect.That(t, c.State == aggregate.CardPosted && c.Refusal == "" && c.TriedAt == nil, "%+v", c)
	w.Approve()
	w.done()
	w.shows("勤怠", "承認", "生成中")
}

// A gate that opens while Slack refuses all of the app's calls is shown afterwards.
func testAppRefused(t *testing.T, w *world) {
	w.done()
	w.slack.Faults.Add(webapi.Fault{Kind: webapi.Refused, Code: "token_revoked", Times: -1})
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.back(1, 2)
	a := w.Load()
	for _, c := range a.Cards {
		expect.That(t, c.State != aggregate.CardUnreachable && c.Refusal == "" && c.State != aggregate.CardPosting, "%+v", c)
	}
	due := a.DueAt(w.Now())
	expect.That(t, a.Head.ShownRev != a.Head.Rev && due != nil && !due.After(w.Now().Add(time.Hour)),
		"shown %d of %d, due at %v", a.Head.ShownRev, a.Head.Rev, due)
	w.slack.Faults.Clear("")
	all, err := w.slack.Everything(webapi.DirectMessage(webapi.Sato))
	expect.That(t, err == nil && len(all) == 0, "the requester was told: %v %v", all, err)
	w.done()
	w.shows("勤怠", "approve_prompt")
}

// An update to be done again holds up no other card. Where Slack refuses the content, that is saved, and the card is
// posted at the next revision.
func testUpdateFault(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(1, w.Now()) })
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Unavailable})
	w.back(1, 2)
	w.shows("受け付けました", "実行方針")
	w.done()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	before := w.Load().Card("CARD#prompt#0001").MessageTS
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Refused, Code: "msg_too_long"})
	w.Approve()
	w.done()
	c := w.Load().Card("CARD#prompt#0001")
	expect.That(t, c.State == aggregate.CardUnreachable && c.MessageTS == before && c.Refusal == "msg_too_long", "%+v", c)
	w.ends()
	w.done()
	c = w.Load().Card("CARD#prompt#0001")
	expect.That(t, c.State == aggregate.CardPosted && c.MessageTS == before, "%+v", c)
}

// Slack takes no update for a minute. What asks is posted meanwhile, and the rest follows.
func testShortOfUpdates(t *testing.T, w *world) {
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.RateLimited, RetryAfter: 13 * time.Second})
	w.Approve()
	w.back(13, 15)
	w.shows("勤怠", "approve_prompt", "生成中")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "the rest counts as shown")
	w.done()
	w.shows("勤怠", "承認: ", "生成中")
}

func testRedraw(t *testing.T, w *world) {
	w.done()
	expect.NoError(t, w.Store.Redraw(t.Context(), w.Ref))
	w.done()
	head := w.Load().Head
	expect.That(t, head.ShownRev == head.Rev, "shown %d of %d", head.ShownRev, head.Rev)
	w.shows("受け付けました")
	expect.NoError(t, w.slack.SetArchived(webapi.HR, true)) // what Slack refused for good is tried again
	w.Extracted()
	w.done()
	expect.NoError(t, w.slack.SetArchived(webapi.HR, false))
	expect.NoError(t, w.Store.Redraw(t.Context(), w.Ref))
	w.done()
	w.shows("勤怠")
}

// The card before a call shows all arguments, wherever they are stored, and its row doesn't contain them.
func testLargeArguments(t *testing.T, w *world) {
	arguments := aggregate.JSON(`{"recipient":"U1","text":"` + strings.Repeat("長", 2000) + `末尾"}`)
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "send_slack_dm", aggregate.Write, string(arguments)))
	w.Begin()
	w.bucket["key"] = arguments
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(1, 1, aggregate.Blob{S3Key: "key", Bytes: len(arguments)},
			aggregate.HashOf(string(arguments)), nil, w.Now())
	})
	w.done()
	last := func() string {
		thread := w.slack.Thread(t, webapi.HR, w.root)
		return expect.JSON(thread[len(thread)-1].Attachments)
	}
	expect.That(t, strings.Contains(last(), "末尾") && strings.Contains(last(), "approve_step"), "the card is %s", last())
	expect.Is(t, len(w.bucket[storetest.FetchCount]), 1, "the arguments were fetched … for one card")
	w.Approve()
	w.done()
	expect.That(t, strings.Contains(last(), "末尾") && !strings.Contains(last(), "approve_step"),
		"after the stamp the card is %s", last())
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.RestartRun(1, w.Now()) })
	w.done()
	expect.Is(t, len(w.bucket[storetest.FetchCount]), 2, "the arguments were fetched … for a card that was drawn twice")
	kept := w.Load().Gates[0].Arguments
	expect.That(t, kept.JSON == "", "the row holds %d bytes of them", len(kept.JSON))
}

// settingsReads counts how often the settings are read.
type settingsReads struct {
	Store
	n int
}

func (s *settingsReads) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	s.n++
	return s.Store.Settings(ctx, tenant)
}

// Settings are read for each drawing that asks for a decision, and otherwise once a minute.
func TestSettingsOfAMinute(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	s := &settingsReads{Store: w.h.Store}
	w.h.Store = s
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.done() // its cards were never drawn
	for _, tt := range []struct {
		passes time.Duration
		reads  int
	}{{time.Second, 1}, {settingsLast, 2}, {time.Second, 2}} {
		w.Later(tt.passes)
		w.done()
		expect.Is(t, s.n, tt.reads, "reads after", tt.passes)
	}
}
