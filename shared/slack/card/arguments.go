package card

import (
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
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
