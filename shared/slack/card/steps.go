package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// maxPages is how many sections the steps of a card may fill. With it a card stays below Slack's limits of 10 blocks
// and 13,000 characters.
const maxPages = 3

const (
	wholeName = 2500 // the longest name of a step that a model may write, shown where people decide
	longName  = 300  // of it elsewhere
)

var markers = map[task.StepStatus]string{
	task.StepRunning: "🔄", task.StepCompleted: "✅", task.StepFailed: "❌", task.StepUnknown: "❓",
}

// Marker returns the emoji for a step's progress, ⬜ for a step without a row.
func Marker(s task.StepStatus) string { return or(markers[s], "⬜") }

const maxToolName = 200 // a tool's has 161 at most: a server's name of 32, a dot, and 128 of its own

func stepLine(s task.Step, name string) string {
	return fmt.Sprintf("%d. *%s* — `%s`", s.Order, name, or(code(s.Tool, maxToolName), "?"))
}

// stepName is a step's title, or its description if the title has no visible character. The caller must bound it.
func stepName(w *words, s task.Step) string {
	return cmp.Or(unformatted(s.Title, len(s.Title)), unformatted(s.Description, len(s.Description)), w.Untitled)
}

// stepList draws one line per step in up to most sections. It shortens names, from at most widest characters, before it
// leaves out steps, which it counts.
func (d drawing) stepList(steps []task.Step, most, widest int, line func(s task.Step, name string) string) body {
	if len(steps) == 0 {
		return body{blocks: sectioned(d.w.None)}
	}
	names, cutTool := make([]string, len(steps)), false
	for i, s := range steps {
		names[i] = stepName(d.w, s)
		cutTool = cutTool || units(code(s.Tool, 6*len(s.Tool))) > maxToolName
	}
	var b body
	for _, limit := range []int{widest, min(widest, longName), 120, 60, 30} {
		cutName, called := false, map[string]bool{}
		l := listing{more: d.w.MoreSteps, below: units(d.w.MoreSteps) + 10} // more lines fit than with usualBelow
		for i, s := range steps {
			name := bounded(names[i], limit)
			cutName = cutName || name != bounded(names[i], units(names[i])+2)
			l.add(i+1, "", line(s, peopled(name, called)))
		}
		if b = d.listed(l, most); !b.cut {
			b.cut = cutName || cutTool
			break
		}
	}
	return b
}

const quoteRoom = 100 + 5*maxLines // of a section, for a heading and the marks of quotations

// processBody draws a process that people decide on: what its steps do, answers to earlier rejections, and the
// list of steps. Each part fills up to most sections, or fewer if that is too much for a card.
func (d drawing) processBody(p *task.Process, s explain.Sum, most int) body {
	steps := p.Steps
	calls := func(s task.Step, name string) string { return stepLine(s, name) + d.checkOf(s) } // sentences name no tools
	draw := func(most, list int) body {
		if m := d.a.MatterOf(p); m != nil && len(steps) > 0 {
			return d.effects(s, most).with(d.described(m, most)).with(d.attached(p))
		}
		rest := d.answers(d.w.Remarks, p.Remarks, most).with(d.stepList(steps, list, wholeName, calls))
		if len(steps) == 0 {
			return rest
		}
		return d.effects(s, most).with(d.attached(p)).with(rest)
	}
	out := draw(most, most)
	if most != everything && out.bounded().cut {
		out = draw(1, max(1, most-1))
	}
	return out
}

// described is what the form of a decision says about it, in full: the policy, which has it too, stands elsewhere.
func (d drawing) described(m *task.Matter, most int) body {
	name := askWordsOf.In(d.w.Locale).Matter[MatterDescription]
	return d.sections(pages(strong(name)+"\n"+prepared(m.Description), maxSection), most)
}

// checkOf says of a step that it is asked about once more.
func (d drawing) checkOf(s task.Step) string {
	versions := len(d.a.Processes) // none: what fits has the longest text
	check := explain.Check(d.w.Locale, s, versions == 0 || d.a.Processes[versions-1].Terms.Rule != nil)
	if check == "" {
		return ""
	}
	return " 🔍 " + check
}

// answers draws a model's answers to earlier rejections, as quotations, since they stand beside the card's own lines.
func (d drawing) answers(heading, remarks string, most int) body {
	if remarks = prepared(remarks); remarks == "" {
		return body{blocks: sectionOf([]string{strings.TrimSpace(strings.TrimSuffix(heading, d.w.Remarks))})}
	}
	quoted := pages(remarks, maxSection-quoteRoom-units(heading))
	for i := range quoted {
		quoted[i] = "\n> " + strings.ReplaceAll(quoted[i], "\n", "\n> ")
	}
	quoted[0] = heading + quoted[0]
	return d.sections(quoted, most)
}

