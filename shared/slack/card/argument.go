package card

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// scalar shows a value. A text stands in quotation marks only if it could be taken for another type, as "5".
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, `"`) || v == "" || json.Valid([]byte(v)) {
			return explain.InQuotes(v)
		}
		return v
	case json.Number:
		return v.String()
	}
	return compact(v)
}

// memberName quotes a member's name that could be taken for an item's number or for two names.
func memberName(name string) string {
	if strings.Contains(name, strings.TrimSpace(explain.PathSign)) {
		return explain.InQuotes(name)
	}
	return scalar(name)
}

// inlineCode shows a text as code within a line, with invisible characters spelled out.
func inlineCode(s string) string { return coded(legible.OneLine(s)) }

// coded is inlineCode for a text whose invisible characters are spelled out. It replaces backticks, which would end it.
func coded(spelled string) string {
	return "`" + legible.Isolated(unticked(escape(spelled))) + "`"
}

// tickedApart spells out backticks that would end a block of code. Fewer than three don't.
func tickedApart(spelled string) string {
	return fenceForm.Get().ReplaceAllStringFunc(spelled, unticked)
}

var fenceForm = language.Regexp{Text: "`{3,}"}

func unticked(spelled string) string { return strings.ReplaceAll(spelled, "`", "⟨U+0060⟩") }

// asWritten shows a spelled text completely: as code if it has a character that would format or link, or a mark that
// cards use, else as it is.
func asWritten(spelled string) string {
	s := unformatted(spelled, len(spelled))
	if strings.ReplaceAll(s, joiner, "") != escape(spelled) || strings.Contains(spelled, "://") {
		return " " + coded(spelled) + " "
	}
	return bounded(s, units(s)+2)
}

func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // can't fail for decoded JSON
	return strings.TrimSpace(b.String())
}

// literal returns arguments as people see them. It masks personal data that comes from earlier results, but nothing
// planned, no destination, and nothing that a server is given, which may be one. hidden names those with masked data.
func literal(planned any, members map[string]any, tool string) (shown map[string]any, hidden []string) {
	if _, _, foreign := tenancy.ServerTool(tool); foreign {
		return members, nil
	}
	plan, _ := planned.(map[string]any)
	shown = make(map[string]any, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v := members[name]
		if shown[name] = v; destination(name, v) {
			continue
		}
		of, had := plan[name]
		if shown[name] = revealed(of, had, v); !reflect.DeepEqual(shown[name], v) {
			hidden = append(hidden, name)
		}
	}
	return shown, hidden
}

// revealed masks personal data in a value, except in the parts that equal the planned value.
func revealed(planned any, had bool, v any) any {
	switch v := v.(type) {
	case map[string]any:
		plan, ok := planned.(map[string]any)
		if _, ref := plan["$ref"]; !ok || ref {
			return legible.MaskAll(v)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			of, had := plan[name]
			out[name] = revealed(of, had, member)
		}
		return out
	case []any:
		plan, ok := planned.([]any)
		if !ok || len(plan) != len(v) {
			return legible.MaskAll(v)
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = revealed(plan[i], true, v[i])
		}
		return out
	}
	if had && reflect.DeepEqual(planned, v) {
		return v
	}
	return legible.MaskAll(v)
}

// destinations are the arguments of Ringi's own tools that name the place a call writes or sends to.
var destinations = []string{"recipient", "spreadsheet_id", "sheet"}

// destination reports whether an argument says that, by its name or because it consists of addresses only.
func destination(name string, v any) bool {
	list, isList := v.([]any)
	return slices.Contains(destinations, name) || legible.MaskDestination(v) && (!isList || len(list) > 0)
}

// Masked returns the arguments of a step's call as surfaces show them, with personal data masked where cards mask it,
// and what people call those in which something was. ok is false if only a part of the arguments is stored.
func Masked(call task.Step, b aggregate.Blob, locale string) (shown map[string]any, hidden []string, ok bool) {
	v, read := decoded(string(b.JSON))
	members, isObject := v.(map[string]any)
	if !read || !isObject {
		return nil, nil, false
	}
	planned, _ := decoded(string(call.ToolInput))
	shown, hidden = literal(planned, members, call.Tool)
	for i, name := range hidden {
		hidden[i] = explain.ArgumentName(locale, call, name)
	}
	return shown, hidden, true
}
