package line

import (
	"strconv"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/lazy"
)

// tools are those that come with Ringi, by the catalog's names.
var tools = map[string]func(*writer){
	"list_employees":             (*writer).employees,
	"list_departments":           (*writer).departments,
	"list_attendance":            (*writer).attendance,
	"calculate_overtime":         (*writer).overtime,
	"write_rows_to_google_sheet": (*writer).sheet,
	"send_slack_dm":              (*writer).message,
}

// mostRows is how many rows a tool takes or gives, as the catalog says.
var mostRows = map[string]int{
	"list_employees": 20000, "list_departments": 5000, "list_attendance": 1000, "calculate_overtime": 1000,
	"write_rows_to_google_sheet": 20000, "send_slack_dm": 20,
}

func (l *writer) employees() {
	if department := l.take("department"); department == nil {
		l.words(l.w.company)
	} else {
		l.within(department)
	}
	l.words(l.w.between)
	switch status := l.take("status"); status {
	case "active":
		l.words(l.w.active)
	case "all":
		l.words(l.w.retired)
	default:
		l.value(status)
	}
}

func (l *writer) departments() {
	department := l.take("department")
	if department == nil {
		l.words(l.w.departments)
		return
	}
	l.within(department)
}

// within names a department, and says that those below it are meant too.
func (l *writer) within(department any) {
	l.say(l.w.department, map[string]func(){"department": l.of(department)})
	l.words(l.w.between + l.w.below)
}

func (l *writer) attendance() {
	l.say(l.w.attendance, map[string]func(){"year": l.of(l.take("year")), "month": l.of(l.take("month")), "employees": l.of(l.take("employees"))})
}

func (l *writer) overtime() {
	switch mode := l.take("mode"); mode {
	case "calculate":
		l.words(l.w.calculate)
	case "validate":
		l.words(l.w.validate)
	default:
		l.value(mode)
	}
	l.say(l.w.records, map[string]func(){"records": l.of(l.take("records"))})
	if earlier, ok := l.args["earlier"]; ok {
		l.take("earlier")
		l.say(l.w.earlierMonths, map[string]func(){"earlier": l.of(earlier)})
	}
}

func (l *writer) sheet() {
	rows := l.take("rows")
	list, literal := rows.([]any)
	count, text := len(list), l.w.exactly
	if !literal {
		count, text = l.most(rows), l.w.atMost
	}
	l.say(l.w.sheet, map[string]func(){
		"spreadsheet": l.of(l.take("spreadsheet_id")), "tab": l.of(l.take("sheet")),
		"rows": func() { l.say(text, map[string]func(){"n": func() { l.words(thousands(count)) }}) },
	})
	l.say(l.w.rows, map[string]func(){"rows": l.of(rows)})
	if columns, ok := l.listed("columns"); ok {
		l.say(l.w.columns, map[string]func(){"columns": func() { l.columns(columns) }})
	}
}

// columns names each column's title, and the member that fills it.
func (l *writer) columns(columns []any) {
	for i, c := range columns {
		if i > 0 {
			l.words(", ")
		}
		key, title, ok := pair(c, "key", "title")
		name, plain := title.(string)
		member, plainKey := key.(string)
		if !ok || !plain || !plainKey {
			l.value(c)
			continue
		}
		l.name(name)
		if member != name {
			l.words(" = ")
			l.name(member)
		}
	}
}

// most is how many rows a reference gives at most: what its tool gives, and no more
// than a sheet takes.
func (l *writer) most(rows any) int {
	limit := mostRows["write_rows_to_google_sheet"]
	path, _ := reference(rows)
	step, _, _ := strings.Cut(path, ".")
	if n := mostRows[l.earlier[step].Tool]; n > 0 {
		return min(n, limit)
	}
	return limit
}

func (l *writer) message() {
	l.say(l.w.message, map[string]func(){"recipient": func() { l.recipient(l.take("recipient")) }, "text": l.of(l.take("text"))})
	details, ok := l.listed("details")
	if !ok {
		return
	}
	for _, d := range details {
		l.words(l.w.between)
		label, value, ok := pair(d, "label", "value")
		name, plain := label.(string)
		if !ok || !plain {
			l.value(d)
			continue
		}
		l.name(name)
		l.words(": ")
		l.value(value)
	}
}

var userForm = lazy.Regexp(`^[UW][A-Z0-9]{2,40}$`)

func (l *writer) recipient(v any) {
	if id, ok := v.(string); ok && userForm().MatchString(id) {
		l.add(Person, id)
		return
	}
	l.value(v)
}

// foreign names a tool of an MCP server, or one that there is no more.
func (l *writer) foreign(name string) {
	server, own, ok := tenancy.ServerTool(name)
	if !ok {
		l.name(name)
		return
	}
	l.say(l.w.server, map[string]func(){"server": func() { l.name(server) }, "tool": func() { l.name(own) }})
}

// pair takes an object of exactly two members apart.
func pair(v any, first, second string) (a, b any, ok bool) {
	m, _ := v.(map[string]any)
	a, hasFirst := m[first]
	b, hasSecond := m[second]
	return a, b, hasFirst && hasSecond && len(m) == 2
}

// thousands writes 20000 as 20,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
