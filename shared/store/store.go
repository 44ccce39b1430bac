package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// dueAfterCommit is how long after a commit the sweeper checks whether its effects are done.
const dueAfterCommit = time.Minute

// MaxPage is the largest page of a list.
const MaxPage = table.MaxPage

// Page is one page of a list.
type Page[T any] = table.Page[T]

// Store reads and writes the table. It is safe for concurrent use.
type Store struct {
	t     *table.Table
	kinds aggregate.Kinds
	newID func() string

	furtherDay aggregate.MicroUSD // daily budget of a further workspace; 0: none set
	known      *deployment        // the cached row of the deployment
}

// New returns a store over the named table for these kinds of aggregates.
func New(db *dynamodb.Client, name string, kinds ...aggregate.Kind) *Store {
	return &Store{t: table.New(db, name), kinds: kinds, newID: aggregate.NewID, known: &deployment{}}
}

// Table returns the table, for other packages whose rows are in it.
func (s *Store) Table() *table.Table { return s.t }

// Kinds returns the kinds of aggregates that the store was made for.
func (s *Store) Kinds() aggregate.Kinds { return s.kinds }

// Of is a store of one kind of aggregates, with the methods of Store.
type Of[A aggregate.Aggregate] struct{ *Store }

func (s Of[A]) Load(ctx context.Context, ref aggregate.Ref) (A, error) {
	return as[A](s.Store.Load(ctx, ref))
}

func (s Of[A]) Commit(ctx context.Context, a A, c aggregate.Change) (A, error) {
	return as[A](s.Store.Commit(ctx, a, c))
}

func (s Of[A]) Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[A]) (A, error) {
	return as[A](s.Store.Decide(ctx, ref, on(decide)))
}

func (s Of[A]) DecideOn(ctx context.Context, a A, decide aggregate.Decision[A]) (A, error) {
	return as[A](s.Store.DecideOn(ctx, a, on(decide)))
}

func (s Of[A]) DecideBoth(ctx context.Context, first, second aggregate.Ref, decide func(a, b A) (ofA, ofB aggregate.Change, err error)) error {
	return s.Store.DecideBoth(ctx, first, second, func(a, b aggregate.Aggregate) (aggregate.Change, aggregate.Change, error) {
		return decide(a.(A), b.(A))
	})
}

func as[A aggregate.Aggregate](a aggregate.Aggregate, err error) (A, error) {
	of, _ := a.(A)
	return of, err
}

func on[A aggregate.Aggregate](decide aggregate.Decision[A]) aggregate.Decision[aggregate.Aggregate] {
	return func(a aggregate.Aggregate) (aggregate.Change, error) { return decide(a.(A)) }
}

// partition returns the key of an aggregate. Ids may come from outside: an invalid id yields aggregate.ErrNotFound.
func (s *Store) partition(ref aggregate.Ref) (string, error) {
	pk, known := s.kinds.Partition(ref)
	if !known || !table.KeyPart(ref.Tenant) || !table.KeyPart(ref.ID) {
		return "", fmt.Errorf("%s %.40q: %w", ref.Kind, ref.ID, aggregate.ErrNotFound)
	}
	return pk, nil
}
