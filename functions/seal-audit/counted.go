package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
)

// count adds scored rounds to their teams' sums. It returns the sequence number of the first record that must come again, ""
// when none must: a row counts once, however often it is told, and with what its newest revision says.
func (h *Handler) count(ctx context.Context, records []events.DynamoDBEventRecord) (first string) {
	for _, r := range records {
		if r.EventName == string(events.DynamoDBOperationTypeRemove) {
			continue
		}
		c, ok, err := h.Store.CountedOf(item(r.Change.NewImage))
		if err != nil { // it never will count
			failed(ctx, "can't be counted", c.Tenant, err)
			continue
		}
		if !ok {
			continue
		}
		if err := h.Store.Count(ctx, c); err != nil {
			failed(ctx, "counts nothing", c.Tenant, err)
			if first == "" {
				first = r.Change.SequenceNumber
			}
		}
	}
	return first
}
