package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

type cardMessage = card.Message

func message() card.Message {
	return card.Message{Text: "x",
		Attachments: []slack.Attachment{{Color: "#f2c744", Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, "x", false, false), nil, nil),
		}}}}}
}

// broken is a table that returns an error, or panics.
type broken struct {
	err    error
	panics bool
	loads  []aggregate.Ref
}

func (b *broken) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	b.loads = append(b.loads, ref)
	if b.panics {
		panic("text of a person")
	}
	return nil, b.err
}

func (b *broken) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.Settings{}, b.err
}
func (b *broken) Shown(context.Context, aggregate.Ref, aggregate.Head) error   { return b.err }
func (b *broken) DrawAt(context.Context, aggregate.Ref, time.Time, bool) error { return b.err }
func (b *broken) Integrations(context.Context, string) ([]tenancy.Integration, error) {
	return nil, b.err
}

func cardRecords(bodies ...string) events.SQSEvent {
	var e events.SQSEvent
	for i, b := range bodies {
		e.Records = append(e.Records, events.SQSMessage{
			MessageId: fmt.Sprintf("m%d", i), Body: b, Attributes: map[string]string{"ApproximateReceiveCount": "3"},
		})
	}
	return e
}

func TestWhatCanNeverBeHandledIsDoneWith(t *testing.T) {
	good := fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":1}`, aggregate.NewID(), aggregate.NewID())
	for _, tt := range []struct {
		name string
		body string
		b    *broken
		want []string // given back
	}{
		{"no JSON", "x", &broken{}, nil},
		{"no ids", "{}", &broken{}, nil},
		{"ids that are none", `{"tenant":"a","kind":"task","id":"b"}`, &broken{}, nil},
		{"no such task", good, &broken{err: fmt.Errorf("load: %w", aggregate.ErrNotFound)}, nil},
		{"the table is down", good, &broken{err: errors.New("throttled")}, []string{"m0"}},
		{"a panic", good, &broken{panics: true}, []string{"m0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &queue{}
			h := &Handler{Store: tt.b, Kinds: map[string]Kind{task.Kind.Name: taskCards{}}, Queue: q, NewID: aggregate.NewID,
				Now: time.Now}
			out := expect.Value(h.Handle(t.Context(), cardRecords(tt.body)))(t)
			var got []string
			for _, f := range out.BatchItemFailures {
				got = append(got, f.ItemIdentifier)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(q.hidden) != len(tt.want) {
				t.Error(diff, q.hidden)
			}
		})
	}
}

func TestNoMessageOvertakesOneThatWaits(t *testing.T) {
	good := fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":1}`, aggregate.NewID(), aggregate.NewID())
	b := &broken{err: errors.New("throttled")}
	h := &Handler{Store: b, Kinds: map[string]Kind{task.Kind.Name: taskCards{}}, Queue: &queue{err: errors.New("gone")},
		NewID: aggregate.NewID, Now: time.Now}
	out := expect.Value(h.Handle(t.Context(), cardRecords("x", good, good)))(t)
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "m1"}, {ItemIdentifier: "m2"}}
	if diff := cmp.Diff(want, out.BatchItemFailures); diff != "" || len(b.loads) != 1 {
		t.Error(diff, len(b.loads))
	}
}

func TestPause(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      error
		receives string
		min, max time.Duration
	}{
		{"as Slack asks", fmt.Errorf("post: %w", slackapi.RateLimited{RetryAfter: 20 * time.Second}), "1", 20 * time.Second, 25 * time.Second},
		{"at least a second", slackapi.RateLimited{}, "1", time.Second, time.Second},
		{"at most an hour and a bit", slackapi.RateLimited{RetryAfter: 1000 * time.Hour}, "1", time.Hour, 75 * time.Minute},
		{"as is known", fmt.Errorf("card: %w", later{after: stale}), "9", 30 * time.Second, 38 * time.Second},
		{"a time that passed meanwhile", fmt.Errorf("card: %w", later{after: -3 * time.Second}), "1", time.Second, time.Second},
		{"the first failure", errors.New("x"), "1", time.Second, 2 * time.Second},
		{"the fourth", errors.New("x"), "4", 8 * time.Second, 10 * time.Second},
		{"the hundredth", errors.New("x"), "100", time.Minute, 75 * time.Second},
		{"uncounted", errors.New("x"), "", time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 100 {
				got := (&Handler{}).pause(tt.err, tt.receives)
				expect.Must(t, got >= tt.min && got <= tt.max && got%time.Second == 0, "%s, want %s to %s", got, tt.min, tt.max)
			}
		})
	}
}

// TestNoPostBeginsWithoutTime: a post that is cut off by the invocation's end would have an unknown outcome.
func TestNoPostBeginsWithoutTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), enough-time.Second)
	defer cancel()
	d := &drawing{Handler: &Handler{}} // neither rows nor Slack may be called
	err := d.post(ctx, &aggregate.Card{}, message(), "h")
	expect.That(t, err != nil, "it was posted")
}

func (b *broken) Redraw(context.Context, aggregate.Ref) error { return nil }
