package runner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
	"ringi/shared/tool/wire"
)

// sent returns the messages that a person got.
func (w *world) sent(t *testing.T, user string) (texts []string) {
	t.Helper()
	c := expect.Value(w.slack.Channel(user))(t)
	messages := expect.Value(w.slack.History(c.ID, webapi.Range{}))(t)
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestADirectMessageIsSentOncePerKey(t *testing.T) {
	w := newWorld(t)
	var first, again, other runner.SentDM
	_, found := w.looks(t, "send_slack_dm", dmArgs)
	expect.That(t, !found, "found before it was sent")
	w.run(t, "send_slack_dm", dmArgs, &first)
	text, found := w.looks(t, "send_slack_dm", dmArgs)
	expect.That(t, found && strings.Contains(text, first.MessageTS), "not found: %s", text)
	w.run(t, "send_slack_dm", dmArgs, &again)
	expect.Same(t, []string{"&lt;!channel&gt; done &amp; dusted\n• n: 42\n• none: "}, w.sent(t, webapi.Sato))
	expect.That(t, !first.AlreadySent && again.AlreadySent && first.MessageTS != "" &&
		again.MessageTS == first.MessageTS && first.User == webapi.Sato, "%+v, %+v", first, again)
	w.run(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", "suzuki@example.com", 1), &other)
	expect.That(t, other.User == webapi.Suzuki && len(w.sent(t, webapi.Suzuki)) == 1, "by e-mail: %+v", other)
	e := w.refuse(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", "nobody@example.com", 1))
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNoRecipient &&
		strings.Contains(e.Detail, "nobody@example.com"), "%v", e)
}

// Members can read the key of a message. One of them could post a message with that key, to keep the real message from
// being sent.
func TestOnlyOurOwnMessageIsFoundAgain(t *testing.T) {
	w := newWorld(t)
	forged := webapi.Message{Channel: webapi.DirectMessage(webapi.Sato), User: webapi.Sato, Text: "nothing to see",
		Metadata: map[string]any{"event_type": runner.DMEvent, "event_payload": map[string]any{"key": "p/step-1/1"}}}
	expect.Value(w.slack.Post(forged))(t)
	var first, again runner.SentDM
	w.run(t, "send_slack_dm", dmArgs, &first)
	w.run(t, "send_slack_dm", dmArgs, &again)
	expect.That(t, !first.AlreadySent && again.AlreadySent && again.MessageTS == first.MessageTS &&
		len(w.sent(t, webapi.Sato)) == 2, "%+v, then %+v; %q", first, again, w.sent(t, webapi.Sato))
}

// Below a message stands who asked for it and who stamped it, in the workspace's language. The message itself stays as
// it was stamped, and only a person's id names somebody.
func TestBelowAMessageStandsWhoAskedAndWhoStamped(t *testing.T) {
	const message = "&lt;!channel&gt; done &amp; dusted\n• n: 42\n• none: "
	for name, tc := range map[string]struct{ locale, asked, stamped, want string }{
		"by several": {"ja", webapi.Sato, webapi.Suzuki + " " + webapi.Tanaka,
			"依頼: <@U0SANDSATO> · 承認: <@U0SANDSUZU>、<@U0SANDTANA>"},
		"no person": {"ja", "!channel", webapi.Suzuki, ""},
		"by a rule": {"en", webapi.Sato, "auto", "Requested by <@U0SANDSATO> · approved by nobody (automatic)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "send_slack_dm", Arguments: given(dmArgs),
				Key: "p/step-1/1", Locale: tc.locale, Asked: tc.asked, Stamped: strings.Fields(tc.stamped)})
			expect.NoError(t, err)
			want, blocks := message, 1
			if tc.want != "" {
				want, blocks = message+"\n"+tc.want, 2
			}
			expect.Same(t, []string{want}, w.sent(t, webapi.Sato))
			c := expect.Value(w.slack.Channel(webapi.Sato))(t)
			sent := expect.Value(w.slack.History(c.ID, webapi.Range{}))(t)[0].Blocks
			expect.Must(t, len(sent) == blocks, "%d blocks", len(sent))
			last, _ := json.Marshal(sent[blocks-1])
			expect.That(t, tc.want == "" || strings.Contains(string(last), `"context"`), "%s", last)
		})
	}
}

