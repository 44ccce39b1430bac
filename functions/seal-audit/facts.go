package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

// facts adds new rows to the figures of their days. It returns the sequence number of the first record that the stream
// must repeat, or "". Repeating is safe: the same row makes the same fact. What models cost is counted again, too, which
// rings early at worst.
func (h *Handler) facts(ctx context.Context, records []events.DynamoDBEventRecord) string {
	var all []tenancy.DailyFact
	var cost aggregate.MicroUSD
	first := ""
	for _, r := range records {
		if r.EventName != string(events.DynamoDBOperationTypeInsert) {
			continue
		}
		f, ok, err := readAs(r, h.Store.FactOf)
		switch {
		case err != nil: // it can never become a fact
			failed(ctx, "makes no fact", f.Tenant, err)
		case ok:
			if first == "" {
				first = r.Change.SequenceNumber
			}
			all = append(all, f)
			if f.Spent != nil {
				cost += f.Spent.Cost
			}
		}
	}
	if err := h.Store.PutFacts(ctx, all); err != nil {
		failed(ctx, "keeps no facts", all[0].Tenant, err)
		return first
	}
	if cost > 0 {
		boot.PutMetrics(boot.MetricValue{Name: boot.ModelCost, N: float64(cost) / 1e6})
	}
	return ""
}

// count adds scored rounds to their teams' sums. It returns the sequence number of the first record that the stream
// must repeat, or "". Each row counts once, however often it is delivered, with its newest revision in the batch.
func (h *Handler) count(ctx context.Context, records []events.DynamoDBEventRecord) (first string) {
	type told struct {
		store.Counted
		first string // sequence number of the row's first record
	}
	var rows []told // in the order of their first records
	at := map[[2]string]int{}
	for _, r := range records {
		if r.EventName == string(events.DynamoDBOperationTypeRemove) {
			continue
		}
		c, ok, err := readAs(r, h.Store.CountedOf)
		if err != nil { // it can never be counted
			failed(ctx, "can't be counted", c.Tenant, err)
			continue
		}
		if !ok {
			continue
		}
		row := [2]string{c.Tenant, c.Row}
		if i, twice := at[row]; !twice {
			at[row] = len(rows)
			rows = append(rows, told{c, r.Change.SequenceNumber})
		} else if c.Rev > rows[i].Rev {
			rows[i].Counted = c
		}
	}
	for _, row := range rows {
		if err := h.Store.Count(ctx, row.Counted); err != nil {
			failed(ctx, "counts nothing", row.Tenant, err)
			if first == "" {
				first = row.first
			}
		}
	}
	return first
}

// readAs reads the row of a record by read.
func readAs[T any](r events.DynamoDBEventRecord, read func(map[string]types.AttributeValue) (T, bool, error)) (x T, ok bool, err error) {
	it, err := item(r.Change.NewImage)
	if err != nil {
		return x, false, err
	}
	return read(it)
}
