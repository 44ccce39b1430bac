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

// lack is what a request needs and no step can do.
type lack struct {
	What string `json:"what"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// planner puts steps together; what a step refers to is found by what it is for.
type planner struct {
	wish      wish
	tools     map[string]offered
	forbidden []string
	steps     []planned
	missing   []lack
}

// add appends a step and returns the beginning of references to its result; one that
// may not be is missing, and gives none.
func (p *planner) add(s step, tool string, input object) string {
	if why := p.hinders(tool, input); why != "" {
		if why == noTool {
			tool = ""
		}
		p.missing = append(p.missing, lack{s.title, tool, why})
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

const noTool = "no_tool"

// hinders says what keeps a tool from being called with an input; nothing is put in the
// place of what a constraint leaves out.
func (p *planner) hinders(tool string, input object) string {
	offered, ok := p.tools[tool]
	switch {
	case !ok && slices.Contains(p.forbidden, tool):
		return "forbidden"
	case !ok:
		return noTool
	}
	c := offered.Constraints
	for name, listed := range map[string][]string{"department": c.Departments, "spreadsheet_id": c.SpreadsheetIDs, "recipient": c.Recipients} {
		now, has := input[name]
		text, _ := now.(string)
		if has && len(listed) > 0 && !slices.Contains(listed, text) {
			return "constraint"
		}
	}
	return ""
}

// plan makes the steps, or says what is missing for them.
func plan(in input, w wish) ([]planned, []lack) {
	t := w.words
	p := planner{wish: w, tools: map[string]offered{}, forbidden: in.Forbidden}
	for _, tool := range in.Tools {
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

	people := ""
	if w.topic != meeting {
		people = p.add(t.employeesTitle, "list_employees", list)
	}
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
	if len(p.missing) > 0 {
		return []planned{}, p.missing
	}
	return p.steps, []lack{}
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