func TestADirectMessageThatFails(t *testing.T) {
	post := "chat.postMessage"
	for name, test := range map[string]struct {
		fault   webapi.Fault
		outcome explain.CallOutcome
		problem explain.Problem
	}{
		"rate limit": {webapi.Fault{Method: post, Kind: webapi.RateLimited, RetryAfter: 30 * time.Second},
			explain.CallFailed, explain.ProblemRateLimited},
		"503": {webapi.Fault{Method: post, Kind: webapi.Unavailable}, explain.CallUnknown, explain.ProblemDown},
		"refused": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "restricted_action"},
			explain.CallFailed, explain.ProblemRejected},
		"fatal_error": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "fatal_error"}, explain.CallUnknown,
			explain.ProblemDown},
		"token revoked": {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "token_revoked"}, explain.CallFailed,
			explain.ProblemUnauthorized},
		"answer lost": {webapi.Fault{Method: post, Kind: webapi.Lost}, explain.CallUnknown, explain.ProblemLost},
		"the search fails": {webapi.Fault{Method: "conversations.history", Kind: webapi.Unavailable}, explain.CallFailed,
			explain.ProblemDown},
		"the opening fails": {webapi.Fault{Method: "conversations.open", Kind: webapi.Lost}, explain.CallFailed,
			explain.ProblemLost},
		"a disabled account": {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"},
			explain.CallFailed, explain.ProblemNoRecipient},
		"search rate limited": {webapi.Fault{Method: "conversations.history", Kind: webapi.RateLimited,
			RetryAfter: 30 * time.Second}, explain.CallFailed, explain.ProblemRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.slack.Faults.Add(test.fault)
			e := w.refuse(t, "send_slack_dm", dmArgs)
			expect.That(t, e.Outcome == test.outcome && e.Problem == test.problem, "%v", e)
			expect.That(t, test.fault.RetryAfter <= 0 || e.RetryAfter == test.fault.RetryAfter, "retry after %s", e.RetryAfter)
			posted := len(w.slack.Calls(post))
			expect.That(t, posted <= 1, "posted %d times", posted)
			// When the call is repeated, it finds the sent message, and there is only one.
			var out runner.SentDM
			w.run(t, "send_slack_dm", dmArgs, &out)
			lost := test.fault.Kind == webapi.Lost && test.fault.Method == post
			expect.That(t, out.AlreadySent == lost && len(w.sent(t, webapi.Sato)) == 1, "%+v, %v", out, w.sent(t, webapi.Sato))
		})
	}
}

func TestADirectMessageWaitsOutARateLimit(t *testing.T) {
	byMail := strings.Replace(dmArgs, "U0SANDSATO", "sato@example.com", 1)
	for _, method := range []string{"users.lookupByEmail", "conversations.open", "conversations.history",
		"chat.postMessage"} {
		w := newWorld(t)
		w.slack.Faults.Add(webapi.Fault{Method: method, Kind: webapi.RateLimited, RetryAfter: time.Second})
		var out runner.SentDM
		synctest.Test(t, func(t *testing.T) { w.run(t, "send_slack_dm", byMail, &out) })
		n := len(w.slack.Calls(method))
		expect.That(t, n == 2 && len(w.sent(t, webapi.Sato)) == 1 && !out.AlreadySent,
			"%s was called %d times, %d messages: %+v", method, n, len(w.sent(t, webapi.Sato)), out)
	}
}

// Requests and the answers in these tests have the names and types that Google publishes.
func TestRequestsAreAsGooglePublishesThem(t *testing.T) {
	api := expect.Value(vendors.Published("sheets"))(t)
	answers := map[string]map[string]any{
		"values": api.Example("ValueRange", map[string]any{"range": "a!A4:B9",
			"values": []any{[]any{"x"}, []any{}, []any{"", ""}, []any{"", 0}}}),
		http.MethodGet: api.Example("Spreadsheet", map[string]any{"spreadsheetUrl": "https://docs.example/x", "sheets": []any{
			map[string]any{"properties": map[string]any{"sheetId": 5, "title": "a chart", "sheetType": "OBJECT"}},
			map[string]any{"properties": map[string]any{"sheetId": 0, "title": "a",
				"gridProperties": map[string]any{"rowCount": 9, "columnCount": 1}}},
		}}),
		http.MethodPost: api.Example("BatchUpdateSpreadsheetResponse", map[string]any{"replies": []any{map[string]any{}}}),
		http.MethodPut: api.Example("UpdateValuesResponse", map[string]any{"updatedRange": "a!A1:B3", "updatedRows": 3,
			"updatedCells": 6, "updatedData": map[string]any{}}),
	}
	schemas := map[string]string{http.MethodPost: "BatchUpdateSpreadsheetRequest", http.MethodPut: "ValueRange"}
	var asked []string
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
		if schema := schemas[r.Method]; schema != "" {
			var body any
			b, _ := io.ReadAll(r.Body)
			err := json.Unmarshal(b, &body)
			expect.That(t, err == nil, "%v: %s", err, b)
			for _, d := range api.Differences(schema, body) {
				t.Error(d)
			}
		}
		answer := r.Method
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/values/") {
			answer = "values"
		}
		_ = json.NewEncoder(w).Encode(answers[answer]) // it fails only if the client is gone
	}))
	c := runner.NewSheets(s.URL, token("token"), wire.NewHTTP())
	for _, tab := range []string{"a", "a new one"} {
		got, err := c.Write(t.Context(), runner.Table{SpreadsheetID: "1AbC_-", Sheet: tab,
			Columns: []runner.Column{{Key: "n", Title: "N"}, {Key: "h", Title: "H"}}, Rows: []map[string]any{{"n": "x",
				"h": 1.5}, {"n": nil, "h": true}}})
		below := map[string]int{"a": 2}[tab]
		want := runner.Written{SpreadsheetID: "1AbC_-", UpdatedRange: "a!A1:B3", UpdatedRows: 2, UpdatedCells: 6,
			URL: "https://docs.example/x", RowsBelow: &below}
		d := cmp.Diff(want, got)
		expect.That(t, err == nil && d == "", "%v %v", d, err)
	}
	want := "GET /v4/spreadsheets/1AbC_- POST /v4/spreadsheets/1AbC_-:batchUpdate PUT " +
		"/v4/spreadsheets/1AbC_-/values/%27a%27%21A1:B3 GET /v4/spreadsheets/1AbC_-/values/%27a%27%21A4:B9"
	expect.Is(t, strings.Join(asked[:4], " "), want, "asked")
}

