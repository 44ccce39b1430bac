package card

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// maxPages is how many sections the steps of a card may fill. With it a card stays below Slack's limits of 10 blocks
// and 13,000 characters.
const maxPages = 3

// wholeName is the longest name of a step that a model may write. Where people decide, it is shown completely;
// elsewhere only longName characters of it are.
const (
	wholeName = 2500
	longName  = 300
)

// Marker returns the emoji for a step's progress, ⬜ for a step without a row.
func Marker(s task.StepStatus) string {
	switch s {
	case task.StepRunning:
		return "🔄"
	case task.StepCompleted:
		return "✅"
	case task.StepFailed:
		return "❌"
	case task.StepUnknown:
		return "❓"
	}
	return "⬜"
}

// maxToolName exceeds the longest name of a tool: 32 characters of a server's name, a dot, and 128 of its own.
const maxToolName = 200

func stepLine(s task.Step, name string) string {
	return fmt.Sprintf("%d. *%s* — `%s`", s.Order, name, or(code(s.Tool, maxToolName), "?"))
}

// stepName is a step's title, or its description if the title has no visible character. The caller must bound it.
func stepName(w *words, s task.Step) string {
	name := unformatted(s.Title, len(s.Title))
	if name == "" {
		name = unformatted(s.Description, len(s.Description))
	}
	return or(name, w.Untitled)
}

// stepList draws one line per step in up to most sections. It shortens names, from at most widest characters, before it
// leaves out steps. It counts the steps that it leaves out.
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
		lines, cutName := make([]string, len(steps)), false
		for i, s := range steps {
			name := bounded(names[i], limit)
			cutName = cutName || name != bounded(names[i], units(names[i])+2)
			lines[i] = line(s, name)
		}
		b = d.lined(lines, most)
		if !b.cut {
			b.cut = cutName || cutTool
			break
		}
	}
	return b
}

// quoteRoom is what a heading and the marks of quotations need in a section.
const quoteRoom = 100 + 2*maxLines

// processBody draws a process that people decide on: answers to earlier rejections, the list of steps, and what these
// would do. Each part fills up to most sections. Each line of the answers is a quotation, since a model wrote them and
// they stand beside the card's own lines.
func (d drawing) processBody(steps []task.Step, remarks string, most int) body {
	var said body
	if remarks = prepared(remarks); remarks != "" {
		quoted := pages(remarks, maxSection-quoteRoom)
		for i := range quoted {
			quoted[i] = "\n> " + strings.ReplaceAll(quoted[i], "\n", "\n> ")
		}
		quoted[0] = d.w.Remarks + quoted[0]
		said = d.sections(quoted, most)
	}
	return said.with(d.stepList(steps, most, wholeName, func(s task.Step, name string) string {
		if s.RequiresHumanCheck {
			return stepLine(s, name) + " 🔍"
		}
		return stepLine(s, name)
	})).with(d.effects(steps, most))
}

// doneBefore reports whether a call of an earlier attempt turned out to have completed this gate's step.
func (d drawing) doneBefore(key string) bool {
	return slices.ContainsFunc(d.a.Steps, func(s *task.StepResult) bool {
		return s.Reused && task.GateKey(s.ProcessVersion, s.Attempt, s.Order) == key
	})
}

// gateBody draws a step that people approve before its call: its line, and its arguments.
func (d drawing) gateBody(g *task.StepGate, most int) body {
	call, line := d.gated(g)
	return d.sections(pages(line, maxSection), most).with(d.arguments(call, g.Arguments, most))
}

// gated returns the step that a gate is for, and its line.
func (d drawing) gated(g *task.StepGate) (call task.Step, line string) {
	for _, p := range d.a.Processes {
		if p.Version != g.ProcessVersion {
			continue
		}
		for _, s := range p.Steps {
			if s.StepID == g.StepID && s.Order == g.Order {
				return s, stepLine(s, bounded(stepName(d.w, s), wholeName))
			}
		}
	}
	return task.Step{}, fmt.Sprintf("%d. `%s`", g.Order, or(code(g.StepID, maxTool), "?"))
}

