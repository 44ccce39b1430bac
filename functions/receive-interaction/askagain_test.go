package main

import (
	"context"
	"sync"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

const madeOfMore = "上の件を進めて"

// ofWords goes on with a request of Sato's in the thread, which forwards what Suzuki wrote.
func (w *world) ofWords(also ...string) {
	w.T.Helper()
	ts := w.slack.Say(w.T, webapi.Sato, webapi.HR, madeOfMore)
	w.Receive(task.Request{User: webapi.Sato, Text: madeOfMore, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
		ThreadTS: w.root, RouteAskers: append([]string{webapi.Suzuki}, also...),
		Forwarded: []aggregate.Quoted{{User: webapi.Suzuki, Text: "経理に送って"}}, Files: []aggregate.SharedFile{{ID: "F1"}}})
}

func (w *world) refusedForWords() {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RefuseByRule(a.Head.Run, task.Refusal{Why: task.ReasonAskersRoute, Detail: "部長"}, tenancy.Settings{}, w.Now())
	})
}

// mute is a Slack that posts nothing.
type mute struct{ Slack }

func (mute) Post(context.Context, string, string, card.Message, slackapi.Metadata) (string, error) {
	return "", slackapi.Refused{Code: "fatal_error"}
}

// anew returns the request that was made in place of the world's.
func (w *world) anew() *task.Request {
	w.T.Helper()
	expect.Is(w.T, w.messages(webapi.HR, madeOfMore), 1, "new requests")
	return w.asks(webapi.HR, madeOfMore).Request
}

// The requester may ask again without the words of others: once, however often they press, and nobody else may.
func TestAskingAgainWithoutTheWordsOfOthers(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"of a gate that waits: it is withdrawn": func(t *testing.T, w *world) {
			w.ofWords()
			w.PlannedOnRoute(tenancy.DefaultSettings(), pipelinetest.Along([]string{webapi.Sato, webapi.Suzuki}, 1,
				circulation.Stage{Name: "部長", Mode: circulation.ModePeople, Need: 1,
					People: []circulation.Person{{User: webapi.Tanaka}}}),
				pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
			w.told(w.post(w.click(webapi.Tanaka, card.AskAgain, w.Ref.ID)), webapi.Tanaka, "")
			expect.That(t, w.Load().Head.Ended == nil && w.messages(webapi.HR, madeOfMore) == 0, "somebody else asked again")
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)) })
			}
			all.Wait()
			e := w.Load().Head.Ended
			expect.That(t, e != nil && e.Reason == task.ReasonAskedAgain && e.By == webapi.Sato, "%+v", e)
			r := w.anew()
			expect.That(t, r.User == webapi.Sato && r.ThreadTS == r.MessageTS, "%+v", r)
			expect.That(t, len(r.RouteAskers)+len(r.Forwarded)+len(r.Files) == 0, "%+v", r)
			told := w.slack.Ephemerals(webapi.Sato)
			expect.Is(t, len(told), 4, "notes")
			w.heard[webapi.Sato] = 4
			link := w.h.Slack.Link(t.Context(), webapi.HR, r.MessageTS, "")
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, link)
			expect.Has(t, w.slack.Ephemerals(webapi.Sato)[4].Text, card.NoteWithoutFiles.Told("ja", ""))
			w.Later(task.AskAgainFor * 2)
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, link)
			w.anew()
		},
		"of one that was refused, and again if Slack failed": func(t *testing.T, w *world) {
			w.ofWords()
			w.refusedForWords()
			ours := w.h.Slack
			w.h.Slack = mute{Slack: ours}
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, card.NoteFailed.Told("ja", ""))
			w.h.Slack = ours
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, card.NoteAccepted.Told("ja", ""))
			w.anew()
		},
		"of one with files that aren't read: it says so, keeps its time, and is made once": func(t *testing.T, w *world) {
			ts := w.slack.Say(t, webapi.Sato, webapi.HR, madeOfMore)
			w.Receive(task.Request{User: webapi.Sato, Text: madeOfMore, Channel: webapi.HR, ChannelType: "channel",
				MessageTS: ts,
				ThreadTS:  w.root, EventID: task.HandedOverBy("s1"), Files: []aggregate.SharedFile{{ID: "F1"}}, MoreFiles: 5})
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Title: "x", Priority: task.Medium, TaskType: task.TypeStandard,
					Shown: []string{webapi.Suzuki}}, w.Now())
			})
			w.refusedForWords()
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, "")
			made := w.asks(webapi.HR, madeOfMore)
			r := made.Request
			expect.That(t, len(r.Files) == 1 && r.MoreFiles == 5 && made.Spoken() && r.EventID == "", "%+v", r)
			expect.That(t, r.Written().Equal(w.Load().Request.Written()) && !r.Written().IsZero(), "%v", r.Written())
			w.Later(task.AskAgainFor * 2)
			w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato,
				w.h.Slack.Link(t.Context(), webapi.HR, r.MessageTS, ""))
			w.anew()
		},
		"but not of what somebody else wrote, nor of a request of one's own words": func(t *testing.T, w *world) {
			ts := w.slack.Say(t, webapi.Tanaka, webapi.HR, madeOfMore)
			for _, askers := range [][]string{{webapi.Tanaka}, nil} {
				w.Receive(task.Request{User: webapi.Sato, Text: madeOfMore, Channel: webapi.HR, ChannelType: "channel",
					MessageTS: ts, ThreadTS: ts, RouteAskers: askers, Authors: askers})
				w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, "")
				if w.Load().Head.Ended == nil {
					w.refusedForWords()
				}
				w.told(w.post(w.click(webapi.Sato, card.AskAgain, w.Ref.ID)), webapi.Sato, "")
				expect.Is(t, w.messages(webapi.HR, madeOfMore), 0, "requests of words that others wrote")
				ts = w.slack.Say(t, webapi.Sato, webapi.HR, madeOfMore)
			}
		},
	})
}