// A spreadsheet's id is checked as a whole, so that nothing else gets into an address.
func TestOnlyAnIDNamesASpreadsheet(t *testing.T) {
	called := false
	s := expect.Server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	for _, id := range []string{"", "..", "1AbC/../../other", "1AbC../../../other", "1AbC?x=", "1AbC:batchUpdate",
		"1AbC%2f", "１ＡｂＣ", strings.Repeat("a", 201)} {
		_, err := runner.NewSheets(s.URL, token("token"), wire.NewHTTP()).Write(t.Context(),
			runner.Table{SpreadsheetID: id, Sheet: "a", Columns: []runner.Column{{Key: "n", Title: "N"}}})
		var e *explain.CallError
		expect.That(t, errors.As(err, &e) && e.Outcome == explain.CallFailed &&
			e.Problem == explain.ProblemBadArguments && !called, "%q: %v, called: %t", id, err, called)
	}
}

const sheetTool = "write_rows_to_google_sheet"

func TestRowsAreWrittenRaw(t *testing.T) {
	w := newWorld(t)
	want := [][]any{{"Name", "Hours"}, {"=1+1", 1.5}, {"", true}, {"", "[1]"}, {"9007199254740993", 25000000.0}}
	for range 2 { // the second time the tab exists, and the same call changes nothing
		var out runner.Written
		w.run(t, sheetTool, sheetArgs, &out)
		expect.Same(t, runner.Written{SpreadsheetID: "ringi-demo-sheet", UpdatedRange: "'tab ''a'''!A1:B5", UpdatedRows: 4,
			UpdatedCells: 10, URL: w.url + "/sheets/ringi-demo-sheet", RowsBelow: new(int)}, out)
		expect.Same(t, want, w.vendors.Rows("tab 'a'"))
	}
	expect.Is(t, len(w.vendors.Tabs()), 1, "tabs")
	e := w.refuse(t, sheetTool, strings.Replace(sheetArgs, "ringi-demo-sheet", "another", 1))
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNotFound, "%v", e)
}

// Rows are found where they stand just as they were to be written, and written by no look.
func TestWrittenRowsAreFound(t *testing.T) {
	w := newWorld(t)
	_, found := w.looks(t, sheetTool, sheetArgs)
	expect.That(t, !found && len(w.vendors.Tabs()) == 0, "found before it was written")
	var out, is runner.Written
	w.run(t, sheetTool, sheetArgs, &out)
	text, found := w.looks(t, sheetTool, sheetArgs)
	expect.Must(t, found, "not found")
	expect.NoError(t, json.Unmarshal([]byte(text), &is))
	expect.Same(t, out, is)
	expect.NoError(t, w.vendors.Put("'tab ''a'''!B3:B3", [][]any{{false}}))
	_, found = w.looks(t, sheetTool, sheetArgs)
	expect.That(t, !found, "found with another cell")
}

