package card

import (
	"ringi/shared/domain/task"
)

// process draws one version of the steps.
func (d drawing) process(key string) face {
	v := version{kind: task.CardProcess, key: key, words: d.w.Process}
	for i, p := range d.a.Processes {
		if p.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = p.ID, p.Version, p.Status, p.Verdict, p.Terms
		v.body = d.processBody(p.Steps, p.Remarks, maxPages)
		if i+1 < len(d.a.Processes) {
			v.next = &d.a.Processes[i+1].Status
		}
	}
	return d.gate(v)
}

// processBody is what people stamp of steps: what became of the reasons for which earlier
// ones were rejected, their list, and below it what they would do, each over at most most sections.
func (d drawing) processBody(steps []task.Step, remarks string, most int) body {
	var said body
	if remarks = prepared(remarks); remarks != "" {
		said = d.sections(pages(fill(d.w.Remarks, "text", remarks), maxSection), most)
	}
	return said.with(d.stepList(steps, most, wholeName, func(s task.Step, name string) string {
		if s.RequiresHumanCheck {
			return stepLine(s, name) + " 🔍"
		}
		return stepLine(s, name)
	})).with(d.effects(steps, most))
}
