package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"ringi/infra/bench/capacity"
)

// Scan reads a small table whole, as DynamoDB's JSON.
func (m *Meter) Scan(ctx context.Context, table string) ([]capacity.Item, error) {
	status, answer, err := m.Call(ctx, "Scan", fmt.Appendf(nil, `{"TableName":%q}`, table))
	if err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("scan %s: status %d, %v, %s", table, status, err, answer)
	}
	var out struct {
		Items            []capacity.Item
		LastEvaluatedKey capacity.Item
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("scan %s: %w", table, err)
	}
	if out.LastEvaluatedKey != nil {
		return nil, fmt.Errorf("scan %s: it has more than one page", table)
	}
	return out.Items, nil
}

// BatchWrite does up to 25 requests, each JSON, on a table.
func (m *Meter) BatchWrite(ctx context.Context, table string, requests []string) error {
	body := fmt.Sprintf(`{"RequestItems":{%q:[%s]}}`, table, strings.Join(requests, ","))
	status, answer, err := m.Call(ctx, "BatchWriteItem", []byte(body))
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("write to %s: status %d, %v, %s", table, status, err, answer)
	}
	return nil
}
