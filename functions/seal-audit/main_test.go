package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/seal"
	"ringi/shared/store/storetest"
)

const tenant = "01TENANT"

// began is soon after the first month of all logs: whoever looks at a whole log asks for each month.
var began = time.Date(2024, 4, 18, 9, 0, 0, 0, time.UTC)

func TestSeal(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *world){
		"what the stream tells is sealed, twice alike":                          testSealed,
		"many invocations make one chain":                                       testManyAtOnce,
		"what is changed, removed or misdated is sealed as such":                testTouched,
		"what can't be sealed goes back, and what can is":                       testGivesBack,
		"a head is put away each minute that it moved, and can't be taken back": testHeads,
		"rows of past days that nobody sealed are sealed late, once":            testLate,
		"an odd key holds nothing up":                                           testOddKey,
		"what a task's rows say is counted, once":                               testCounted,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t)) })
	}
}

// world is a table, a key and a bucket, with a sealer.
type world struct {
	*Handler
	t      *testing.T
	server *storetest.Server
	db     *dynamodb.Client
	table  string
	store  *store.Store
	heads  seal.Heads
	signed chain.Signed
	now    time.Time
	n      int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := storetest.Start(t)
	st, table := server.Store(t)
	w := &world{t: t, server: server, db: server.DB, table: table, store: st.KindStore.Store, now: began}
	k := kms.NewFromConfig(server.Config)
	made := expect.Value(k.CreateKey(t.Context(),
		&kms.CreateKeyInput{KeySpec: kmstypes.KeySpecEccNistP256, KeyUsage: kmstypes.KeyUsageTypeSignVerify}))(t)
	signer := seal.Signer{KMS: k, Key: aws.ToString(made.KeyMetadata.KeyId)}
	w.signed = expect.Value(seal.Check(expect.Value(signer.Public(t.Context()))(t)))(t)
	w.heads = seal.Open(server.Config, "heads-"+table)
	expect.Value(w.heads.S3.CreateBucket(t.Context(),
		&s3.CreateBucketInput{Bucket: &w.heads.Bucket, ObjectLockEnabledForBucket: aws.Bool(true)}))(t)
	expect.Value(w.heads.S3.PutObjectLockConfiguration(t.Context(),
		&s3.PutObjectLockConfigurationInput{Bucket: &w.heads.Bucket,
			ObjectLockConfiguration: &s3types.ObjectLockConfiguration{
				ObjectLockEnabled: s3types.ObjectLockEnabledEnabled,
				Rule: &s3types.ObjectLockRule{DefaultRetention: &s3types.DefaultRetention{
					Mode: s3types.ObjectLockRetentionModeCompliance, Days: aws.Int32(1)}},
			}}))(t)
	w.Handler = &Handler{Store: seal.RowsIn(w.store.Table()), Signer: signer, Heads: w.heads, Locked: 400 * 24 * time.Hour,
		Now: func() time.Time { return w.now }}
	return w
}

// row returns an audit row that somebody put into the table.
func (w *world) row(of string, at time.Time) map[string]types.AttributeValue {
	w.t.Helper()
	it := w.entry(of, at)
	expect.Value(w.db.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: it}))(w.t)
	return it
}

// entry returns an audit row that is not in the table.
func (w *world) entry(of string, at time.Time) map[string]types.AttributeValue {
	w.n++
	it := texts("PK", "AUDIT#"+of+"#"+at.Format("2006-01"),
		"SK", at.Format("2006-01-02T15:04:05.000Z")+fmt.Sprintf("#%06d", w.n), "type", "audit")
	it["details"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"n": &types.AttributeValueMemberN{Value: fmt.Sprint(w.n)}}}
	return it
}

// image returns a row as in the stream; the JSON is the same.
func image(it map[string]types.AttributeValue) (out map[string]events.DynamoDBAttributeValue) {
	text, err := attributevalue.MarshalMapJSON(it)
	if err = errors.Join(err, json.Unmarshal(text, &out)); err != nil {
		panic(err)
	}
	return out
}

