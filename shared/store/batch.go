package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
	"ringi/shared/store/table"
)

const (
	mostInBatch = 100 // keys of one BatchGetItem
	batchTries  = 4   // tries for keys that DynamoDB left unprocessed
)

// Place names a row of an aggregate.
type Place struct {
	Ref aggregate.Ref
	Key string
}

// RowAt reads the row at a place into the given row, consistently. It returns aggregate.ErrNotFound when there is none.
func (s *Store) RowAt(ctx context.Context, p Place, into aggregate.Row) error {
	pk, err := s.partition(p.Ref)
	if err != nil {
		return err
	}
	return table.Wrapped(s.t.Get(ctx, pk, p.Key, into), "read %s of %s", p.Key, p.Ref)
}

// RowsAt reads the rows at up to a hundred places as T. It leaves out rows that don't exist, and rows that DynamoDB
// still did not return after some tries. Reads may be slightly stale: use them for display, never for decisions.
func RowsAt[T any](ctx context.Context, s *Store, places []Place) (map[Place]T, error) {
	out := map[Place]T{}
	return out, s.rowsAt(ctx, places, func(p Place, it table.Item) error {
		var x T
		err := table.Unpack(it, &x)
		out[p] = x
		return err
	})
}

// Origins returns where and by whom aggregates were asked for. It leaves out aggregates that don't exist or that nobody
// asked for. Reads may be stale as in RowsAt.
func (s *Store) Origins(ctx context.Context, refs []aggregate.Ref) (map[aggregate.Ref]aggregate.Origin, error) {
	var places []Place
	for _, ref := range refs {
		if kind, _ := s.kinds.Of(ref.Kind); kind.Asked != "" {
			places = append(places, Place{ref, kind.Asked})
		}
	}
	out := map[aggregate.Ref]aggregate.Origin{}
	return out, s.rowsAt(ctx, places, func(p Place, it table.Item) error {
		kind, _ := s.kinds.Of(p.Ref.Kind)
		r, err := s.unpackRow(kind, it)
		if asked, ok := r.(interface{ Origin() aggregate.Origin }); ok {
			out[p.Ref] = asked.Origin()
		}
		return err
	})
}

// rowsAt calls found with each item that it reads.
func (s *Store) rowsAt(ctx context.Context, places []Place, found func(Place, table.Item) error) error {
	keys, at := []table.Item{}, map[string]Place{}
	for _, p := range places {
		pk, err := s.partition(p.Ref)
		if _, twice := at[pk+" "+p.Key]; err != nil || twice { // DynamoDB refuses a key that is there twice
			continue
		}
		keys, at[pk+" "+p.Key] = append(keys, table.Key(pk, p.Key)), p
	}
	if len(keys) > mostInBatch {
		return aggregate.ErrField{Field: "rows", Limit: fmt.Sprintf("must be at most %d", mostInBatch)}
	}
	for try := 0; len(keys) > 0 && try < batchTries; try++ {
		if try > 0 {
			if err := clock.Sleep(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
				return fmt.Errorf("read %d rows: %w", len(keys), err)
			}
		}
		res, err := s.t.DB.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.t.Name: {Keys: keys}}})
		if err != nil {
			return fmt.Errorf("read %d rows: %w", len(keys), err)
		}
		for _, it := range res.Responses[s.t.Name] {
			if table.Expired(it, s.t.Now()) {
				continue
			}
			if err := found(at[table.TextOf(it, "PK")+" "+table.TextOf(it, "SK")], it); err != nil {
				return err
			}
		}
		keys = res.UnprocessedKeys[s.t.Name].Keys
	}
	return nil
}
