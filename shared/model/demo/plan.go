package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/words/legible"
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

// lack is something that a request needs and that no step can do.
type lack struct {
	What string `json:"what"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

type object map[string]any

func ref(path string) object { return object{"$ref": path} }

type planner struct {
	reading   reading
	tools     map[string]offered
	forbidden []string
	records   map[part]string // references to the attendance records that steps read
	steps     []planned
	missing   []lack
}

// kind identifies the steps that a reason leaves out: by the tool, and the arguments that say what the step is about.
func kind(tool string, input object) string {
	return fmt.Sprint(tool, input["mode"], input["year"], input["month"], input["sheet"], input["department"],
		input["recipient"])
}

func (s planned) kind() string {
	var input object
	_ = json.Unmarshal([]byte(s.ToolInput), &input) // without a readable input only the tool identifies the kind
	return kind(s.Tool, input)
}

// add appends a step and returns the prefix of references to its result. It returns an empty text if a person wanted
// the step left out, or if the tool can't be called, which it records in missing.
func (p *planner) add(s step, tool string, input object) string {
	if p.reading.leaves(kind(tool, input)) {
		return ""
	}
	if why := p.hinders(tool, input); why != "" {
		if why == noTool {
			tool = ""
		}
		if l := (lack{s.Title, tool, why}); !slices.Contains(p.missing, l) {
			p.missing = append(p.missing, l)
		}
		return ""
	}
	args, err := json.Marshal(input)
	if err != nil { // input holds only texts, numbers and lists
		return ""
	}
	n := len(p.steps) + 1
	writes := slices.Contains([]string{"write_rows_to_google_sheet", "send_slack_dm", bookRoom, placeOrder}, tool)
	p.steps = append(p.steps, planned{
		StepID: fmt.Sprintf("step-%d", n), Order: n, Title: s.Title, Tool: tool, ToolInput: string(args),
		Description: s.Description, ExpectedOutput: s.Expected, RequiresHumanCheck: writes && p.reading.humanCheck,
	})
	return fmt.Sprintf("step-%d.result.", n)
}

const noTool = "no_tool"

// hinders returns why a tool can't be called with an input: noTool, "forbidden" or "constraint"; empty if it can. The
// demo never replaces a forbidden value by an allowed one.
func (p *planner) hinders(tool string, input object) string {
	offered, ok := p.tools[tool]
	switch {
	case !ok && slices.Contains(p.forbidden, tool):
		return "forbidden"
	case !ok:
		return noTool
	}
	c := offered.Constraints
	for name, listed := range map[string][]string{"department": c.Departments, "spreadsheet_id": c.SpreadsheetIDs,
		"recipient": c.Recipients} {
		now, has := input[name]
		text, _ := now.(string)
		if has && len(listed) > 0 && !slices.Contains(listed, text) {
			return "constraint"
		}
	}
	return ""
}

// plan makes the steps, or says what is missing for them. remarks name the reasons of rejections that the plan follows.
func plan(in input, r reading) (steps []planned, missing []lack, remarks string) {
	if r.cannot() != "" {
		return []planned{}, []lack{{cmp.Or(oneLine(r.text), r.words.Say["titleEmpty"]), "", noTool}}, ""
	}
	p := planner{reading: r, tools: map[string]offered{}, forbidden: in.Forbidden, records: map[part]string{}}
	for _, tool := range in.Tools {
		p.tools[tool.Name] = tool
	}
	var details [][]object
	switch r.topic {
	case meeting:
		details = [][]object{p.meet()}
	case purchase:
		details = [][]object{p.buy()}
	case message:
		for _, id := range r.recipients {
			p.send(r.words.Steps["tell"], id, r.quotes[0], nil)
		}
	default:
		for _, part := range r.parts() {
			details = append(details, p.part(part, len(r.parts()) > 1))
		}
	}
	if r.topic != message && !r.noNotice && len(p.missing) == 0 && len(p.steps) > 0 {
		p.notify(in.Requester, p.listed(details))
	}
	if len(p.missing) > 0 {
		return []planned{}, p.missing, ""
	}
	if len(p.steps) == 0 && len(r.left) > 0 { // following the reasons would remove every step
		r.left, r.refused, r.taken = nil, append(r.taken, r.refused...), nil
		return plan(in, r)
	}
	return p.steps, []lack{}, r.remarks()
}

// remarks are up to three lines: reasons of rejections that the plan follows, reasons that were not understood, and
// reasons against steps that other steps need. They have space for fifty reasons.
func (r reading) remarks() string {
	var lines []string
	most := 1600 / max(len(r.taken)+len(r.refused)+len(r.needed), 1)
	for _, of := range []struct {
		reasons []string
		form    string
	}{{r.taken, r.words.Say["reflected"]}, {r.refused, r.words.Say["notReflected"]}, {r.needed, r.words.Say["stillNeeded"]}} {
		var said []string
		for _, reason := range of.reasons {
			said = append(said, fmt.Sprintf(r.words.Say["quote"], legible.Clip(reason, most-2)))
		}
		if len(said) > 0 {
			lines = append(lines, fmt.Sprintf(of.form, strings.Join(said, "")))
		}
	}
	return strings.Join(lines, "\n")
}

// part plans one table of the result, and returns the notice's details about it.
func (p *planner) part(of part, several bool) (details []object) {
	t := p.reading.words
	about := ""
	if several {
		about = fmt.Sprintf(t.Say["about"], of.tab)
	}
	detail := func(label, path string) {
		details = append(details, object{"label": legible.Clip(label+about, 100), "value": ref(path)})
	}
	if l := p.reading.topic.list(); l != nil {
		p.listing(l, of, about, detail)
		return details
	}
	people := p.reading.topic.read()
	found := p.fetch(people, of, about)
	if found == "" {
		return nil
	}
	detail(t.ofList(people, "label"), found+"count")
	s := t.Steps["attendance"]
	s.Description = fmt.Sprintf(s.Description, t.month(of.month))
	s.Title += about
	records := p.add(s, "list_attendance", object{"year": of.month.year(), "month": int(of.month.name()),
		"employees": ref(found + "employees")})
	if records == "" {
		return details
	}
	p.records[part{of.department, of.month, ""}] = records
	if p.reading.validate {
		p.add(t.Steps["validate"].of(about), "calculate_overtime", p.judged(of, "validate"))
	}
	rows, member, columns := records, "records", []string{"num", "display_name", "start_date", "end_date", "work_days"}
	if result := p.add(t.Steps["overtime"].of(about), "calculate_overtime", p.judged(of, "calculate")); result != "" {
		rows, member, columns = result, "rows", columnsOf(p.reading.topic)
		detail(p.labelPeriod(of.month), result+"period")
		detail(t.Say["labelOver45"], result+"over_45h")
		detail(t.Say["labelOver80"], result+"over_80h")
		if len(p.before(of)) > 0 {
			detail(t.Say["labelAverage"], result+"over_80h_average")
		}
	}
	p.write(of, about, columns, rows+member, detail)
	return details
}

// write adds the step that writes rows into a part's tab, unless the request wants no sheet.
func (p *planner) write(of part, about string, columns []string, rows string, detail func(label, path string)) {
	if !p.reading.withSheet() {
		return
	}
	t := p.reading.words
	s := t.Steps["sheet"].of(about)
	s.Description = fmt.Sprintf(s.Description, of.tab)
	if sheet := p.add(s, "write_rows_to_google_sheet", object{
		"spreadsheet_id": Sheet, "sheet": of.tab, "columns": t.header(p.reading.topic, columns), "rows": ref(rows),
	}); sheet != "" {
		detail(t.Say["labelSheet"], sheet+"url")
	}
}

// labelPeriod is the label of the counted days. Days of the current month are counted up to the run.
func (p *planner) labelPeriod(m month) string {
	if m == thisMonth(p.reading.now) {
		return p.reading.words.Say["labelSoFar"]
	}
	return p.reading.words.Say["labelPeriod"]
}

// judged is the input of calculate_overtime for a part: its records and those of earlier months.
func (p *planner) judged(of part, mode string) object {
	o := object{"mode": mode, "records": ref(p.records[part{of.department, of.month, ""}] + "records")}
	if before := p.before(of); len(before) > 0 {
		o["earlier"] = before
	}
	return o
}

// before refers to records of the same people in earlier months, back to the first gap and at most eleven months. It
// uses only months that the request reads anyway.
func (p *planner) before(of part) (out []object) {
	for m := of.month - 1; len(out) < maxMonths-1; m-- {
		records := p.records[part{of.department, m, ""}]
		if records == "" {
			return out
		}
		out = append(out, ref(records+"records"))
	}
	return out
}

// notify adds the messages to the people whom the request names, or else to the requester.
func (p *planner) notify(requester string, details []object) {
	r := p.reading
	if requester != "" && (r.copied || len(r.recipients) == 0) {
		p.send(r.words.Steps["notice"], requester, r.form(r.sheetOr("done", "counted")), details)
	}
	for _, id := range r.recipients {
		if id != requester || !r.copied {
			p.send(r.words.Steps["tell"], id, r.form(r.sheetOr("done", "counted")), details)
		}
	}
}

func (p *planner) send(s step, to, text string, details []object) {
	p.add(s, "send_slack_dm", object{"recipient": to, "text": legible.Clip(text, maxMessage),
		"details": append([]object{}, details...)})
}

// maxDetails is the most details of a direct message, according to the tool's schema.
const maxDetails = 20

// listed are the details of a notice: as many complete tables as fit, and the number of those left out.
func (p *planner) listed(tables [][]object) (details []object) {
	if all := slices.Concat(tables...); len(all) <= maxDetails {
		return all
	}
	for i, table := range tables {
		if len(details)+len(table) >= maxDetails {
			label, value := p.reading.words.more(len(tables)-i, len(p.reading.departments) > 1, p.reading.withSheet())
			return append(details, object{"label": label, "value": value})
		}
		details = append(details, table...)
	}
	return details
}

func columnsOf(t topic) []string {
	if l := t.list(); l != nil {
		return l.Demo.Columns
	}
	if t == overtime {
		return []string{"num", "display_name", "overtime_hours", "legal_overtime_hours", "holiday_work_hours", "flag",
			"period"}
	}
	return []string{"num", "display_name", "work_days", "work_hours", "overtime_hours", "legal_overtime_hours",
		"holiday_work_hours", "latenight_work_hours", "flag", "period"}
}

// title is the heading of a column. A member without a title has its own name as the heading.
func (t words) title(of topic, key string) string {
	if l := of.list(); l != nil {
		return cmp.Or(l.Demo.Words[t.Locale].Columns[key], key)
	}
	return cmp.Or(t.Columns[key], key)
}

func (t words) header(of topic, keys []string) []object {
	var out []object
	for _, key := range keys {
		out = append(out, object{"key": key, "title": t.title(of, key)})
	}
	return out
}
