package runner

import (
	"regexp"
	"strings"
)

// Reading is what a person sees of a message, and whom it calls.
type Reading struct {
	Shown string
	Calls []string // user ids, group ids, and here, channel and everyone
}

// ReadText reads a message's text as Slack documents it: <…> is a reference, and &amp;, &lt; and &gt; stand for the
// control characters. In formatted text, which is the default, marks of formatting and names of emoji aren't seen
// either.
func ReadText(text string, formatted bool) (r Reading) {
	var b strings.Builder
	rest := text
	for rest != "" {
		before, after, found := strings.Cut(rest, "<")
		inside, left, closed := strings.Cut(after, ">")
		if !found || !closed {
			b.WriteString(marks(rest, formatted))
			break
		}
		b.WriteString(marks(before, formatted) + r.reference(inside))
		rest = left
	}
	r.Shown = b.String()
	return r
}

var signs = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// formatting are pairs of marks, each with what they enclose, and names of emoji.
var formatting = []*regexp.Regexp{
	regexp.MustCompile("`([^`\n]+)`"), regexp.MustCompile(`\*([^*\n]+)\*`), regexp.MustCompile(`_([^_\n]+)_`),
	regexp.MustCompile(`~([^~\n]+)~`), regexp.MustCompile(`:[a-z0-9_+-]+:()`), regexp.MustCompile(`(?m)^&gt;(.*)`),
}

func marks(s string, formatted bool) string {
	if formatted {
		for _, f := range formatting {
			s = f.ReplaceAllString(s, "$1")
		}
	}
	return signs.Replace(s)
}

// reference returns what is seen of a <…>.
func (r *Reading) reference(inside string) string {
	target, label, _ := strings.Cut(inside, "|")
	switch {
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "!"):
		if !strings.HasPrefix(target, "!date^") {
			r.Calls = append(r.Calls, strings.TrimPrefix(target[1:], "subteam^"))
		}
		return "@" + target[1:]
	case label != "":
		return signs.Replace(label)
	}
	return signs.Replace(target)
}

// ReadBlocks reads rich_text blocks. Their texts are shown as they are: formatting, mentions and emoji are elements of
// their own. A line end stands before each item of a list and before what follows a list or precedes one.
func ReadBlocks(blocks []any) (r Reading) {
	var b strings.Builder
	for _, block := range blocks {
		r.elements(&b, block, "")
	}
	r.Shown = b.String()
	return r
}

func (r *Reading) elements(b *strings.Builder, v any, before string) {
	m, _ := v.(map[string]any)
	all, _ := m["elements"].([]any)
	b.WriteString(before)
	for i, e := range all {
		element, _ := e.(map[string]any)
		switch kind, _ := element["type"].(string); kind {
		case "rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote":
			before := ""
			switch {
			case m["type"] == "rich_text_list":
				before = "\n• "
			case i > 0 && kind != "rich_text_list":
				before = "\n"
			}
			r.elements(b, e, before)
		default:
			b.WriteString(r.leaf(kind, element))
		}
	}
}

func (r *Reading) leaf(kind string, e map[string]any) string {
	of := func(name string) string { s, _ := e[name].(string); return s }
	switch kind {
	case "text":
		return of("text")
	case "link":
		if of("text") != "" {
			return of("text")
		}
		return of("url")
	case "user", "usergroup":
		r.Calls = append(r.Calls, of(kind+"_id"))
		return "@" + of(kind+"_id")
	case "broadcast":
		r.Calls = append(r.Calls, of("range"))
		return "@" + of("range")
	}
	return ""
}
