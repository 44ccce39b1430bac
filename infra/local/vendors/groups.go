package vendors

import (
	"net/http"
	"strconv"
	"time"
)

// group is a department in the format of freee's list.
type group struct {
	ID       int64  `json:"id"`
	Code     string `json:"code"`
	Name     string `json:"name"`
	Level    int    `json:"level"`
	ParentID *int64 `json:"parent_group_id"`
}

// belonging is a person's time in a department. Both days are included; freee gives this end to one that has none.
type belonging struct {
	group
	start, end string
}

const noEnd = "2999-12-31"

// departments are assigned to the employees in turn.
func departments() []group {
	sales := int64(702)
	return []group{
		{ID: 701, Code: "HR", Name: "人事部", Level: 1},
		{ID: sales, Code: "SALES", Name: "営業部", Level: 1},
		{ID: 703, Code: "DEV", Name: "開発部", Level: 1},
		{ID: 704, Code: "SALES-1", Name: "第一営業課", Level: 2, ParentID: &sales},
	}
}

func (v *Vendors) groups(w http.ResponseWriter, _ *http.Request) {
	all := departments()
	answer(w, http.StatusOK, map[string]any{"groups": all, "total_count": len(all)})
}

// positions lists the company's positions. One has no code, which freee allows.
func (v *Vendors) positions(w http.ResponseWriter, _ *http.Request) {
	all := []any{
		map[string]any{"id": 801, "code": "MGR", "name": "部長"}, map[string]any{"id": 802, "code": "CHIEF", "name": "課長"},
		map[string]any{"id": 803, "code": nil, "name": "主任"},
	}
	answer(w, http.StatusOK, map[string]any{"positions": all, "total_count": len(all)})
}

// memberships answers who belongs where on one day: nobody who has not come yet, or has left before.
func (v *Vendors) memberships(w http.ResponseWriter, r *http.Request) {
	limit, err1 := number(r, "limit", 50, 1, 100)
	offset, err2 := number(r, "offset", 0, 0, 1<<20)
	day, err3 := time.Parse(time.DateOnly, r.URL.Query().Get("base_date"))
	if err1 != nil || err2 != nil || err3 != nil || r.URL.Query().Get("company_id") != strconv.Itoa(company) {
		freeeError(w, http.StatusBadRequest, "company_id, base_date, limit, offset が不正です。")
		return
	}
	on := day.Format(time.DateOnly)
	people := []any{}
	withAll := r.URL.Query().Get("with_no_payroll_calculation") == "true"
	for _, e := range v.people() {
		if !withAll && !e.PayrollCalculation || e.EntryDate > on || e.RetireDate != nil && *e.RetireDate < on {
			continue
		}
		groups := []any{}
		for _, g := range e.groups {
			if g.start <= on && on <= g.end {
				groups = append(groups, map[string]any{
					"start_date": g.start, "end_date": g.end, "group_id": g.ID, "group_code": g.Code, "group_name": g.Name,
					"level": g.Level, "parent_group_id": g.ParentID, "parent_group_code": nil, "parent_group_name": nil,
					"boss_id": nil, "main_duty": "main_duty", "position_id": nil, "position_code": nil, "position_name": nil,
				})
			}
		}
		people = append(people, map[string]any{
			"id": e.ID, "num": e.Num, "display_name": e.DisplayName, "entry_date": e.EntryDate, "retire_date": e.RetireDate,
			"user_id": e.UserID, "login_email": e.Email, "birth_date": "1990-01-01", "gender": "unselected",
			"payroll_calculation": e.PayrollCalculation, "group_memberships": groups,
		})
	}
	from := min(offset, len(people))
	answer(w, http.StatusOK,
		map[string]any{"employee_group_memberships": people[from:min(from+limit, len(people))], "total_count": len(people)})
}
