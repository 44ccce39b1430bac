package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

const tenant = "01TENANT"

type world struct {
	t  *testing.T
	st *store.TaskStore
	h  *Handler
}

func TestExportAudit(t *testing.T) {
	db := storetest.Start(t)
	client := s3.NewFromConfig(db.Config, func(o *s3.Options) { o.UsePathStyle = true })
	expect.Value(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("results")}))(t)
	for name, test := range map[string]func(*world){
		"all entries of many pages are in the file, once, and that it was taken is recorded": testAll,
		"only what the filter selects, and nothing of another tenant":                        testFiltered,
		"an empty log is a file with a heading":                                              testEmpty,
		"too many entries fail with that reason, and leave no file":                          testTooMany,
		"what breaks is tried again, and fails at the third try":                             testBroken,
		"what breaks once is whole the next time":                                            testResumed,
		"a time that is over fails with that reason":                                         testTooSlow,
		"a finished one is left alone, and one that is nobody's":                             testLeftAlone,
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := db.Store(t)
			test(&world{t, st, &Handler{Rows: rowsOf(st), S3: client, Bucket: "results", Now: time.Now, MaxRows: maxRows}})
		})
	}
}

// record writes n audit entries of a tenant by saving its settings.
func (w *world) record(owner, who string, n int) {
	w.t.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: who, Member: true}
	s := expect.Value(w.st.Settings(w.t.Context(), owner))(w.t)
	for range n {
		if s.MaxVersions++; s.MaxVersions > 9 {
			s.MaxVersions = 1
		}
		s = expect.Value(w.st.SaveSettings(w.t.Context(), owner, s, by, time.Now().Add(-time.Hour)))(w.t)
	}
}

func (w *world) begin(id string, form auditlog.Form, f auditlog.Filter) Input {
	w.t.Helper()
	x := expect.Value(auditlog.New(id, tenant, "U1", form, f, "ja", time.Now()))(w.t)
	expect.NoError(w.t, records.ExportsOf(w.st.Table()).BeginExport(w.t.Context(), x, time.Now()))
	return Input{tenant, id}
}

func (w *world) stands(id string) auditlog.Export {
	w.t.Helper()
	return expect.Value(records.ExportsOf(w.st.Table()).Export(w.t.Context(), tenant, id))(w.t)
}

func (w *world) text(x auditlog.Export) string {
	w.t.Helper()
	out := expect.Value(w.h.S3.GetObject(w.t.Context(), &s3.GetObjectInput{Bucket: &w.h.Bucket, Key: &x.Key}))(w.t)
	defer out.Body.Close()
	d := aws.ToString(out.ContentDisposition)
	expect.That(w.t, d == `attachment; filename="`+x.Name()+`"`, "a browser is told %q", d)
	return string(expect.Value(io.ReadAll(out.Body))(w.t))
}

func testAll(w *world) {
	const n = 230
	w.record(tenant, "U1", n)
	w.record("01OTHER", "U1", 3)
	for _, form := range []auditlog.Form{auditlog.JSONLines, auditlog.CSV} {
		id := "01" + strings.ToUpper(string(form))
		expect.NoError(w.t, w.h.Handle(w.t.Context(), w.begin(id, form, auditlog.Filter{})))
		x := w.stands(id)
		text := w.text(x)
		expect.Must(w.t, x.Status == auditlog.Done && x.Bytes == int64(len(text)), "%+v of a file of %d bytes", x, len(text))
		if form == auditlog.CSV {
			got := len(expect.Value(csv.NewReader(strings.NewReader(strings.TrimPrefix(text,
				"\ufeff"))).ReadAll())(w.t)) - 1
			expect.That(w.t, got == x.Rows, "%d rows in the file, %d said", got, x.Rows)
			continue
		}
		seen := map[string]bool{}
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			var row map[string]any
			expect.NoError(w.t, json.Unmarshal(s.Bytes(), &row))
			expect.That(w.t, !seen[fmt.Sprint(row["SK"])] && row["tenant_id"] == tenant, "%v", row)
			seen[fmt.Sprint(row["SK"])] = true
		}
		expect.That(w.t, len(seen) == n && x.Rows == n, "%d rows in the file, %d said, %d there", len(seen), x.Rows, n)
	}
	log := expect.Value(w.st.Audit(w.t.Context(), tenant, store.AuditFilter{Action: auditlog.ActionExported}, "",
		10))(w.t).Items
	expect.That(w.t, len(log) == 2 && log[0].ActorID == "U1", "recorded %+v", log)
}

func testFiltered(w *world) {
	w.record(tenant, "U1", 2)
	w.record(tenant, "U2", 3)
	expect.NoError(w.t, w.h.Handle(w.t.Context(),
		w.begin("01F", auditlog.JSONLines, auditlog.Filter{Actor: "U2", Action: tenancy.AuditSettingsUpdated})))
	x := w.stands("01F")
	expect.That(w.t, x.Rows == 3 && !strings.Contains(w.text(x), `"actor_id":"U1"`), "%+v", x)
}

