package explain

import (
	"maps"
	"reflect"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// literal returns arguments as people see them. It masks personal data that comes from earlier results, but nothing
// planned, no destination, and nothing that a server is given, which may be one. hidden names those with masked data.
func literal(plan, members map[string]any, tool string) (shown map[string]any, hidden []string) {
	if _, _, foreign := tenancy.ServerTool(tool); foreign {
		return members, nil
	}
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
	members, ok := decode(b.JSON)
	if !ok {
		return nil, nil, false
	}
	planned, _ := decode(call.ToolInput)
	shown, hidden = literal(planned, members, call.Tool)
	for i, name := range hidden {
		hidden[i] = argumentName(locale, call, name)
	}
	return shown, hidden, true
}
