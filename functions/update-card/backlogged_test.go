package main

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
)

// What backlogged simulates of the table, of Slack's pace and of Slack.

func (b *backlogged) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	defer b.locked()()
	a := *b.tasks[ref.ID].a
	return &a, nil
}

func (b *backlogged) Opened(_ context.Context, a *task.Aggregate, _ string) (*task.Aggregate, error) {
	return a, nil
}

func (b *backlogged) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (b *backlogged) Shown(_ context.Context, ref aggregate.Ref, h aggregate.Head) error {
	defer b.locked()()
	w := b.tasks[ref.ID]
	w.a.Head.ShownRev, w.a.Head.DrawAt, w.drawn = h.Rev, nil, time.Now()
	b.left--
	return nil
}

func (b *backlogged) DrawAt(_ context.Context, ref aggregate.Ref, at time.Time, due bool) error {
	defer b.locked()()
	w := b.tasks[ref.ID]
	w.a.Head.DrawAt = &at
	if due && at.Before(w.due) {
		w.due = at
	}
	return nil
}

func (b *backlogged) ForgetCard(context.Context, aggregate.Ref, string, string, string) error {
	return nil
}

func (b *backlogged) ShownCard(ctx context.Context, ref aggregate.Ref, _ *aggregate.Card, _, hash string, all *aggregate.Head) error {
	func() {
		defer b.locked()()
		b.tasks[ref.ID].a.Cards[0].Hash = hash
	}()
	if all != nil {
		return b.Shown(ctx, ref, *all)
	}
	return nil
}

func (b *backlogged) Update(_ context.Context, channel, _ string, _ card.Message, _ slackapi.Metadata) error {
	if channel != "T1" || !time.Now().Before(b.hangs) {
		return nil
	}
	func() {
		defer b.locked()()
		b.hung++
	}()
	time.Sleep(slackTimeout)
	return slackapi.Unknown{Cause: "timeout"}
}

func (b *backlogged) pace(x records.Budget) *paper {
	key := x.Workspace + x.Name + x.Prefix
	if b.paces[key] == nil {
		b.paces[key] = &paper{lines: map[int]time.Time{}}
	}
	return b.paces[key]
}

func (b *backlogged) TakePace(_ context.Context, x records.Budget, spare int, now time.Time) (time.Time, error) {
	defer b.locked()()
	p := b.pace(x)
	if nth := x.Calls - 1 - spare; len(p.calls) > nth && p.calls[nth].Add(x.Window).After(now) {
		return p.calls[nth].Add(x.Window), nil
	}
	p.calls = append([]time.Time{now}, p.calls[:min(len(p.calls), x.Calls-1)]...)
	return time.Time{}, nil
}

func (b *backlogged) JoinLine(_ context.Context, x records.Budget, spare int, now time.Time) (time.Time, error) {
	defer b.locked()()
	p, apart := b.pace(x), x.Window/time.Duration(x.Calls-spare)
	if p.lines[spare].Before(now) {
		p.lines[spare] = now
	}
	p.lines[spare] = p.lines[spare].Add(apart)
	return p.lines[spare], nil
}

func (b *backlogged) TakeCalls(ctx context.Context, now time.Time, takes ...records.Take) (
	s records.Short, err error,
) {
	for _, t := range takes {
		if t.N == 0 { // progress: others have used up what it would need later
			return records.Short{Take: t, Until: now.Add(t.From.Window)}, nil
		}
		if until, err := b.TakePace(ctx, t.From, t.Spare, now); err != nil || !until.IsZero() {
			return records.Short{Take: t, Until: until}, err
		}
	}
	return records.Short{}, nil
}

func (b *backlogged) HoldPace(context.Context, records.Budget, time.Time) error { return nil }

func (b *backlogged) SilentSince(_ context.Context, workspace string, now time.Time) (since time.Time, err error) {
	defer b.locked()()
	if p := b.pace(records.Budget{Workspace: workspace}); now.Before(p.until) {
		since = p.since
	}
	return since, nil
}

func (b *backlogged) NoteSilence(_ context.Context, workspace string, now, until time.Time) error {
	defer b.locked()()
	p := b.pace(records.Budget{Workspace: workspace})
	if p.until = until; p.since.IsZero() {
		p.since = now
	}
	return nil
}

func (b *backlogged) NoteAnswer(_ context.Context, workspace string) error {
	defer b.locked()()
	p := b.pace(records.Budget{Workspace: workspace})
	p.since, p.until = time.Time{}, time.Time{}
	return nil
}

// Team fails, so that no workspace is refused here.
func (*backlogged) Team(context.Context) (string, error) {
	return "", slackapi.Refused{Code: slackapi.CodeUnknownMethod}
}

func (*backlogged) Integrations(context.Context, string) ([]tenancy.Integration, error) {
	return nil, nil
}

func (b *backlogged) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	defer b.locked()()
	b.sent++
	b.most = max(b.most, saying(*in.MessageBody).Hops)
	b.queue = append(b.queue, &letter{group: *in.MessageGroupId, body: *in.MessageBody, id: strconv.Itoa(b.sent)})
	return &sqs.SendMessageOutput{}, nil
}

func (b *backlogged) Redraw(context.Context, aggregate.Ref) error { return nil }
