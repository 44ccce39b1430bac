package main

import (
	"context"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
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
		of := decide.Wanted{Team: slacktest.Team, User: webapi.Sato, Text: "残業をまとめて", Channel: webapi.HR, Once: "x"}
		expect.Is(t, w.h.request(ctx, of, "ja").Note, card.NoteSlow)
		expect.Is(t, w.messages(webapi.HR, of.Text), 0)
		expect.Is(t, w.h.request(t.Context(), of, "ja").Note, card.NoteAccepted)
	}})
}
