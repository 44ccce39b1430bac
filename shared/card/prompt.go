package card

import "ringi/shared/task"

// prompt draws one version of the policy text.
func (d drawing) prompt(key string) face {
	v := version{kind: task.CardPrompt, key: key, words: d.w.Prompt}
	for i, p := range d.a.Prompts {
		if p.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = p.ID, p.Version, p.Status, p.Verdict, p.Terms
		v.body = d.promptBody(p.Content, maxPages)
		if i+1 < len(d.a.Prompts) {
			v.next = &d.a.Prompts[i+1].Status
		}
	}
	return d.gate(v)
}

// promptBody is what people stamp of a policy, over at most most sections.
func (d drawing) promptBody(content string, most int) body { return d.prose(content, most) }
