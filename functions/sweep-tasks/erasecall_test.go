package main

import (
	"bytes"
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
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/table"
)

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
	h := &Handler{Store: all, Reminders: store.OrganisationsOf(all), Effects: w.Effects(),
		Erase: store.NewEraser(all, nil), Now: w.Now}
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
