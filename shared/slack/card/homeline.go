package card

import (
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// maxListSaid is how much of a message a line repeats, in characters.
const maxListSaid = 60

// maxListTitle is the greatest length of a title in the list, in characters.
const maxListTitle = 80

func titleOf(a *task.Aggregate, w *askWords) string {
	title := ""
	switch {
	case a.Task != nil:
		title = a.Task.Title
	case a.Request != nil:
		title = a.Request.Words(w.Locale)
	}
	return or(inline(title, maxListTitle), w.Untitled)
}

func opens(link string, w *askWords) string { return linkAs(link, w.Open) }

// linkAs is the end of a line that leads elsewhere, or nothing without a link that may be shown.
func linkAs(link, text string) string {
	if link == "" || !addressed(link) {
		return ""
	}
	return " · <" + escape(link) + "|" + text + ">"
}

func waitsLine(x Waits, w *askWords) string {
	title := ""
	switch a := x.Of.(type) {
	case *task.Aggregate:
		title = titleOf(a, w)
	case *conversation.Aggregate:
		title = conversationTitle(a.Conversation, w)
	}
	out := fill(w.WaitsLine, "title", title, "what", w.what(x.Question),
		"who", wordsOf.In(w.Locale).mention(x.Of.Root().Common().Requester))
	if a, is := x.Of.(*task.Aggregate); is {
		out += facts(a, x.Question, w)
	}
	out += x.as(w)
	if x.Question.DecideBy != nil {
		out += fill(w.WaitsUntil, "when", when(*x.Question.DecideBy))
	}
	return out + opens(x.Link, w)
}

// facts are what somebody wants to know before they open a request: its words, what its steps write to, and its priority.
func facts(a *task.Aggregate, q aggregate.Question, w *askWords) string {
	out := ""
	if a.Request != nil && a.Task != nil {
		if said := inline(a.Request.Words(w.Locale), maxListSaid); said != "" {
			out += fill(w.WaitsSaid, "text", said)
		}
	}
	if p := a.Process(); p != nil && (q.Kind == task.CardProcess || q.Kind == task.CardStep) {
		steps := p.Steps
		for i := range steps {
			if q.Kind == task.CardStep && steps[i].StepID == q.StepID {
				steps = steps[i : i+1]
				break
			}
		}
		out += fill(w.WaitsWrites, "writes", inline(explain.Writes(w.Locale, steps), maxListTitle))
	}
	if a.Task != nil && a.Task.Priority.Pressing() {
		out += " · " + wordsOf.In(w.Locale).priority(a.Task.Priority)
	}
	return out
}

// as says for whom the person stands in, or nothing.
func (x Waits) as(w *askWords) string {
	if x.For == "" {
		return ""
	}
	return fill(w.WaitsAs, "who", wordsOf.In(w.Locale).mention(x.For))
}

// gate returns the gate that waits, or nil.
func (x Waits) gate() *aggregate.Gate {
	a, has := x.Of.(interface {
		GateAt(key string) *aggregate.Gate
	})
	if !has {
		return nil
	}
	return a.GateAt(x.Question.Key)
}

// along says at which stage of its route an item waits, how many stamps that owes and whose, or nothing without a rule.
func along(x Waits, w *askWords) string {
	g := x.gate()
	if !g.Ruled() {
		return ""
	}
	r := drawing{w: wordsOf.In(w.Locale)}.route(g, true)
	if of, is := x.Of.(interface{ Origin() aggregate.Origin }); is {
		r.origin = of.Origin()
	}
	return r.whom(w)
}

// decides says who may decide, by the gate's route or else by the settings.
func decides(x Waits, s tenancy.Settings, w *askWords) string {
	if g := x.gate(); g.Ruled() {
		return along(x, w)
	}
	of, is := x.Of.(interface{ Origin() aggregate.Origin })
	if !is {
		return ""
	}
	return fill(w.WaitsFor, "who", wordsOf.In(w.Locale).surface().Approvers(s, of.Origin()))
}

func (w *askWords) what(q aggregate.Question) string {
	switch q.Kind {
	case task.CardPrompt:
		return fill(w.WhatPrompt, "version", q.Version)
	case task.CardProcess:
		return fill(w.WhatProcess, "version", q.Version)
	case conversation.CardAction:
		return fill(w.WhatAction, "n", q.Version)
	}
	return w.WhatStep
}

func mineLine(x Mine, w *askWords) string {
	return fmt.Sprintf("%s — %s%s", titleOf(x.Task, w), w.state(x.Task), opens(x.Link, w))
}

// state says how a request stands. One that nobody may approve has a card of its own.
func (w *askWords) state(a *task.Aggregate) string {
	if a.Head.Undecidable() {
		return w.StateHeld
	}
	switch a.Head.Noted {
	case task.StatusWaits:
		return w.StateWaits
	case task.StatusNotDrafted:
		return w.StateParked
	case task.StatusRunning:
		return w.StateRunning
	case task.StatusToRetry:
		return w.StateToRetry
	case task.StatusFailed:
		return w.StateFailed
	case task.StatusDone:
		return w.StateCompleted
	case task.StatusCancelled:
		if a.Head.Ended.Reason == task.ReasonDenied {
			return w.StateDenied
		}
		return w.StateCancelled
	case task.StatusExpired:
		return w.StateExpired
	case task.StatusRefused:
		return w.StateRefused
	case task.StatusAnswered:
		return w.StateAnswered
	}
	return w.StatePrepared
}
