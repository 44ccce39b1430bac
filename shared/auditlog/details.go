package auditlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/aggregate"
)

// Detail is a line of what an entry says: a name and a text.
type Detail struct{ Name, Text string }

// maxDetails is how many lines of an entry are listed; the file has all.
const maxDetails = 200

// Details are the members of an entry's details as lines, by name; those of a member that has members are named by both.
func (w Words) Details(x aggregate.AuditEntry) []Detail {
	d := json.NewDecoder(strings.NewReader(string(x.Details)))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		if x.Details == "" || x.Details == "null" {
			return nil
		}
		return []Detail{{"", string(x.Details)}} // no object: it is shown as it stands
	}
	out := w.flat(nil, "", all)
	return out[:min(len(out), maxDetails)]
}

func (w Words) flat(out []Detail, above string, members map[string]any) []Detail {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		label := w.Field(name)
		if above != "" {
			label = above + " › " + label
		}
		switch v := members[name].(type) {
		case map[string]any:
			out = w.flat(out, label, v)
		case nil:
			out = append(out, Detail{label, "—"})
		default:
			out = append(out, Detail{label, textOf(v)})
		}
	}
	return out
}

// textOf is a value as people read it: a list with commas between.
func textOf(v any) string {
	list, ok := v.([]any)
	if !ok {
		if _, ok := v.(map[string]any); ok {
			b, _ := json.Marshal(v) // of what was decoded
			return string(b)
		}
		return fmt.Sprint(v)
	}
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = textOf(x)
	}
	return strings.Join(texts, ", ")
}
