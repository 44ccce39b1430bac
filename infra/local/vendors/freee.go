package vendors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// freeeRoutes are the routes below /freee/hr/api/v1. Each has the tool that calls it, whose faults then apply.
var freeeRoutes = []struct {
	path, tool string
	answer     func(*Vendors, http.ResponseWriter, *http.Request)
}{
	{"/users/me", "", (*Vendors).me},
	{"/companies/{company}/employees", "list_employees", (*Vendors).employees},
	{"/groups", "list_departments", ofTheCompany((*Vendors).groups)},
	{"/positions", "list_positions", ofTheCompany((*Vendors).positions)},
	{"/employees/{employee}/work_record_summaries/{year}/{month}", "list_attendance", ofTheCompany((*Vendors).summary)},
	{"/employee_group_memberships", "", (*Vendors).memberships},
}

// freee wraps a handler: it checks the token, sets the rate limit headers and applies the tool's faults.
func (v *Vendors) freee(tool string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Ratelimit-Limit", "10000")
		h.Set("X-Ratelimit-Remaining", strconv.Itoa(max(0, 10_000-v.Calls("list_employees")-v.Calls("list_attendance"))))
		h.Set("X-Ratelimit-Reset", v.now().UTC().Truncate(time.Hour).Add(time.Hour).Format("2006-01-02T15:04:05.000000Z07:00"))
		h.Set("X-Request-Id", "req-1")
		if !v.accounts["freee"].knows(r) {
			freeeLogin(w, http.StatusUnauthorized)
			return
		}
		v.faults.apply(tool, w, r, do, func(w http.ResponseWriter, status int) {
			if status == http.StatusUnauthorized {
				freeeLogin(w, status)
				return
			}
			freeeError(w, status, http.StatusText(status))
		})
	}
}

func freeeError(w http.ResponseWriter, status int, message string) {
	kind := cmp.Or(map[int]string{400: "bad_request", 403: "forbidden", 404: "not_found",
		429: "too_many_requests"}[status], "internal_server_error")
	answer(w, status, map[string]any{
		"status_code": status, "errors": []any{map[string]any{"type": kind, "messages": []string{message}}},
	})
}

// freeeLogin refuses a token with the flat body of freee's accessDeniedError, which freee uses with both 401 and 403.
func freeeLogin(w http.ResponseWriter, status int) {
	answer(w, status, map[string]any{"error": "access_denied", "message": "アクセスする権限がありません", "code": "expired_access_token"})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a failure means that the client has disconnected
}

func (v *Vendors) me(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"id": 901, "companies": []any{
		map[string]any{"id": company - 1, "name": "旧会社", "role": "self_only", "external_cid": "0000000001", "employee_id": 1, "display_name": "管理 者"},
		map[string]any{"id": company, "name": "株式会社サンプル", "role": "company_admin", "external_cid": "0000000002", "employee_id": nil, "display_name": nil},
	}})
}

func (v *Vendors) employees(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("company") != strconv.Itoa(company) {
		freeeError(w, http.StatusForbidden, "アクセスする権限がありません")
		return
	}
	limit, err1 := number(r, "limit", 50, 1, 100)
	offset, err2 := number(r, "offset", 0, 0, 1<<20)
	if err1 != nil || err2 != nil {
		freeeError(w, http.StatusBadRequest, "limit, offset が不正です。")
		return
	}
	people := v.listed(r)
	from := min(offset, len(people))
	answer(w, http.StatusOK, people[from:min(from+limit, len(people))])
}

// listed returns the employees. Those whose pay freee does not calculate are included only if the request asks for
// them.
func (v *Vendors) listed(r *http.Request) []employee {
	if r.URL.Query().Get("with_no_payroll_calculation") == "true" {
		return v.people()
	}
	return slices.DeleteFunc(slices.Clone(v.people()), func(e employee) bool { return !e.PayrollCalculation })
}

// ofTheCompany refuses calls that do not name the company.
func ofTheCompany(do func(*Vendors, http.ResponseWriter, *http.Request)) func(*Vendors, http.ResponseWriter, *http.Request) {
	return func(v *Vendors, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("company_id") != strconv.Itoa(company) {
			freeeError(w, http.StatusBadRequest, "company_id が不正です。")
			return
		}
		do(v, w, r)
	}
}

func (v *Vendors) summary(w http.ResponseWriter, r *http.Request) {
	year, err1 := strconv.Atoi(r.PathValue("year"))
	month, err2 := strconv.Atoi(r.PathValue("month"))
	if err1 != nil || err2 != nil || year < 2000 || year > 2100 || month < 1 || month > 12 {
		freeeError(w, http.StatusBadRequest, "year, month が不正です。")
		return
	}
	for n, e := range v.people() {
		if strconv.FormatInt(e.ID, 10) == r.PathValue("employee") {
			answer(w, http.StatusOK, e.month(n, year, month, v.now()))
			return
		}
	}
	freeeError(w, http.StatusNotFound, "対象の従業員が見つかりません。")
}

// number reads a query parameter and checks its bounds.
func number(r *http.Request, name string, fallback, low, high int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s must be %d to %d", name, low, high)
	}
	return n, nil
}
