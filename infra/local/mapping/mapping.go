// Package mapping stands in for what invokes functions in AWS: event source
// mappings of table streams and queues, with their filters and partial
// failures, and schedules.
package mapping

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/infra/local/lambda"
)

// Invoker runs a function.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error)
}

// outcome is what a batch came to.
type outcome struct {
	failed   bool     // the whole batch
	requests int      // how often the function was called
	id       string   // of the last request
	items    []string // identifiers of those that failed, if not the whole batch
}

// batch invokes a function with records and reads which of them failed.
// known are the identifiers that may fail one by one.
func batch(ctx context.Context, invoker Invoker, function string, records []json.RawMessage, partial bool,
	known map[string]bool) (outcome, error) {
	payload, err := json.Marshal(map[string][]json.RawMessage{"Records": records})
	if err != nil {
		return outcome{failed: true}, fmt.Errorf("encode the batch: %w", err)
	}
	result, err := invoker.Invoke(ctx, function, payload)
	if err != nil {
		return outcome{failed: true}, err
	}
	if result.Failed {
		return outcome{failed: true, requests: 1, id: result.RequestID},
			fmt.Errorf("%s failed: %s", function, errorType(result.Payload))
	}
	o := outcome{requests: 1, id: result.RequestID}
	if !partial {
		return o, nil
	}
	o.items, err = failures(result.Payload, known)
	o.failed = err != nil
	return o, err
}

// failures reads batchItemFailures. Nothing there is success; an answer of
// another form, or an identifier that isn't the batch's, fails the whole batch.
func failures(payload []byte, known map[string]bool) ([]string, error) {
	var answer *struct {
		BatchItemFailures []map[string]any `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(payload, &answer); err != nil {
		return nil, fmt.Errorf("batchItemFailures: %w", err)
	}
	if answer == nil {
		return nil, nil
	}
	var items []string
	for _, f := range answer.BatchItemFailures {
		id, ok := f["itemIdentifier"].(string)
		if !ok || !known[id] {
			return nil, errors.New("batchItemFailures: it names an item that is not in the batch")
		}
		items = append(items, id)
	}
	return items, nil
}

// errorType is all that is said of a failure: messages may quote content.
func errorType(payload []byte) string {
	var e struct {
		ErrorType string `json:"errorType"`
	}
	if json.Unmarshal(payload, &e) != nil || e.ErrorType == "" {
		return "unknown error"
	}
	return e.ErrorType
}
