package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/seal"
)

const (
	// settled is how long after its end a day is checked: by then the stream has delivered all of its rows.
	settled = 10 * time.Minute
	// window is the part of a log that is checked at once. sealedWithin is how long after a row its link may come,
	// since the stream retries for an hour.
	window, sealedWithin = 6 * time.Hour, 2 * time.Hour
	// checkEvery is the number of rows after which progress is saved, since a window may have more rows than one
	// invocation can read.
	checkEvery = 500
)

// late seals the rows of past days that no link seals: those from before the chain began, and those whose records the
// stream gave up. Their links say that they are late. It works window by window and saves its progress after each.
func (h *Handler) late(ctx context.Context, is seal.Chain, through time.Time) error {
	for from := is.Checked; from.Before(through); {
		until := from.Add(window)
		if is.Checked.IsZero() || until.After(through) { // a chain that was never checked is young
			until = through
		}
		r, err := h.begin(ctx, is, from)
		if err == nil {
			err = h.lateIn(ctx, r, is.Tenant, from, until)
		}
		if err != nil {
			return err
		}
		from = until
	}
	return nil
}

func (h *Handler) lateIn(ctx context.Context, r *reading, tenant string, from, until time.Time) error {
	if err := h.read(ctx, r, tenant, until.Add(sealedWithin)); err != nil {
		return err
	}
	var rows []chain.Row // read rows that no link seals
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := h.read(ctx, r, tenant, time.Time{}); err != nil { // a later link may have sealed them
			return err
		}
		unsealed := rows[:0]
		for _, x := range rows {
			if !r.keys[x.Key] {
				unsealed = append(unsealed, x)
			}
		}
		if rows = nil; len(unsealed) == 0 {
			return nil
		}
		boot.Count(boot.SealedLate, len(unsealed))
		return h.seal(ctx, tenant, unsealed, true)
	}
	seen := 0
	for x, err := range h.Store.RowsOfLog(ctx, tenant, from, until) {
		if err != nil {
			return err
		}
		if !r.keys[x.Key] {
			rows = append(rows, x)
		}
		if seen++; len(rows) < maxEntries && seen%checkEvery != 0 {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		// The next minute may have to continue here. It reads this moment again, since more rows may have the same
		// time.
		if err := h.Store.ChainChecked(ctx, tenant, x.At); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return h.Store.ChainChecked(ctx, tenant, until)
}

// reading is how far a tenant's links are read while a window is checked.
type reading struct {
	keys map[string]bool // of the rows that the links seal
	next int             // number of the first link that was not read
	at   time.Time       // time of the last link that was read
}

// begin finds the first link that may seal a row from a time on. Links are in the order of their times and, apart from
// the drift between two clocks, never older than their rows.
func (h *Handler) begin(ctx context.Context, is seal.Chain, from time.Time) (*reading, error) {
	var failed error
	after := from.Add(-2 * chain.Drift)
	skipped := sort.Search(is.Seq, func(i int) bool {
		if failed != nil || from.IsZero() {
			return true
		}
		l, err := h.Store.Link(ctx, is.Tenant, i+1)
		if !errors.Is(err, aggregate.ErrNotFound) { // somebody removed the link
			failed = err
		}
		return err != nil || !l.At.Before(after)
	})
	return &reading{keys: map[string]bool{}, next: skipped + 1}, failed
}

// read continues to read links, up to the first that was made after until, or to the last if until is zero.
func (h *Handler) read(ctx context.Context, r *reading, tenant string, until time.Time) error {
	if !until.IsZero() && r.at.After(until) {
		return nil
	}
	for l, err := range h.Store.Links(ctx, tenant, r.next) {
		if err != nil {
			return err
		}
		for _, e := range l.Entries {
			r.keys[e.Key] = true
		}
		r.next, r.at = l.Seq+1, l.At
		if !until.IsZero() && l.At.After(until) {
			return nil
		}
	}
	return nil
}

type part struct {
	tenant string
	first  string // sequence number of the first record, to return it
	rows   []chain.Row
}

// records seals a batch with one link for each tenant.
func (h *Handler) records(
	ctx context.Context, records []events.DynamoDBEventRecord,
) (out events.DynamoDBEventResponse) {
	for _, p := range parts(ctx, records) {
		for rows := range slices.Chunk(p.rows, maxEntries) {
			if err := h.seal(ctx, p.tenant, rows, false); err != nil {
				failed(ctx, "gives back", p.tenant, err)
				out.BatchItemFailures = append(out.BatchItemFailures,
					events.DynamoDBBatchItemFailure{ItemIdentifier: p.first})
				break
			}
		}
	}
	return out
}

// parts splits a batch by tenant, in the order of their first records. A row that was changed or removed, or whose date
// is wrong, raises an alarm: somebody wrote to the table by hand.
func parts(ctx context.Context, records []events.DynamoDBEventRecord) []part {
	var out []part
	for _, r := range records {
		tenant, ok := tenantOf(r)
		if !ok {
			continue
		}
		row, err := rowOf(r)
		if err != nil {
			failed(ctx, "can't be sealed", tenant, err)
			continue
		}
		if row.Note != "" {
			slog.ErrorContext(ctx, "the audit log was touched", "tenant_id", tenant, "key", row.Key, "what", row.Note)
			boot.Count(boot.AuditTouched, 1)
		}
		at := slices.IndexFunc(out, func(p part) bool { return p.tenant == tenant })
		if at < 0 {
			at = len(out)
			out = append(out, part{tenant: tenant, first: r.Change.SequenceNumber})
		}
		out[at].rows = append(out[at].rows, row)
	}
	return out
}

// tenantOf returns the tenant whose audit row changed.
func tenantOf(r events.DynamoDBEventRecord) (string, bool) {
	key := r.Change.Keys["PK"]
	if key.DataType() != events.DataTypeString {
		return "", false
	}
	rest, ok := strings.CutPrefix(key.String(), "AUDIT#")
	tenant, _, _ := strings.Cut(rest, "#")
	return tenant, ok && tenant != ""
}

func rowOf(r events.DynamoDBEventRecord) (chain.Row, error) {
	image, note := r.Change.NewImage, chain.Note("")
	switch r.EventName {
	case string(events.DynamoDBOperationTypeModify):
		note = chain.Modified
	case string(events.DynamoDBOperationTypeRemove):
		image, note = r.Change.OldImage, chain.Deleted
	}
	it, err := item(image)
	if err != nil {
		return chain.Row{}, err
	}
	row, err := seal.SealedRow(it)
	off := row.At.Sub(r.Change.ApproximateCreationDateTime.Time)
	// The stream's times are whole seconds.
	if note == "" && (off > chain.Drift || off < -chain.Drift-time.Second) {
		note = chain.Misdated
	}
	row.Note = note
	return row, err
}

// item converts an image to the type of the table's client. Both have the same JSON.
func item(image map[string]events.DynamoDBAttributeValue) (map[string]types.AttributeValue, error) {
	text, err := json.Marshal(image)
	if err != nil {
		return nil, fmt.Errorf("read a record's image: %w", err)
	}
	return attributevalue.UnmarshalMapJSON(text)
}
