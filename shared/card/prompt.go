package card

import (
	"strings"
	"unicode"

	"github.com/slack-go/slack"

	"ringi/shared/task"
)

// prompt draws one version of the policy text.
func (d drawing) prompt(key string) face {
	v := version{kind: task.CardPrompt, key: key, words: d.w.Prompt}
	for i, p := range d.a.Prompts {
		if p.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = p.ID, p.Version, p.Status, p.Verdict, p.Terms
		v.body = d.whole(p.Content)
		if i+1 < len(d.a.Prompts) {
			v.next = &d.a.Prompts[i+1].Status
		}
	}
	return d.gate(v)
}

// whole shows a text that people stamp over as many sections as steps may fill: a
// policy's limit is below that, so that nothing is stamped unseen. Sections end where a
// line does, unless that would leave much of them empty.
func (d drawing) whole(text string) []slack.Block {
	var blocks []slack.Block
	for rest := paragraph(text, maxPages*maxSection); rest != "" && len(blocks) < maxPages; {
		page := rest
		if units(rest) > maxSection && len(blocks) < maxPages-1 {
			page = strings.TrimSuffix(cut(rest, maxSection), ellipsis)
			if line := strings.LastIndexByte(page, '\n'); line > 0 && units(page[:line]) >= maxSection-pageEnd {
				page = page[:line]
			}
		}
		rest = strings.TrimLeftFunc(rest[len(page):], unicode.IsSpace) // a section of spaces is refused
		blocks = append(blocks, section(cut(page, maxSection)))
	}
	if len(blocks) == 0 {
		return []slack.Block{section(d.w.None)}
	}
	return blocks
}

// pageEnd is how much of a section stays empty at most, in characters.
const pageEnd = 300
