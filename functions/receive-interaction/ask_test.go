package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
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
		return a.RefuseByRule(a.Head.Run, task.Refusal{Why: task.ReasonAskersRoute, Detail: "部長"}, tenancy.Settings{},
			w.Now())
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

// slowly is Slack that takes long, and keeps by when a call of it must have ended. Where it stops at something, that is
// not answered in time.
type slowly struct {
	Slack
	stops string
	by    *[]time.Time
}

func (s slowly) call(ctx context.Context, what string) error {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(time.Hour)
	}
	if *s.by = append(*s.by, until); what == s.stops {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (s slowly) Seen(ctx context.Context, channel, thread, ts string) (m inbound.Message, there bool, err error) {
	if err := s.call(ctx, "seen"); err != nil {
		return m, false, err
	}
	return s.Slack.Seen(ctx, channel, thread, ts)
}

func (s slowly) Reaches(ctx context.Context, channel, user string) (bool, error) {
	if err := s.call(ctx, "reaches"); err != nil {
		return true, err
	}
	return s.Slack.Reaches(ctx, channel, user)
}

func (s slowly) Ephemeral(ctx context.Context, channel, thread, user, text string) error {
	if err := s.call(ctx, "note"); err != nil {
		return err
	}
	return s.Slack.Ephemeral(ctx, channel, thread, user, text)
}

// Slack shows the person an error after three seconds, whatever was made: all calls of a submission end together.
func TestASubmissionIsAnsweredInTimeHoweverSlowSlackIs(t *testing.T) {
	for stops, want := range map[string]string{"": "", "note": "", "seen": card.NoteSlow.Told("ja", ""),
		"reaches": card.NoteSlow.Told("ja", "")} {
		inWorlds(t, map[string]func(*testing.T, *world){"at " + stops: func(t *testing.T, w *world) {
			const was = "取引先Aに 900,000 円を振り込んで"
			ts := w.slack.Say(t, webapi.Tanaka, webapi.HR, was)
			s := w.sent(webapi.Sato, webapi.HR, map[string]any{"type": "message", "user": webapi.Tanaka, "ts": ts,
				"text": was})
			by, begun := []time.Time{}, time.Now()
			w.h.Slack = slowly{w.h.Slack, stops, &by}
			out := w.post(s)
			expect.Is(t, out.StatusCode == 200 && out.Body == "", want == "", out.Body)
			expect.Has(t, out.Body, want)
			expect.Must(t, len(by) > 1, "%d calls", len(by))
			for _, until := range by {
				expect.That(t, until.Equal(by[0]) && until.Sub(begun) < 2900*time.Millisecond, "until %s", until.Sub(begun))
			}
		}})
	}
}

// What would be posted too late to keep it isn't posted: it would stand there without a request.
func TestNothingIsPostedTooLate(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){"late": func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), decide.KeepWithin+decide.PostWithin-time.Millisecond)
		defer cancel()
		of := decide.Wanted{Team: slacktest.Team, User: webapi.Sato, Text: "残業をまとめて", Channel: webapi.HR, Once: "x"}
		expect.Is(t, w.h.request(ctx, of, "ja").Note, card.NoteSlow)
		expect.Is(t, w.messages(webapi.HR, of.Text), 0)
		expect.Is(t, w.h.request(t.Context(), of, "ja").Note, card.NoteAccepted)
	}})
}

// Slack calls #人事 otherwise by now, and its event was lost: a click on a card, which only Ringi's bot writes, tells it.
func TestAClickTellsWhatAChannelIsCalled(t *testing.T) {
	db := storetest.Start(t)
	for name, c := range map[string]struct {
		before tenancy.Channels
		in, ts string
		want   string
	}{
		"the card's message": {nil, "C0NEXT", "1776675600.000100", "C0NEXT"},
		"where rows know it": {nil, webapi.HR, "1776675600.000100", webapi.HR},
		"another message":    {nil, "C0NEXT", "1776675600.000200", webapi.HR},
		"after an earlier change": {tenancy.Channels{webapi.HR: {To: "C0NEXT", At: "1612206778.000000"}}, "C0LAST",
			"1776675600.000100", "C0LAST"},
		"as the event has it by itself": {tenancy.Channels{webapi.HR: {To: "C0NEXT", At: "1612206778.000000"}}, "C0NEXT",
			"1776675600.000100", "C0NEXT"},
	} {
		w := newWorld(t, db)
		p := w.prompted()
		w.changeSettings(func(s *tenancy.Settings) {
			s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki}}
		})
		w.posted("1776675600.000100")
		for was, m := range c.before {
			expect.NoError(t, w.Store.MoveChannel(t.Context(), w.Ref.Tenant, was, m))
		}
		click := w.click(webapi.Suzuki, "approve_prompt", p.ID)
		click["channel"] = map[string]any{"id": c.in, "name": "人事"}
		click["container"].(map[string]any)["channel_id"] = c.in
		click["container"].(map[string]any)["message_ts"] = c.ts
		reads := &naming{Store: w.h.Store}
		w.h.Store = reads
		w.post(click)
		first := reads.read
		w.post(click)
		expect.Is(t, reads.read, first, "%s: what is known is read again", name)
		expect.That(t, w.Load().Prompt().Status == aggregate.Approved, "%s: %+v", name, w.Load().Prompt().Gate)
		known := expect.Value(w.Store.Channels(t.Context(), w.Ref.Tenant))(t)
		expect.Is(t, known.Now(webapi.HR), c.want, name)
	}
}

