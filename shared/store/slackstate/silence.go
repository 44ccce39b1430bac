package slackstate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// answers is the name of the budget of Probes.
const answers = "answers"

// Probes is the budget of calls to a workspace whose Slack does not answer: one call in each interval of length every.
// Its row holds since when Slack does not answer.
func Probes(workspace string, every time.Duration) Budget {
	return Budget{Workspace: workspace, Name: answers, Calls: 1, Window: every}
}

// Seen is what a workspace's rows say. It may be slightly stale.
type Seen struct {
	Silent time.Time // since when its Slack has not answered; zero: it answers
	Held   time.Time // until when Slack refuses calls of the share
	Shares time.Time // when a share may be taken
}

// Look reads a workspace's rows before Slack is called. What it says of shares is for the holder that share names.
func (s Notes) Look(ctx context.Context, share Share, now time.Time) (Seen, error) {
	b := share.Of[0].From
	k, err := b.key()
	if err != nil {
		return Seen{}, err
	}
	e := table.NewExpression()
	out, err := s.t.DB.Query(ctx, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, KeyConditionExpression: aws.String(e.Name("PK") + " = " + e.Placeholder(k["PK"])),
	}))
	if err != nil {
		return Seen{}, fmt.Errorf("read whether Slack answers: %w", err)
	}
	var seen Seen
	for _, it := range out.Items {
		switch sk := table.TextOf(it, "SK"); {
		case sk == answers && timeOf(it, "silent_until").After(now):
			seen.Silent = timeOf(it, "silent_since")
		case sk == cmp.Or(b.In, b.Name):
			seen.Held, seen.Shares = share.seen(it)
		}
	}
	return seen, nil
}

// NoteSilence records that a workspace's Slack did not answer. The record expires at until, or is deleted by
// NoteAnswer.
func (s Notes) NoteSilence(ctx context.Context, workspace string, now, until time.Time) error {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	since := e.Name("silent_since")
	e.Sets = append(e.Sets, fmt.Sprintf("%s = if_not_exists(%s, %s)", since, since, e.Value(now.UnixMilli())))
	e.Set("silent_until", until.UnixMilli())
	e.Row("pace", until.Add(paceRowsLast))
	_, err = s.t.Update(ctx, k, e, nil)
	return table.Wrapped(err, "note that Slack does not answer")
}

// NoteAnswer records that a workspace's Slack answers again.
func (s Notes) NoteAnswer(ctx context.Context, workspace string) error {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Remove("silent_since", "silent_until")
	there := e.Exists()
	_, err = s.t.Update(ctx, k, e, &there)
	return table.Wrapped(table.Unless(err, aggregate.ErrNotFound), "note that Slack answers")
}