func testEmpty(w *world) {
	expect.NoError(w.t, w.h.Handle(w.t.Context(), w.begin("01E", auditlog.CSV, auditlog.Filter{})))
	if x := w.stands("01E"); x.Status != auditlog.Done || x.Rows != 0 || !strings.HasPrefix(w.text(x), "\ufeff\"日時") {
		w.t.Errorf("%+v", x)
	}
	expect.NoError(w.t, w.h.Handle(w.t.Context(), w.begin("01L", auditlog.JSONLines, auditlog.Filter{Actor: "U9"})))
	if x := w.stands("01L"); x.Status != auditlog.Done || w.text(x) != "" {
		w.t.Errorf("%+v", x)
	}
}

func testTooMany(w *world) {
	w.h.MaxRows = 4
	w.record(tenant, "U1", 5)
	expect.NoError(w.t, w.h.Handle(w.t.Context(), w.begin("01M", auditlog.CSV, auditlog.Filter{})))
	x := w.stands("01M")
	expect.That(w.t, x.Status == auditlog.Failed && x.Problem == auditlog.TooMany && x.Key == "", "%+v", x)
	out := expect.Value(w.h.S3.ListObjectsV2(w.t.Context(),
		&s3.ListObjectsV2Input{Bucket: &w.h.Bucket, Prefix: aws.String(auditlog.Prefix(tenant) + "01M/")}))(w.t)
	parts := expect.Value(w.h.S3.ListMultipartUploads(w.t.Context(),
		&s3.ListMultipartUploadsInput{Bucket: &w.h.Bucket}))(w.t)
	expect.That(w.t, len(out.Contents)+len(parts.Uploads) == 0,
		"%d files and %d uploads are left", len(out.Contents), len(parts.Uploads))
}

// failing fails the given number of reads.
type failing struct {
	Rows
	times int
}

func (f *failing) AuditRows(
	ctx context.Context, tenant string, x store.AuditFilter, cursor string, limit int,
) (store.Page[auditlog.Row], error) {
	if f.times--; f.times >= 0 {
		return store.Page[auditlog.Row]{}, errors.New("the table is away")
	}
	return f.Rows.AuditRows(ctx, tenant, x, cursor, limit)
}

func testBroken(w *world) {
	w.h.Rows = &failing{rowsOf(w.st), 9}
	in := w.begin("01B", auditlog.CSV, auditlog.Filter{})
	for try := 1; try <= maxTries; try++ {
		counted := expect.Metrics(w.t, func() {
			err := w.h.Handle(w.t.Context(), in)
			expect.That(w.t, (err == nil) == (try == maxTries), "try %d: %v", try, err)
		})
		expect.That(w.t, strings.Contains(counted, `"ExportFailed":1`) == (try == maxTries),
			"try %d counts %q", try, counted)
	}
	x := w.stands("01B")
	expect.That(w.t, x.Status == auditlog.Failed && x.Problem == auditlog.Broken, "%+v", x)
}

func testResumed(w *world) {
	w.record(tenant, "U1", 3)
	w.h.Rows = &failing{rowsOf(w.st), 1}
	in := w.begin("01R", auditlog.JSONLines, auditlog.Filter{})
	expect.That(w.t, w.h.Handle(w.t.Context(), in) != nil, "the first try did not fail")
	expect.NoError(w.t, w.h.Handle(w.t.Context(), in))
	x := w.stands("01R")
	expect.That(w.t, x.Status == auditlog.Done && x.Rows == 3 && x.Try == 2 &&
		bytes.Count([]byte(w.text(x)), []byte("\n")) == 3, "%+v", x)
}

func testTooSlow(w *world) {
	ctx, cancel := context.WithTimeout(w.t.Context(), spare-time.Second)
	defer cancel()
	expect.NoError(w.t, w.h.Handle(ctx, w.begin("01S", auditlog.CSV, auditlog.Filter{})))
	x := w.stands("01S")
	expect.That(w.t, x.Status == auditlog.Failed && x.Problem == auditlog.TooSlow, "%+v", x)
}

func testLeftAlone(w *world) {
	in := w.begin("01D", auditlog.CSV, auditlog.Filter{})
	expect.NoError(w.t, w.h.Handle(w.t.Context(), in))
	first := w.stands("01D")
	expect.NoError(w.t, w.h.Handle(w.t.Context(), in))
	expect.Same(w.t, first, w.stands("01D"))
	for _, other := range []Input{{"01OTHER", "01D"}, {tenant, "01NONE"}, {"", ""}, {"a#b", "01D"}} {
		expect.NoError(w.t, w.h.Handle(w.t.Context(), other))
	}
}
