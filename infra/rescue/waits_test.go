package main

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/store/table"
)

// A head that is put back has another run, and no longer proves which gates its run has left: tokens that were answered
// would all be sent again.
func TestAnsweredTokensStayAway(t *testing.T) {
	server := storetest.Start(t)
	_, from := server.Store(t)
	_, to := server.Store(t)
	const pk = "TASK#01TENANT#01TASK"
	entered := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	head := aggregate.Head{TenantID: "01TENANT", Rev: 9, Run: 2, Entered: &entered}
	put := func(kind, sk string, v any) {
		it := expect.Value(table.Pack(kind, pk, sk, v))(t)
		expect.Value(server.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &from, Item: it}))(t)
	}
	put("head", aggregate.HeadKey, head)
	for gate, w := range map[string]aggregate.Wait{
		"PROMPT#0001":  {Run: 2, Entered: entered.Add(-time.Minute)},
		"PROCESS#0001": {Run: 2, Entered: entered.Add(time.Minute)},
		"PROMPT#0002":  {Run: 1, Entered: entered.Add(-time.Hour)},
	} {
		w.Gate, w.Token = gate, "token"
		put("wait", w.Key(), w)
	}
	bring(t, server, from, to)
	r := &rows{db: server.DB, table: to}
	for gate, waits := range map[string]bool{"PROMPT#0001": false, "PROCESS#0001": true, "PROMPT#0002": true} {
		is := expect.Value(r.exists(t.Context(), pk, "WAIT#"+gate))(t)
		expect.Is(t, is, waits, "the token of %s comes back", gate)
	}
	expect.That(t, expect.Value(r.exists(t.Context(), pk, aggregate.HeadKey))(t), "the head stays away")
}