// MessageTool sends a message, below which stands who asked for it and who stamped it.
const MessageTool = "send_slack_dm"

// effects draws what the steps would do, made from their tools and planned arguments: first each write with its number,
// below that the reads. No model writes any of it. Values are shown completely, without invisible characters.
func (d drawing) effects(steps []task.Step, most int) body {
	writes, reads := explain.PlanEntries(d.w.Locale, steps)
	var items []item
	for i, part := range []struct {
		heading string
		entries []explain.PlanEntry
		sign    string // before each item of an entry but the first
	}{{d.w.Writes, writes, "\n• "}, {d.w.Reads, reads, " · "}} {
		of := 0 // items of the entry before
		for n, e := range part.entries {
			own := d.items(e, part.sign)
			if n == 0 {
				own[0].text = part.heading + "\n" + own[0].text
				own[0].before = strings.Repeat("\n", min(i, len(items))) + "\n"
			} else if i == 0 && max(len(own), of) > 1 {
				own[0].before = "\n\n" // a write of several lines stands by itself
			}
			of = len(own)
			items = append(items, own...)
		}
	}
	return d.itemized(items, most)
}

// item is a text that no section splits. again stands above it if another section has the beginning of its entry.
type item struct {
	before, text, again string
	first               bool // of its entry
}

// items splits the line of an entry, and adds the line below a message.
func (d drawing) items(e explain.PlanEntry, sign string) []item {
	number := strings.Join(e.Orders, ", ") + "."
	again := fill(d.w.Again, "step", number)
	out := []item{{before: "\n", text: number + " ", again: again, first: true}}
	for _, p := range e.Line {
		if p.Kind == explain.Break {
			out = append(out, item{before: sign, again: again})
			continue
		}
		out[len(out)-1].text += d.piece(p)
	}
	if e.Tool == MessageTool {
		if slices.ContainsFunc(e.Line, func(p explain.Piece) bool { return formats.Get().MatchString(p.Text) }) {
			out = append(out, item{before: "\n", text: d.w.SentAsIs, again: again})
		}
		out = append(out, item{before: "\n", text: d.sent(), again: again})
	}
	return out
}

// sent is the line below a message.
func (d drawing) sent() string {
	return "_" + Below(d.w.Locale, d.w.mention(or(d.asker, d.a.Head.Requester))) + "_"
}

// Below is the line below a message that who asked for, with Stamper in the place of whoever will approve it.
func Below(locale, who string) string { return explain.Sent(locale, who, wordsOf.In(locale).Stamper) }

// itemized fills up to most sections with items. It splits only an item that is longer than a section.
func (d drawing) itemized(items []item, most int) body {
	var pages []string
	page := ""
	for _, it := range items {
		room := maxSection - 50 - max(150, units(it.again)) // for again, and for the line that says that it goes on
		for i, text := range codePages(it.text, room) {
			before := it.before
			if whole := page + before + text; page != "" && (i > 0 || units(whole) > room || height(whole) > maxLines) {
				pages, page = append(pages, page), ""
			}
			switch {
			case page == "" && i > 0:
				before = it.again + " "
			case page == "" && it.first:
				before = ""
			case page == "":
				before = it.again + before
			}
			page += before + text
		}
	}
	if page != "" {
		pages = append(pages, page)
	}
	return d.sections(pages, most)
}

// piece draws a part of a line. It shows a person's id next to the name.
func (d drawing) piece(p explain.Piece) string {
	switch p.Kind {
	case explain.Words, explain.Break:
		return p.Text
	case explain.Person:
		return fmt.Sprintf("%s (%s)", d.w.mention(p.Text), p.Text)
	}
	return asWritten(p.Text)
}
