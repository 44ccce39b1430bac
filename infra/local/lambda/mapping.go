package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (Result, error)
}

// outcome is the result of invoking a function with a batch.
type outcome struct {
	failed   bool     // all of the batch failed
	requests int      // number of invocations
	id       string   // request id of the last invocation
	items    []string // identifiers of the failed items, if only a part of the batch failed
}

// batch invokes a function with records and reads which of them failed. known has the identifiers that the function may
// report as failed.
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

// failures reads batchItemFailures. An empty list means success. A malformed answer, or an identifier that is not in
// the batch, fails the whole batch.
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

// errorType returns the errorType of a failure for the log. The message is left out because it may quote content.
func errorType(payload []byte) string {
	var e struct {
		ErrorType string `json:"errorType"`
	}
	if json.Unmarshal(payload, &e) != nil || e.ErrorType == "" {
		return "unknown error"
	}
	return e.ErrorType
}