// table returns the arguments for a table with this many rows and columns.
func table(t *testing.T, tab string, rows, columns int) string {
	t.Helper()
	var titles []map[string]string
	for i := range columns {
		titles = append(titles, map[string]string{"key": "v", "title": fmt.Sprint(i)})
	}
	lines := make([]map[string]int, rows)
	for i := range lines {
		lines[i] = map[string]int{"v": i}
	}
	b := expect.Value(json.Marshal(map[string]any{"spreadsheet_id": "ringi-demo-sheet", "sheet": tab, "columns": titles,
		"rows": lines}))(t)
	return string(b)
}

func TestASpreadsheetWithoutRoom(t *testing.T) {
	for name, test := range map[string]struct {
		others    int // number of rows of 1,000 cells in other tabs
		tab       string
		rows      int
		full      bool
		wouldHave string
	}{
		"the last cells are free": {9974, "new", 900, false, ""},
		"no room for another tab": {9975, "new", 900, true, "10001000"},
		"no room to enlarge":      {9999, "small", 1001, true, "10001004"},
		"the tab is enlarged":     {900, "small", 1001, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			expect.NoError(t, w.vendors.Add("others", test.others, 1000))
			if test.tab == "small" {
				expect.NoError(t, w.vendors.Add("small", 500, 2))
			}
			if !test.full {
				var out runner.Written
				w.run(t, sheetTool, table(t, test.tab, test.rows, 2), &out)
				return
			}
			e := w.refuse(t, sheetTool, table(t, test.tab, test.rows, 2))
			expect.That(t, e.Problem == explain.ProblemSheetFull && e.Outcome == explain.CallFailed &&
				strings.Contains(e.Detail, test.wouldHave), "%v: %s", e, e.Detail)
			n := w.paths.of("/sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate") + w.vendors.Calls(sheetTool)
			expect.That(t, n == 0, "%d calls changed it", n)
		})
	}
}

// A cell that Google would refuse is named before a tab is made. Google counts units of UTF-16.
func TestACellThatIsTooLong(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"it just fits":           {strings.Repeat("あ", runner.MaxCell), ""},
		"one character too many": {strings.Repeat("x", runner.MaxCell+1), "50001"},
		"of two units each":      {strings.Repeat("𠮷", runner.MaxCell/2+1), "50002"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := expect.Value(json.Marshal(map[string]any{"spreadsheet_id": "ringi-demo-sheet", "sheet": "new",
				"columns": []any{map[string]string{"key": "n", "title": "Name"}, map[string]string{"key": "r", "title": "Reason"}},
				"rows":    []any{map[string]string{"n": "a", "r": "b"}, map[string]string{"n": "c", "r": test.text}}}))(t)
			if test.want == "" {
				var out runner.Written
				w.run(t, sheetTool, string(b), &out)
				return
			}
			e := w.refuse(t, sheetTool, string(b))
			expect.That(t, e.Problem == explain.ProblemCellTooLong && e.Outcome == explain.CallFailed, "%v", e)
			expect.Has(t, e.Detail, "row 3, column B (Reason)")
			expect.Has(t, e.Detail, test.want)
			expect.Is(t, len(w.vendors.Tabs()), 0, "tabs")
		})
	}
}

// Rows below the written table are kept and counted, so that people know of them. If they can't be counted, the write
// still succeeds.
func TestRowsThatStandBelowATableAreCounted(t *testing.T) {
	for name, test := range map[string]struct {
		before func(t *testing.T, w *world)
		rows   int
		below  *int
		more   bool
		reads  int
		breaks bool
	}{
		"a new tab":              {func(*testing.T, *world) {}, 2, new(0), false, 0, false},
		"a longer and wider one": {wrote(42, 5), 21, new(21), false, 1, false},
		"more than is read": {func(t *testing.T, w *world) {
			expect.NoError(t, w.vendors.Add("tab", 60_000, 2))
			wrote(20_000, 2)(t, w)
		}, 21, new(19_979), true, 1, false},
		"the count fails": {wrote(42, 2), 21, nil, false, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.before(t, w)
			reads := 0
			w.breaks = func(r *http.Request) bool {
				if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/values/") {
					return false
				}
				reads++
				return test.breaks
			}
			var out runner.Written
			synctest.Test(t, func(t *testing.T) { w.run(t, sheetTool, table(t, "tab", test.rows, 2), &out) })
			d := cmp.Diff(test.below, out.RowsBelow)
			expect.That(t, d == "" && out.MoreBelow == test.more && out.UpdatedRows == test.rows, "%+v %s", out, d)
			expect.Is(t, reads, test.reads, "read (times)")
		})
	}
}

// wrote returns a step that writes a table first.
func wrote(rows, columns int) func(t *testing.T, w *world) {
	return func(t *testing.T, w *world) {
		var out runner.Written
		w.run(t, sheetTool, table(t, "tab", rows, columns), &out)
	}
}
