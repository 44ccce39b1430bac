package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/large/removal"
	"ringi/shared/store/table"
)

func TestPromptsOfAParkedTaskExpire(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	s := w.Results()
	prompt, err := s.Prompts(w.Ref)(t.Context(), []byte(`{"what":"people wrote"}`))
	expect.NoError(t, err)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.GiveUp(1, "restarts", w.Now()) })
	expect.Must(t, w.Load().Head.Parked != nil, "not parked")
	h := &Handler{Results: removal.Retention{Bucket: removal.Bucket{S3: w.S3(), Name: w.Bucket}, Rows: w.Store,
		Conversations: store.ConversationsOf(w.Store.KindStore.Store),
		Now:           func() time.Time { return time.Now().AddDate(3, 0, 0) }}}
	expect.NoError(t, h.expire(t.Context()))
	if _, err := s.Open(t.Context(), w.Ref, prompt); !errors.Is(err, large.ErrExpired) {
		t.Errorf("three years after it was parked its prompt is there: %v", err)
	}
}

// Files of a conversation that is not there any more expire as results do.
func TestFilesThatNoConversationNeedsExpire(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	s, of := large.OpenVersions(w.Config, w.Bucket), large.VersionsOf{Tenant: w.Ref.Tenant,
		ID: "53336444-3f36-80ce-9171-c57cbb83b9a6"}
	version := expect.Value(s.Put(t.Context(), of, &files.Tree{}))(t)
	h := expect.Value(newHandler(t.Context(), w.Config,
		environment{Table: boot.Table{TableName: w.Table()}, Results: boot.Results{ResultsBucket: w.Bucket}}))(t)
	r := h.Results.(removal.Retention)
	r.Now = func() time.Time { return time.Now().AddDate(3, 0, 0) }
	h.Results = r
	expect.NoError(t, h.expire(t.Context()))
	_, err := s.Get(t.Context(), of, version)
	expect.Fails(t, err, large.ErrGone)
}

type ran struct {
	removal.Expired
	err error
}

func (r ran) Expire(context.Context) (removal.Expired, error) { return r.Expired, r.err }

func TestARunSaysHowLateItIs(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		ran  ran
		want string // the metric's value; empty: unknown
	}{
		"nothing is late":                   {ran{}, `"ExpireLag":0`},
		"an hour late":                      {ran{Expired: removal.Expired{Deleted: 3, Lag: time.Hour}}, `"ExpireLag":3600`},
		"nothing could be looked at":        {ran{err: down}, ""},
		"an hour late, and one tenant down": {ran{removal.Expired{Lag: time.Hour}, down}, `"ExpireLag":3600`},
	} {
		var err error
		out := expect.Metrics(t, func() { err = (&Handler{Results: tt.ran}).Handle(t.Context(), Schedule{Expire: true}) })
		expect.That(t, strings.Contains(out, tt.want) && (tt.want != "" || !strings.Contains(out, "ExpireLag")) &&
			errors.Is(err, tt.ran.err), "%s: %v, %s", name, err, out)
	}
}

// Nothing is left of a call of an outside agent on which nobody acted, once its time is over.
func TestACallOnWhichNobodyActedIsDestroyed(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	all := store.New(w.Store.Table().DB, w.Table(), store.Kinds()...)
	rows := store.CallsOf(all)
	x := call.Proposal{Keep: 30, Effect: "e", Content: call.Content{Key: "k1", Tool: "t", Arguments: "{}"},
		Key: tenancy.Key{ID: "k1", TenantID: w.Ref.Tenant, Tools: []string{"t"}, QuotaDay: 9,
			ExpiresAt: w.Now().AddDate(1, 0, 0)},
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
	a, err := rows.Ask(t.Context(), &x, expect.Value(x.Ask(w.Now()))(t))
	expect.NoError(t, err)
	expect.Value(rows.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Cancel("k1", w.Now())
	}))(t)
	h := &Handler{Store: all, Reminders: all, Effects: w.Effects(),
		Now: w.Now}
	h.Effects.Store = all
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	for _, left := range []bool{true, false} {
		w.Later(29 * 24 * time.Hour)
		expect.NoError(t, h.Sweep(t.Context()))
		_, err := rows.Load(t.Context(), a.Ref())
		expect.That(t, errors.Is(err, aggregate.ErrNotFound) != left, "%v", err)
	}
	expect.That(t, !strings.Contains(log.String(), "put off"), "%s", &log)
	row := expect.Value(all.Table().DB.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(w.Table()),
		Key: table.Key(call.Kind.Prefix+w.Ref.Tenant+"#"+a.Head.CallID, aggregate.HeadKey)}))(t)
	expect.That(t, row.Item == nil, "a head is left: %v", row.Item)
}
