package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/sleep"
)

const (
	mostInBatch = 100 // keys of one BatchGetItem
	batchTries  = 4   // of what DynamoDB left for later
)

// Place names a row of an aggregate.
type Place struct {
	Ref aggregate.Ref
	Key string
}

// RowAt reads the row at a place into another, consistently. It returns aggregate.ErrNotFound when there is none.
func (s *Store) RowAt(ctx context.Context, p Place, into aggregate.Row) error {
	pk, err := s.partition(p.Ref)
	if err != nil {
		return err
	}
	if err := s.get(ctx, pk, p.Key, into); err != nil {
		return fmt.Errorf("read %s of %s: %w", p.Key, p.Ref, err)
	}
	return nil
}

// RowsAt are the rows at some places, at most a hundred of them, as T. What is not there is left
// out, and what DynamoDB did not give after some tries. It may be a moment behind: it is for showing, never for deciding.
func RowsAt[T any](ctx context.Context, s *Store, places []Place) (map[Place]T, error) {
	out := map[Place]T{}
	keys, at := []item{}, map[string]Place{}
	for _, p := range places {
		pk, err := s.partition(p.Ref)
		if _, twice := at[pk+" "+p.Key]; err != nil || twice { // DynamoDB refuses a key that is there twice
			continue
		}
		keys, at[pk+" "+p.Key] = append(keys, key(pk, p.Key)), p
	}
	if len(keys) > mostInBatch {
		return nil, aggregate.ErrField{Field: "rows", Limit: fmt.Sprintf("must be at most %d", mostInBatch)}
	}
	for try := 0; len(keys) > 0 && try < batchTries; try++ {
		if try > 0 {
			if err := sleep.For(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
				return nil, fmt.Errorf("read %d rows: %w", len(keys), err)
			}
		}
		res, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: keys}}})
		if err != nil {
			return nil, fmt.Errorf("read %d rows: %w", len(keys), err)
		}
		for _, it := range res.Responses[s.table] {
			var x T
			if expired(it, s.now()) {
				continue
			}
			if err := unpack(it, &x); err != nil {
				return nil, err
			}
			out[at[textOf(it, "PK")+" "+textOf(it, "SK")]] = x
		}
		keys = res.UnprocessedKeys[s.table].Keys
	}
	return out, nil
}