// A row is sealed as it is in the table, whatever its values.
func TestAnImageOfAnyValueIsItsRow(t *testing.T) {
	row := map[string]types.AttributeValue{
		"S": &types.AttributeValueMemberS{Value: "<é\u0000\">"}, "N": &types.AttributeValueMemberN{Value: "1200.50"},
		"BOOL": &types.AttributeValueMemberBOOL{Value: true}, "NULL": &types.AttributeValueMemberNULL{Value: true},
		"B":  &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"SS": &types.AttributeValueMemberSS{Value: []string{"b", "a"}},
		"NS": &types.AttributeValueMemberNS{Value: []string{"2", "1"}},
		"BS": &types.AttributeValueMemberBS{Value: [][]byte{{7}}},
	}
	empty := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	list := &types.AttributeValueMemberL{Value: []types.AttributeValue{row["S"], row["N"], empty}}
	row["L"], row["M"] = list, &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"in": list}}
	expect.Same(t, row, expect.Value(item(image(row)))(t), cmp.Exporter(func(reflect.Type) bool { return true }))
}

// record returns the stream's record of a change of a row at w.now.
func (w *world) record(n int, before, after map[string]types.AttributeValue) events.DynamoDBEventRecord {
	r := events.DynamoDBEventRecord{EventName: "MODIFY", Change: events.DynamoDBStreamRecord{
		ApproximateCreationDateTime: events.SecondsEpochTime{Time: w.now.Truncate(time.Second)},
		SequenceNumber:              fmt.Sprint(n), Keys: image(before),
	}}
	if before == nil {
		r.EventName, r.Change.Keys = "INSERT", image(after)
	} else {
		r.Change.OldImage = image(before)
	}
	if after == nil {
		r.EventName = "REMOVE"
	} else {
		r.Change.NewImage = image(after)
	}
	return r
}

// written returns the records of new rows.
func (w *world) written(of string, n int) (out []events.DynamoDBEventRecord) {
	for range n {
		it := w.row(of, w.now)
		out = append(out, w.record(w.n, nil, it))
	}
	return out
}

func (w *world) handle(event any) events.DynamoDBEventResponse {
	w.t.Helper()
	text := expect.Value(json.Marshal(event))(w.t)
	return expect.Value(w.Handle(w.t.Context(), text))(w.t)
}

func (w *world) seals(records ...events.DynamoDBEventRecord) {
	w.t.Helper()
	out := w.handle(events.DynamoDBEvent{Records: records})
	expect.That(w.t, out.BatchItemFailures == nil, "gave back %v", out.BatchItemFailures)
}

// tick runs a minute's schedule.
func (w *world) tick() {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	w.handle(map[string]any{"source": "aws.events"})
}

// verified checks the tenant's log against its chain, and the chain against all stored heads.
func (w *world) verified(of string) chain.Report {
	w.t.Helper()
	heads, strange, err := w.heads.All(w.t.Context(), of, w.signed)
	expect.NoError(w.t, err)
	expect.That(w.t, len(strange) == 0, "strange heads: %v", strange)
	var links []chain.Link
	for l, err := range seal.RowsIn(w.store.Table()).Links(w.t.Context(), of, 0) {
		expect.NoError(w.t, err)
		links = append(links, l)
	}
	var rows []chain.Row
	for r, err := range seal.RowsIn(w.store.Table()).RowsOfLog(w.t.Context(), of, time.Time{}, w.now.Add(time.Hour)) {
		expect.NoError(w.t, err)
		rows = append(rows, r)
	}
	if len(heads) == 0 {
		return chain.Verify(of, nil, links, rows, w.signed, w.now)
	}
	before, head := heads[:len(heads)-1], heads[len(heads)-1]
	report := chain.Verify(of, &head, links, rows, w.signed, w.now)
	report.Findings = append(report.Findings, chain.Forgotten(before, links)...)
	return report
}

func (w *world) finds(of string, sealed int, want ...chain.Finding) {
	w.t.Helper()
	if got := w.verified(of); !slices.Equal(got.Findings, want) || got.Sealed != sealed {
		w.t.Errorf("%d sealed, found %v; want %d, %v", got.Sealed, got.Findings, sealed, want)
	}
}

func testSealed(_ *testing.T, w *world) {
	records := append(w.written(tenant, 3), w.written("01OTHER", 2)...)
	w.seals(records...)
	w.seals(records...)
	w.tick()
	w.finds(tenant, 3)
	w.finds("01OTHER", 2)
}

func testManyAtOnce(_ *testing.T, w *world) {
	var all sync.WaitGroup
	for range 8 {
		records := w.written(tenant, 5)
		all.Go(func() { w.seals(records...) })
	}
	all.Wait()
	w.tick()
	w.finds(tenant, 40)
}

