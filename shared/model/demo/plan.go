package demo

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Sheet is the spreadsheet that the demo's plans write to.
const Sheet = "ringi-demo-sheet"

type planned struct {
	StepID             string `json:"stepId"`
	Order              int    `json:"order"`
	Title              string `json:"title"`
	Tool               string `json:"tool"`
	ToolInput          string `json:"toolInput"`
	Description        string `json:"description"`
	ExpectedOutput     string `json:"expectedOutput"`
	RequiresHumanCheck bool   `json:"requiresHumanCheck"`
}

type object map[string]any

func ref(path string) object { return object{"$ref": path} }

// planner puts steps together; what a step refers to is found by what it is for.
type planner struct {
	wish    wish
	allowed []string
	tools   map[string]offered
	steps   []planned
}

// add appends a step unless its tool is not among those allowed, and returns the
// beginning of references to its result, empty when it was left out.
func (p *planner) add(s step, tool string, input object) string {
	if !slices.Contains(p.allowed, tool) || !p.within(tool, input) {
		return ""
	}
	args, err := json.Marshal(input)
	if err != nil { // only texts, numbers and lists go in
		return ""
	}
	n := len(p.steps) + 1
	writes := tool == "write_rows_to_google_sheet" || tool == "send_slack_dm" || tool == bookRoom
	p.steps = append(p.steps, planned{
		StepID: fmt.Sprintf("step-%d", n), Order: n, Title: s.title, Tool: tool, ToolInput: string(args),
		Description: s.description, ExpectedOutput: s.expected, RequiresHumanCheck: writes && p.wish.humanCheck,
	})
	return fmt.Sprintf("step-%d.result.", n)
}

// within keeps an input to the tool's constraints; it reports false when they leave nothing of it.
func (p *planner) within(tool string, input object) bool {
	c := p.tools[tool].Constraints
	first := func(name string, listed []string) {
		if now, _ := input[name].(string); len(listed) > 0 && !slices.Contains(listed, now) {
			input[name] = listed[0]
		}
	}
	switch tool {
	case "list_employees":
		first("department", c.Departments)
	case "write_rows_to_google_sheet":
		first("spreadsheet_id", c.SpreadsheetIDs)
	case "send_slack_dm":
		to, _ := input["recipient"].(string)
		return len(c.Recipients) == 0 || slices.Contains(c.Recipients, to)
	}
	return true
}

func plan(in input, w wish) []planned {
	t := w.words
	p := planner{wish: w, tools: map[string]offered{}}
	for _, tool := range in.Tools {
		p.allowed = append(p.allowed, tool.Name)
		p.tools[tool.Name] = tool
	}
	list := object{"department": nil, "status": "active"}
	if w.department != "" {
		list["department"] = w.department
	}
	var details []object
	if w.topic == meeting {
		details = p.meet(w.now)
	}
	detail := func(label, path string) {
		details = append(details, object{"label": label, "value": ref(path)})
	}

	people := p.add(t.employeesTitle, "list_employees", list)
	if people != "" {
		detail(t.labelEmployees, people+"count")
	}
	rows, columns := people, []string{"num", "display_name", "email", "entry_date"}
	member := "employees"
	if w.withMonth() && people != "" {
		s := t.attendanceTitle
		s.description = fmt.Sprintf(s.description, w.when())
		records := p.add(s, "list_attendance", object{"year": w.year, "month": int(w.month), "employees": ref(people + "employees")})
		if records != "" && w.validate {
			p.add(t.validateTitle, "calculate_overtime", object{"mode": "validate", "records": ref(records + "records")})
		}
		if records != "" {
			if result := p.add(t.overtimeTitle, "calculate_overtime", object{"mode": "calculate", "records": ref(records + "records")}); result != "" {
				rows, member, columns = result, "rows", columnsOf(w.topic)
				detail(t.labelPeriod, result+"period")
				detail(t.labelOver45, result+"over_45h")
				detail(t.labelOver80, result+"over_80h")
			}
		}
	} else if w.validate && people != "" {
		again := p.add(t.rereadTitle, "list_employees", list)
		detail(t.rereadTitle.title, again+"count")
	}
	if w.withSheet() && rows != "" {
		s := t.sheetTitle
		s.description = fmt.Sprintf(s.description, w.tab())
		if sheet := p.add(s, "write_rows_to_google_sheet", object{
			"spreadsheet_id": Sheet, "sheet": w.tab(), "columns": t.header(columns), "rows": ref(rows + member),
		}); sheet != "" {
			detail(t.labelSheet, sheet+"url")
		}
	}
	for _, r := range w.remarks {
		details = append(details, object{"label": t.labelRemark, "value": r})
	}
	if !w.noNotice && in.Requester != "" {
		p.add(t.noticeTitle, "send_slack_dm", object{"recipient": in.Requester, "text": w.done(), "details": nonNil(details[:min(len(details), 20)])})
	}
	if len(w.remarks) > 0 && len(p.steps) > 0 {
		last := &p.steps[len(p.steps)-1]
		last.Title = fmt.Sprintf(t.titleRemark, last.Title, fmt.Sprintf(t.quote, w.remarks[len(w.remarks)-1]))
	}
	return p.steps
}

func columnsOf(t topic) []string {
	if t == overtime {
		return []string{"num", "display_name", "overtime_hours", "legal_overtime_hours", "holiday_work_hours", "flag", "period"}
	}
	return []string{"num", "display_name", "work_days", "work_hours", "overtime_hours", "legal_overtime_hours", "holiday_work_hours", "latenight_work_hours", "flag", "period"}
}

func (t words) header(keys []string) []object {
	var out []object
	for _, key := range keys {
		out = append(out, object{"key": key, "title": t.columns[key]})
	}
	return out
}

// done is the text of the notice.
func (w wish) done() string {
	switch w.topic {
	case attendance:
		return fmt.Sprintf(w.words.doneAttendance, w.when())
	case overtime:
		return fmt.Sprintf(w.words.doneOvertime, w.when())
	case employees:
		return w.words.doneEmployees
	case meeting:
		return w.words.meeting.done
	}
	return w.words.doneOther
}

func nonNil(d []object) []object {
	if d == nil {
		return []object{}
	}
	return d
}
