package vendors_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	client "ringi/shared/tool/github"
	"ringi/shared/tool/wire"
)

type office struct {
	*vendors.Vendors
	url string
}

func open(t *testing.T) office {
	t.Helper()
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	return office{v, s.URL}
}

func (o office) get(t *testing.T, method, path, token, body string) (int, string, http.Header) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(body)))(t)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	b := expect.Value(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(b), res.Header
}

const hr = "/freee/hr/api/v1"

func TestFreeeAnswers(t *testing.T) {
	o := open(t)
	token := o.Token("freee")
	for name, test := range map[string]struct {
		path, token string
		status      int
		want        string
	}{
		"Google's token": {hr + "/users/me", o.Token("google"), 401, `"code":"expired_access_token"`},
		"month 13": {hr + "/employees/3510001/work_record_summaries/2026/13?company_id=1884310", token, 400,
			`"status_code":400`},
		"no company":      {hr + "/employees/3510001/work_record_summaries/2026/3", token, 400, "company_id"},
		"an unknown path": {hr + "/banks", token, 404, `"status_code":404`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, _ := o.get(t, "GET", test.path, test.token, "")
			expect.That(t, status == test.status && strings.Contains(body, test.want), "%d %s", status, body)
		})
	}
}

func TestSheetsRefuses(t *testing.T) {
	o := open(t)
	expect.NoError(t, o.Add("overtime", 0, 0))
	const book = "/sheets/v4/spreadsheets/ringi-demo-sheet"
	values := `{"range":"'a'!A1:A1","majorDimension":"ROWS","values":[["x"]]}`
	for name, test := range map[string]struct {
		method, path, token, body string
		status                    int
		want                      string
	}{
		"no token":            {"GET", book, "", "", 401, "UNAUTHENTICATED"},
		"another spreadsheet": {"GET", "/sheets/v4/spreadsheets/x", "google", "", 404, "NOT_FOUND"},
		"a missing tab": {"PUT", book + "/values/'a'!A1:A1?valueInputOption=RAW", "google", values, 400,
			"Unable to parse range"},
		"not RAW": {"PUT", book + "/values/'a'!A1:A1?valueInputOption=USER_ENTERED", "google", values, 400,
			"valueInputOption"},
		"a range of nonsense": {"PUT", book + "/values/a1?valueInputOption=RAW", "google", values, 400,
			"Unable to parse range"},
		"another range": {"PUT", book + "/values/'a'!A1:B1?valueInputOption=RAW", "google", values, 400, "do not match"},
		"an empty tab name": {"POST", book + ":batchUpdate", "google",
			`{"requests":[{"addSheet":{"properties":{"title":""}}}]}`, 400, "already exists"},
		"a tab name in another case": {"POST", book + ":batchUpdate", "google",
			`{"requests":[{"addSheet":{"properties":{"title":"OVERTIME"}}}]}`, 400,
			`Invalid requests[0].addSheet: A sheet with the name \"OVERTIME\" already exists. Please enter another name.`},
		"a long tab name": {"POST", book + ":batchUpdate", "google",
			`{"requests":[{"addSheet":{"properties":{"title":"` + strings.Repeat("表", 101) + `"}}}]}`, 400,
			"100 characters"},
		"a long cell": {"PUT", book + "/values/'Overtime'!A1:A1?valueInputOption=RAW", "google",
			`{"range":"'Overtime'!A1:A1","majorDimension":"ROWS","values":[["` + strings.Repeat("x", 50_001) + `"]]}`, 400,
			"Your input contains more than the maximum of 50000 characters in a single cell."},
		"a cell as long as may be": {"PUT", book + "/values/'Overtime'!A1:A1?valueInputOption=RAW", "google",
			`{"range":"'Overtime'!A1:A1","majorDimension":"ROWS","values":[["` + strings.Repeat("x",
				50_000) + `"]]}`, 200, "updatedCells"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, _ := o.get(t, test.method, test.path, o.Token(test.token), test.body)
			expect.That(t, status == test.status && strings.Contains(body, test.want), "%d %s", status, body)
		})
	}
}

func TestValuesBeyondTheRangeAreRefused(t *testing.T) {
	o := open(t)
	const book = "/sheets/v4/spreadsheets/ringi-demo-sheet"
	o.get(t, "POST", book+":batchUpdate", o.Token("google"), `{"requests":[{"addSheet":{"properties":{"title":"a"}}}]}`)
	for _, values := range []string{`[["x","y"]]`, `[["x"],["y"]]`} {
		status, body, _ := o.get(t, "PUT", book+"/values/'a'!A1:A1?valueInputOption=RAW", o.Token("google"),
			`{"range":"'a'!A1:A1","majorDimension":"ROWS","values":`+values+`}`)
		expect.That(t, status == 400 && strings.Contains(body, "Requested writing within range"),
			"%s: %d %s", values, status, body)
	}
	_, body, _ := o.get(t, "GET", book+"/values/'a'!A1:B2", o.Token("google"), "")
	expect.That(t, strings.Contains(body, `"range":"'a'!A1:B2"`) && !strings.Contains(body, `"values"`), "%v", body)
}

