package vendors_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

type office struct {
	*vendors.Vendors
	url string
}

func open(t *testing.T) office {
	t.Helper()
	v := vendors.New()
	s := expect.Server(t, v.Handler())
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

func TestSheetsRefuses(t *testing.T) {
	o := open(t)
	expect.NoError(t, o.Add("overtime", 0, 0))
	put := func(cells, options, body string) [3]string {
		return [3]string{"PUT", book + "/values/" + cells + "?valueInputOption=" + options,
			`{"range":"` + strings.Replace(cells, "B1", "A1", 1) + `","majorDimension":"ROWS","values":` + body + `}`}
	}
	tab := func(title string) [3]string {
		return [3]string{"POST", book + ":batchUpdate",
			`{"requests":[{"addSheet":{"properties":{"title":"` + title + `"}}}]}`}
	}
	const cell, one = "'Overtime'!A1:A1", `[["x"]]`
	for want, call := range map[string][3]string{
		"400 Unable to parse range":                    put("'b'!A1:A1", "RAW", one),
		"400 valueInputOption":                         put(cell, "USER_ENTERED", one),
		"400 do not match":                             put("'Overtime'!A1:B1", "RAW", one),
		"400 Requested writing within range":           put(cell, "RAW", `[["x"],["y"]]`),
		"400 Requested writing within":                 put(cell, "RAW", `[["x","y"]]`),
		"400 maximum of 50000 characters":              put(cell, "RAW", `[["`+strings.Repeat("x", 50_001)+`"]]`),
		"200 updatedCells":                             put(cell, "RAW", `[["`+strings.Repeat("x", 50_000)+`"]]`),
		"400 already exists":                           tab(""),
		"400 the name \\\"OVERTIME\\\" already exists": tab("OVERTIME"),
		"400 100 characters":                           tab(strings.Repeat("表", 101)),
	} {
		status, body, _ := o.get(t, call[0], call[1], o.Grant("google").Access, call[2])
		code, says, _ := strings.Cut(want, " ")
		expect.That(t, fmt.Sprint(status) == code && strings.Contains(body, says), "%s: %d %s", want, status, body)
	}
}

func TestThePageShowsTheSheetAsText(t *testing.T) {
	o := open(t)
	_, body, _ := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", "")
	expect.Has(t, body, "<b>ringi-demo-sheet</b>")
	expect.NoError(t, o.Add("a", 0, 0))
	o.get(t, "PUT", book+"/values/'a'!A1:B2?valueInputOption=RAW", o.Grant("google").Access,
		`{"range":"'a'!A1:B2","majorDimension":"ROWS","values":[["氏名","h"],["<script>alert(1)</script>","> 45h"]]}`)
	_, body, header := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", "")
	expect.That(t, strings.Contains(body, "氏名") && !strings.Contains(body, "<script>") &&
		strings.Contains(body, `<td class="flag">&gt; 45h</td>`) &&
		strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'"), "%v", body)
}

// The MCP server must answer in the published format when the client names a protocol version.
func TestTheRoomsAnswerAsTheProtocolHasIt(t *testing.T) {
	api := expect.Value(vendors.Published("mcp"))(t)
	v := vendors.New()
	s := expect.Server(t, v.Handler())
	const book = `{"room_id":"fuji","date":"2026-04-01","start":"10:00","end":"11:00","title":"t"}`
	const order = `{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000}],"currency":"JPY"}`
	call := func(tool, arguments string) string {
		return `"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}`
	}
	for _, tt := range []struct{ name, method, schema, has string }{
		{"the tools", `"tools/list","params":{}`, "ListToolsResultResponse", `"book_room"`},
		{"a booking", call("book_room", book), "CallToolResultResponse", `"structuredContent"`},
		{"the same once more", call("book_room", book), "CallToolResultResponse", `"isError":true`},
		{"an order", call("place_order", order), "CallToolResultResponse", `"PO-0001"`},
		{"no such tool", call("no", "{}"), "JSONRPCErrorResponse", `-32602`},
	} {
		for token, want := range map[string]int{v.RoomsToken: http.StatusOK, "another": http.StatusUnauthorized} {
			r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+vendors.RoomsPath,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":`+tt.method+`}`)))(t)
			for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json",
				"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"} {
				r.Header.Set(name, value)
			}
			res := expect.Value(http.DefaultClient.Do(r))(t)
			body := string(expect.Value(io.ReadAll(res.Body))(t))
			res.Body.Close()
			expect.Must(t, res.StatusCode == want, "%s: %d", tt.name, res.StatusCode)
			if want == http.StatusOK {
				expect.Has(t, body, tt.has, tt.name)
				expect.Same(t, []string(nil), api.Differences(tt.schema, elements(t, body)[0]))
			}
		}
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
			status, body, _ := o.get(t, "GET", hr+path, o.Grant("freee").Access, "")
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

const book = "/sheets/v4/spreadsheets/ringi-demo-sheet"

// answers are calls of the stand-ins, made in this order, and the published schemas of their answers.
var answers = []struct {
	name, vendor, method, path, body string
	status                           int
	schema                           string // of each element if the answer is a list
}{
	{"me", "freee", "GET", hr + "/users/me", "", 200, "ApiV1UsersMeSerializer"},
	{"employees", "freee", "GET", hr + "/companies/1884310/employees?limit=100&with_no_payroll_calculation=true", "", 200,
		"ApiV1CompaniesEmployeeSerializer"},
	{"a summary", "freee", "GET", hr + "/employees/3510001/work_record_summaries/2026/3?company_id=1884310", "", 200,
		"ApiV1EmployeesWorkRecordSummarySerializer"},
	{"groups", "freee", "GET", hr + "/groups?company_id=1884310", "", 200, "ApiV1GroupsIndexResponse"},
	{"positions", "freee", "GET", hr + "/positions?company_id=1884310", "", 200, "ApiV1PositionIndexResponse"},
	{"memberships", "freee", "GET",
		hr + "/employee_group_memberships?company_id=1884310&base_date=2026-04-01&limit=100&with_no_payroll_calculation=true",
		"", 200, "ApiV1EmployeeGroupMembershipsIndexSerializer"},
	{"bad arguments", "freee", "GET", hr + "/companies/1884310/employees?limit=101", "", 400, "error"},
	{"no token", "freee/none", "GET", hr + "/users/me", "", 401, "accessDeniedError"},
	{"no permission", "freee", "GET", hr + "/companies/1/employees", "", 403, "forbiddenError"},
	{"nobody", "freee", "GET", hr + "/employees/1/work_record_summaries/2026/3?company_id=1884310", "", 404,
		"notfoundError"},
	{"a tab is made", "sheets", "POST", book + ":batchUpdate", `{"requests":[{"addSheet":{"properties":{"title":"a"}}}]}`,
		200, "BatchUpdateSpreadsheetResponse"},
	{"values are written", "sheets", "PUT", book + "/values/'a'!A1:B1?valueInputOption=RAW",
		`{"range":"'a'!A1:B1","majorDimension":"ROWS","values":[["x",1]]}`, 200, "UpdateValuesResponse"},
	{"values are read", "sheets", "GET", book + "/values/'a'!A1:B1", "", 200, "ValueRange"},
	{"the spreadsheet", "sheets", "GET", book, "", 200, "Spreadsheet"},
	{"no spreadsheet", "sheets", "GET", "/sheets/v4/spreadsheets/x", "", 404, "Error"},
}

// The answers of the stand-ins must have the names, types and values that the vendors publish.
func TestAnswersAreAsTheVendorsPublishThem(t *testing.T) {
	o := open(t)
	for _, test := range answers {
		vendor, _, nobody := strings.Cut(test.vendor, "/")
		api := expect.Value(vendors.Published(vendor))(t)
		token := o.Grant(map[string]string{"freee": "freee", "sheets": "google"}[vendor]).Access
		if nobody {
			token = ""
		}
		status, body, _ := o.get(t, test.method, test.path, token, test.body)
		expect.Must(t, status == test.status, "%s: %d %s", test.name, status, body)
		for _, one := range elements(t, body) {
			expect.Same(t, []string(nil), api.Differences(test.schema, one))
		}
	}
}

// Each tool of a vendor must have an answer in answers and must be able to fail. Slack's answers are checked by the
// sandbox's tests, and GitHub's, which a tool calls several times, by those of package github.
func TestEveryToolsAnswerIsHeldAgainstWhatIsPublished(t *testing.T) {
	o := open(t)
	for _, a := range answers {
		if a.status == http.StatusOK {
			o.get(t, a.method, a.path, o.Grant(map[string]string{"freee": "freee", "sheets": "google"}[a.vendor]).Access, a.body)
		}
	}
	for _, s := range expect.Value(tool.Builtin())(t).All() {
		if s.Provider == "" || s.Provider == "slack" || s.Provider == vendors.GitHub {
			continue
		}
		expect.That(t, o.Calls(s.Name) != 0,
			"no answer for %s is held against what %s publishes: name the tool at its route (freeeRoutes of "+
				"infra/local/vendors/freee.go), put the schema into the vendor's file, infra/local/vendors/<vendor>.json, "+
				"and a row into answers of published_test.go", s.Name, s.Provider)
		expect.That(t, slices.Contains(vendors.Tools(), s.Name),
			"%s can't be made to fail: name it in Tools of infra/local/vendors/vendors.go, or at its route", s.Name)
	}
}

// Each vendor answers a refresh in its own format.
func TestTokensAreAsTheVendorsPublishThem(t *testing.T) {
	o := open(t)
	for provider, of := range map[string][2]string{"freee": {"freee", "token"}, "google": {"sheets", "Token"}} {
		api := expect.Value(vendors.Published(of[0]))(t)
		client := o.Client(provider)
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {client.ID}, "client_secret": {client.Secret},
			"refresh_token": {o.Grant(provider).Refresh}}
		res := expect.Value(http.PostForm(o.url+"/"+provider+"/token", form))(t)
		body := string(expect.Value(io.ReadAll(res.Body))(t))
		res.Body.Close()
		expect.Same(t, []string(nil), api.Differences(of[1], elements(t, body)[0]))
	}
}

// elements returns the elements of a list, or the value itself.
func elements(t *testing.T, body string) []any {
	t.Helper()
	var v any
	err := json.Unmarshal([]byte(body), &v)
	expect.Must(t, err == nil, "%v: %s", err, body)
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list
	}
	return []any{v}
}

// at is when the tests' commits are made.
var at = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// someFiles have names that Git sorts in its own way, modes, a link, a submodule and attributes.
func someFiles() map[string]vendors.File {
	return map[string]vendors.File{
		"README.md": {Content: "# shop\n"}, "run.sh": {Content: "#!/bin/sh\n", Mode: "100755"},
		"a-b": {Content: "1"}, "a/x.py": {Content: "x = 1\r\n"}, "a.b": {Content: "2"}, "a/b/c/d": {Content: ""},
		"latest": {Content: "a/x.py", Mode: "120000"}, "vendored": {Content: strings.Repeat("1", 40), Mode: "160000"},
		"hidden/secret.txt": {Content: "s"}, "version.txt": {Content: "at $Format:%H$\n"}, "日本.txt": {Content: "語"},
		".gitattributes": {Content: "hidden export-ignore\nversion.txt export-subst\n"},
	}
}

type world struct {
	*vendors.GitHubServer
	repo  *vendors.Repository
	first string // its commit
	url   string
	token string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{GitHubServer: expect.Value(vendors.NewGitHub(t.TempDir()))(t)}
	w.repo = w.Add("acme", "shop", nil)
	w.first = w.repo.Commit("main", "first", someFiles(), at)
	w.repo.Tag("v1", w.first)
	s := expect.Server(t, w.Handler())
	w.url = s.URL
	return w
}

// signed returns a token of the App itself, valid for a time.
func (w *world) signed(t *testing.T, app string, valid time.Duration) string {
	t.Helper()
	block, _ := pem.Decode([]byte(w.Key))
	key := expect.Value(x509.ParsePKCS1PrivateKey(block.Bytes))(t)
	now := time.Now()
	in := base64.RawURLEncoding.EncodeToString
	text := in([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." +
		in(fmt.Appendf(nil, `{"iat":%d,"exp":%d,"iss":%q}`, now.Unix(), now.Add(valid).Unix(), app))
	sum := sha256.Sum256([]byte(text))
	return text + "." + in(expect.Value(rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:]))(t))
}

// ask makes a call with a token for reading and writing.
func (w *world) ask(t *testing.T, method, path, body string) (int, any) {
	t.Helper()
	r := expect.Value(http.NewRequest(method, w.url+path, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+w.token)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	var out any
	expect.NoError(t, json.NewDecoder(res.Body).Decode(&out))
	return res.StatusCode, out
}

func TestAnswersHaveThePublishedForm(t *testing.T) {
	w := newWorld(t)
	api := expect.Value(vendors.Published("github"))(t)
	w.token = w.signed(t, vendors.AppID, time.Minute)
	_, minted := w.ask(t, "POST", "/app/installations/"+vendors.Installation+"/access_tokens",
		`{"repository_ids":[7000001],"permissions":{"contents":"write","pull_requests":"write"}}`)
	expect.Same(t, []string(nil), api.Differences("installation-token", minted))
	w.token, _ = minted.(map[string]any)["token"].(string)
	const repo = "/repos/acme/shop"
	sha := func(method, path, body, schema string, status int) string {
		t.Helper()
		code, got := w.ask(t, method, path, body)
		expect.Is(t, code, status, "%s %s: %v", method, path, got)
		if list, ok := got.([]any); ok {
			expect.Must(t, len(list) == 1, "%v", list)
			got = list[0]
		}
		expect.Same(t, []string(nil), api.Differences(schema, got))
		text, _ := got.(map[string]any)["sha"].(string)
		return text
	}
	sha("GET", repo, "", "full-repository", 200)
	sha("GET", repo+"/git/ref/heads/main", "", "git-ref", 200)
	sha("GET", repo+"/git/ref/heads/none", "", "basic-error", 404)
	sha("GET", repo+"/git/tags/"+w.repo.Ref("tags/v1"), "", "git-tag", 200)
	sha("GET", repo+"/git/commits/"+w.first, "", "git-commit", 200)
	base := sha("GET", repo+"/git/trees/"+w.first+"?recursive=1", "", "git-tree", 200)
	sha("GET", repo+"/git/blobs/"+files.BlobSHA([]byte("1")), "", "blob", 200)
	tree := sha("POST", repo+"/git/trees",
		`{"base_tree":"`+base+`","tree":[{"path":"a-b","mode":"100644","type":"blob","content":"3"}]}`, "git-tree", 201)
	commit := sha("POST", repo+"/git/commits", `{"message":"m","tree":"`+tree+`","parents":["`+w.first+`"]}`,
		"git-commit", 201)
	sha("POST", repo+"/git/refs", `{"ref":"refs/heads/new","sha":"`+commit+`"}`, "git-ref", 201)
	sha("POST", repo+"/git/refs", `{"ref":"refs/heads/new","sha":"`+commit+`"}`, "basic-error", 422)
	sha("POST", repo+"/pulls", `{"title":"t","head":"new","base":"main","draft":true}`, "pull-request", 201)
	sha("POST", repo+"/pulls", `{"title":"t","head":"new","base":"main"}`, "validation-error", 422)
	sha("GET", repo+"/pulls?head=acme:new", "", "pull-request-simple", 200)
}