// naming counts how often it is read which channels moved, and may fail at it.
type naming struct {
	Store
	err  error
	read int
}

func (n *naming) Channels(ctx context.Context, tenant string) (tenancy.Channels, error) {
	if n.read++; n.err != nil {
		return nil, n.err
	}
	return n.Store.Channels(ctx, tenant)
}

// unloaded fails to read a request.
type unloaded struct{ Rows }

func (unloaded) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return nil, errors.New("down")
}

// While the store doesn't say whether a message is a request under another id of its channel, none is made of it, and
// the person is told to try again.
func TestAStoreThatFailsIsNotTakenForNoRequest(t *testing.T) {
	db := storetest.Start(t)
	for name, fail := range map[string]func(h *Handler){
		"which channels moved": func(h *Handler) { h.Store = &naming{Store: h.Store, err: errors.New("down")} },
		"the request":          func(h *Handler) { h.Rows = unloaded{h.Rows} },
	} {
		w := newWorld(t, db)
		move := tenancy.Moved{To: webapi.HR, At: "1776675600.000000"}
		expect.NoError(t, w.Store.MoveChannel(t.Context(), w.Ref.Tenant, "G0FORMER", move))
		w.slack.Client.Follow(w.Store.Channels)
		ts := w.slack.Say(t, webapi.Sato, webapi.HR, "勤怠を確認して")
		message := map[string]any{"type": "message", "user": webapi.Sato, "text": "勤怠を確認して", "ts": ts}
		fail(w.h)
		answer := w.post(w.sent(webapi.Sato, webapi.HR, message))
		expect.That(t, strings.Contains(answer.Body, card.NoteFailed.Told("ja", "")), "%s: %s", name, answer.Body)
		for _, id := range []string{"G0FORMER", webapi.HR} {
			_, err := w.Store.Load(t.Context(), task.RefOf(w.Ref.Tenant, expect.Value(task.ID(slacktest.Team, id, ts))(t)))
			expect.That(t, errors.Is(err, aggregate.ErrNotFound), "%s: %v", name, err)
		}
	}
}

// posted records that the policy's card is this message.
func (w *world) posted(ts string) {
	w.T.Helper()
	for _, c := range w.Load().Cards {
		if c.CardType == task.CardPrompt {
			ctx := w.T.Context()
			expect.Value(w.Store.ClaimCard(ctx, w.Ref, c.Key(), "D1", w.Now(), w.Now()))(w.T)
			expect.NoError(w.T, w.Store.PostedCard(ctx, w.Ref, c.Key(), "D1", ts, c.Channel, "hash", nil))
		}
	}
}

// The menu of one message makes one request, by whichever of its channel's ids Slack says where it is.
func TestAMessageIsOneRequestUnderAllIDs(t *testing.T) {
	db := storetest.Start(t)
	for name, before := range map[string]bool{"requested before the change": true, "known by then": false} {
		w := newWorld(t, db)
		w.slack.Client.Follow(w.Store.Channels)
		ts := w.slack.Say(t, webapi.Sato, webapi.HR, "勤怠を確認して")
		message := map[string]any{"type": "message", "user": webapi.Sato, "text": "勤怠を確認して", "ts": ts}
		move := tenancy.Moved{To: webapi.HR, At: "1776675600.000000"}
		was := "G0FORMER"
		if !before {
			expect.NoError(t, w.Store.MoveChannel(t.Context(), w.Ref.Tenant, was, move))
		}
		first, second := w.sent(webapi.Sato, webapi.HR, message), w.sent(webapi.Sato, webapi.HR, message)
		w.post(first)
		expect.NoError(t, w.Store.MoveChannel(t.Context(), w.Ref.Tenant, was, move))
		w.post(second)
		made := 0
		for _, id := range []string{was, webapi.HR} {
			if _, err := w.Store.Load(t.Context(), task.RefOf(w.Ref.Tenant,
				expect.Value(task.ID(slacktest.Team, id, ts))(t))); err == nil {
				made++
			}
		}
		expect.Is(t, made, 1, name)
	}
}
