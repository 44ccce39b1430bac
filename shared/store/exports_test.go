package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
	"ringi/shared/store/table"
)

func testExports(t *testing.T, st *taskStore) {
	st.t.Now = time.Now
	st.parts(t, []part{
		{"a finished export and its audit entry are one", testExportFinished},
		{"only the newest try may finish it", testExportTries},
		{"so many are under way at once, and no more", testExportsAtOnce},
		{"those begun at once are no more", testExportsBegunAtOnce},
		{"an export is its tenant's, and is gone after a day", testExportOfATenant},
		{"rows are exported as the table has them", testAuditRows},
	})
}

func begun(t *testing.T, st *taskStore, id, owner string, now time.Time) auditlog.Export {
	t.Helper()
	x := expect.Value(auditlog.New(id, owner, "U1", auditlog.CSV, auditlog.Filter{Actor: "U2"}, "ja", now))(t)
	expect.NoError(t, st.BeginExport(t.Context(), x, now))
	return x
}

func testExportFinished(t *testing.T, st *taskStore) {
	now := time.Now()
	begun(t, st, "01A", "01EXPORT1", now)
	x := expect.Value(st.TryExport(t.Context(), "01EXPORT1", "01A", now))(t)
	x.Rows, x.Bytes = 7, 4096
	for _, want := range []error{nil, aggregate.ErrSuperseded} { // the second call changes nothing
		expect.Fails(t, st.FinishExport(t.Context(), x, now), want)
	}
	got := expect.Value(st.Export(t.Context(), "01EXPORT1", "01A"))(t)
	if got.Status != auditlog.Done || got.Rows != 7 || got.Key != x.File() || !got.Own() || got.EndedAt == nil {
		t.Errorf("%+v", got)
	}
	log := expect.Value(st.Audit(t.Context(), "01EXPORT1", AuditFilter{Action: auditlog.ActionExported}, "", 10))(t).Items
	if len(log) != 1 || log[0].ActorID != "U1" || log[0].ResourceID != "01A" || log[0].Details != `{"bytes":4096,"filter":{"actor":"U2"},"form":"csv","rows":7}` {
		t.Errorf("recorded %+v", log)
	}
	if _, err := st.TryExport(t.Context(), "01EXPORT1", "01A", now); !errors.Is(err, aggregate.ErrSuperseded) {
		t.Errorf("a finished one is tried again: %v", err)
	}
}

func testExportTries(t *testing.T, st *taskStore) {
	now := time.Now()
	begun(t, st, "01B", "01EXPORT2", now)
	first := expect.Value(st.TryExport(t.Context(), "01EXPORT2", "01B", now))(t)
	second := expect.Value(st.TryExport(t.Context(), "01EXPORT2", "01B", now))(t)
	expect.That(t, first.File() != second.File(), "both write to %s", first.File())
	wantError(t, st.FinishExport(t.Context(), first, now), aggregate.ErrSuperseded)
	wantError(t, st.FailExport(t.Context(), first, auditlog.Broken, now), aggregate.ErrSuperseded)
	expect.NoError(t, st.FailExport(t.Context(), second, auditlog.TooMany, now))
	got := expect.Value(st.Export(t.Context(), "01EXPORT2", "01B"))(t)
	expect.That(t, got.Status == auditlog.Failed && got.Problem == auditlog.TooMany, "%+v", got)
	log := expect.Value(st.Audit(t.Context(), "01EXPORT2", AuditFilter{}, "", 10))(t).Items
	expect.That(t, len(log) == 0, "what failed is recorded as exported: %+v", log)
}

func testExportsAtOnce(t *testing.T, st *taskStore) {
	now := time.Now()
	for _, id := range []string{"01C", "01D", "01E"} {
		begun(t, st, id, "01EXPORT3", now)
	}
	more := expect.Value(auditlog.New("01F", "01EXPORT3", "U1", auditlog.CSV, auditlog.Filter{}, "ja", now))(t)
	wantError(t, st.BeginExport(t.Context(), more, now), auditlog.ErrBusy)
	expect.NoError(t, st.BeginExport(t.Context(), more, now.Add(auditlog.GivenUp)))
}

func testExportsBegunAtOnce(t *testing.T, st *taskStore) {
	now := time.Now()
	var all sync.WaitGroup
	var begun atomic.Int32
	for i := range 8 {
		all.Go(func() {
			x := expect.Value(auditlog.New(fmt.Sprintf("01R%d", i), "01EXPORT6", "U1", auditlog.CSV, auditlog.Filter{}, "ja", now))(t)
			switch err := st.BeginExport(t.Context(), x, now); {
			case err == nil:
				begun.Add(1)
			case !errors.Is(err, auditlog.ErrBusy):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := begun.Load(); n != auditlog.MaxAtOnce {
		t.Errorf("%d were begun, want %d", n, auditlog.MaxAtOnce)
	}
}

func testExportOfATenant(t *testing.T, st *taskStore) {
	begun(t, st, "01G", "01EXPORT4", time.Now())
	begun(t, st, "01H", "01EXPORT4", time.Now().Add(-auditlog.Kept-time.Second))
	for _, x := range [][2]string{{"01OTHER", "01G"}, {"01EXPORT4", "01X"}, {"01EXPORT4", "01H"}, {"01EXPORT4#x", "01G"}, {"01EXPORT4", "a#b"}} {
		_, err := st.Export(t.Context(), x[0], x[1])
		expect.Fails(t, err, aggregate.ErrNotFound, "%v", x)
	}
}

func testAuditRows(t *testing.T, st *taskStore) {
	x := auditEntry("01EXPORT5", 1, time.Now().UTC().Truncate(time.Millisecond))
	write(t, st, expect.Value(table.PackAudit(x))(t))
	page := expect.Value(st.AuditRows(t.Context(), "01EXPORT5", AuditFilter{}, "", 10))(t)
	expect.Must(t, len(page.Items) == 1, "%d rows", len(page.Items))
	got := page.Items[0]
	if got.Entry != x || got.Fields["details"] != `{"version":1}` || got.Fields["PK"] != table.AuditMonth("01EXPORT5", x.Timestamp) {
		t.Errorf("%+v", got)
	}
	var file bytes.Buffer
	expect.NoError(t, expect.Value(auditlog.NewWriter(auditlog.JSONLines, "ja", &file))(t).Write(got))
	stored := raw(t, st, table.AuditMonth("01EXPORT5", x.Timestamp), aggregate.TimeText(x.Timestamp)+"#"+x.ID)
	if sealed := expect.Value(seal.SealedRow(stored))(t); file.String() != string(sealed.Content)+"\n" {
		t.Errorf("in the file stands %s, sealed is %s", file.String(), sealed.Content)
	}
}
