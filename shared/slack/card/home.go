package card

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// HomeCallback names the Home tab in the payload of a click there, NewRequest its button for a request.
const HomeCallback, NewRequest = "ringi_home", "new_request"

// Summary has everything that the Home tab shows to one person.
type Summary struct {
	Waiting  []Waits // waits for this person's decision; the oldest first
	Looked   int     // if positive: only this many of the workspace's oldest waiting items were read
	Returned []Mine  // the person's own requests that were given back to them: it is their turn
	Mine     []Mine  // their others, first those that somebody has to start again, then the newest
	MoreMine More    // of these, which are not listed
	Console  string  // the console's address; empty: no links
}

// leadsTo returns a button that leads elsewhere. A click on it does nothing else.
func leadsTo(action, text, url string) slack.BlockElement {
	b := slack.NewButtonBlockElement(action, "", emojiLabel(text))
	b.URL = url
	return b
}

// leads returns the buttons for a request, a decision, the console and, if the workspace has rules, naming who stands
// in.
func (w *askWords) leads(in Summary, s tenancy.Settings) slack.Block {
	buttons := []slack.BlockElement{button(w.HomeNew, NewRequest, "", slack.StylePrimary),
		button(w.MatterTitle, NewMatter, "", "")}
	if s.RulesRev > 0 && in.Console != "" {
		buttons = append(buttons, leadsTo("name_stand_in", w.HomeStandIn, in.Console+"/stand-ins"))
	}
	if in.Console != "" {
		buttons = append(buttons, leadsTo("open_console", w.HomeConsole, in.Console))
	}
	return slack.NewActionBlock("", buttons...)
}

// Waits is an open question with its subject. Link leads to its card, and may be empty.
type Waits struct {
	Of       explain.Asking
	Question aggregate.Question
	Link     string
	Stage    int    // of its route, at which the person, or whom they stand in for, owes a stamp; 0: none names them
	For      string // whom they stand in for
}

// More is how many are left out, beside others that were not even read.
type More struct {
	N      int
	Unread bool
}

// more counts what is left out, with the page that has it; nil: nothing is.
func (w *askWords) more(m More, page string) []string {
	n := strconv.Itoa(max(1, m.N))
	switch {
	case m.Unread:
		n += "+"
	case m.N <= 0:
		return nil
	}
	return []string{fill(wordsOf.In(w.Locale).EnclosedMore, "n", n) + linkAs(page, w.HomeConsole)}
}

// Mine is one of the person's own requests.
type Mine struct {
	Task *task.Aggregate
	Link string
}

// maxHomeLines is how many entries a Home tab has, of which what waits takes half if there is more of the person's own.
const maxHomeLines = 20

// HomeView draws a person's Home tab: what waits for them, what is due first at the top, and below it their own
// requests, or only these if nothing waits. Each has a title, a button that opens it, and a line below.
func HomeView(in Summary, s tenancy.Settings, locale string) slack.HomeTabViewRequest {
	w, own := askWordsOf.In(locale), s
	own.Locale = locale
	var turn, mine []entry
	for _, x := range in.Returned {
		turn = append(turn, mineLine(x, w, own))
	}
	for _, x := range byDue(in.Waiting) {
		line := waitsLine(x, w)
		if x.Stage > 0 { // else it is whoever may approve
			asks := x.route(own, w)
			line.about += fill(w.WaitsFor, "who", asks.Asks())
		}
		turn = append(turn, line)
	}
	for _, x := range in.Mine {
		mine = append(mine, mineLine(x, w, own))
	}
	left := maxHomeLines
	list := func(lines []entry, most int, m More, page string) (out []slack.Block) {
		n := min(len(lines), most, left)
		left -= n
		m.N += len(lines) - n
		for i, line := range lines[:n] {
			if i > 0 {
				out = append(out, divider())
			}
			what := section(cut(line.what, maxSection)).(*slack.SectionBlock)
			if addressed(line.link) {
				what.Accessory = slack.NewAccessory(leadsTo("open_entry", w.Open, line.link))
			}
			out = append(out, what, contextLine(line.about))
		}
		return append(out, contextOf(w.more(m, page))...)
	}
	waits := []slack.Block{header(fill(w.HomeWaiting, "n", len(turn)))}
	if in.Looked > 0 { // not all were read
		waits = []slack.Block{header(w.HomeWaitingSome)}
	}
	most := max(maxHomeLines/2, maxHomeLines-len(mine))
	waits = append(waits, list(turn, most, More{Unread: in.Looked > 0 && len(turn) > most}, in.Console)...)
	switch {
	case in.Looked > 0:
		waits = append(waits, contextLine(fill(w.HomeMore, "n", in.Looked)))
	case len(turn) == 0:
		waits = append(waits, section(w.HomeNothing))
	}
	asked := []slack.Block{header(w.HomeMine)}
	if len(mine) == 0 {
		asked = append(asked, section(w.HomeNoneMine))
	}
	asked = append(asked, list(mine, maxHomeLines, in.MoreMine, in.Console+"/tasks?person=me")...)
	if len(turn) == 0 && in.Looked == 0 && len(mine) > 0 { // such as for who never approves
		waits = nil
	} else {
		waits = append(waits, divider())
	}
	blocks := append(slices.Concat(waits, asked), divider(), contextLine(w.HomeHow), w.leads(in, s))
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, CallbackID: HomeCallback,
		Blocks: slack.Blocks{BlockSet: blocks}}
}

