package sandbox

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	fence = regexp.MustCompile("(?s)```\n?(.+?)\n?```")
	// quoted is a line's quote, quotedRest one of everything that follows.
	quoted, quotedRest = regexp.MustCompile(`^(?:&gt;|>) ?`), regexp.MustCompile(`^(?:&gt;|>){3} ?`)
	item               = regexp.MustCompile(`^((?:\t| {4})*)(?:([-*•◦▪]\x{FE0E}?)|(\d{1,3})\.|` +
		`(?:[a-z]|[ivx]{2,5})\.)[ \t]+(\S.*)$`)
)

// part is a container of rich text. Only a list has more than one item.
type part struct {
	kind, style    string // as Slack calls them
	indent, offset int
	items          [][]leaf
}

// composed returns the text and the blocks of what a person typed, as Slack's clients send them: they turn marks into
// styles, addresses into links, characters into emoji and lines into lists and quotes, and both say the same. The text
// is typed in Slack's format.
func composed(typed string) (text string, blocks []any) {
	if typed == "" {
		return "", nil
	}
	parts := partsOf(typed)
	var lines []string
	var elements []any
	for i, p := range parts {
		lines = append(lines, p.text())
		elements = append(elements, p.block(i == len(parts)-1))
	}
	return strings.Join(lines, "\n"),
		[]any{map[string]any{"type": "rich_text", "block_id": rand.Text()[:5], "elements": elements}}
}

func partsOf(typed string) (all []part) {
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(typed, -1) {
		all = append(all, lines(strings.TrimSuffix(typed[at:m[0]], "\n"))...)
		code := leaf{of: map[string]any{"type": "text", "text": unescape.Replace(typed[m[2]:m[3]])}, text: typed[m[2]:m[3]]}
		all = append(all, part{kind: "rich_text_preformatted", items: [][]leaf{{code}}})
		at = m[1]
	}
	return append(all, lines(strings.TrimPrefix(typed[at:], "\n"))...)
}

// lines returns the parts of a text outside of code blocks.
func lines(text string) (all []part) {
	var said, quote []string
	flush := func() {
		if len(said) > 0 {
			all = append(all, part{kind: "rich_text_section", items: [][]leaf{inline(strings.Join(said, "\n"), nil)}})
		}
		if len(quote) > 0 {
			all = append(all, part{kind: "rich_text_quote", items: [][]leaf{inline(strings.Join(quote, "\n"), nil)}})
		}
		said, quote = nil, nil
	}
	if text == "" {
		return nil
	}
	rest := false
	for line := range strings.SplitSeq(text, "\n") {
		begins := quotedRest.FindString(line)
		rest = rest || begins != ""
		if begins == "" {
			begins = quoted.FindString(line)
		}
		if rest || begins != "" {
			if len(said) > 0 {
				flush()
			}
			quote = append(quote, line[len(begins):])
			continue
		}
		if m := item.FindStringSubmatch(line); m != nil && (m[2]+m[3] != "" || m[1] != "") {
			flush()
			all = listed(all, m)
			continue
		}
		if len(quote) > 0 {
			flush()
		}
		said = append(said, line)
	}
	flush()
	return all
}

// listed adds an item to the last list, or to a new one. A list goes on after a deeper one.
func listed(all []part, m []string) []part {
	p := part{kind: "rich_text_list", style: "ordered", indent: strings.Count(m[1], "\t") + strings.Count(m[1], "    ")}
	if m[2] != "" {
		p.style = "bullet"
	}
	before := 0 // items of the list that goes on
	for i := len(all) - 1; i >= 0 && all[i].kind == p.kind && all[i].indent >= p.indent; i-- {
		if l := &all[i]; l.indent == p.indent && l.style == p.style {
			before = l.offset + len(l.items)
			break
		}
	}
	said := inline(m[4], nil)
	if n, err := strconv.Atoi(m[3]); err == nil && before == 0 {
		before = max(n-1, 0)
	}
	if n := len(all) - 1; n >= 0 && all[n].kind == p.kind && all[n].indent == p.indent && all[n].style == p.style {
		all[n].items = append(all[n].items, said)
		return all
	}
	if p.style == "ordered" {
		p.offset = before
	}
	p.items = [][]leaf{said}
	return append(all, p)
}

// block returns the part as Slack sends it. A section ends its line unless it is the last part.
func (p part) block(last bool) map[string]any {
	sections := make([]any, len(p.items))
	for i, leaves := range p.items {
		if p.kind == "rich_text_section" && !last {
			leaves = merged(append(leaves, literal("\n", nil)))
		}
		elements := make([]any, len(leaves))
		for j, l := range leaves {
			elements[j] = l.of
		}
		sections[i] = map[string]any{"type": "rich_text_section", "elements": elements}
	}
	switch p.kind {
	case "rich_text_list":
		out := map[string]any{"type": p.kind, "style": p.style, "indent": p.indent, "border": 0, "elements": sections}
		if p.offset > 0 {
			out["offset"] = p.offset
		}
		return out
	case "rich_text_preformatted":
		return map[string]any{"type": p.kind, "border": 0, "elements": sections[0].(map[string]any)["elements"]}
	}
	return map[string]any{"type": p.kind, "elements": sections[0].(map[string]any)["elements"]}
}

// text returns the part as a message's text has it.
func (p part) text() string {
	var out []string
	for i, leaves := range p.items {
		said := marked(leaves)
		switch {
		case p.kind == "rich_text_preformatted":
			said = "```" + said + "```"
		case p.kind == "rich_text_quote":
			said = "&gt; " + strings.ReplaceAll(said, "\n", "\n&gt; ")
		case p.style == "bullet":
			said = []string{"•", "◦", "▪\uFE0E"}[p.indent%3] + " " + said
		case p.style == "ordered":
			said = ordinal(p.offset+i+1, p.indent) + ". " + said
		}
		out = append(out, strings.Repeat("    ", p.indent)+said)
	}
	return strings.Join(out, "\n")
}

// ordinal numbers an item as Slack does at a level: 1, a, i, and again.
func ordinal(n, indent int) string {
	switch {
	case indent%3 == 1 && n <= 26:
		return string(rune('a' + n - 1))
	case indent%3 == 2 && n < 40:
		return strings.Repeat("x", n/10) + []string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"}[n%10]
	}
	return fmt.Sprint(n)
}
