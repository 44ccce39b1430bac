package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/store/table"
)

// Meter computes the cost of DynamoDB calls. It reads each item before and after a write, so the cost is only right if
// nobody else writes the item in between.
type Meter struct {
	Endpoint string           // of DynamoDB
	Indexes  map[string]Index // by name
}

// request has a call's parameters that affect its cost.
type request struct {
	TableName            string
	Key, Item            Item
	ConsistentRead       bool
	IndexName            string
	FilterExpression     string
	ProjectionExpression string
	TransactItems        []map[string]request
	RequestItems         map[string]batch
}

// batch has the keys that a call reads from one table, or the rows that it writes.
type batch struct {
	Keys                 []Item
	ConsistentRead       bool
	ProjectionExpression string
	writes               []struct{ PutRequest, DeleteRequest request }
}

func (b *batch) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, &b.writes)
	}
	type reads batch
	return json.Unmarshal(text, (*reads)(b))
}

type response struct {
	Item      Item
	Items     []Item
	Responses map[string][]Item
}

// written returns the items that a call writes or checks.
func (r request) written() (list []request, transactional bool) {
	for _, actions := range r.TransactItems {
		for _, one := range actions {
			list = append(list, one)
		}
	}
	if list != nil {
		return list, true
	}
	for table, b := range r.RequestItems {
		for _, w := range b.writes {
			one := w.PutRequest
			if one.Item == nil {
				one = w.DeleteRequest
			}
			one.TableName = table
			list = append(list, one)
		}
	}
	if list != nil {
		return list, false
	}
	return []request{r}, false
}

func (r request) key() Item {
	if r.Key != nil {
		return r.Key
	}
	return Item{"PK": r.Item["PK"], "SK": r.Item["SK"]}
}

// Measure makes a call with do and returns the call's cost.
func (m *Meter) Measure(ctx context.Context, operation string, body []byte,
	do func() (status int, answer []byte)) (Units, error) {
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return Units{}, fmt.Errorf("meter %s: %w", operation, err)
	}
	var err error
	var u Units
	switch operation {
	case "Query", "GetItem", "BatchGetItem":
		u, err = read(operation, in, do)
	case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem":
		u, err = m.write(ctx, in, do)
	default:
		do()
		err = fmt.Errorf("its cost is not known")
	}
	if err != nil {
		return Units{}, fmt.Errorf("meter %s: %w", operation, err)
	}
	return u, nil
}

func read(operation string, in request, do func() (int, []byte)) (Units, error) {
	status, answer := do()
	if status != http.StatusOK {
		return Units{}, nil
	}
	var out response
	if err := json.Unmarshal(answer, &out); err != nil {
		return Units{}, err
	}
	// Items that are read but filtered out cost units too, and are missing from the answer.
	if in.FilterExpression != "" || in.ProjectionExpression != "" {
		return Units{}, fmt.Errorf("it does not return all that it evaluates")
	}
	switch operation {
	case "Query":
		return Read(in.ConsistentRead, out.Items...), nil
	case "GetItem":
		return Read(in.ConsistentRead, out.Item), nil
	}
	var total Units
	for table, wanted := range in.RequestItems {
		if wanted.ProjectionExpression != "" {
			return Units{}, fmt.Errorf("it does not return all that it evaluates")
		}
		found := out.Responses[table]
		for i := range wanted.Keys {
			var it Item
			if i < len(found) {
				it = found[i]
			}
			total = total.Plus(Read(wanted.ConsistentRead, it))
		}
	}
	return total, nil
}

func (m *Meter) write(ctx context.Context, in request, do func() (int, []byte)) (Units, error) {
	list, transactional := in.written()
	before, err := m.items(ctx, list)
	if err != nil {
		return Units{}, err
	}
	status, answer := do()
	if status >= 500 || strings.Contains(string(answer), "Throttl") {
		return Units{}, nil
	}
	after, err := m.items(ctx, list)
	if err != nil {
		return Units{}, err
	}
	var indexes []Index
	if status == http.StatusOK { // a failed condition costs as much as the write, but nothing for indexes
		indexes = slices.Collect(maps.Values(m.Indexes))
	}
	var total Units
	for i := range list {
		total = total.Plus(Write(before[i], after[i], transactional, indexes...))
	}
	return total, nil
}

func (m *Meter) items(ctx context.Context, list []request) ([]Item, error) {
	out := make([]Item, len(list))
	for i, r := range list {
		body, err := json.Marshal(map[string]any{"TableName": r.TableName, "Key": r.key(), "ConsistentRead": true})
		if err != nil {
			return nil, err
		}
		status, answer, err := m.Call(ctx, "GetItem", body)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("read the item: status %d, %v", status, err)
		}
		var found response
		if err := json.Unmarshal(answer, &found); err != nil {
			return nil, err
		}
		out[i] = found.Item
	}
	return out, nil
}

// Call sends a call to DynamoDB as JSON.
func (m *Meter) Call(ctx context.Context, operation string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(resp.Body)
	return resp.StatusCode, answer.Bytes(), err
}

// rowsOf counts the rows that a call would write, by kind. The kind of a row outside a transaction gets the suffix " by
// single writes".
func rowsOf(operation string, body []byte) map[string]int {
	var in request
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem":
		if json.Unmarshal(body, &in) != nil {
			return nil // Measure reports the error
		}
	default:
		return nil
	}
	out := map[string]int{}
	if in.TransactItems == nil {
		list, _ := in.written()
		for _, row := range list {
			out[row.kind()+" by single writes"]++
		}
		return out
	}
	for _, actions := range in.TransactItems {
		for action, row := range actions {
			if action != "ConditionCheck" {
				out[row.kind()]++
			}
		}
	}
	return out
}

// kind returns the start of a row's sort key, or of its partition key if each row has its own partition.
func (r request) kind() string {
	key := r.key()
	kind, _, _ := strings.Cut(table.TextOf(key, "SK"), "#")
	if first, _, _ := strings.Cut(table.TextOf(key, "PK"), "#"); first != "TASK" && first != "TENANT" {
		kind = first
	}
	return kind
}
