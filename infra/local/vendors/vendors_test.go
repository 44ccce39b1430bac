package vendors_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
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
		"no token":            {hr + "/users/me", "", 401, `"code":"expired_access_token"`},
		"Google's token":      {hr + "/users/me", o.Token("google"), 401, `"code":"expired_access_token"`},
		"me":                  {hr + "/users/me", token, 200, `"role":"company_admin"`},
		"another company":     {hr + "/companies/1/employees", token, 403, `"status_code":403`},
		"limit of 101":        {hr + "/companies/1884310/employees?limit=101", token, 400, `"status_code":400`},
		"month 13":            {hr + "/employees/3510001/work_record_summaries/2026/13?company_id=1884310", token, 400, `"status_code":400`},
		"no company":          {hr + "/employees/3510001/work_record_summaries/2026/3", token, 400, "company_id"},
		"an unknown employee": {hr + "/employees/1/work_record_summaries/2026/3?company_id=1884310", token, 404, `"type":"not_found"`},
		"an unknown path":     {hr + "/banks", token, 404, `"status_code":404`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, header := o.get(t, "GET", test.path, test.token, "")
			if status != test.status || !strings.Contains(body, test.want) || header.Get("X-Ratelimit-Limit") != "10000" {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestFreeePages(t *testing.T) {
	o := open(t)
	seen := map[float64]bool{}
	for _, offset := range []string{"0", "20", "40", "60"} {
		_, body, _ := o.get(t, "GET", hr+"/companies/1884310/employees?with_no_payroll_calculation=true&limit=20&offset="+offset, o.Token("freee"), "")
		var page []map[string]any
		expect.NoError(t, json.Unmarshal([]byte(body), &page))
		for _, e := range page {
			seen[e["id"].(float64)] = true
		}
	}
	expect.That(t, len(seen) == 45, "%d people", len(seen))
}

func TestTheSameMonthIsTheSame(t *testing.T) {
	path := hr + "/employees/3510001/work_record_summaries/2026/3?company_id=1884310"
	one, two := open(t), open(t)
	_, a, _ := one.get(t, "GET", path, one.Token("freee"), "")
	_, b, _ := two.get(t, "GET", path, two.Token("freee"), "")
	_, c, _ := one.get(t, "GET", strings.Replace(path, "2026/3", "2026/4", 1), one.Token("freee"), "")
	expect.That(t, a == b && a != c, "%s\n%s\n%s", a, b, c)
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
		"a missing tab":       {"PUT", book + "/values/'a'!A1:A1?valueInputOption=RAW", "google", values, 400, "Unable to parse range"},
		"not RAW":             {"PUT", book + "/values/'a'!A1:A1?valueInputOption=USER_ENTERED", "google", values, 400, "valueInputOption"},
		"a range of nonsense": {"PUT", book + "/values/a1?valueInputOption=RAW", "google", values, 400, "Unable to parse range"},
		"another range":       {"PUT", book + "/values/'a'!A1:B1?valueInputOption=RAW", "google", values, 400, "do not match"},
		"an empty tab name":   {"POST", book + ":batchUpdate", "google", `{"requests":[{"addSheet":{"properties":{"title":""}}}]}`, 400, "already exists"},
		"a tab name in another case": {"POST", book + ":batchUpdate", "google", `{"requests":[{"addSheet":{"properties":{"title":"OVERTIME"}}}]}`, 400,
			`Invalid requests[0].addSheet: A sheet with the name \"OVERTIME\" already exists. Please enter another name.`},
		"a long tab name": {"POST", book + ":batchUpdate", "google", `{"requests":[{"addSheet":{"properties":{"title":"` + strings.Repeat("表", 101) + `"}}}]}`, 400,
			"100 characters"},
		"many columns": {"POST", book + ":batchUpdate", "google", `{"requests":[{"addSheet":{"properties":{"title":"w","gridProperties":{"rowCount":1,"columnCount":18279}}}}]}`, 400,
			"limit of 18278 columns"},
		"a long cell": {"PUT", book + "/values/'Overtime'!A1:A1?valueInputOption=RAW", "google",
			`{"range":"'Overtime'!A1:A1","majorDimension":"ROWS","values":[["` + strings.Repeat("x", 50_001) + `"]]}`, 400,
			"Your input contains more than the maximum of 50000 characters in a single cell."},
		"a cell as long as may be": {"PUT", book + "/values/'Overtime'!A1:A1?valueInputOption=RAW", "google",
			`{"range":"'Overtime'!A1:A1","majorDimension":"ROWS","values":[["` + strings.Repeat("x", 50_000) + `"]]}`, 200, "updatedCells"},
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
	if _, body, _ := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", ""); !strings.Contains(body, "Nothing has been written yet") {
		t.Error(body)
	}
	o.get(t, "POST", book+":batchUpdate", o.Token("google"), `{"requests":[{"addSheet":{"properties":{"title":"a"}}}]}`)
	status, body, _ := o.get(t, "PUT", book+"/values/'a'!A1:B2?valueInputOption=RAW", o.Token("google"),
		`{"range":"'a'!A1:B2","majorDimension":"ROWS","values":[["氏名","h"],["<script>alert(1)</script>","> 45h"]]}`)
	if status != 200 || !strings.Contains(body, `"updatedCells":4`) {
		t.Fatal(status, body)
	}
	_, body, header := o.get(t, "GET", "/sheets/ringi-demo-sheet", "", "")
	if !strings.Contains(body, "氏名") || strings.Contains(body, "<script>") || !strings.Contains(body, `<td class="flag">&gt; 45h</td>`) ||
		!strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Error(body)
	}
	if status, _, _ := o.get(t, "GET", "/sheets/other", "", ""); status != 404 {
		t.Errorf("another spreadsheet: %d", status)
	}
}
