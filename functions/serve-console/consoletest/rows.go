package consoletest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Requested describes a request that became a task.
type Requested struct {
	Team, User, Channel, Kind, Title string
	Cancelled                        bool
	Priority                         task.Priority // medium unless said
	After                            time.Duration // the world's beginning
}

// Made makes a task from a request. Later steps of the world continue with that task.
func (w *World) Made(r Requested) string {
	w.T.Helper()
	by, now := w.Asked(r)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: r.Title, Description: r.Title,
			Priority: cmp.Or(r.Priority, task.Medium), TaskType: task.TypeStandard}, now)
	})
	if r.Cancelled {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.End(by, aggregate.Policy{Team: by.Team, AllowSelf: true}, now)
		})
	}
	return w.Ref.ID
}

// Asked receives a request and accepts it. It returns who asked when.
func (w *World) Asked(r Requested) (by aggregate.Actor, now time.Time) {
	w.T.Helper()
	w.Said++
	if r.Team == "" {
		r.Team = w.Tenant.TeamID
	}
	now = w.Now().Add(r.After + time.Duration(w.Said)*time.Millisecond)
	m := task.Request{TeamID: r.Team, User: r.User, Channel: r.Channel, ChannelType: r.Kind, Text: r.Title,
		Source: task.SourceChannel, MessageTS: fmt.Sprintf("%d.%06d", now.Unix(), w.Said)}
	if m.ThreadTS = m.MessageTS; r.Kind == "im" {
		m.Source = task.SourceAgentContainer
	}
	c, ref, err := task.Receive(aggregate.TenantID(r.Team), m, now)
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
	by = aggregate.Actor{Type: aggregate.ActorUser, ID: r.User, Team: r.Team, Member: true}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), now)
	})
	return by, now
}

// Filled writes the rows of n tasks as the store does, one second apart; the last is the newest.
func (w *World) Filled(n int, of func(n int) (user, channel, title string)) {
	w.T.Helper()
	var puts []types.WriteRequest
	for i := range n {
		user, channel, title := of(i)
		at := aggregate.TimeText(w.Now().Add(-time.Duration(n-i) * time.Second))
		x := task.Task{ID: fmt.Sprintf("01FILL%020d", i), TenantID: w.Tenant.ID, Title: title, Status: task.TaskCompleted,
			ListedAs: task.StatusDone, SlackChannel: channel, Source: task.SourceChannel}
		row := map[string]any{"schema_version": 1, "created_at": at, "updated_at": at}
		expect.NoError(w.T, json.Unmarshal(expect.Value(json.Marshal(x))(w.T), &row))
		maps.Copy(row, map[string]any{"PK": "TASK#" + w.Tenant.ID + "#" + x.ID, "SK": "TASK",
			"type": "task", "rev": 2, "GSI1PK": task.AllOf(w.Tenant.ID), "GSI1SK": at + "#" + x.ID,
			"GSI2PK": task.WithStatus(w.Tenant.ID, x.ListedAs), "GSI2SK": at + "#" + x.ID, "GSI3PK": task.By(w.Tenant.ID, user),
			"GSI3SK": at + "#" + x.ID})
		puts = append(puts,
			types.WriteRequest{PutRequest: &types.PutRequest{Item: expect.Value(attributevalue.MarshalMap(row))(w.T)}})
	}
	for batch := range slices.Chunk(puts, 25) {
		expect.Value(w.DB.BatchWriteItem(w.T.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.Table: batch}}))(w.T)
	}
}