// keyOf returns the key under which a row is sealed.
func keyOf(t *testing.T, it map[string]types.AttributeValue) string {
	t.Helper()
	return expect.Value(seal.SealedRow(it))(t).Key
}

func testTouched(_ *testing.T, w *world) {
	a, b, c := w.row(tenant, w.now), w.row(tenant, w.now), w.row(tenant, w.now.Add(-3*time.Minute))
	changed := map[string]types.AttributeValue{"PK": a["PK"], "SK": a["SK"]}
	w.seals(w.record(1, nil, a), w.record(2, nil, b), w.record(3, nil, c))
	// When somebody checks, both rows are as before: only the sealer saw the change.
	w.seals(w.record(4, a, changed), w.record(5, changed, a), w.record(6, b, nil))
	w.tick()
	touched := chain.Finding{Flaw: chain.Touched, Where: keyOf(w.t, a)}
	w.finds(tenant, 3, chain.Finding{Flaw: chain.Dated, Where: keyOf(w.t, c)}, touched, touched,
		chain.Finding{Flaw: chain.Touched, Where: keyOf(w.t, b)})
}

// faulty fails to sign for one tenant.
type faulty struct {
	Signer
	tenant string
}

func (f faulty) Sign(ctx context.Context, text []byte) ([]byte, error) {
	if bytes.Contains(text, []byte(f.tenant)) {
		return nil, errors.New("the key is not there")
	}
	return f.Signer.Sign(ctx, text)
}

func testGivesBack(t *testing.T, w *world) {
	records := slices.Concat(w.written(tenant, 1), w.written("01OTHER", 1), w.written("01THIRD", 1))
	signer := w.Signer
	w.Signer = faulty{signer, "01OTHER"}
	out := w.handle(events.DynamoDBEvent{Records: records})
	expect.That(t, len(out.BatchItemFailures) == 1 && out.BatchItemFailures[0].ItemIdentifier == "2",
		"gave back %v", out.BatchItemFailures)
	w.Signer = signer
	w.seals(records[1:]...)
	w.tick()
	for _, of := range []string{tenant, "01OTHER", "01THIRD"} {
		w.finds(of, 1)
	}
}

func testHeads(t *testing.T, w *world) {
	w.now = time.Now().UTC().Truncate(time.Second) // the bucket's clock
	w.seals(w.written(tenant, 2)...)
	expect.Same(t, 2, len(w.verified(tenant).Behind))
	w.tick()
	w.tick()
	out := expect.Value(w.heads.S3.ListObjectVersions(t.Context(),
		&s3.ListObjectVersionsInput{Bucket: &w.heads.Bucket}))(t)
	expect.Must(t, len(out.Versions) == 1, "%d heads of a chain that moved once", len(out.Versions))
	_, err := w.heads.S3.DeleteObject(t.Context(),
		&s3.DeleteObjectInput{Bucket: &w.heads.Bucket, Key: out.Versions[0].Key, VersionId: out.Versions[0].VersionId})
	expect.That(t, err != nil, "the head is deleted in its time")
	// Somebody hides the head and deletes the whole chain.
	expect.Value(w.heads.S3.DeleteObject(t.Context(),
		&s3.DeleteObjectInput{Bucket: &w.heads.Bucket, Key: out.Versions[0].Key}))(t)
	w.setBack(nil)
	w.finds(tenant, 0, chain.Finding{Flaw: chain.Cut, Where: "head"})
}

func testLate(t *testing.T, w *world) {
	for day := range 3 {
		w.row(tenant, began.AddDate(0, -1, day))
	}
	w.seals(w.written(tenant, 1)...)
	w.tick()
	w.tick()
	got := w.verified(tenant)
	expect.That(t, len(got.Findings) == 0 && len(got.Late) == 3 && got.Sealed == 4, "%+v", got)
	forged := w.row(tenant, began.AddDate(0, -1, 1))
	w.now = w.now.AddDate(0, 0, 1)
	w.tick()
	w.tick()
	w.finds(tenant, 4, chain.Finding{Flaw: chain.Inserted, Where: keyOf(t, forged)})
}

func testOddKey(_ *testing.T, w *world) {
	odd := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "AUDIT#" + tenant + "#2024-04 x\n"},
		"SK": &types.AttributeValueMemberS{Value: "あ"}}
	w.seals(append(w.written(tenant, 1), w.record(9, nil, odd))...)
	w.tick()
	key := keyOf(w.t, odd)
	// No list of the log shows the row: its link exists, but the row doesn't.
	w.finds(tenant, 1, chain.Finding{Flaw: chain.Dated, Where: key}, chain.Finding{Flaw: chain.Removed, Where: key})
}

