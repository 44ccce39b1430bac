package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
)

// A batch for two tenants and a minute's work crash at each call. After the repetition the chain is valid.
func TestACrashAnywhereLeavesAChainThatHolds(t *testing.T) {
	expect.Patience(t)
	died := ringitest.EachDeath(t, func(d *ringitest.Death) {
		w := newWorld(t)
		w.row(tenant, began.AddDate(0, -1, 0)) // a row from before the chain began
		records := append(w.written(tenant, 2), w.written("01OTHER", 1)...)
		whole := w.Handler
		w.Handler = w.over(d)
		_, _ = w.Handle(t.Context(), expect.Value(json.Marshal(events.DynamoDBEvent{Records: records}))(t))
		_, _ = w.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`))
		w.Handler = whole
		w.seals(records...)
		w.tick()
		w.tick()
		w.finds(tenant, 3)
		w.finds("01OTHER", 1)
	})
	expect.That(t, died >= 8, "only %d died", died)
}

// over is the world's sealer in a process that may die.
func (w *world) over(d *ringitest.Death) *Handler {
	cfg := w.server.Config.Copy()
	cfg.HTTPClient = &http.Client{Transport: d.Over(w.server.Transport)}
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	h := expect.Value(newHandler(w.t.Context(), cfg, environment{Table: boot.Table{TableName: w.table},
		Key: w.Signer.(seal.Signer).Key, Bucket: w.heads.Bucket, Days: "400"}))(w.t)
	h.Now = w.Now
	return h
}

// rows returns all rows of the table.
func (w *world) rows() []map[string]types.AttributeValue {
	w.t.Helper()
	return expect.Value(w.db.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &w.table}))(w.t).Items
}

// setBack replaces the table's rows.
func (w *world) setBack(rows []map[string]types.AttributeValue) {
	w.t.Helper()
	for _, it := range w.rows() {
		key := map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]}
		expect.Value(w.db.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: key}))(w.t)
	}
	for _, it := range rows {
		expect.Value(w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: it}))(w.t)
	}
}

// Somebody who may write only to the table deletes the end of the log with its links, sets the chain back, and waits
// until it has its old length.
func TestAChainThatWasSetBackAndGrewAgainIsFound(t *testing.T) {
	w := newWorld(t)
	w.seals(w.written(tenant, 1)...)
	w.tick()
	back := w.rows()
	w.seals(w.written(tenant, 1)...) // the part that is to be deleted
	w.tick()
	w.seals(w.written(tenant, 1)...)
	w.tick()
	w.setBack(back)
	for range 4 {
		w.seals(w.written(tenant, 1)...)
		w.tick()
	}
	got := w.verified(tenant)
	expect.That(t, len(got.Findings) == 2 && got.Findings[0].Flaw == chain.Cut,
		"two entries are gone with their links, though heads that are locked away name those: %+v", got)
}

// Somebody who may put objects into the bucket stores an old head for a future day, and cuts the chain to it.
func TestAnOldHeadUnderALaterDayIsNotTheNewest(t *testing.T) {
	w := newWorld(t)
	w.seals(w.written(tenant, 1)...)
	w.tick()
	out := expect.Value(w.heads.S3.ListObjectVersions(t.Context(),
		&s3.ListObjectVersionsInput{Bucket: &w.heads.Bucket}))(t)
	old := expect.Value(w.heads.S3.GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: &w.heads.Bucket, Key: out.Versions[0].Key}))(t)
	body := expect.Value(io.ReadAll(old.Body))(t)
	back := w.rows()
	w.seals(w.written(tenant, 2)...)
	w.tick()
	w.setBack(back)
	key := "heads/" + tenant + "/9999-01-01/0000000001.json"
	expect.Value(w.heads.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.heads.Bucket, Key: &key,
		Body: bytes.NewReader(body), ChecksumAlgorithm: s3types.ChecksumAlgorithmSha256}))(t)
	got := w.verified(tenant)
	expect.That(t, len(got.Findings) == 1 && got.Findings[0] == (chain.Finding{Flaw: chain.Cut, Where: "head"}),
		"the chain is cut: %+v", got)
}