func TestThePageShowsTheSheetAsText(t *testing.T) {
	o := open(t)
	const book = "/sheets/v4/spreadsheets/ringi-demo-sheet"
	for locale, says := range map[string][]string{"en": {"<b>Attendance 2026</b>", "Nothing has been written yet"},
		"ja": {"<b>勤怠 2026</b>", "まだ何も書き込まれていません"}} {
		o.Speak(locale)
		_, body, _ := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", "")
		for _, text := range says {
			expect.Has(t, body, text)
		}
		expect.That(t, !strings.Contains(body, "ringi-demo-sheet"), "%s", body)
	}
	o.Speak("ja")
	o.get(t, "POST", book+":batchUpdate", o.Token("google"), `{"requests":[{"addSheet":{"properties":{"title":"a"}}}]}`)
	status, body, _ := o.get(t, "PUT", book+"/values/'a'!A1:B2?valueInputOption=RAW", o.Token("google"),
		`{"range":"'a'!A1:B2","majorDimension":"ROWS","values":[["氏名","h"],["<script>alert(1)</script>","> 45h"]]}`)
	expect.Must(t, status == 200 && strings.Contains(body, `"updatedCells":4`), "%v %v", status, body)
	_, body, header := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", "")
	expect.That(t, strings.Contains(body, "氏名") && !strings.Contains(body, "<script>") &&
		strings.Contains(body, `<td class="flag">&gt; 45h</td>`) &&
		strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'"), "%v", body)
	status, _, _ = o.get(t, "GET", "/sheets/other", "", "")
	expect.That(t, status == 404, "another spreadsheet: %d", status)
}

// The MCP server must answer in the published format when the client names a protocol version.
func TestTheRoomsAnswerAsTheProtocolHasIt(t *testing.T) {
	api := expect.Value(vendors.Published("mcp"))(t)
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	const book = `{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}`
	const order = `{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000}],"currency":"JPY"}`
	for _, tt := range []struct{ name, version, body, schema, has string }{
		{"the tools", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "ListToolsResultResponse",
			`"book_room"`},
		{"a booking", "2025-11-25",
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book_room",` +
				`"arguments":` + book + `}}`, "CallToolResultResponse", `"structuredContent"`},
		{"the same once more", "2025-11-25",
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"book_room",` +
				`"arguments":` + book + `}}`, "CallToolResultResponse", `"isError":true`},
		{"an order", "2025-11-25",
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"place_order",` +
				`"arguments":` + order + `}}`, "CallToolResultResponse", `"PO-0001"`},
		{"no such tool", "2025-11-25",
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no",` +
				`"arguments":{}}}`, "JSONRPCErrorResponse", `-32602`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+vendors.RoomsPath,
				strings.NewReader(tt.body)))(t)
			for name, value := range map[string]string{
				"Authorization": "Bearer " + v.RoomsToken(), "Content-Type": "application/json",
				"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": tt.version,
			} {
				r.Header.Set(name, value)
			}
			res := expect.Value(http.DefaultClient.Do(r))(t)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			expect.That(t, err == nil && strings.Contains(string(body), tt.has), "%v %d %s", err, res.StatusCode, body)
			for _, d := range api.Differences(tt.schema, elements(t, string(body))[0]) {
				t.Error(d)
			}
		})
	}
}

func TestTheRoomsAreBehindTheirDoor(t *testing.T) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	ask := func(token, body string) int {
		t.Helper()
		r := expect.Value(http.NewRequest(http.MethodPost, s.URL+vendors.RoomsPath, strings.NewReader(body)))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		res.Body.Close()
		return res.StatusCode
	}
	book := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_room",` +
		`"arguments":{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}}}`
	got := ask("another", book)
	expect.That(t, got == http.StatusUnauthorized && v.Calls(vendors.BookRoom) == 0, "another token: %d", got)
	v.Fail(vendors.BookRoom, http.StatusTooManyRequests, true)
	expect.Is(t, ask(v.RoomsToken(), book), http.StatusTooManyRequests, "made to fail")
	v.Fail(vendors.BookRoom, 0, false)
	got = ask(v.RoomsToken(), book)
	expect.That(t, got == http.StatusOK && len(v.Rooms().Bookings()) == 1 && v.Calls(vendors.BookRoom) == 2,
		"booked: %d, %d calls", got, v.Calls(vendors.BookRoom))
}

// ordered calls the tool that places orders, and returns what it answers, or nil if it refuses.
func ordered(t *testing.T, s *vendors.Rooms, arguments string) map[string]any {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	expect.Value(s.MCP().Connect(t.Context(), there, nil))(t)
	client := expect.Value(mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil))(t)
	defer client.Close()
	call := &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(arguments)}
	answer, err := client.CallTool(t.Context(), call)
	if err != nil || answer.IsError {
		return nil
	}
	return answer.StructuredContent.(map[string]any)
}

