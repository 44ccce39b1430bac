package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/tool/schema"
	"ringi/shared/words/language"
)

// Unseen reports whether a write has a destination that people have not seen: none of the texts in seen names it, and
// it is not among the values of a constraint. Any argument of an MCP server's tool may determine the destination. So
// every text, number and boolean counts there, and so do empty values (many servers take an empty list of people for
// everybody) and member names that the schema does not declare. References are not examined; see Dynamic.
func Unseen(s Spec, a Arguments, seen ...string) bool {
	return s.Access == aggregate.Write && Unnamed(s, a, seen...)
}

// Unnamed is Unseen for reads, too: what an agent looks up with a server tells the server what the agent knows.
func Unnamed(s Spec, a Arguments, seen ...string) bool {
	if s.Pin != nil && slices.ContainsFunc(s.chosenNames(a), func(name string) bool { return !anySays(seen, name) }) {
		return true
	}
	for name, v := range a.members {
		if s.Pin == nil && (!slices.Contains(s.Destination, name) || s.listed(name)) {
			continue
		}
		if !named(name, v, seen) {
			return true
		}
	}
	return false
}

// chosenNames returns the member names that the tool's schema does not declare, or all if the schema can't be read.
func (s Spec) chosenNames(a Arguments) []string {
	input, err := schema.Compile(s.Name+".input", s.InputSchema)
	if err != nil {
		input, _ = schema.Compile(s.Name+".input", "true")
	}
	// Parse has checked every reference, so walk can't fail.
	values, _ := walk(a.members, nil, func(Path, []string) (any, error) { return nil, nil })
	return input.Undeclared(values)
}

func saysEmpty(seen []string, member string) bool {
	for _, word := range []string{"なし", "無し", "null", "none", "[]", "{}"} {
		if slices.ContainsFunc(seen, func(text string) bool { return saysMember(text, member, word) }) {
			return true
		}
	}
	return false
}

// named reports whether the texts name each text, number and boolean of a member, and say that each empty value is
// empty.
func named(member string, v any, seen []string) bool {
	switch v := v.(type) {
	case string:
		return anySays(seen, v)
	case json.Number:
		return slices.ContainsFunc(seen, func(text string) bool { return saysNumber(text, v) })
	case bool:
		return slices.ContainsFunc(seen, func(text string) bool { return saysMember(text, member, strconv.FormatBool(v)) })
	case nil:
		return saysEmpty(seen, member)
	case []any:
		if len(v) == 0 {
			return saysEmpty(seen, member)
		}
		return !slices.ContainsFunc(v, func(x any) bool { return !named(member, x, seen) })
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return true
		}
		if len(v) == 0 {
			return saysEmpty(seen, member)
		}
		for name, x := range v {
			if !named(name, x, seen) {
				return false
			}
		}
	}
	return true
}

func anySays(seen []string, value string) bool {
	return slices.ContainsFunc(seen, func(text string) bool { return says(text, value) })
}

// Untold reports whether a write would send people a text or a number that is not in the policy. It examines the
// literal values of arguments that people will read (Spec.Said). A text is in a policy only as complete lines,
// sentences or quotations: 支払わない is not in 「支払わないでください」. Spaces make no difference. Arguments that can't be read count
// as untold.
func Untold(s Spec, a Arguments, policy string) bool {
	if s.Access != aggregate.Write || len(s.Said) == 0 {
		return false
	}
	return a.members == nil || slices.ContainsFunc(s.Said, func(name string) bool {
		return untold(a.members[name], policy)
	})
}

func untold(v any, policy string) bool {
	switch v := v.(type) {
	case string:
		return !tells(policy, spaced(v))
	case json.Number:
		return !saysNumber(policy, v)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return untold(x, policy) })
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return false
		}
		for _, x := range v {
			if untold(x, policy) {
				return true
			}
		}
	}
	return false
}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// listMark is the beginning of a list item.
var listMark = language.Regexp{Text: `^(?:[-*•・●■]|[0-9]+[.)．）])\s*`}

func tells(policy, text string) bool {
	if text == "" {
		return true
	}
	var flat strings.Builder // the lines, joined by spaces
	starts, ends := map[int]bool{}, map[int]bool{}
	for l := range strings.SplitSeq(policy, "\n") {
		if l = spaced(l); l == "" {
			continue
		}
		if flat.Len() > 0 {
			flat.WriteByte(' ')
		}
		starts[flat.Len()], starts[flat.Len()+len(listMark.Get().FindString(l))] = true, true
		flat.WriteString(l)
		ends[flat.Len()] = true
	}
	all := flat.String()
	for from := 0; ; from++ {
		at := strings.Index(all[from:], text)
		if at < 0 {
			return false
		}
		from += at
		end := from + len(text)
		if (starts[from] || beginsSentence(all[:from])) && (ends[end] || endsSentence(all, end)) {
			return true
		}
	}
}

// Sentences end with sentenceEnds, or with asciiEnds before a space. Quotations are between openQuotes and closeQuotes,
// or between asciiQuotes, which don't show whether they open or close.
const (
	sentenceEnds = "。！？"
	asciiEnds    = ".!?"
	openQuotes   = "「『“‘"
	closeQuotes  = "」』”’"
	asciiQuotes  = "\"'`"
)

// beginsSentence reports whether a sentence or a quotation begins after a text.
func beginsSentence(before string) bool {
	apart := strings.TrimSuffix(before, " ")
	last, size := utf8.DecodeLastRuneInString(apart)
	if strings.ContainsRune(asciiQuotes, last) {
		ahead, _ := utf8.DecodeLastRuneInString(apart[:len(apart)-size])
		return apart == before && !asciiWordly(ahead) && strings.Count(before, string(last))%2 == 1
	}
	return strings.ContainsRune(sentenceEnds+openQuotes+"：", last) || apart != before &&
		strings.ContainsRune(asciiEnds+":", last)
}

// endsSentence reports whether all[:end] ends a sentence or a quotation, with its last character or the next one.
func endsSentence(all string, end int) bool {
	after := all[end:]
	last, _ := utf8.DecodeLastRuneInString(all[:end])
	next, size := utf8.DecodeRuneInString(after)
	behind, _ := utf8.DecodeRuneInString(after[size:])
	switch {
	case strings.ContainsRune(sentenceEnds, last), strings.ContainsRune(sentenceEnds+closeQuotes, next):
		return true
	case strings.ContainsRune(asciiQuotes, next):
		return !asciiWordly(behind) && strings.Count(all[:end], string(next))%2 == 1
	case strings.ContainsRune(asciiEnds, last):
		return next == ' '
	}
	return strings.ContainsRune(asciiEnds, next) &&
		(len(after) == size || behind == ' ' || strings.ContainsRune(closeQuotes+asciiQuotes, behind))
}

// asciiWordly reports whether an ASCII quotation mark next to a character belongs to the character's word, as in don't.
func asciiWordly(r rune) bool { return r < utf8.RuneSelf && wordly(r) }
