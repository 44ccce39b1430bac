package vendors

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
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

// freee wraps a handler: it checks the token and applies the tool's faults.
func (v *Vendors) freee(tool string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
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
	answer(w, status, map[string]any{"error": "access_denied", "message": "アクセスする権限がありません",
		"code": "expired_access_token"})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a failure means that the client has disconnected
}

func (v *Vendors) me(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"id": 901, "companies": []any{
		map[string]any{"id": company - 1, "name": "旧会社", "role": "self_only", "external_cid": "0000000001", "employee_id": 1,
			"display_name": "管理 者"},
		map[string]any{"id": company, "name": "株式会社サンプル", "role": "company_admin", "external_cid": "0000000002",
			"employee_id": nil, "display_name": nil},
	}})
}

func (v *Vendors) employees(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("company") != strconv.Itoa(company) {
		freeeError(w, http.StatusForbidden, "アクセスする権限がありません")
		return
	}
	people, ok := page(r, v.listed(r))
	if !ok {
		freeeError(w, http.StatusBadRequest, "limit, offset が不正です。")
		return
	}
	answer(w, http.StatusOK, people)
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
func ofTheCompany(do func(*Vendors, http.ResponseWriter, *http.Request)) func(*Vendors, http.ResponseWriter,
	*http.Request) {
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
			answer(w, http.StatusOK, e.month(n, year, month, time.Now()))
			return
		}
	}
	freeeError(w, http.StatusNotFound, "対象の従業員が見つかりません。")
}

// page returns the part of a list that a request's limit and offset select, or false if these are invalid.
func page[T any](r *http.Request, all []T) ([]T, bool) {
	limit, err1 := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "50"))
	offset, err2 := strconv.Atoi(cmp.Or(r.URL.Query().Get("offset"), "0"))
	if err1 != nil || err2 != nil || limit < 1 || limit > 100 || offset < 0 {
		return nil, false
	}
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], true
}

// month sums up the month that a person is paid for in payYear and payMonth, in the format of freee's
// work_record_summaries. The numbers depend on the person and the month only: three people are always above 45 hours of
// overtime, and one is above 80. If the month is not over in Japan, the sums include its working days so far, but the
// period is the complete month, as in freee.
func (e employee) month(n, payYear, payMonth int, now time.Time) map[string]any {
	first := time.Date(payYear, time.Month(payMonth), 1, 0, 0, 0, 0, time.UTC)
	if e.MonthOfPayDay != nil && *e.MonthOfPayDay == paidNextMonth {
		first = first.AddDate(0, -1, 0)
	}
	last := first.AddDate(0, 1, -1)
	start, end := first.Format(time.DateOnly), last.Format(time.DateOnly)
	today, whole := now.In(japan).Format(time.DateOnly), weekdays(first, last)
	for last.Format(time.DateOnly) > today && !last.Before(first) {
		last = last.AddDate(0, 0, -1)
	}
	var days, off, overtime, holiday int
	if !last.Before(first) && last.Format(time.DateOnly) >= e.EntryDate {
		vary := rand.New(rand.NewPCG(uint64(e.ID), uint64(first.Unix()))).IntN
		until := weekdays(first, last)
		off = min(vary(3), until)
		days = until - off
		switch n {
		case 12:
			overtime, holiday = 74*60+vary(5*60), 8*60
		case 3, 17, 31:
			overtime = 46*60 + vary(14*60)
		default:
			overtime = vary(36 * 60)
		}
		overtime, holiday = overtime*until/whole, holiday*until/whole
	}
	normal, excess := days*e.dailyMins, days*(8*60-e.dailyMins)/2
	return map[string]any{
		"year": payYear, "month": payMonth, "start_date": start, "end_date": end, "work_records": []any{},
		"work_days": days, "num_paid_holidays": off, "num_paid_holidays_left": 20 - off, "num_absences": 0,
		"total_work_mins": normal + excess + overtime + holiday, "total_normal_work_mins": normal,
		"total_excess_statutory_work_mins": excess, "total_overtime_except_normal_work_mins": overtime,
		"total_overtime_within_normal_work_mins": 0, "total_prescribed_holiday_work_mins": 0,
		"total_holiday_work_mins": holiday, "total_latenight_work_mins": overtime / 12,
		"total_lateness_and_early_leaving_mins": 0, "total_shortage_work_mins": nil,
	}
}

// japan is the company's time zone, which has no summer time.
var japan = time.FixedZone("JST", 9*60*60)

func weekdays(first, last time.Time) int {
	n := 0
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			n++
		}
	}
	return n
}
