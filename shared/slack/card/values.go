package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// Value is a value of arguments or of a result as a surface beside Slack shows it: one text or several, or a table.
// Texts are as they were written, with personal data masked where cards mask it.
type Value struct {
	Name  string   // in the reader's language, or the names that lead to it; empty for a sentence of Ringi's own
	Texts []string // none of a table
	Table *Table
}

// Table is a list of objects or of lists.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Arguments are what a step would be called with, as its card shows it: values in one order, destinations first, then a
// server's defaults for what is left out. hidden names those in which something is masked. ok is false when the whole
// of them is not there to be shown.
func Arguments(call task.Step, b aggregate.Blob, locale string) (values, leftOut []Value, hidden []string, ok bool) {
	v, read := decoded(string(b.JSON))
	members, isObject := v.(map[string]any)
	if !read || !isObject {
		return nil, nil, nil, false
	}
	d := drawing{w: wordsOf(locale)}
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

// sheetValues are what will be in a sheet and, beneath, what will not.
func (d drawing) sheetValues(s sheetRows) []Value {
	out := []Value{{Name: d.argumentName(s.table.name), Table: &Table{s.table.columns, s.table.rows}}}
	if len(s.unwritten) > 0 {
		out = append(out, Value{Name: d.w.NotWritten, Texts: s.unwritten})
	}
	return out
}

// ResultValues are what a step returned, personal data masked as in arguments that are made of it. ok is false when it
// is no JSON.
func ResultValues(text []byte, locale string) (values []Value, ok bool) {
	v, read := decoded(string(text))
	if !read {
		return nil, false
	}
	d := drawing{w: wordsOf(locale), foreign: true}
	members, isObject := fromResult(v).(map[string]any)
	if !isObject {
		members = map[string]any{"result": fromResult(v)}
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

// argumentName is an argument's name without marks; the arguments of Ringi's own tools have translated names.
func (d drawing) argumentName(path string) string {
	if known, ok := d.w.ArgumentNames[path]; ok && !d.foreign {
		return known
	}
	return path
}

// Prose is a text of several lines that people or models wrote, as people see it on any surface: invisible signs are
// dropped, and no mark of Ringi's can be imitated.
func Prose(s string) string { return strings.TrimSpace(legible.Paragraphs(clean(s))) }

// OneLine is Prose in one line.
func OneLine(s string) string { return oneLine(clean(s)) }

// Address is the address of a completed step's result, when it may be a link: cards link to nothing else.
func Address(row *task.StepResult) string {
	if row == nil || row.Status != task.StepCompleted || row.Result == nil {
		return ""
	}
	if url, _ := resultOf(row)["url"].(string); len(url) <= maxDetail && addressForm().MatchString(url) {
		return url
	}
	return ""
}
