package store

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Shards is how many partitions the due index has.
const Shards = 8

func duePartition(shard int) string { return "DUE#" + strconv.Itoa(shard) }

// shardOf spreads tasks evenly: ids begin with a time, so their hash decides.
func shardOf(taskID string) int {
	h := fnv.New32a()
	h.Write([]byte(taskID)) // never fails
	return int(h.Sum32() % Shards)
}

// headItem is the first head of a task.
func headItem(pk string, h task.Head) (item, error) {
	it, err := pack("head", pk, aggregate.HeadKey, h)
	if err != nil {
		return nil, err
	}
	index(it, 1, duePartition(shardOf(h.TaskID)), timeText(*h.DueAt))
	return it, nil
}

// headUpdate moves the head by an expression, never by a put: its bookkeeping
// attributes are written beside commits and must survive them.
func (s *Store) headUpdate(pk string, was task.Head, c task.Change) (types.TransactWriteItem, error) {
	if c.Head.TaskID != was.TaskID || c.Head.TenantID != was.TenantID {
		return types.TransactWriteItem{}, fmt.Errorf("commit to task %s: the change is of task %s", was.TaskID, c.Head.TaskID)
	}
	e, h := newExpression(), c.Head
	e.set("rev", was.Rev+1)
	e.set("last_change", c.ID)
	e.set("changed_at", h.ChangedAt)
	e.set("run", h.Run)
	e.set("restarts", h.Restarts)
	if h.AcceptedAt != nil {
		e.set("accepted_at", *h.AcceptedAt)
	}
	e.setOrRemove("parked", h.Parked != nil, h.Parked)
	e.setOrRemove("ended", h.Ended != nil, h.Ended)
	e.setOrRemove("paused_until", h.PausedUntil != nil, h.PausedUntil)
	e.setOrRemove("retried", h.Retried != nil, h.Retried)
	e.setOrRemove("retries", h.Retries > 0, h.Retries)
	e.setOrRemove("usage", h.Usage != nil, h.Usage)
	e.setOrRemove("charged", len(h.Charged) > 0, h.Charged)
	e.setOrRemove("aside", h.Aside > 0, h.Aside)
	e.due(h.TaskID, c.Now.Add(dueAfterCommit))
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(pk, aggregate.HeadKey), UpdateExpression: e.update(),
		ConditionExpression:      all(e.is("rev", "=", was.Rev), e.is("run", "=", was.Run)),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, nil
}

// due sets when the sweeper looks at the task.
func (e *expression) due(taskID string, at time.Time) {
	e.set("due_at", at)
	e.set("GSI1PK", duePartition(shardOf(taskID)))
	e.set("GSI1SK", timeText(at))
}
