package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// Somebody who may write the table, and nothing else, takes the end of the log away with its links, sets the chain back, and
// waits until it is as long as it was.
func TestAChainThatWasSetBackAndGrewAgainIsFound(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.seals(w.written(tenant, 1)...)
	w.tick()
	back := expect.Value(w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.table}))(t).Items
	w.seals(w.written(tenant, 1)...) // what is to vanish
	w.tick()
	w.seals(w.written(tenant, 1)...)
	w.tick()
	for _, it := range expect.Value(w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.table}))(t).Items {
		expect.Value(w.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]}}))(t)
	}
	for _, it := range back {
		expect.Value(w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: it}))(t)
	}
	for range 4 {
		w.seals(w.written(tenant, 1)...)
		w.tick()
	}
	got := w.verified(tenant)
	expect.That(t, len(got.Findings) == 2 && got.Findings[0].Flaw == chain.Cut,
		"two entries are gone with their links, though heads that are locked away name those: %+v", got)
}

// Somebody who may put objects into the bucket puts an old head under a day to come, and cuts the chain to it.
func TestAnOldHeadUnderALaterDayIsNotTheNewest(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.seals(w.written(tenant, 1)...)
	w.tick()
	out := expect.Value(w.heads.S3.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: &w.heads.Bucket}))(t)
	old := expect.Value(w.heads.S3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &w.heads.Bucket, Key: out.Versions[0].Key}))(t)
	body := expect.Value(io.ReadAll(old.Body))(t)
	back := expect.Value(w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.table}))(t).Items
	w.seals(w.written(tenant, 2)...)
	w.tick()
	for _, it := range expect.Value(w.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &w.table}))(t).Items {
		expect.Value(w.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]}}))(t)
	}
	for _, it := range back {
		expect.Value(w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: it}))(t)
	}
	key := "heads/" + tenant + "/9999-01-01/0000000001.json"
	expect.Value(w.heads.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.heads.Bucket, Key: &key, Body: bytes.NewReader(body), ChecksumAlgorithm: s3types.ChecksumAlgorithmSha256}))(t)
	got := w.verified(tenant)
	expect.That(t, len(got.Findings) == 1 && got.Findings[0] == (chain.Finding{Flaw: chain.Cut, Where: "head"}),
		"the chain is cut: %+v", got)
}