// byDue returns first what names the person; all in the order in which it is due, what has no end last.
func byDue(all []Waits) []Waits {
	all = slices.Clone(all)
	sort.SliceStable(all, func(i, j int) bool {
		x, y := &all[i], &all[j]
		at, other := x.Question.DecideBy, y.Question.DecideBy
		switch named := x.Stage > 0; {
		case named != (y.Stage > 0):
			return named
		case at == nil || other == nil:
			return at != nil && other == nil
		}
		return at.Before(*other)
	})
	return all
}

// entry is a line of the Home tab: what it is, below it how it stands, and where it leads.
type entry struct{ what, about, link string }

// single makes others' quotation marks such as stand within Ringi's.
var single = strings.NewReplacer(`"`, "'", "＂", "'", "“", "‘", "”", "’")

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
	title = or(inline(single.Replace(title), maxListTitle), wordsOf.In(w.Locale).Untitled)
	return explain.Titled(fill(form, "text", title), a.Head.Glance.Version)
}

// sumOf sums up a request's steps, not those of an earlier policy.
func (d drawing) sumOf(a *task.Aggregate) (s explain.Sum) {
	if p, of := a.Process(), a.Prompt(); p != nil && of != nil && p.PromptID == of.ID {
		return explain.SumUp(d.w.Locale, p.Steps)
	}
	return s
}

// worth is what a request moves, before its title, unless that is said to say it.
func worth(a *task.Aggregate, w *askWords, said bool) string {
	sum := drawing{w: wordsOf.In(w.Locale)}.sumOf(a)
	if said && sum.Told() || !sum.Amount.Known() || sum.Amount == rules.Nothing() {
		return ""
	}
	return explain.Money(w.Locale, sum.Amount) + " "
}

// began is a text at the beginning of a line. The name of a tool stays as it is.
func began(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.Contains(word, "_") {
		return text
	}
	return language.Capital(text)
}

func opens(link string, w *askWords) string { return linkAs(link, w.Open) }

// linkAs is the end of a line that leads elsewhere, or nothing without a link that may be shown.
func linkAs(link, text string) string {
	if !addressed(link) {
		return ""
	}
	return " · <" + escape(link) + "|" + text + ">"
}

func waitsLine(x Waits, w *askWords) entry {
	title := ""
	switch a := x.Of.(type) {
	case *task.Aggregate:
		name := titleOf
		switch bare := *a; {
		case x.Question.Kind == task.CardStep: // the title would say what is done already
			name = nameOf
		case a.Matter() == nil: // the version stands below
			bare.Head.Glance.Version, a = 0, &bare
		}
		title = worth(a, w, true) + began(name(a, w, wordsOf.In(w.Locale).Quoted))
	case *conversation.Aggregate:
		title = conversationTitle(a.Conversation, w)
	case *call.Aggregate:
		title = began(callWordsOf.In(w.Locale).Header + " " + inline(a.Call.KeyName, maxListTitle))
	}
	return entry{"*" + title + "*\n" + x.what(w) + x.facts(w), fill(w.HomeFrom, "who",
		wordsOf.In(w.Locale).mention(x.Of.Root().Common().Requester)) + w.until(x.Question.DecideBy), x.Link}
}

