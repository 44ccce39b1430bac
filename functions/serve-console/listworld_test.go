package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// requested is a request that became a task.
type requested struct {
	team, user, channel, kind, title string
	cancelled                        bool
	priority                         task.Priority // medium unless said
	after                            time.Duration // the world's beginning
}

// made makes a task of a request; the world's story goes on with it.
func (w *world) made(r requested) string {
	w.T.Helper()
	w.said++
	if r.team == "" {
		r.team = w.tenant.TeamID
	}
	now := w.Now().Add(r.after + time.Duration(w.said)*time.Millisecond)
	m := task.Request{TeamID: r.team, User: r.user, Channel: r.channel, ChannelType: r.kind, Text: r.title, Source: task.SourceChannel, MessageTS: fmt.Sprintf("%d.%06d", now.Unix(), w.said)}
	if m.ThreadTS = m.MessageTS; r.kind == "im" {
		m.Source = task.SourceAgentContainer
	}
	c, ref, err := task.Receive(aggregate.TenantID(r.team), m, now)
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: r.user, Team: r.team, Member: true}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), now)
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: r.title, Description: r.title, Priority: cmp.Or(r.priority, task.Medium), TaskType: task.TypeStandard}, now)
	})
	if r.cancelled {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.End(by, aggregate.Policy{Team: r.team, AllowSelf: true}, now)
		})
	}
	return ref.ID
}

// filled puts the rows of many tasks into the table, as the store writes them; the n-th is n seconds older than the last.
func (w *world) filled(n int, of func(n int) (user, channel, title string)) {
	w.T.Helper()
	var puts []types.WriteRequest
	for i := range n {
		user, channel, title := of(i)
		made := w.Now().Add(-time.Duration(n-i) * time.Second)
		x := task.Task{ID: fmt.Sprintf("01FILL%020d", i), TenantID: w.tenant.ID, Title: title, Status: task.TaskCompleted, SlackChannel: channel, Source: task.SourceChannel}
		var it map[string]any
		expect.NoError(w.T, json.Unmarshal(expect.Value(json.Marshal(x))(w.T), &it))
		at := aggregate.TimeText(made)
		for name, value := range map[string]any{
			"PK": "TASK#" + w.tenant.ID + "#" + x.ID, "SK": "TASK", "type": "task", "schema_version": 1, "rev": 2, "created_at": at, "updated_at": at,
			"GSI1PK": task.AllOf(w.tenant.ID), "GSI1SK": at + "#" + x.ID, "GSI2PK": task.WithStatus(w.tenant.ID, x.Status), "GSI2SK": at + "#" + x.ID,
			"GSI3PK": task.By(w.tenant.ID, user), "GSI3SK": at + "#" + x.ID,
		} {
			it[name] = value
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: expect.Value(attributevalue.MarshalMap(it))(w.T)}})
	}
	w.put(puts)
}

func (w *world) put(rows []types.WriteRequest) {
	w.T.Helper()
	for batch := range slices.Chunk(rows, 25) {
		expect.Value(w.db.BatchWriteItem(w.T.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: batch}}))(w.T)
	}
}

// competed puts the rows of many contests into the table, as the store writes them, and returns their ids, the newest first.
func (w *world) competed(n int, of func(n int, k *contest.Contest)) []string {
	w.T.Helper()
	var puts []types.WriteRequest
	var ids []string
	for i := range n {
		made := w.Now().Add(-time.Duration(i) * time.Second)
		k := contest.Contest{ExecutionID: contest.NewID(), TenantID: w.tenant.ID, Locale: "ja", TotalTeams: 3, CreatedAt: made}
		of(i, &k)
		var it map[string]any
		expect.NoError(w.T, json.Unmarshal(expect.Value(json.Marshal(k))(w.T), &it))
		at := aggregate.TimeText(made)
		for name, value := range map[string]any{
			"PK": "CONTEST#" + w.tenant.ID + "#" + k.ExecutionID, "SK": k.Key(), "type": "contest", "schema_version": 1, "rev": 1,
			"created_at": at, "updated_at": at, "GSI1PK": contest.All(w.tenant.ID), "GSI1SK": at + "#" + k.ExecutionID,
		} {
			it[name] = value
		}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: expect.Value(attributevalue.MarshalMap(it))(w.T)}})
		ids = append(ids, k.ExecutionID)
	}
	w.put(puts)
	return ids
}
