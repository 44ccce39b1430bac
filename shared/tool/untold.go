package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

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
