package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// Value is an argument or a part of a result as surfaces other than Slack show it: one text or several, or a table.
// Texts are unchanged, except that personal data is masked where cards mask it.
type Value struct {
	Name  string   // label for the reader, or the names that lead to the value; empty for a sentence of Ringi's own
	Texts []string // empty for a table
	Table *Table
}

type Table struct {
	Columns []string
	Rows    [][]string
}

// Arguments returns the arguments of a step's call as its card shows them, destinations first. leftOut has a server's
// defaults for omitted arguments, hidden the names of those with masked data. ok is false if only a part of the
// arguments is stored.
func Arguments(call task.Step, b aggregate.Blob, locale string) (values, leftOut []Value, hidden []string, ok bool) {
	v, read := decoded(string(b.JSON))
	members, isObject := v.(map[string]any)
	if !read || !isObject {
		return nil, nil, nil, false
	}
	d := drawing{w: wordsOf.In(locale)}
	_, _, d.foreign = tenancy.ServerTool(call.Tool)
	planned, _ := decoded(string(call.ToolInput))
	shown, masked := literal(planned, members, call.Tool)
	for _, name := range masked {
		hidden = append(hidden, d.argumentName(name))
	}
	sheet, rest, ok := sheetRowsOf(call.Tool, shown, members)
	values = d.values(rest)
	if call.Tool == sheetTool {
		values = append(values, Value{Texts: []string{d.w.SheetStays}})
	}
	if ok {
		values = append(values, d.sheetValues(sheet)...)
	}
	v, _ = decoded(string(call.LeftOut))
	defaults, _ := v.(map[string]any)
	return values, d.values(defaults), hidden, true
}

// sheetValues show the rows that a sheet will have, and below them the members that will not be written.
func (d drawing) sheetValues(s sheetRows) []Value {
	out := []Value{{Name: d.argumentName(s.table.name), Table: &Table{s.table.columns, s.table.rows}}}
	if len(s.unwritten) > 0 {
		out = append(out, Value{Name: d.w.NotWritten, Texts: s.unwritten})
	}
	return out
}

// ResultValues returns a step's result, with personal data masked as in arguments. ok is false if the result isn't
// JSON.
func ResultValues(text []byte, locale string) (values []Value, ok bool) {
	v, read := decoded(string(text))
	if !read {
		return nil, false
	}
	d := drawing{w: wordsOf.In(locale), foreign: true}
	members, isObject := legible.MaskAll(v).(map[string]any)
	if !isObject {
		members = map[string]any{"result": legible.MaskAll(v)}
	}
	return d.values(members), true
}

func (d drawing) values(members map[string]any) []Value {
	var out []Value
	for _, a := range flattened(members) {
		v := Value{Name: d.argumentName(strings.Join(a.path, pathSign)), Texts: a.values}
		if a.table != nil {
			v.Table = &Table{a.table.columns, a.table.rows}
		}
		out = append(out, v)
	}
	return out
}

// argumentName is an argument's name without marks. Only the arguments of Ringi's own tools have translated names.
func (d drawing) argumentName(path string) string {
	if known, ok := d.w.ArgumentNames[path]; ok && !d.foreign {
		return known
	}
	return path
}

// Prose is a text of several lines by people or models, for any surface. It has no invisible characters and can't
// imitate a mark of Ringi's.
func Prose(s string) string { return strings.TrimSpace(legible.Paragraphs(clean(s))) }

// OneLine is Prose in one line.
func OneLine(s string) string { return oneLine(clean(s)) }

// Address returns the url in a completed step's result if cards may link to it, else "".
func Address(row *task.StepResult) string {
	if row == nil || row.Status != task.StepCompleted || row.Result == nil {
		return ""
	}
	if url, _ := resultOf(row)["url"].(string); len(url) <= maxDetail && (addressForm.Get().MatchString(url) || localForm.Get().MatchString(url)) {
		return url
	}
	return ""
}
