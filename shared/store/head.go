package store

import (
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
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
