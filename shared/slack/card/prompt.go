package card

import "ringi/shared/domain/task"

// prompt draws one version of the policy text.
func (d drawing) prompt(key string) face {
	v := version{kind: task.CardPrompt, key: key, words: d.w.Prompt}
	for i, p := range d.a.Prompts {
		if p.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = p.ID, p.Version, p.Status, p.Verdict, p.Terms
		v.body, v.note, v.others = d.promptBody(p.Content, maxPages), d.contested(p), len(p.Others())
		if p.Contest != nil && !p.Contest.Over() {
			v.words.Generating = fill(contestWords.In(d.w.Locale).contesting, "until", when(p.Contest.Until))
		}
		if i+1 < len(d.a.Prompts) {
			next := d.a.Prompts[i+1]
			v.next, v.replaced = &next.Status, d.picked(next)
		}
	}
	return d.gate(v)
}

// promptBody is what people stamp of a policy, over at most most sections.
func (d drawing) promptBody(content string, most int) body { return d.prose(content, most) }