// what says what an item asks about: what steps do, or the version of a policy.
func (x Waits) what(w *askWords) string {
	q := x.Question
	switch q.Kind {
	case task.CardPrompt:
		return fill(w.WhatPrompt, "version", q.Version)
	case task.CardProcess: // the title says what, or how much
		a, d := x.Of.(*task.Aggregate), drawing{w: wordsOf.In(w.Locale)}
		if a.Matter() != nil {
			return d.w.FormHeader
		}
		all := []string{fill(w.WhatProcess, "version", q.Version)}
		if s := d.sumOf(a); s.Lead.Order != 0 && !s.Told() {
			if worth(a, w, true) == "" {
				all[0] += " — " + d.short(s)
			}
			all = append(all, d.apart(s.Lead)...)
		}
		return strings.Join(all, " · ")
	case conversation.CardAction:
		text := fill(w.WhatAction, "n", q.Version)
		if a, is := x.Of.(*conversation.Aggregate); is && a.Action(q.ID) != nil {
			text += drawing{w: wordsOf.In(w.Locale), t: Conversation{Aggregate: a}}.actionMatter(a.Action(q.ID))
		}
		return text
	}
	d, s := drawing{w: wordsOf.In(w.Locale)}, explain.Sum{}
	switch a := x.Of.(type) {
	case *call.Aggregate:
		s = explain.Does(w.Locale, a.Call, nil)
	case *task.Aggregate:
		if g := aggregate.Find(a.Gates, q.Key); g != nil {
			s = explain.Does(w.Locale, g, a.Process())
		}
	}
	first := s.First()
	switch {
	case first.Order == 0 && q.Kind == call.Card:
		return callWordsOf.In(w.Locale).Header
	case first.Order == 0:
		return w.WhatStep
	case q.Kind == task.CardStep:
		return checkOf(d.w, first.Order, s)
	case q.Kind == call.Card && first.Act == "":
		return strings.Join(append([]string{d.short(s)}, d.apart(first)...), " · ")
	}
	return d.short(s)
}

// apart are the first arguments of a call that no sentence tells: only they tell calls apart.
func (d drawing) apart(e explain.Effect) (all []string) {
	for _, a := range e.Rest[:min(len(e.Rest), 2)] {
		value := language.Beginning(or(a.Text, explain.Plain(a.Value)), maxListSaid)
		all = append(all, d.line(a.Name)+" "+inlineCode(value))
	}
	return all
}

// facts are a request's words, its priority if that presses, and for whom the person stands in.
func (x Waits) facts(w *askWords) (out string) {
	a, is := x.Of.(*task.Aggregate)
	if !is || a.Task == nil {
		return w.as(x.For)
	}
	first := x.Question.Version <= 1 && x.Question.Kind != task.CardStep // else what became of its words says more
	if first && a.Request != nil && a.Matter() == nil {
		if said := people(inline(single.Replace(a.Request.Words(w.Locale)), maxListSaid)); said != "" {
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
func mineLine(x Mine, w *askWords, s tenancy.Settings) entry {
	a := x.Task
	mark, next, _ := strings.Cut(w.state(a), " ")
	if q, waits := a.Asks(); waits {
		r := Waits{Of: a, Question: q}.route(s, w)
		next += fill(w.WaitsFor, "who", r.Waits(maxNamed)) + w.until(q.DecideBy)
	}
	if a.Head.Noted == task.StatusReturned {
		next += ": " + people(inline(a.Head.Glance.Detail, maxDetail))
	}
	made := ""
	for _, row := range a.Steps {
		made = or(Address(row), made)
	}
	return entry{mark + " *" + worth(a, w, false) + began(nameOf(a, w, "{text}")) + "*",
		next + linkAs(made, w.OpenResult), x.Link}
}

// stopping are the reasons for which a run ends whose steps before it stay.
var stopping = []aggregate.Reason{task.ReasonStepRejected, task.ReasonStepRefused, task.ReasonStepNoRoute}

// state says how a request stands. One that nobody may approve has a card of its own.
func (w *askWords) state(a *task.Aggregate) string {
	status := a.Head.Noted
	switch {
	case a.Head.Undecidable():
		status = "held"
	case status == task.StatusCancelled && a.Head.Ended.Reason == task.ReasonDenied:
		status = "denied"
	case status == task.StatusCancelled && slices.Contains(stopping, a.Head.Ended.Reason):
		status = "stopped"
	}
	return or(w.States[status], w.States[task.StatusDrafting])
}