// The bucket deletes a head whose lock is over. That of a chain that rests is put away again before.
func TestTheHeadOfAChainThatRestsIsPutAwayAgain(t *testing.T) {
	w := newWorld(t)
	w.Locked = 40 * 24 * time.Hour // each of four windows of a day is read
	w.seals(w.written(tenant, 1)...)
	began := w.now
	for _, on := range []struct{ day, last time.Duration }{{0, 0}, {10, 0}, {19, 0}, {21, 21}, {39, 21}, {42, 42}} {
		w.now = began.Add(on.day * 24 * time.Hour)
		w.tick()
		is := expect.Value(seal.RowsIn(w.store.Table()).Chain(t.Context(), tenant))(t)
		expect.That(t, is.KeptAt.Sub(began).Round(time.Hour) == on.last*24*time.Hour, "on day %d its head is of %s", on.day,
			is.KeptAt)
	}
}

// short is a store whose invocations end after this many rows of the log.
type short struct {
	Store
	rows int
}

func (s *short) RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error] {
	return func(yield func(chain.Row, error) bool) {
		n := 0
		for r, err := range s.Store.RowsOfLog(ctx, tenant, from, until) {
			if n++; n > s.rows {
				yield(chain.Row{}, errors.New("the invocation's time is over"))
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// A day with more rows than one invocation can read is checked in several.
func TestALongDayIsLookedAtBitByBit(t *testing.T) {
	w := newWorld(t)
	yesterday := began.AddDate(0, 0, -1)
	w.now = yesterday
	var rows []chain.Row
	var puts []types.WriteRequest
	for n := range checkEvery + 60 {
		it := w.entry(tenant, yesterday.Add(time.Duration(n)*time.Second))
		rows = append(rows, expect.Value(seal.SealedRow(it))(t))
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	for some := range slices.Chunk(puts, 25) {
		expect.Value(w.db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{w.table: some}}))(t)
	}
	for part := range slices.Chunk(rows, 300) {
		expect.NoError(t, w.seal(t.Context(), tenant, part, false))
	}
	w.now = began.Add(time.Hour)
	w.Store = &short{seal.RowsIn(w.store.Table()), checkEvery + 10}
	for range 3 {
		w.tick()
	}
	is := expect.Value(seal.RowsIn(w.store.Table()).Chain(t.Context(), tenant))(t)
	expect.That(t, !is.Checked.Before(began.Truncate(24*time.Hour)),
		"three invocations, and looked at no further than %v", is.Checked)
	w.finds(tenant, len(rows))
}

// texts returns an item of strings.
func texts(pairs ...string) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	return it
}

// told returns the records of a task's approval and of its model calls' costs.
func told(w *world) []events.DynamoDBEventRecord {
	approval := texts("PK", "AUDIT#"+tenant+"#2024-04", "SK", "2024-04-18T09:00:00.000Z#01E", "type", "audit", "id", "01E",
		"tenant_id", tenant, "timestamp", "2024-04-18T09:00:00.000Z",
		"actor_type", "user", "actor_id", "U1", "action", "prompt.approved", "resource_type", "prompt", "resource_id", "01P",
		"task_id", "01TASK", "details", `{"asked_at":"2024-04-18T08:59:00.000Z"}`)
	usage := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "USAGE#01U", "type", "usage", "id", "01U", "created_at",
		"2024-04-18T09:00:00.000Z")
	usage["cost_micro_usd"] = &types.AttributeValueMemberN{Value: "1200"}
	step := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "HEAD", "type", "head")
	return []events.DynamoDBEventRecord{w.record(1, nil, approval), w.record(2, nil, usage), w.record(3, nil, step),
		w.record(4, usage, usage)}
}

func testCounted(t *testing.T, w *world) {
	expect.Has(t, expect.Metrics(t, func() { w.seals(told(w)...) }), `"ModelCost":0.0012`, "printed")
	w.tick()
	if got := w.verified(tenant); got.Sealed != 0 || len(got.Findings) != 1 || got.Findings[0].Flaw != chain.Removed {
		t.Errorf("only the audit entry is sealed: %+v", got) // its row was never put
	}
}
