package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// lack is what a request needs and no step can do.
type lack struct {
	What string `json:"what"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

type object map[string]any

func ref(path string) object { return object{"$ref": path} }

// planner puts steps together; what a step refers to is found by what it is for.
type planner struct {
	reading   reading
	tools     map[string]offered
	forbidden []string
	steps     []planned
	missing   []lack
}

// kind tells steps apart that a person may want left out: their tool, and what they do with it.
func kind(tool string, input object) string {
	return fmt.Sprint(tool, input["mode"], input["year"], input["month"], input["sheet"], input["department"])
}

func (s planned) kind() string {
	var input object
	_ = json.Unmarshal([]byte(s.ToolInput), &input) // then the tool alone tells
	return kind(s.Tool, input)
}

// add appends a step and returns the beginning of references to its result, empty when
// it was left out: a person wanted that, or something is missing for it.
func (p *planner) add(s step, tool string, input object) string {
	if p.reading.leaves(kind(tool, input)) {
		return ""
	}
	if why := p.hinders(tool, input); why != "" {
		if why == noTool {
			tool = ""
		}
		if l := (lack{s.title, tool, why}); !slices.Contains(p.missing, l) {
			p.missing = append(p.missing, l)
		}
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
		Description: s.description, ExpectedOutput: s.expected, RequiresHumanCheck: writes && p.reading.humanCheck,
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

// plan makes the steps, or says what is missing for them; remarks say what became of the
// reasons for which earlier steps were sent back.
func plan(in input, r reading) (steps []planned, missing []lack, remarks string) {
	if r.cannot() != "" {
		return []planned{}, []lack{{or(oneLine(r.text), r.words.titleEmpty), "", noTool}}, ""
	}
	p := planner{reading: r, tools: map[string]offered{}, forbidden: in.Forbidden}
	for _, tool := range in.Tools {
		p.tools[tool.Name] = tool
	}
	var details []object
	switch r.topic {
	case meeting:
		details = p.meet()
	case message:
		p.tell(r.quotes[0], nil)
	default:
		for _, part := range r.parts() {
			details = append(details, p.part(part, len(r.parts()) > 1)...)
		}
	}
	if r.topic != message && !r.noNotice && len(p.missing) == 0 && len(p.steps) > 0 {
		p.notify(in.Requester, details)
	}
	if len(p.missing) > 0 {
		return []planned{}, p.missing, ""
	}
	if len(p.steps) == 0 && len(r.left)+len(r.kept) > 0 { // nothing would be left to do
		r.left, r.kept, r.refused, r.taken = nil, nil, append(r.taken, r.refused...), nil
		return plan(in, r)
	}
	return p.steps, []lack{}, r.remarks()
}

// remarks are two lines: the reasons for which steps were sent back that were taken in,
// and those that were not. Up to fifty of them fit.
func (r reading) remarks() string {
	var lines []string
	most := 1600 / max(len(r.taken)+len(r.refused), 1)
	for _, of := range []struct {
		reasons []string
		form    string
	}{{r.taken, r.words.reflected}, {r.refused, r.words.notReflected}} {
		var said []string
		for _, reason := range of.reasons {
			said = append(said, fmt.Sprintf(r.words.quote, cut(reason, most-2)))
		}
		if len(said) > 0 {
			lines = append(lines, fmt.Sprintf(of.form, strings.Join(said, "")))
		}
	}
	return strings.Join(lines, "\n")
}

// part plans one table of the result, and returns what the notice says of it.
func (p *planner) part(of part, several bool) (details []object) {
	t := p.reading.words
	about := ""
	if several {
		about = fmt.Sprintf(t.about, of.tab)
	}
	detail := func(label, path string) {
		details = append(details, object{"label": cut(label+about, 100), "value": ref(path)})
	}
	list := object{"department": nil, "status": "active"}
	if of.department != "" {
		list["department"] = of.department
	}
	people := p.employees(list)
	if people == "" {
		return nil
	}
	detail(t.labelEmployees, people+"count")
	rows, member, columns := people, "employees", []string{"num", "display_name", "email", "entry_date"}
	if p.reading.withMonth() {
		s := t.attendanceTitle
		s.description = fmt.Sprintf(s.description, t.month(of.month))
		s.title += about
		records := p.add(s, "list_attendance", object{"year": of.month.year(), "month": int(of.month.name()), "employees": ref(people + "employees")})
		if records == "" {
			return details
		}
		if p.reading.validate {
			p.add(t.validateTitle.of(about), "calculate_overtime", object{"mode": "validate", "records": ref(records + "records")})
		}
		rows, member, columns = records, "records", []string{"num", "display_name", "start_date", "end_date", "work_days"}
		if result := p.add(t.overtimeTitle.of(about), "calculate_overtime", object{"mode": "calculate", "records": ref(records + "records")}); result != "" {
			rows, member, columns = result, "rows", columnsOf(p.reading.topic)
			detail(t.labelPeriod, result+"period")
			detail(t.labelOver45, result+"over_45h")
			detail(t.labelOver80, result+"over_80h")
		}
	} else if p.reading.validate {
		if again := p.add(t.rereadTitle, "list_employees", list); again != "" {
			detail(t.rereadTitle.title, again+"count")
		}
	}
	if p.reading.withSheet() {
		s := t.sheetTitle.of(about)
		s.description = fmt.Sprintf(s.description, of.tab)
		if sheet := p.add(s, "write_rows_to_google_sheet", object{
			"spreadsheet_id": Sheet, "sheet": of.tab, "columns": t.header(columns), "rows": ref(rows + member),
		}); sheet != "" {
			detail(t.labelSheet, sheet+"url")
		}
	}
	return details
}

// employees is the list of a department's people; asked for once.
func (p *planner) employees(list object) string {
	args, _ := json.Marshal(list) // of texts
	for _, s := range p.steps {
		if s.Tool == "list_employees" && s.ToolInput == string(args) {
			return s.StepID + ".result."
		}
	}
	title := p.reading.words.employeesTitle
	if name, ok := list["department"].(string); ok && len(p.reading.departments) > 1 {
		title = title.of(fmt.Sprintf(p.reading.words.about, name))
	}
	return p.add(title, "list_employees", list)
}

// notify tells those who are to know: the requester, where the request named nobody.
func (p *planner) notify(requester string, details []object) {
	switch {
	case len(p.reading.recipients) > 0:
		p.tell(p.reading.done(), details)
	case requester != "":
		p.send(requester, p.reading.done(), details)
	}
}

func (p *planner) tell(text string, details []object) {
	for _, id := range p.reading.recipients {
		p.send(id, text, details)
	}
}

func (p *planner) send(to, text string, details []object) {
	if details == nil {
		details = []object{}
	}
	s := p.reading.words.noticeTitle
	if len(p.reading.recipients) > 0 {
		s = p.reading.words.tellTitle
	}
	p.add(s, "send_slack_dm", object{"recipient": to, "text": cut(text, 3000), "details": details[:min(len(details), 20)]})
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
func (r reading) done() string {
	switch r.topic {
	case attendance:
		return fmt.Sprintf(r.words.doneAttendance, r.of(r.words.titleOf)+r.when())
	case overtime:
		return fmt.Sprintf(r.words.doneOvertime, r.of(r.words.titleOf)+r.when())
	case meeting:
		return r.words.meeting.done
	}
	return r.of(r.words.titleOf) + r.words.doneEmployees
}
