package vendors_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

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
		t.Run(test.name, func(t *testing.T) {
			vendor, _, nobody := strings.Cut(test.vendor, "/")
			api := expect.Value(vendors.Published(vendor))(t)
			token := o.Token(map[string]string{"freee": "freee", "sheets": "google"}[vendor])
			if nobody {
				token = ""
			}
			status, body, _ := o.get(t, test.method, test.path, token, test.body)
			expect.Must(t, status == test.status, "%d %s", status, body)
			for _, one := range elements(t, body) {
				for _, d := range api.Differences(test.schema, one) {
					t.Error(d)
				}
			}
		})
	}
}

// Each tool of a vendor must have an answer in answers and must be able to fail. Slack's answers are checked by the
// sandbox's tests, and GitHub's, which a tool calls several times, by those of package github.
func TestEveryToolsAnswerIsHeldAgainstWhatIsPublished(t *testing.T) {
	o := open(t)
	for _, a := range answers {
		if a.status == http.StatusOK {
			o.get(t, a.method, a.path, o.Token(map[string]string{"freee": "freee", "sheets": "google"}[a.vendor]), a.body)
		}
	}
	for _, s := range expect.Value(tool.Builtin())(t).All() {
		if s.Provider == "" || s.Provider == "slack" || s.Provider == vendors.GitHub {
			continue
		}
		expect.That(t, o.Calls(s.Name) != 0,
			"no answer for %s is held against what %s publishes: name the tool at its route (freeeRoutes of "+
				"infra/local/vendors/freee.go), put the schema into published/ and a row into answers of "+
				"published_test.go", s.Name, s.Provider)
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
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res.StatusCode, err)
		}
		for _, d := range api.Check(of[1], string(body)) {
			t.Errorf("%s: %s", provider, d)
		}
	}
}

// Errors must have freee's format and the headers of all its answers.
func TestRefusalsAreAsFreeePublishesThem(t *testing.T) {
	api := expect.Value(vendors.Published("freee"))(t)
	o := open(t)
	for status, schema := range map[int]string{401: "accessDeniedError", 403: "forbiddenError", 429: "error",
		500: "internalServerError"} {
		o.Fail("list_employees", status, true)
		got, body, header := o.get(t, "GET", hr+"/companies/1884310/employees", o.Token("freee"), "")
		_, err := time.Parse("2006-01-02T15:04:05.000000Z", header.Get("X-Ratelimit-Reset"))
		expect.That(t, err == nil && got == status && header.Get("X-Request-Id") != "", "%d %v", got, err)
		for _, d := range api.Check(schema, body) {
			t.Error(d)
		}
	}
}

// The reply to addSheet must describe the new tab.
func TestAMadeTabIsTold(t *testing.T) {
	o := open(t)
	_, body, _ := o.get(t, "POST", "/sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate", o.Token("google"),
		`{"requests":[{"addSheet":{"properties":{"title":"a"}}}]}`)
	expect.That(t, strings.Contains(body, `"addSheet":{"properties":{`) && strings.Contains(body, `"title":"a"`),
		"%v", body)
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

// For strings without published values, the published examples are used.
func TestPaydaysAreSpelledAsPublished(t *testing.T) {
	api := expect.Value(vendors.Published("freee"))(t)
	of := api.Schemas["ApiV1CompaniesEmployeeSerializer"].Properties
	o := open(t)
	_, body, _ := o.get(t, "GET", hr+"/companies/1884310/employees?limit=100&with_no_payroll_calculation=true",
		o.Token("freee"), "")
	found := map[any]int{}
	for _, one := range elements(t, body) {
		e, _ := one.(map[string]any)
		found[e["month_of_pay_day"]]++
		day := e["closing_day"]
		expect.That(t, day == nil || day == of["closing_day"].Example, "closes on day %v", day)
		if e["month_of_pay_day"] == nil && e["payroll_calculation"] != false {
			t.Errorf("%v: paid in no month", e["id"])
		}
	}
	expect.That(t, found[of["month_of_pay_day"].Example] == 40 && found["current_month"] == 4 && found[nil] == 1,
		"paid: %v", found)
}
