package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// task draws the card that answers a request: first that it was received, then the task or the reply.
func (d drawing) task() face {
	t, w := d.a.Task, d.w
	switch {
	case t != nil:
		return d.outcome(d.extracted(t).with(d.changed()...))
	case d.a.Head.Ended != nil && d.a.Head.Ended.As == task.TaskAnswered:
		return face{text: strings.TrimSuffix(d.reply()+d.leftUnread()+"\n"+d.isChanged(), "\n")}
	case d.a.Head.Ended != nil && d.a.Head.Ended.As == task.TaskRefused:
		return d.refused()
	case d.a.Head.Ended != nil:
		said, ended := d.cancelledUnread()
		return face{said, grey, nil}.with(section(said), contextLine(ended)).with(d.changed()...)
	case d.a.Choosing() != nil:
		return d.choice(d.a.Choosing())
	case d.a.Head.Parked != nil:
		title := w.TaskHeader + d.notMade(w.IsHeld, w.IsGenFailed)
		return d.parked(face{text: title}.with(header(title)), "").
			with(contextLine(fill(w.TaskID, "task", or(code(d.taskID(), maxID), "?"))))
	}
	return face{w.Received, yellow, nil}.with(section(w.Received)).with(d.enclosed()...).with(d.shownTo()...).with(d.waitNote()...)
}

// cancelledUnread says that a message became no task, and why. Of one in the thread of another request it says that
// this isn't affected.
func (d drawing) cancelledUnread() (said, ended string) {
	e, w, c := d.a.Head.Ended, d.w, d.a.Choice
	switch {
	case c != nil && c.As == "" && e.Reason == task.ReasonDeleted:
		ended = fill(w.RemarkDeleted, "when", when(e.At))
	case e.Reason == task.ReasonNewerMessage:
		ended = fill(w.RemarkReplaced, "when", when(e.At))
	default:
		ended = d.ended()
	}
	switch {
	case c != nil && c.As == "":
		return fill(w.RemarkDropped, "title", or(inline(c.Beside.Title, maxHeader), w.Untitled)), ended
	case e.Reason == task.ReasonNewerMessage,
		e.Reason == task.ReasonDeleted && d.a.Request != nil && d.a.Request.Threaded():
		return w.RemarkWithdrawn, ended
	}
	return w.TaskCancelled, ended
}

// shownTo says, until the steps are asked about, where a request is shown because nobody else is where it was made.
func (d drawing) shownTo() []slack.Block {
	p := d.a.Process()
	if len(d.a.Head.ShownTo) == 0 || d.a.Head.Ended != nil || p != nil && p.Status != aggregate.Generating {
		return nil
	}
	return []slack.Block{contextLine(fill(routeWordsOf.In(d.w.Locale).ShownTo, "who", d.places(d.a.Head.ShownTo)))}
}

// places names a channel's members, or people.
func (d drawing) places(ids []string) string {
	var names []string
	for _, id := range ids[:min(len(ids), maxNamed)] {
		if !strings.HasPrefix(id, "U") && !strings.HasPrefix(id, "W") {
			return d.w.surface().Approvers(tenancy.Settings{}, aggregate.Origin{Channel: id})
		}
		names = append(names, d.w.mention(id))
	}
	text := strings.Join(names, " ")
	if more := len(ids) - len(names); more > 0 {
		text = fill(routeWordsOf.In(d.w.Locale).Others, "who", text, "n", more)
	}
	return text
}

// refused says why a request did not become a task, and when the person may ask again.
func (d drawing) refused() face {
	e, w := d.a.Head.Ended, d.w
	f := face{w.RequestRefused, grey, nil}.with(section(w.RequestRefused), section(w.sentence(e.Reason, e.Detail)))
	if e.Until != nil {
		f = f.with(contextLine(fill(w.RefusedUntil, "when", when(*e.Until))))
	}
	if number := d.requestNumber(); len(number) > 0 {
		f = f.with(contextLine(number...))
	}
	return f.with(d.changed()...)
}

// requestNumber returns a line with the request's number, if it has one.
func (d drawing) requestNumber() []string {
	if d.a.Head.RequestNumber == "" {
		return nil
	}
	return []string{fill(routeWordsOf.In(d.w.Locale).RequestNumber, "number", d.a.Head.RequestNumber)}
}

func (d drawing) extracted(t *task.Task) face {
	w := d.w
	return face{or(inline(t.Title, maxHeader), w.Untitled), green, nil}.with(
		header(or(plain(t.Title, maxHeader), w.Untitled)),
		divider(),
		section(fill(w.Description, "text", or(paragraph(t.Description, maxSection-units(w.Description)), w.None))),
		fields(
			fill(w.Priority, "priority", w.priority(t.Priority)),
			fill(w.Type, "type", or(inline(string(t.TaskType), maxTool), w.None)),
		),
		divider(),
		contextLine(append(append([]string{fill(w.TaskID, "task", or(code(t.ID, maxID), "?"))}, d.requestNumber()...),
			d.corrected()...)...),
	).with(d.enclosed()...).with(d.shownTo()...)
}

// corrected says, once people can read a corrected policy, that title and description still are those of the original
// request.
func (d drawing) corrected() []string {
	p := d.a.Prompt()
	again := d.a.Correction != nil && d.a.Correction.Taken // title and description are of the corrected request
	if p == nil || p.Version < 2 || p.Status == aggregate.Generating || again {
		return nil
	}
	return []string{fill(d.w.AsAsked, "version", p.Version)}
}

// Priority names a priority, on pages as on cards; empty: what isn't of a task has none.
func Priority(locale string, p task.Priority) string {
	if p == "" {
		return ""
	}
	return wordsOf.In(locale).priority(p)
}

func (w *words) priority(p task.Priority) string {
	switch p {
	case task.Low:
		return w.PriorityLow
	case task.Medium:
		return w.PriorityMedium
	case task.High:
		return w.PriorityHigh
	case task.Urgent:
		return w.PriorityUrgent
	}
	return or(inline(string(p), maxTool), w.None)
}
