package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

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