// checksAgain says why people are asked about a step once more though they approved the steps: see task.NeedsGate.
func (d drawing) checksAgain(s task.Step, g *task.StepGate) []slack.Block {
	e := aggregate.Find(d.a.Executions, task.ExecutionKey(g.ProcessVersion, g.Attempt))
	why := "unknown"
	switch {
	case e == nil || s.Tool == "" || g.Status != aggregate.PendingApproval:
		return nil
	case s.RequiresHumanCheck:
		why = "wished"
	case !e.Terms.AutoApproveTools || !e.Terms.ApprovalRequired:
		why = "write"
	}
	return []slack.Block{contextLine(d.w.CheckedAgain[why])}
}

func (d drawing) gated(g *task.StepGate) (call task.Step, line string) {
	if p := aggregate.Find(d.a.Processes, task.ProcessKey(g.ProcessVersion)); p != nil {
		if at := p.StepOf(g); at >= 0 {
			return p.Steps[at], stepLine(p.Steps[at], people(bounded(stepName(d.w, p.Steps[at]), wholeName)))
		}
	}
	return task.Step{}, fmt.Sprintf("%d. `%s`", g.Order, or(code(g.StepID, maxTool), "?"))
}

// because says why a version came after others: the last one that was sent back.
func (d drawing) because(i int, at func(int) *aggregate.Gate) string {
	if i--; i < 0 || at(i).Status != aggregate.Rejected || at(i).RejectedBy == "" {
		return ""
	}
	g := at(i)
	why := people(inline(g.RejectionReason, maxDetail/2))
	return fill(d.w.SentBackFor, "who", d.w.mention(g.RejectedBy), "reason", why)
}

// since lists what steps do otherwise than those before, below the reason why. Of a form it has more room, since all of
// it may have changed. Of what was decided, which stands there whole, it has only why.
func (d drawing) since(at int) string {
	why := d.because(at, func(i int) *aggregate.Gate { return &d.a.Processes[i].Gate })
	switch {
	case at == 0 || len(d.a.Processes[at].Steps) == 0 || d.settled && why == "":
		return ""
	case d.settled:
		return d.sinceWith(0, false, why)
	}
	most, room := 5, maxInlineCode
	if d.a.Matter() != nil {
		most, room = maxSection, maxSection/2
	}
	was := d.a.Processes[at-1]
	var all []string
	left, used := 0, 0
	changes := explain.Differences(d.a, d.w.Locale, at)
	for i, c := range changes {
		text := d.w.ChangedTo
		switch {
		case c.Was == nil:
			text = d.w.ChangedNew
		case c.Is == nil:
			text = d.w.ChangedGone
		}
		line := fill(text, "name", d.line(c.Name), "was", d.line(c.Was), "is", strong(d.line(c.Is)))
		if was, is := explain.Plain(c.Was), explain.Plain(c.Is); strings.Contains(was+is, explain.NextLine) ||
			d.a.Matter() != nil && explain.Plain(c.Name) == askWordsOf.In(d.w.Locale).Matter[MatterDescription] {
			lines := d.changed(strings.ReplaceAll(was, explain.NextLine, "\n"),
				strings.ReplaceAll(is, explain.NextLine, "\n"), room/2)
			if lines == "" { // only blank ones
				continue
			}
			line = strong(d.line(c.Name)) + lines
		}
		last := i == len(changes)-1 && d.a.Matter() == nil // what all steps move, if that changed
		if n := units(line); n > room || !last && (len(all) == most-1 || used+n > room) {
			left++
			continue
		}
		all, used = append(all, line), used+units(line)
	}
	if left > 0 {
		all = append(all, fill(d.w.MoreSteps, "n", left))
	}
	if len(changes) == 0 && why == "" {
		return ""
	}
	return strings.Join(append([]string{d.sinceWith(was.Version, len(changes) == 0, why)}, all...), "\n> ")
}

func (d drawing) sinceWith(version int, nothing bool, why string) string {
	text := d.w.Since
	switch {
	case d.settled:
		return "🔁 " + strings.Trim(why, " ()")
	case nothing:
		text = d.w.SinceNothing
	}
	return fill(text, "version", version) + why
}
