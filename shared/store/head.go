package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/table"
)

// Shards is the number of partitions of the due index.
const Shards = 8

func duePartition(shard int) string { return "DUE#" + strconv.Itoa(shard) }

// shardOf spreads aggregates evenly by a hash of their id: ids begin with a time.
func shardOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	return int(h.Sum32() % Shards)
}

func headItem(pk string, ref aggregate.Ref, root aggregate.Root) (table.Item, error) {
	it, err := table.Pack(root.Type(), pk, aggregate.HeadKey, root)
	if err != nil {
		return nil, err
	}
	table.Index(it, 1, duePartition(shardOf(ref.ID)), aggregate.TimeText(*root.Common().DueAt))
	return it, nil
}

// headUpdate updates the head by an expression instead of a put: bookkeeping attributes are written outside of commits
// and must be preserved. It writes only attributes that c changes.
func (s *Store) headUpdate(a aggregate.Aggregate, c aggregate.Change) (types.TransactWriteItem, error) {
	ref, was := a.Ref(), a.Root()
	if id := c.Head.ID(); id != ref.ID || c.Head.Common().TenantID != ref.Tenant {
		return types.TransactWriteItem{}, fmt.Errorf("the change is of %s %s", ref.Kind, id)
	}
	pk, err := s.partition(ref)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	before, err := table.Pack(was.Type(), pk, aggregate.HeadKey, was)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	after, err := table.Pack(was.Type(), pk, aggregate.HeadKey, c.Head)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	e := table.NewExpression()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !slices.Contains(untouched, name) && !reflect.DeepEqual(before[name], after[name]) {
			e.SetValue(name, after[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, stays := after[name]; !stays && !slices.Contains(untouched, name) {
			e.Remove(name)
		}
	}
	e.Set("rev", was.Revision()+1)
	e.Set("last_change", c.ID)
	setDue(e, ref.ID, c.Now.Add(dueAfterCommit))
	return types.TransactWriteItem{Update: table.Filled(e, &types.Update{
		TableName: &s.t.Name, Key: table.Key(pk, aggregate.HeadKey), UpdateExpression: e.Update(),
		ConditionExpression:                 table.All(e.Is("rev", "=", was.Revision()), e.Is("run", "=", was.Common().Run)),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})}, nil
}

// untouched are the attributes that headUpdate does not copy from the change's head.
var untouched = append([]string{"rev", "last_change"}, aggregate.Bookkeeping...)

// setDue sets when the sweeper checks the aggregate next.
func setDue(e *table.Expression, id string, at time.Time) {
	e.Set("due_at", at)
	e.Set("GSI1PK", duePartition(shardOf(id)))
	e.Set("GSI1SK", aggregate.TimeText(at))
}

// packRow makes a row's item for the commit with revision rev, with its index keys.
func packRow(kind aggregate.Kind, head aggregate.Root, pk string, r aggregate.Row, rev int) (table.Item, error) {
	if x, checked := r.(aggregate.Checked); checked {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = table.Number(rev)
	if x, listed := r.(aggregate.Indexed); listed {
		for _, i := range x.Indexes(head) {
			table.Index(it, i.N, i.PK, i.SK)
		}
	}
	if kind.Columns != nil {
		for name, value := range kind.Columns(r) {
			it[name] = table.Text(value)
		}
	}
	return it, nil
}

// unpackRow makes a row of an item. It returns nil when the TTL has passed, and for unknown types, which a later
// release wrote.
func (s *Store) unpackRow(kind aggregate.Kind, it table.Item) (aggregate.Row, error) {
	r := kind.Row(table.TextOf(it, "type"))
	if r == nil || table.Expired(it, s.t.Now()) {
		return nil, nil
	}
	return r, table.Unpack(it, r)
}

// OpenAll returns a function's store of all kinds by its environment.
func OpenAll(cfg aws.Config, env boot.Table) *Store {
	return New(dynamodb.NewFromConfig(cfg), env.TableName, Kinds()...)
}

// Kinds returns the kinds that this release knows.
func Kinds() aggregate.Kinds {
	return aggregate.Kinds{TaskKind(), conversation.Kind, contest.Kind, contest.TeamKind}
}

// Eraser deletes what must be deleted of an aggregate, and returns how many rows and objects that were. An aggregate of
// which it deletes 0 has nothing left.
type Eraser func(ctx context.Context, ref aggregate.Ref) (deleted int, err error)

// NewEraser returns the Eraser of all kinds that are ever erased.
func NewEraser(s *Store, results Objects) Eraser {
	talks := ConversationsOf(s)
	return func(ctx context.Context, ref aggregate.Ref) (int, error) {
		if ref.Kind != conversation.Kind.Name {
			return 0, fmt.Errorf("nothing of %s is ever erased", ref)
		}
		return talks.Erase(ctx, results, ref)
	}
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
		contest.Kind.Name: env.ContestARN}
}
