// Package store is the area of the one DynamoDB table and the bucket of large results. This package stores aggregates,
// whose rows change by commits, and tenants' settings. It knows only the kinds of aggregates that it is given. Other
// rows of the table, those of chains, are in the package seal.
//
// It imports explain and the areas above explain in the README. Begin with Load and Commit, then tasks, conversations
// and contests.
//
// Load is one consistent Query of a partition; no index is used to decide. Commit writes a Change in one transaction,
// one action for each row: the head by an expression and never by a put, so that what bookkeeping wrote beside it
// stays; each other row on its revision as read; a condition check for each row that was only relied on and that the
// head doesn't prove. The settings' revision is a condition where a gate opens under them, a tool's where a claim
// relied on it, and counters of quotas move in the same transaction.
//
// A lost answer is recognised by the id of the last change in the head. A commit that was cut off and that can't be
// seen is unconfirmed: it may still be written, so nobody is told that it failed. After a conflict Decide loads and
// decides again, with growing pauses, until the caller's deadline. Some decisions in a row that find the rows of one
// head inconsistent are an error, fewer are a torn read. The tests have a store that tears every read.
//
// A row over DynamoDB's 400 KB is refused before it is sent. Larger values lie in the bucket under the SHA-256 of their
// bytes, put before the row that names them, so that a crash leaves at most an object without a row. The prefix says
// how long they live: results, files and prompts by the tenant's days; arguments as long as the audit log; talks as
// long as the conversation. A payload that is stamped is copied to arguments before the commit (Change.Copies); a
// commit whose copies nobody made is refused.
//
// An audit entry is put on the condition that it is absent, in the transaction of the change that it records. IAM
// allows no function to update or delete one.
//
// Cards, waits and leases carry no state. They are put over what was read, without the head, so that a drawing never
// makes a person's decision conflict.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
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
}

// New returns a store over the named table for these kinds of aggregates.
func New(db *dynamodb.Client, name string, kinds ...aggregate.Kind) *Store {
	return &Store{t: table.New(db, name), kinds: kinds, newID: aggregate.NewID}
}

// Table returns the table, for other packages whose rows are in it.
func (s *Store) Table() *table.Table { return s.t }

// KindStore is a store of one kind of aggregates, with the methods of Store.
type KindStore[A aggregate.Aggregate] struct{ *Store }

func (s KindStore[A]) Load(ctx context.Context, ref aggregate.Ref) (A, error) {
	return as[A](s.Store.Load(ctx, ref))
}

func (s KindStore[A]) Commit(ctx context.Context, a A, c aggregate.Change) (A, error) {
	return as[A](s.Store.Commit(ctx, a, c))
}

func (s KindStore[A]) Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[A]) (A, error) {
	return as[A](s.Store.Decide(ctx, ref, on(decide)))
}

// DecideOn is Decide for a caller whose rows may be stale: if the head has not changed, nothing is read. Therefore
// an error of decide, a change without a head or a conflict is not final at first: DecideOn reads the rows and decides
// again.
func (s KindStore[A]) DecideOn(ctx context.Context, a A, decide aggregate.Decision[A]) (A, error) {
	return as[A](s.Store.decide(ctx, a.Ref(), a, true, on(decide)))
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

var (
	// ErrStale: the row is of a wait in a newer state, run or retry.
	ErrStale = errors.New("a newer wait is there")
	// ErrClaimed: another caller may post the card's message, or the row names another message.
	ErrClaimed = errors.New("the card is another's")
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
		if kind, _ := s.kinds.Named(ref.Kind); kind.RequestKey != "" {
			places = append(places, Place{ref, kind.RequestKey})
		}
	}
	out := map[aggregate.Ref]aggregate.Origin{}
	return out, s.rowsAt(ctx, places, func(p Place, it table.Item) error {
		kind, _ := s.kinds.Named(p.Ref.Kind)
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
		return aggregate.Problem{Field: "rows", Code: fmt.Sprintf("must be at most %d", mostInBatch)}
	}
	for try := 0; len(keys) > 0 && try < batchTries; try++ {
		if try > 0 {
			if err := clock.Sleep(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
				return fmt.Errorf("read %d rows: %w", len(keys), err)
			}
		}
		res, err := s.t.DB.BatchGetItem(ctx,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.t.Name: {Keys: keys}}})
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

// OpenAll returns a function's store of all kinds by its environment.
func OpenAll(cfg aws.Config, env boot.Table) *Store {
	return New(dynamodb.NewFromConfig(cfg), env.TableName, Kinds()...)
}

// Kinds returns the kinds that this release knows.
func Kinds() aggregate.Kinds {
	return aggregate.Kinds{TaskKind(), conversation.Kind, contest.Kind, contest.TeamKind, call.Kind}
}

// RefOf returns the reference of the aggregate with this id. The id's form determines the kind; an id of no known form
// names an aggregate that doesn't exist.
func RefOf(tenant, id string) aggregate.Ref {
	ref := aggregate.Ref{Tenant: tenant, Kind: "unknown", ID: id}
	for _, k := range Kinds() {
		if k.ValidID != nil && k.ValidID(id) {
			ref.Kind = k.Name
		}
	}
	return ref
}

// Asks reports whether people approve or reject on cards of this type.
func Asks(card aggregate.CardType) bool {
	return slices.ContainsFunc(Kinds(), func(k aggregate.Kind) bool { return slices.Contains(k.Asks, card) })
}

// Machines returns the ARNs of the state machines by kind. A kind may have none.
func Machines(env boot.Effects) map[string]string {
	return map[string]string{task.Kind.Name: env.StateMachineARN, conversation.Kind.Name: env.ChatARN,
		call.Kind.Name: env.ChatARN, contest.Kind.Name: env.ContestARN}
}
