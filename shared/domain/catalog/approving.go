package catalog

import (
	"encoding/json"
	"strings"
	"unicode"

	"ringi/shared/words/language"
)

// No program approves: a tool by which somebody's approval is given in another system is neither allowed nor asked for.
// It is known by its name and title, and by what its arguments may be: that is the mark of one that does many things.
// Of a command line call.Unasked knows the usual ones.

// Names, as words in lower case: of approvals, and of deeds that count as one in GitHub, GitLab, Slack and freee,
// unless the tool only looks. A title in Japanese says it itself.
var (
	approves = language.Regexp{Text: `\b(approve|preapprove|countersign|cosign|ratify|lgtm|sign off)\b`}
	counts   = language.Regexp{Text: `\b(merge (pull|pr|mr|merge)|accept merge|auto merge|reviews? (write|submit)|` +
		`(submit|create) (.* )?review$|approvals? (requests? )?(actions?|decisions?)|(add|create|toggle) (.* )?reactions?|` +
		`reactions? (add|create|toggle|write)|complete (.* )?workflows?|workflows? (step )?completed?|` +
		`functions complete success)\b`}
	looks      = language.Regexp{Text: `\b(list|get|search|find|query|read|count|fetch|show|export)\b`}
	inJapanese = language.Regexp{Text: `(承認|決裁|検認)(する|します|を行|を実行|を与|操作|処理|アクション)|(代理|一括|自動)(承認|決裁)`}
	yes        = language.Regexp{Text: `(?i)^\s*(approve|lgtm|承認する)\s*$`}
	done       = language.Regexp{Text: `(?i)^\s*(approved|承認|承認済み?)\s*$`}
	// decides is the last word of an argument's name whose value may be a decision.
	decides = language.Regexp{Text: `\b(action|approval|approve|approved|decision|event|outcome|resolution|response|` +
		`result|review|state|status|verdict|vote)$`}
)

// Approving returns why a tool may be neither allowed nor asked for, or an empty text. input is its schema as JSON, if
// it is known.
func Approving(name, title, input string) string {
	words := wordsOf(name)
	reads := looks.Get().MatchString(words)
	var schema any
	switch {
	case approves.Get().MatchString(words), approves.Get().MatchString(wordsOf(title)),
		inJapanese.Get().MatchString(title), !reads && counts.Get().MatchString(words):
		return "it approves in another system, which only people do"
	case json.Unmarshal([]byte(input), &schema) != nil:
		return ""
	}
	if mark := marked(schema, reads); mark != "" {
		return "an argument may be " + mark + ": it may approve in another system, which only people do"
	}
	return ""
}

// ApprovingBy returns why a call may not be asked for, by its arguments, or an empty text.
func ApprovingBy(arguments map[string]any) string {
	if mark := given("", arguments); mark != "" {
		return "has " + mark + ": it approves in another system, which only people do"
	}
	return ""
}

// wordsOf returns the words of a name or title in lower case: mergePullRequest has three.
func wordsOf(name string) string {
	var b strings.Builder
	small := false
	for _, r := range name {
		if unicode.IsUpper(r) && small || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
		}
		if small = unicode.IsLower(r); unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// isYes reports whether a value is a yes: an imperative always, a state unless the tool only looks.
func isYes(value string, reads bool) bool {
	return yes.Get().MatchString(value) || !reads && done.Get().MatchString(value)
}

// marked returns what of a schema lets a call approve: a member of such a name, or a value.
func marked(schema any, reads bool) string {
	switch x := schema.(type) {
	case []any:
		for _, inner := range x {
			if s, is := inner.(string); is && isYes(s, reads) {
				return s
			} else if mark := marked(inner, reads); !is && mark != "" {
				return mark
			}
		}
	case map[string]any:
		properties, _ := x["properties"].(map[string]any)
		for name := range properties {
			if approves.Get().MatchString(wordsOf(name)) || isYes(name, reads) {
				return name
			}
		}
		if s, is := x["const"].(string); is && isYes(s, reads) {
			return s
		}
		for name, inner := range x {
			if name == "examples" || name == "required" {
				continue
			}
			if mark := marked(inner, reads); mark != "" {
				return mark
			}
		}
	}
	return ""
}

// given returns the argument that approves.
func given(name string, value any) string {
	switch x := value.(type) {
	case map[string]any:
		for inner, v := range x {
			if mark := given(inner, v); mark != "" {
				return mark
			}
		}
	case []any:
		for _, v := range x {
			if mark := given(name, v); mark != "" {
				return mark
			}
		}
	case string:
		if decides.Get().MatchString(wordsOf(name)) && isYes(x, false) {
			return name + " = " + x
		}
	case bool:
		if x && (approves.Get().MatchString(wordsOf(name)) || isYes(name, false)) {
			return name + " = true"
		}
	}
	return ""
}
