package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// However long a result is, what is said beside it is dropped only if the result says the same.
func TestWhatALongResultSaysAgainIsNotSaidTwice(t *testing.T) {
	rows := make([]string, 20_000)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"name":"部品 & <%d>"}`, i, i)
	}
	long := `{"rows":[` + strings.Join(rows, ",") + `]}`
	whole, err := json.Marshal(strings.ReplaceAll(long, `","`, `" , "`))
	expect.NoError(t, err)
	for said, more := range map[string]bool{
		string(whole): false,
		`"{\"name\": \"部品 \\u0026 <7>\", \"id\": 7}"`: false,
		`"部品 & <19999>"`:                              false,
		`"{\"rows\": []}"`:                            true,
		`"{\"id\": 7} {\"id\": 8}"`:                   true,
		`"{\"warning\": \"3 of 10\"}"`:                true,
		`"` + strings.Repeat("[", 20_000) + `"`:       true,
	} {
		_, v := newRooms(t)
		hash := v.hash(t, "book_room")
		v.faults["tools/call"] = replying(`{"content":[{"type":"text","text":` + said + `}],` +
			`"structuredContent":` + long + `}`)
		got, err := v.book(t, hash)
		expect.NoError(t, err)
		expect.Is(t, strings.HasPrefix(string(got.(json.RawMessage)), `{"also_said":`), more, "%.80s", said)
	}
}
