package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/seal"
)

type part struct {
	tenant string
	first  string // sequence number of the first record, to return it
	rows   []chain.Row
}

// tenantsAtOnce is how many tenants of a batch are sealed concurrently: each link waits for a signature and a
// transaction.
const tenantsAtOnce = 16

// records seals a batch with one link for each tenant.
func (h *Handler) records(
	ctx context.Context, records []events.DynamoDBEventRecord,
) (out events.DynamoDBEventResponse) {
	all := parts(ctx, records)
	back := make([]bool, len(all))
	var each errgroup.Group
	each.SetLimit(tenantsAtOnce)
	for i, p := range all {
		each.Go(func() error {
			for rows := range slices.Chunk(p.rows, maxEntries) {
				if err := h.seal(ctx, p.tenant, rows, false); err != nil {
					failed(ctx, "gives back", p.tenant, err)
					back[i] = true
					break
				}
			}
			return nil
		})
	}
	_ = each.Wait()
	for i, p := range all {
		if back[i] {
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: p.first})
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
