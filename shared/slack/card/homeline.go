package card

import (
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

const maxListSaid, maxListTitle = 60, 80 // the most that a line shows of a message and of a title, in characters

// titleOf names a request by what its steps write, once that is known, or else by its title in a form. The title is
// older than any correction, and others' words.
func titleOf(a *task.Aggregate, w *askWords, form string) string {
	d := drawing{w: wordsOf.In(w.Locale)}
	if sum := d.sumOf(a); sum.Told() {
		if a.Head.Ended != nil && !sum.Amount.Known() { // nobody asks any more
			sum.Amount = rules.Nothing()
		}
		return d.short(sum)
	}
	return nameOf(a, w, form)
}

// nameOf is what a request is called, whatever its steps do.
func nameOf(a *task.Aggregate, w *askWords, form string) string {
	title := ""
	switch {
	case a.Task != nil:
		title = a.Task.Title
	case a.Request != nil:
		title = a.Request.Words(w.Locale)
	}
	title = or(inline(title, maxListTitle), wordsOf.In(w.Locale).Untitled)
	return explain.Titled(fill(form, "text", title), a.Head.Glance.Version)
}

// sumOf sums up a request's steps, not those of an earlier policy.
func (d drawing) sumOf(a *task.Aggregate) (s explain.Sum) {
	if p, of := a.Process(), a.Prompt(); p != nil && of != nil && p.PromptID == of.ID {
		return explain.SumUp(d.w.Locale, p.Steps)
	}
	return s
}

// began is a text at the beginning of a line. The name of a tool stays as it is.
func began(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.Contains(word, "_") {
		return text
	}
	return legible.Capital(text)
}

func opens(link string, w *askWords) string { return linkAs(link, w.Open) }

// linkAs is the end of a line that leads elsewhere, or nothing without a link that may be shown.
func linkAs(link, text string) string {
	if !addressed(link) {
		return ""
	}
	return " · <" + escape(link) + "|" + text + ">"
}

func waitsLine(x Waits, w *askWords) string {
	title := ""
	switch a := x.Of.(type) {
	case *task.Aggregate:
		title = began(titleOf(a, w, wordsOf.In(w.Locale).Quoted))
	case *conversation.Aggregate:
		title = conversationTitle(a.Conversation, w)
	case *call.Aggregate:
		title = began(callWordsOf.In(w.Locale).Header + " " + inline(a.Call.KeyName, maxListTitle))
	}
	return fill(w.WaitsLine, "title", title, "what", x.what(w),
		"who", wordsOf.In(w.Locale).mention(x.Of.Root().Common().Requester)) + x.facts(w) +
		w.until(x.Question.DecideBy)
}

// what says what an item asks about: what steps do, or the version of a policy.
func (x Waits) what(w *askWords) string {
	q := x.Question
	switch q.Kind {
	case task.CardPrompt:
		return fill(w.WhatPrompt, "version", q.Version)
	case conversation.CardAction:
		return fill(w.WhatAction, "n", q.Version)
	}
	d, s := drawing{w: wordsOf.In(w.Locale)}, explain.Sum{}
	switch a := x.Of.(type) {
	case *call.Aggregate:
		s = explain.Does(w.Locale, a.Call, nil)
	case *task.Aggregate:
		if p, g := a.Process(), aggregate.Find(a.Gates, q.Key); g != nil {
			s = explain.Does(w.Locale, g, p)
		} else if p != nil {
			s = explain.Does(w.Locale, p, nil)
		}
	}
	first := s.First()
	switch unsaid := inline(explain.Plain(first.Unsaid()), maxListSaid); {
	case first.Order == 0 && q.Kind == call.Card:
		return callWordsOf.In(w.Locale).Header
	case first.Order == 0:
		return w.WhatStep
	case q.Kind == task.CardStep:
		return checkOf(d.w, first.Order, s)
	case q.Kind == call.Card && unsaid != "":
		return d.short(s) + " · " + unsaid
	case q.Kind == task.CardProcess && s.Told(): // the title says it
		return fill(w.WhatProcess, "version", q.Version)
	}
	return d.short(s)
}

// facts are a request's words, its priority if that presses, and for whom the person stands in.
func (x Waits) facts(w *askWords) (out string) {
	a, is := x.Of.(*task.Aggregate)
	if !is || a.Task == nil {
		return w.as(x.For)
	}
	if a.Request != nil {
		if said := inline(a.Request.Words(w.Locale), maxListSaid); said != "" {
			out = fill(w.WaitsSaid, "text", said)
		}
	}
	if a.Task.Priority.Pressing() {
		out += " · " + wordsOf.In(w.Locale).priority(a.Task.Priority)
	}
	return out + w.as(x.For)
}

// as says for whom somebody stands in; "" for nobody.
func (w *askWords) as(principal string) string {
	if principal == "" {
		return ""
	}
	return fill(w.WaitsAs, "who", wordsOf.In(w.Locale).mention(principal))
}

// until says by when something has to be decided; "" if it never is due.
func (w *askWords) until(by *time.Time) string {
	if by == nil {
		return ""
	}
	return fill(w.WaitsUntil, "when", when(*by))
}

// route is where an item waits; without its gate, whom the settings allow.
func (x Waits) route(s tenancy.Settings, w *askWords) explain.Route {
	g := x.Of.Asked(x.Question.ID).Gate
	if g == nil {
		g = &aggregate.Gate{}
	}
	return wordsOf.In(w.Locale).surface().Route(g, true, x.Of.Origin(), s)
}

// mineLine says of one of the person's own requests what it is and moves, and what happens next: whose decides.
func mineLine(x Mine, w *askWords, s tenancy.Settings) (title, next string) {
	a := x.Task
	mark, next, _ := strings.Cut(w.state(a), " ")
	title = mark + " *" + began(titleOf(a, w, "{text}")) + "*"
	if q, waits := a.Asks(); waits {
		r := Waits{Of: a, Question: q}.route(s, w)
		next += fill(w.WaitsFor, "who", r.Waits(maxNamed)) + w.until(q.DecideBy)
	}
	if a.Head.Noted == task.StatusReturned {
		next += ": " + inline(a.Head.Glance.Detail, maxDetail)
	}
	if e := a.Head.Ended; e != nil && e.As == task.TaskRefused {
		next += ": " + inline(Sentence(w.Locale, e.Reason, e.Detail, explain.NoRetry), maxDetail)
	}
	made := ""
	for _, row := range a.Steps {
		made = or(Address(row), made)
	}
	return title, next + linkAs(made, w.OpenResult) + opens(x.Link, w)
}

// state says how a request stands. One that nobody may approve has a card of its own.
func (w *askWords) state(a *task.Aggregate) string {
	status := a.Head.Noted
	switch {
	case a.Head.Undecidable():
		status = "held"
	case status == task.StatusCancelled && a.Head.Ended.Reason == task.ReasonDenied:
		status = "denied"
	case status == task.StatusCancelled && a.Head.Ended.Reason == task.ReasonStepRejected:
		status = "stopped"
	}
	return or(w.States[status], w.States[task.StatusDrafting])
}
