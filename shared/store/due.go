package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

const duePage = 50

// Due returns the aggregates of a shard (0 to Shards-1) that are due at now, the longest due first. It reads page by
// page; an aggregate that is postponed meanwhile is still returned only once. It reads an index, which may be slightly
// stale: load before deciding. An error ends the sequence.
func (s *Store) Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error] {
	return func(yield func(aggregate.Ref, error) bool) {
		if shard < 0 || shard >= Shards {
			yield(aggregate.Ref{}, aggregate.ErrField{Field: "shard", Limit: fmt.Sprintf("must be between 0 and %d", Shards-1)})
			return
		}
		e := table.NewExpression()
		pages := dynamodb.NewQueryPaginator(s.t.DB, table.Filled(e, &dynamodb.QueryInput{
			TableName: &s.t.Name, IndexName: aws.String("GSI1"), Limit: aws.Int32(duePage),
			KeyConditionExpression: table.All(e.Is("GSI1PK", "=", duePartition(shard)), e.Is("GSI1SK", "<=", aggregate.TimeText(now))),
		}))
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(aggregate.Ref{}, fmt.Errorf("find what is due in shard %d: %w", shard, err))
				return
			}
			for _, it := range page.Items {
				ref, known := s.kinds.Ref(table.TextOf(it, "PK"))
				if known && !yield(ref, nil) {
					return
				}
			}
		}
	}
}

// Postpone sets when the aggregate is due next, nil for never, once all effects of the given head are done. It returns
// aggregate.ErrConflict, and changes nothing, when the head has changed or a redraw was requested.
func (s *Store) Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error {
	e := table.NewExpression()
	e.Remove("sweep_failures")
	if due != nil {
		setDue(e, ref.ID, *due)
	} else {
		e.Remove("due_at", "GSI1PK", "GSI1SK")
	}
	err := s.updateHead(ctx, "postpone", ref, e, table.All(e.Is("rev", "=", h.Rev), asRead(e, h)))
	if errors.Is(err, table.ErrCondition) {
		return fmt.Errorf("postpone, %s: %w", ref, aggregate.ErrConflict)
	}
	return err
}

// SweepFailed saves how many times in a row the sweeper failed to handle the aggregate, and when to retry. If the
// aggregate changed meanwhile, it keeps the due time of that change.
func (s *Store) SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error {
	return s.dueBy(ctx, "note a failed sweep", ref, due, now, func(e *table.Expression) { e.Set("sweep_failures", failures) })
}
