package records

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Probes is the budget of calls to a workspace whose Slack does not answer: one call in each interval of length every.
// Its row holds since when Slack does not answer.
func Probes(workspace string, every time.Duration) Budget {
	return Budget{Workspace: workspace, Name: "answers", Calls: 1, Window: every}
}

// SilentSince returns since when a workspace's Slack has not answered, zero if it answers. The value may be slightly
// stale.
func (s Notes) SilentSince(ctx context.Context, workspace string, now time.Time) (time.Time, error) {
	k, err := Probes(workspace, 1).key()
	if err != nil {
		return time.Time{}, err
	}
	out, err := s.t.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.t.Name, Key: k, ConsistentRead: aws.Bool(false)})
	if err != nil {
		return time.Time{}, fmt.Errorf("read whether Slack answers: %w", err)
	}
	if int64(table.IntOf(out.Item, "silent_until")) <= now.UnixMilli() {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(table.IntOf(out.Item, "silent_since"))), nil
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
