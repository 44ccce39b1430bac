package card

import (
	"encoding/json"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// arguments draws the arguments of a step's call: first every destination, complete; then rows for a sheet and the
// other arguments; then the longest list as a table. A last line names the masked arguments.
func (d drawing) arguments(call task.Step, b aggregate.Blob, most int) body {
	v, ok := decoded(string(b.JSON))
	members, isObject := v.(map[string]any)
	if !ok || !isObject {
		return d.unread(b, most)
	}
	_, _, d.foreign = tenancy.ServerTool(call.Tool)
	planned, _ := decoded(string(call.ToolInput))
	shown, hidden := literal(planned, members, call.Tool)
	var to, other []string
	var tables []table
	sheet, rest, ok := sheetRowsOf(call.Tool, shown, members)
	if ok {
		other, tables = d.sheetLines(sheet), []table{sheet.table}
	}
	for _, a := range flattened(rest) {
		switch {
		case a.table != nil:
			tables = append(tables, *a.table)
		case destination(call.Tool, a.name, members[a.name]):
			to = append(to, d.destinationLines(a)...)
		case members[a.name] == nil && !d.foreign:
			other = append(other, d.label(a.name)+": "+d.w.NotGiven)
		default:
			other = append(other, d.argumentParts(a)...)
		}
	}
	if call.Tool == sheetTool {
		other = append([]string{d.w.SheetStays}, other...)
	}
	other = append(other, d.leftOut(call)...)
	if call.Tool == MessageTool {
		if text, _ := members["text"].(string); formats.Get().MatchString(text) {
			other = append(other, d.w.SentAsIs)
		}
		other = append(other, d.sent())
	}
	out := d.packed(to, most)
	if most == everything || d.plain {
		out = out.with(d.packed(other, most)).with(d.rowsOf(tables, most))
	} else {
		out = out.with(d.tabled(out, other, tables, most))
	}
	if len(hidden) > 0 {
		names := make([]string, len(hidden))
		for i, name := range hidden {
			names[i] = d.label(name)
		}
		out.blocks = append(out.blocks,
			contextLine(cut(fill(d.w.ArgumentsMasked, "names", strings.Join(names, ", ")), maxSection)))
	}
	return out
}

// formats finds what Slack would format, or show as an emoji, in a message that a person types.
var formats = language.Regexp{Text: `\*[^*\n]+\*|\b_[^_\n]+_\b|~[^~\n]+~|:[a-z][a-z0-9_+-]*:`}

// leftOut shows a server's default values for the arguments that the call omits.
func (d drawing) leftOut(call task.Step) []string {
	v, _ := decoded(string(call.LeftOut))
	defaults, _ := v.(map[string]any)
	var out []string
	for _, name := range sorted(defaults) {
		out = append(out, d.argumentParts(argument{path: []string{memberName(name)},
			values: []string{cellText(defaults[name])}})...)
	}
	if len(out) > 0 {
		out = append([]string{d.w.LeftOut}, out...)
	}
	return out
}

// unread draws arguments that are not a JSON object, or of which only a preview was stored. The preview is masked.
// People can't approve such arguments on the card.
func (d drawing) unread(b aggregate.Blob, most int) body {
	text, lost := string(b.JSON), false
	if text == "" {
		text, lost = masked(b.Preview), true
	}
	pages, rest := fenced(visible(pretty(text)), maxSection, most)
	out := body{sectioned(pages...), rest || lost}
	if out.cut {
		out.blocks = append(out.blocks, contextLine(fill(d.w.ArgumentsCut, "bytes", max(b.Bytes, len(text)))))
	}
	return out
}

func decoded(text string) (v any, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	ok = dec.Decode(&v) == nil && !dec.More()
	return v, ok
}

// tabled draws other arguments and tables in the room that the blocks in before leave on a card.
func (d drawing) tabled(before body, other []string, tables []table, most int) body {
	big := longest(tables)
	var rest []table
	for i := range tables {
		if i != big {
			rest = append(rest, tables[i])
		}
	}
	out := d.packed(append(other, d.rowParts(rest)...), most)
	if big < 0 {
		return out
	}
	room := maxBody - 1000
	for _, b := range append(before.blocks[:len(before.blocks):len(before.blocks)], out.blocks...) {
		room -= characters(b)
	}
	if block, left, ok := tables[big].block(min(room, maxTableCharacters)); ok {
		out.blocks = append(out.blocks, section(d.label(tables[big].name)), block)
		if left > 0 {
			out.cut = true
			out.blocks = append(out.blocks, contextLine(fill(d.w.MoreRows, "n", left)))
		}
		return out
	}
	return out.with(d.rowsOf(tables[big:big+1], most))
}

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
	url, _ := resultOf(row)["url"].(string)
	return Linked(url)
}

// Linked returns an address if cards may link to it, else "".
func Linked(url string) string {
	if len(url) <= maxDetail && (addressForm.Get().MatchString(url) || localForm.Get().MatchString(url)) {
		return url
	}
	return ""
}

const maxLinks = 5

var addressForm = language.Regexp{Text: `^https://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[A-Za-z0-9._~!$'()*+,` +
	`;=:@%/?&#-]*)?$`}

// localForm is an address of the local stack, which cards link to as they do to others.
var localForm = language.Regexp{Text: `^http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}/[A-Za-z0-9._~/-]*$`}

// links lists the url members of completed steps' results, each labelled with its address. A card has no other links:
// an address within a text stays text.
func (d drawing) links(r attempt) []slack.Block {
	var out []string
	seen := map[string]bool{}
	for _, s := range r.steps {
		if url := Address(r.rows[s.StepID]); url != "" && len(out) < maxLinks && !seen[url] {
			seen[url] = true
			out = append(out, fill(d.w.Result, "step", s.Order, "url", "<"+escape(url)+">"))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []slack.Block{contextLine(out...)}
}

// resultOf returns the members of a step's result, or nil if the result is no object.
func resultOf(row *task.StepResult) map[string]any {
	v, _ := decoded(string(row.Result.JSON))
	members, _ := v.(map[string]any)
	return members
}

// below says for each sheet that was written how many older rows follow the new ones, since people could take those for
// part of the result. A result without a count gives no line. If counting failed, the line says so.
func (d drawing) below(r attempt) []slack.Block {
	var out []string
	for _, s := range r.steps {
		row := r.rows[s.StepID]
		if s.Tool != sheetTool || row == nil || row.Status != task.StepCompleted || row.Result == nil {
			continue
		}
		members := resultOf(row)
		count, known := members["rows_below"]
		if !known {
			continue
		}
		n, counted := count.(json.Number)
		more, _ := members["more_below"].(bool)
		switch {
		case !counted:
			out = append(out, fill(d.w.RowsBelowUnread, "step", s.Order))
		case more:
			out = append(out, fill(d.w.RowsBelowOver, "step", s.Order, "n", inline(n.String(), maxTool)))
		case n != "0":
			out = append(out, fill(d.w.RowsBelow, "step", s.Order, "n", inline(n.String(), maxTool)))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return sectioned(pages(strings.Join(out, "\n"), maxSection)...)
}
