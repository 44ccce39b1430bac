package card

import (
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
		v.body = []slack.Block{section(or(paragraph(p.Content, maxSection), d.w.None))}
		if i+1 < len(d.a.Prompts) {
			v.next = &d.a.Prompts[i+1].Status
		}
	}
	return d.gate(v)
}
