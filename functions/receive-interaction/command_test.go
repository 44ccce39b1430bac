package main

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// typed returns the form that Slack posts for /ringi with a text.
func (w *world) typed(user, channel, text string) url.Values {
	return url.Values{
		"token": {"x"}, "team_id": {ringitest.Team}, "team_domain": {"x"}, "channel_id": {channel}, "channel_name": {"x"},
		"user_id": {user}, "user_name": {"x"},
		"command": {"/ringi"}, "text": {text}, "api_app_id": {"A1"}, "is_enterprise_install": {"false"},
		"response_url": {"https://hooks.slack.com/commands/x"},
		"trigger_id":   {w.slack.NewTrigger(user)},
	}
}

// inWorlds runs parts against one database, each with its own table and workspace.
func inWorlds(t *testing.T, parts map[string]func(*testing.T, *world)) {
	t.Helper()
	db := storetest.Start(t)
	for name, run := range parts {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// asks finds the request that the bot's newest message in a channel belongs to.
func (w *world) asks(channel, text string) *task.Aggregate {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.History(channel, webapi.Range{}))(w.T) {
		if m.User == webapi.Bot && strings.Contains(m.Text, text) {
			id := expect.Value(task.ID(ringitest.Team, channel, m.TS))(w.T)
			return expect.Value(w.Store.Load(w.T.Context(), task.RefOf(w.Ref.Tenant, id)))(w.T)
		}
	}
	w.T.Fatalf("nothing in %s says %s", channel, text)
	return nil
}

// messages counts the bot's messages in a channel with this text.
func (w *world) messages(channel, text string) (n int) {
	w.T.Helper()
	for _, m := range expect.Value(w.slack.History(channel, webapi.Range{}))(w.T) {
		if m.User == webapi.Bot && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// /ringi opens the dialog, in whose field stands what was typed behind it.
func TestTheCommandOpensTheDialog(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.quiet(expect.Value(w.h.Handle(t.Context(), signed(w.typed(webapi.Sato, webapi.HR, "x").Encode(), w.Now())))(t),
		webapi.Sato)
	views := w.slack.Views(webapi.Sato)
	expect.Must(t, len(views) == 1 && views[0].CallbackID == card.RequestCallback, "%d dialogs", len(views))
	expect.Is(t, initial(views[0]), "x")
}

func TestCommandsFromElsewhereOpenNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	for name, change := range map[string]func(form url.Values){
		"of an organization's installation": func(form url.Values) {
			form.Set("is_enterprise_install", "true")
			form.Del("team_id")
		},
		"of a workspace that is none of ours": func(form url.Values) { form.Set("team_id", "T0ELSE") },
	} {
		form := w.typed(webapi.Sato, webapi.HR, "残業を確認して")
		change(form)
		out := expect.Value(w.h.Handle(t.Context(), signed(form.Encode(), w.Now())))(t)
		expect.That(t, out.StatusCode == 200 && out.Body == "" && len(w.slack.Views(webapi.Sato)) == 0, "%s: %d %s", name,
			out.StatusCode, out.Body)
	}
}

// unanswered saves a task, or doesn't, and then loses the answer this many times.
type unanswered struct {
	Store
	lost  int
	keeps bool
}

func (s *unanswered) Create(ctx context.Context, c aggregate.Change) error {
	if s.lost == 0 {
		return s.Store.Create(ctx, c)
	}
	s.lost--
	if s.keeps {
		if err := s.Store.Create(ctx, c); err != nil {
			return err
		}
	}
	return context.DeadlineExceeded
}

// If a request's task was saved although the answer was lost, its message stays. Otherwise the person might ask again,
// and the request would be carried out twice.
func TestARequestWhoseAnswerWasLostKeepsItsMessage(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a kept one is found": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ払う", webapi.HR)
			w.h.Store = &unanswered{w.h.Store, 1, true}
			w.post(form)
			w.asks(webapi.HR, "一度だけ払う")
		},
		"one that was not kept is kept": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ払う", webapi.HR)
			w.h.Store = &unanswered{w.h.Store, 1, false}
			w.post(form)
			w.asks(webapi.HR, "一度だけ払う")
		},
		"one that nobody knows of is not begun again": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ払う", webapi.HR)
			w.h.Store = &unanswered{w.h.Store, 2, false}
			expect.Has(t, w.post(form).Body, card.NoteUnsure.Told("ja"))
			expect.Has(t, w.post(form).Body, card.NoteBegun.Told("ja"))
			expect.Same(t, 1, w.messages(webapi.HR, "一度だけ払う"))
		},
		"a second click while the first is under way is told what became of it": func(t *testing.T, w *world) {
			form := w.global(webapi.Sato, "一度だけ頼む", webapi.HR)
			w.slack.Faults.Add(webapi.Fault{Kind: webapi.Refused, Method: "chat.postMessage", Code: "ekm_access_denied",
				Times: 1})
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { w.post(form) })
			}
			all.Wait()
			expect.Is(t, w.messages(webapi.HR, "一度だけ頼む"), 1, "messages: the second click stands for the first, which failed")
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

func (s slowly) Post(ctx context.Context, channel, thread string, m card.Message, about slackapi.Metadata) (string,
	error) {
	if err := s.call(ctx, "post"); err != nil {
		return "", err
	}
	return s.Slack.Post(ctx, channel, thread, m, about)
}

// Slack shows the person an error after three seconds, whatever was made: all calls of a submission end together.
func TestASubmissionIsAnsweredInTimeHoweverSlowSlackIs(t *testing.T) {
	for stops, want := range map[string]string{"": "", "post": card.NoteFailed.Told("ja")} {
		inWorlds(t, map[string]func(*testing.T, *world){"at " + stops: func(t *testing.T, w *world) {
			s := w.global(webapi.Sato, "取引先Aに 900,000 円を振り込んで", webapi.HR)
			by, begun := []time.Time{}, time.Now()
			w.h.Slack = slowly{w.h.Slack, stops, &by}
			out := w.post(s)
			expect.Is(t, out.StatusCode == 200 && out.Body == "", want == "", out.Body)
			expect.Has(t, out.Body, want)
			expect.Must(t, len(by) > 0, "no calls")
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
		of := decide.Wanted{Team: ringitest.Team, User: webapi.Sato, Text: "残業をまとめて", Channel: webapi.HR, Once: "x"}
		expect.Is(t, w.h.request(ctx, of, "ja").Note, card.NoteSlow)
		expect.Is(t, w.messages(webapi.HR, of.Text), 0)
		expect.Is(t, w.h.request(t.Context(), of, "ja").Note, card.NoteAccepted)
	}})
}
