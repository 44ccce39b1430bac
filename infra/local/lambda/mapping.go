package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"ringi/infra/local/template"
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

// Filter passes the records that match one of its patterns, or all records if it has none. Of EventBridge's pattern
// language it supports plain values and {"prefix":"…"}.
type Filter struct{ patterns []map[string]any }

// ParseFilter reads the patterns of FilterCriteria. It returns an error for a pattern that AWS would refuse when the
// mapping is created, and for an operator that Filter does not support.
func ParseFilter(patterns []string) (Filter, error) {
	var f Filter
	for _, text := range patterns {
		pattern := map[string]any{}
		err := json.Unmarshal([]byte(text), &pattern)
		if err == nil {
			err = check(pattern)
		}
		if err != nil || pattern == nil {
			return f, fmt.Errorf("filter %s: %w", text, cmp.Or(err, errors.New("it is no object")))
		}
		f.patterns = append(f.patterns, pattern)
	}
	return f, nil
}

func (f Filter) Passes(record []byte) (bool, error) {
	if len(f.patterns) == 0 {
		return true, nil
	}
	var v any
	if err := json.Unmarshal(record, &v); err != nil {
		return false, fmt.Errorf("filter a record: %w", err)
	}
	return slices.ContainsFunc(f.patterns, func(p map[string]any) bool { return matches(p, v) }), nil
}

// check returns an error for a pattern that AWS would refuse, or that has another operator.
func check(pattern map[string]any) error {
	for key, want := range pattern {
		switch want := want.(type) {
		case map[string]any:
			if err := check(want); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		case []any:
			strange := slices.ContainsFunc(want, func(rule any) bool { return !known(rule) })
			if len(want) == 0 || strange || strings.HasPrefix(key, "$") {
				return fmt.Errorf("%s: the local stack's filters know plain values and prefix only, not %v", key, want)
			}
		default:
			return fmt.Errorf("%s: values stand in lists, not %v", key, want)
		}
	}
	return nil
}

// known reports whether a rule is a plain value or a prefix.
func known(rule any) bool {
	switch rule.(type) {
	case map[string]any, []any:
		_, isPrefix := prefixOf(rule)
		return isPrefix
	}
	return true
}

// prefixOf returns the prefix of a rule {"prefix":"…"}.
func prefixOf(rule any) (string, bool) {
	operators, _ := rule.(map[string]any)
	prefix, ok := operators["prefix"].(string)
	return prefix, ok && len(operators) == 1
}

// holds reports whether a value satisfies a rule.
func holds(rule, v any) bool {
	if prefix, ok := prefixOf(rule); ok {
		text, isText := v.(string)
		return isText && strings.HasPrefix(text, prefix)
	}
	return rule == v
}

// matches reports whether the record has, for each key of the pattern, one of the values that the pattern lists. If the
// record's value is a list, one of its elements must match.
func matches(pattern map[string]any, v any) bool {
	object, _ := v.(map[string]any)
	for key, want := range pattern {
		got, present := object[key]
		switch want := want.(type) {
		case map[string]any:
			if !matches(want, got) {
				return false
			}
		case []any:
			list, isList := got.([]any)
			if !isList {
				list = []any{got}
			}
			if !present || !slices.ContainsFunc(list, func(v any) bool {
				return slices.ContainsFunc(want, func(rule any) bool { return holds(rule, v) })
			}) {
				return false
			}
		}
	}
	return true
}

// change is one stream record, encoded as the function gets it.
type change struct {
	sequence string
	at       time.Time
	item     string // its key
	text     json.RawMessage
}

func newChange(r types.Record, stream string) (change, error) {
	d := r.Dynamodb
	if d == nil {
		return change{}, fmt.Errorf("stream record %s has no content", aws.ToString(r.EventID))
	}
	at := aws.ToTime(d.ApproximateCreationDateTime)
	body := map[string]any{
		"ApproximateCreationDateTime": at.Unix(),
		"SequenceNumber":              aws.ToString(d.SequenceNumber),
		"SizeBytes":                   aws.ToInt64(d.SizeBytes),
		"StreamViewType":              string(d.StreamViewType),
	}
	for name, item := range map[string]map[string]types.AttributeValue{"Keys": d.Keys, "NewImage": d.NewImage,
		"OldImage": d.OldImage} {
		if item == nil {
			continue
		}
		fields, err := row(item)
		if err != nil {
			return change{}, fmt.Errorf("encode %s of a stream record: %w", name, err)
		}
		body[name] = fields
	}
	// marshaling strings, and what was marshaled, can't fail
	text, _ := json.Marshal(map[string]any{
		"eventID": aws.ToString(r.EventID), "eventName": string(r.EventName), "eventVersion": "1.1",
		"eventSource": "aws:dynamodb",
		"awsRegion":   template.Region, "eventSourceARN": stream, "dynamodb": body,
	})
	item, _ := json.Marshal(body["Keys"])
	return change{sequence: aws.ToString(d.SequenceNumber), at: at, item: string(item), text: text}, nil
}

// row converts an item to DynamoDB's JSON, by attribute name.
func row(item map[string]types.AttributeValue) (fields map[string]json.RawMessage, err error) {
	converted, err := attributevalue.FromDynamoDBStreamsMap(item)
	if err != nil {
		return nil, err
	}
	text, err := attributevalue.MarshalMapJSON(converted)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	return fields, err
}

type Schedule struct {
	Function string
	Schedule template.Schedule
	Invoker  Invoker
	Log      *slog.Logger
}

// Run invokes the function after each interval until ctx ends. It skips a tick if the function is still running.
func (s *Schedule) Run(ctx context.Context) {
	t := time.NewTicker(s.Schedule.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		result, err := s.Fire(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.Log.Warn("scheduled invocation", "function", s.Function, "err", err)
		case result.Failed:
			s.Log.Warn("scheduled invocation failed", "function", s.Function, "request_id", result.RequestID, "error",
				errorType(result.Payload))
		}
	}
}

// Fire invokes the function now and waits for its result.
func (s *Schedule) Fire(ctx context.Context) (Result, error) {
	payload := []byte(s.Schedule.Input)
	if len(payload) == 0 {
		now := time.Now().UTC()
		payload, _ = json.Marshal(map[string]any{ // marshaling strings can't fail
			"version": "0", "id": fmt.Sprintf("%s-%d", s.Schedule.Event,
				now.UnixNano()), "detail-type": "Scheduled Event", "source": "aws.events",
			"account": template.Account, "region": template.Region, "time": now.Format(time.RFC3339), "detail": map[string]any{},
			"resources": []string{fmt.Sprintf("arn:aws:events:%s:%s:rule/%s-%s", template.Region, template.Account, s.Function,
				s.Schedule.Event)},
		})
	}
	return s.Invoker.Invoke(ctx, s.Function, payload)
}
