package auditlog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Detail is one line of an entry's details: a name and a text.
type Detail struct{ Name, Text string }

// maxDetails is how many lines of an entry are shown; the export has all.
const maxDetails = 200

// Details returns the members of an entry's details as lines, by name. A nested member has both names. name returns a
// person's name, or "" if it is unknown.
func (w Words) Details(x aggregate.AuditEntry, name func(id string) string) []Detail {
	d := json.NewDecoder(strings.NewReader(string(x.Details)))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		if x.Details == "" || x.Details == "null" {
			return nil
		}
		return []Detail{{"", string(x.Details)}} // no object: it is shown as it stands
	}
	w.name = name
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
			if was, is, ok := w.change(v); ok {
				out = append(out, Detail{label, was + " → " + is})
				continue
			}
			out = w.flat(out, label, v)
		case []any:
			if name == namesOfFields {
				v = w.named(v)
			}
			out = append(out, Detail{label, w.said(name, v)})
		default:
			out = append(out, Detail{label, w.said(name, v)})
		}
	}
	return out
}

// namesOfFields is the member that lists the changed fields.
const namesOfFields = "fields"

func (w Words) named(fields []any) (all []any) {
	for _, name := range fields {
		if text, ok := name.(string); ok {
			name = w.Field(text)
		}
		all = append(all, name)
	}
	return all
}

// change returns a field's old and new value if an entry has both and nothing else.
func (w Words) change(members map[string]any) (was, is string, ok bool) {
	before, one := members["was"]
	after, two := members["is"]
	return cmp.Or(w.said("was", before), "—"), cmp.Or(w.said("is", after), "—"), one && two && len(members) == 2
}

// personID matches Slack's ids of people.
var personID = language.Regexp{Text: `^[UW][A-Z0-9]{5,20}$`}

// said returns a member's value with codes as words and ids as people's names.
func (w Words) said(member string, v any) string {
	switch v := v.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, x := range v {
			texts[i] = w.said(member, x)
		}
		return strings.Join(texts, ", ")
	case string:
		if text, ok := w.Values[member][v]; ok {
			return text
		}
		if text, ok := agent.Called(w.Locale)[agent.ActionType(v)]; ok && member == "type" {
			return text
		}
		if member == "reason" {
			if text, ok := explain.KnownEnd(w.Locale, v); ok {
				return text
			}
		}
		if member == "provider" {
			return cmp.Or(vendors[v], v)
		}
		if w.name != nil && personID.Get().MatchString(v) {
			if called := w.name(v); called != "" && called != v {
				return called + " (" + v + ")"
			}
		}
	}
	return textOf(v)
}

// localTime converts a time to the zone of the entries' times. Other texts are not changed.
func localTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.In(tenancy.Zone()).Format("2006-01-02 15:04:05")
}

// textOf returns a value as text: times in the page's zone, a dash for an empty or missing value.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "—"
	case string:
		return cmp.Or(localTime(v), "—")
	case map[string]any:
		b, _ := json.Marshal(v) // v was decoded from JSON
		return string(b)
	}
	return fmt.Sprint(v)
}