func TestAnOrderIsPlacedOnceUnderItsReference(t *testing.T) {
	s := vendors.NewRooms()
	const pc, again = `{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000},` +
		`{"name":"mouse","quantity":3,"unit_price":2000}],"currency":"JPY","reference":"A1"}`, `{"supplier":"Acme",` +
		`"items":[{"name":"PC","quantity":3,"unit_price":149000}],"currency":"JPY","reference":"A1"}`
	first := map[string]any{"order_number": "PO-0001", "total": 304000.0}
	expect.Same(t, ordered(t, s, pc), first)
	expect.Same(t, ordered(t, s, pc), first)
	expect.That(t, ordered(t, s, again) == nil, "another order was placed under the reference")
	expect.Is(t, len(s.Orders()), 1)
	const plain = `{"supplier":"Acme","items":[{"name":"PC","quantity":1,"unit_price":149000}],"currency":"JPY"}`
	for _, number := range []string{"PO-0002", "PO-0003"} { // without a reference each is another order
		expect.Is(t, ordered(t, s, plain)["order_number"], any(number))
	}
}

// What freee and the rooms name is named in either language; the codes of departments are their English names.
func TestNamesAreInTheWorkspacesLanguage(t *testing.T) {
	o := open(t)
	ask := func() string {
		all := ""
		for _, path := range []string{"/companies/1884310/employees?limit=100", "/groups?company_id=1884310",
			"/positions?company_id=1884310",
			"/employee_group_memberships?company_id=1884310&base_date=2026-11-01&limit=100"} {
			status, body, _ := o.get(t, "GET", hr+path, o.Token("freee"), "")
			expect.Must(t, status == 200, "%s: %d %s", path, status, body)
			all += body
		}
		return all
	}
	japanese := ask()
	for _, name := range []string{"佐藤 花子", `"code":"Sales","name":"営業部"`, "部長"} {
		expect.Has(t, japanese, name, "in Japanese")
	}
	o.Speak("en")
	english := ask()
	expect.Has(t, english, `"display_name":"Hanako Sato"`, "in English")
	code := regexp.MustCompile(`("(?:group_)?code":)"(?:人事部|営業部|開発部|第一営業課)"`) // they can be asked for by it
	expect.Has(t, english, `"code":"営業部","name":"Sales"`, "in English")
	expect.That(t, !strings.ContainsFunc(code.ReplaceAllString(english, "$1"), func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}), "not in Latin letters: %s", english)
	o.Speak("ja")
	expect.Is(t, ask(), japanese)
}

func TestThePageOfAPullRequest(t *testing.T) {
	v := vendors.New()
	t.Cleanup(v.GitHub.Close)
	demo := v.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
	server := httptest.NewServer(v.Handler())
	defer server.Close()
	page := func(path string) (int, string) {
		res := expect.Value(http.Get(server.URL + vendors.GitHubPages + path))(t)
		defer res.Body.Close()
		return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(t))
	}
	commit := demo.Commit("ringi/S/A", "x", map[string]vendors.File{"a.txt": {Content: "<b>\n"}}, time.Now())
	app := expect.Value(client.NewApp(vendors.AppID, vendors.Installation, v.GitHub.Key()))(t)
	c := client.Config{Base: server.URL + vendors.GitHubPath, HTTP: wire.NewHTTP(), Now: time.Now}
	expect.Value(c.Open(app, demo.Owner+"/"+demo.Name, demo.ID, client.Pushes()).Carry(t.Context(),
		client.Order{RepositoryID: demo.ID, Branch: "ringi/S/A", Into: "main", Title: "<Title>", Body: "why"},
		client.Step{Commit: commit, Branch: true}, func(context.Context, client.Step) error { return nil }))(t)
	status, text := page("ringi-demo/shop/pull/1")
	expect.That(t, status == 200 && strings.Contains(text, "only on this machine") &&
		strings.Contains(text, "&#43;&lt;b&gt;") && strings.Contains(text, "&lt;Title&gt; #1"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/tree/ringi/S/A")
	expect.That(t, status == 200 && strings.Contains(text, `<pre id="files">a.txt</pre>`) &&
		strings.Contains(text, "only on this machine"), "%d %s", status, text)
	status, text = page("ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/shop")
	expect.That(t, status == 200 && strings.Contains(text,
		"<pre id=\"files\">shop/__init__.py\nshop/cart.py\nshop/price.py</pre>"), "%d %s", status, text)
	for _, none := range []string{"ringi-demo/shop/tree/none", "ringi-demo/shop/tree/" + demo.Ref("heads/main") + "/none",
		"local/none/tree/main", "ringi-demo/shop/pull/2", "ringi-demo/shop/pull/0", "ringi-demo/shop/pull/x",
		"local/none/pull/1"} {
		status, _ = page(none)
		expect.Is(t, status, http.StatusNotFound, none)
	}
}
