package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
)

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
	f, _ := catalog.Named(call.Tool)
	for i, name := range hidden {
		hidden[i] = or(f.Shown.Names["/"+name].In(locale), memberName(name))
	}
	return shown, hidden, true
}
