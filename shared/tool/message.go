package tool

import (
	"encoding/json"
	"maps"
	"ringi/shared/explain"
	"slices"
	"strconv"
	"unicode/utf16"
)

// perDetail is how many characters a message has for each entry of a list beside its texts: a line end, a bullet with a
// space, and a colon with a space.
const perDetail = 5

// tooLong returns an error if the message that the arguments make is longer than the vendor takes at once. A message is
// sent as it was approved or not at all. References don't count: their values are measured before the call.
func (s Spec) tooLong(members map[string]any) *explain.CallError {
	if s.MaxMessage == 0 {
		return nil
	}
	total, longest, where := 0, -1, ""
	for _, name := range s.Said {
		length(members[name], []string{name}, func(n int, at []string) {
			if total += n; n > longest {
				longest, where = n, dotted(at)
			}
		})
		if list, ok := members[name].([]any); ok {
			total += perDetail * len(list)
		}
	}
	if total <= s.MaxMessage {
		return nil
	}
	return explain.Fail(explain.ProblemTooLong, nil, s.Name, where, total, s.MaxMessage)
}

// length tells add the length of each text, number and boolean in a value.
func length(v any, at []string, add func(n int, at []string)) {
	switch v := v.(type) {
	case string:
		add(Units(v), at)
	case json.Number:
		add(len(v), at)
	case bool:
		add(len(strconv.FormatBool(v)), at)
	case []any:
		for i, x := range v {
			length(x, append(slices.Clip(at), strconv.Itoa(i)), add)
		}
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			length(v[name], append(slices.Clip(at), name), add)
		}
	}
}

// Units is a text's length by the strictest reading of Slack's limits: UTF-16 units, once Slack's control characters are
// escaped.
func Units(s string) (n int) {
	for _, r := range s {
		switch r {
		case '&':
			n += len("&amp;")
		case '<', '>':
			n += len("&lt;")
		default:
			n += max(1, utf16.RuneLen(r))
		}
	}
	return n
}
