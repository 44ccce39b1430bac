package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/domain/daily"
)

// facts keeps what new rows say for the numbers of their days. It returns the sequence number of the first record that
// must come again, "" when none must: told twice, a row makes the same fact.
func (h *Handler) facts(ctx context.Context, records []events.DynamoDBEventRecord) string {
	var all []daily.Fact
	first := ""
	for _, r := range records {
		if r.EventName != string(events.DynamoDBOperationTypeInsert) {
			continue
		}
		f, ok, err := h.Store.FactOf(item(r.Change.NewImage))
		switch {
		case err != nil: // it never will be one
			failed(ctx, "makes no fact", f.Tenant, err)
		case ok:
			if first == "" {
				first = r.Change.SequenceNumber
			}
			all = append(all, f)
		}
	}
	if err := h.Store.PutFacts(ctx, all); err != nil {
		failed(ctx, "keeps no facts", all[0].Tenant, err)
		return first
	}
	return ""
}
