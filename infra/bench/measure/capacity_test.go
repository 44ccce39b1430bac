package measure

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/runtime/expect"
)

func item(t *testing.T, text string) Item {
	t.Helper()
	if text == "" {
		return nil
	}
	var it Item
	expect.NoError(t, json.Unmarshal([]byte(text), &it))
	return it
}

// of returns an item of that many bytes; it has an index's keys unless key is empty.
func of(t *testing.T, size int, key string) Item {
	t.Helper()
	it := Item{}
	if key != "" {
		it = item(t, `{"GPK":{"S":"p"},"GSK":{"S":"`+key+`"}}`)
	}
	it["f"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", size-Size(it)-1)}
	return it
}

func TestSize(t *testing.T) {
	tests := []struct {
		name, item string
		want       int
	}{
		{"no item", ``, 0},
		{"a string, counted in UTF-8", `{"名":{"S":"稟議"}}`, 3 + 6},
		{"an empty string", `{"a":{"S":""}}`, 1},
		{"a digit", `{"a":{"N":"7"}}`, 1 + 2},
		{"two digits", `{"a":{"N":"42"}}`, 1 + 2},
		{"three digits", `{"a":{"N":"421"}}`, 1 + 3},
		{"zeros at the end carry nothing", `{"a":{"N":"4200"}}`, 1 + 2},
		{"zeros at the front carry nothing", `{"a":{"N":"0.0042"}}`, 1 + 2},
		{"zeros after the point carry nothing", `{"a":{"N":"42.00"}}`, 1 + 2},
		{"zero", `{"a":{"N":"0"}}`, 1 + 1},
		{"a minus", `{"a":{"N":"-42"}}`, 1 + 3},
		{"a binary", `{"a":{"B":"AAEC"}}`, 1 + 3},
		{"a boolean and null", `{"a":{"BOOL":true},"b":{"NULL":true}}`, 4},
		{"an empty list", `{"a":{"L":[]}}`, 1 + 3},
		{"a list", `{"a":{"L":[{"S":"xy"},{"BOOL":false}]}}`, 1 + 3 + 2 + 3},
		{"a map", `{"a":{"M":{"bc":{"S":"xy"}}}}`, 1 + 3 + 1 + 4},
		{"a set", `{"a":{"SS":["x","yz"]}}`, 1 + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Is(t, Size(item(t, tt.item)), tt.want)
		})
	}
	for _, bad := range []string{`{"a":{}}`, `{"a":{"X":"1"}}`, `{"a":{"S":1}}`, `{"a":{"L":[{}]}}`} {
		expect.That(t, json.Unmarshal([]byte(bad), &Item{}) != nil, "%s is an item", bad)
	}
}

func TestRead(t *testing.T) {
	k := func(n int) Item { return of(t, n, "") }
	tests := []struct {
		name       string
		consistent bool
		items      []Item
		want       float64
	}{
		{"nothing found", true, nil, 1},
		{"nothing found, eventually", false, nil, 0.5},
		{"up to 4 KB", true, []Item{k(4096)}, 1},
		{"a byte more", true, []Item{k(4097)}, 2},
		{"a query rounds its sum", true, []Item{k(2000), k(2000), k(97)}, 2},
		{"eventually is half", false, []Item{k(4097)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, Units{Read: tt.want}, Read(tt.consistent, tt.items...))
		})
	}
}

func TestWrite(t *testing.T) {
	index := Index{"GPK", "GSK"}
	tests := []struct {
		name          string
		before, after Item
		transactional bool
		want          Units
	}{
		{"a new item", nil, of(t, 1024, ""), false, Units{Write: 1}},
		{"a byte over", nil, of(t, 1025, ""), false, Units{Write: 2}},
		{"the larger of the two counts", of(t, 3000, ""), of(t, 10, ""), false, Units{Write: 3}},
		{"a delete", of(t, 1500, ""), nil, false, Units{Write: 2}},
		{"a check of an absent item", nil, nil, true, Units{Write: 2}},
		{"a transaction costs double, its index does not", nil, of(t, 1500, "a"), true, Units{Write: 4, Index: 2}},
		{"leaves the index", of(t, 1500, "a"), of(t, 20, ""), false, Units{Write: 2, Index: 2}},
		{"moves in the index", of(t, 1500, "a"), of(t, 100, "b"), false, Units{Write: 2, Index: 3}},
		{"changes in place", of(t, 100, "a"), of(t, 1500, "a"), false, Units{Write: 2, Index: 2}},
		{"changes nothing", of(t, 100, "a"), of(t, 100, "a"), false, Units{Write: 1}},
		{"half a key is no key", nil, item(t, `{"GPK":{"S":"p"}}`), false, Units{Write: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, tt.want, Write(tt.before, tt.after, tt.transactional, index))
		})
	}
}
