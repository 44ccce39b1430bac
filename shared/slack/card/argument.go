package card

import (
	"encoding/json"
	"strings"

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
