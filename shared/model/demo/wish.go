package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// wish is what a request asks for, with the remarks that people made on its versions.
type wish struct {
	words    *words
	now      time.Time
	text     string // what is read, without the markers
	pieces   []piece
	shut     string // what of the request's enclosures can't be used, in sentences; nothing is planned
	priority string
	topic    string // empty, a name in the words' topics, or a list's tool

	months              []month // in order
	departments, people []string
	copied              bool // the requester is told, too, besides the people
	quotes              []string
	tab                 string // name of the sheet's tab, if the message has one
	slot                slot   // of a meeting
	order               order
	is                  map[string]bool // nodm, nosheet, check, validate, brief, courtesy, assumed, notools

	no    string // why nothing is planned
	fates []fate // of each part of the remarks, in order
}

func read(in input) (*wish, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return nil, fmt.Errorf("read the data: now: %w", err)
	}
	bare := plain(in.Message)
	w := &wish{now: now, priority: "medium", words: spoken.In(in.language(bare)), is: map[string]bool{}}
	w.enclose(in, bare)
	all, said, closed := w.tokens()
	if closed {
		w.take(all, said)
		w.judge(all)
	}
	w.is["check"] = w.is["check"] || marker("check", in.Message) != nil
	if len(w.months) == 0 {
		w.months, w.is["assumed"] = []month{thisMonth(now)}, true
	}
	return w, nil
}

// kind groups topics by what their requests may say.
func (w *wish) kind() string {
	switch w.topic {
	case "", "message":
		return w.topic
	case "overtime", "attendance":
		return "records"
	case "meeting", "purchase":
		return "booked"
	}
	return "list"
}

// uses are the kinds of topics that have a use for what a tag says.
var uses = map[string]string{
	"nodm": "records list booked", "dm": "records list booked", "nosheet": "records list", "sheet": "records list",
	"neither": "records list", "tab": "records list", "validate": "records", "check": "records list booked message",
	"brief": "records list booked message", "send": "records list booked message", "know": "records list booked message",
	"asks": "records list", "each": "records list", "urgent": "any", "high": "any", "low": "any",
}

// take reads tokens, and marks those that it uses. What of them the topic has no use for stays unused.
func (w *wish) take(all []token, said []string) {
	w.subject(all, said)
	w.addressees(all)
	if w.topic == "" && len(w.people) > 0 && len(said) > 0 {
		w.topic = "message"
	}
	if w.kind() == "records" || w.list().past && w.kind() == "list" {
		w.periods(all)
	}
	if w.topic == "meeting" && w.slot.day.IsZero() {
		w.slot = slot{w.now.AddDate(0, 0, 1), 10 * 60, 60, true, true, true}
	}
	if w.kind() == "records" || w.list().departments && w.kind() == "list" {
		w.narrow(all)
	}
	w.is["sends"] = slices.ContainsFunc(all, func(t token) bool { return t.is("send") || has(t.text, "送", "知らせ") })
	for i := range all {
		if t := &all[i]; !t.is("q") {
			w.flag(t, said)
		} else if i == 0 || !all[i-1].is("topic") && (i+1 == len(all) || !all[i+1].is("topic")) { // no room's name
			w.quote(t, quotation(t.text, said))
		} else {
			t.text = quotation(t.text, said)
		}
	}
	able := slices.ContainsFunc(all, func(t token) bool { return has(strings.ToLower(t.text), "can ", "could ") })
	written := slices.ContainsFunc(all, func(t token) bool { return t.is("sheet", "tab") && t.used })
	for i := range all {
		t := &all[i]
		t.used = t.used || t.is("this") && len(w.pieces) > 1 || t.is("forme") && able || t.is("store") && written
	}
}

// subject finds what is asked for. A second subject is refused.
func (w *wish) subject(all []token, said []string) {
	for i := range all {
		t := &all[i]
		switch {
		case t.is("order"):
			w.buy(t, said)
		case t.is("topic"):
			if w.topic = cmp.Or(w.topic, t.means); w.topic != t.means {
				w.stop("noSecond", t.text)
			}
			t.used = true
		}
	}
}

// addressees finds who is to be told: mentions and addresses behind “to” or “tell”, or before 「に」. Whoever is mentioned
// otherwise stays unused.
func (w *wish) addressees(all []token) {
	at := func(i int) token {
		if i < 0 || i >= len(all) {
			return token{}
		}
		return all[i]
	}
	for i := 0; i < len(all); i++ {
		if !all[i].is("who") {
			continue
		}
		begin, end := i, i+1
		for at(end).is("who") || at(end).is("j") && at(end+1).is("who") {
			end++
		}
		i = end - 1
		if at(begin - 1).is("only") {
			begin--
		}
		to := strings.EqualFold(at(begin-1).text, "to")
		switch after := at(end); {
		case after.is("dest") || after.is("only") && strings.HasSuffix(after.text, "に"):
			w.copied = w.copied || strings.Contains(after.text, "も")
			end++
		case !to && (!at(begin-1).is("lead", "send") || all[begin].is("only")), strings.HasPrefix(after.text, "の"),
			strings.HasPrefix(after.text, "'"):
			continue
		default:
			begin--
			w.copied = w.copied || strings.EqualFold(all[begin].text, "cc") || after.is("too")
			if after.is("too", "only") {
				end++
			}
		}
		for j := begin; j < end; j++ {
			if all[j].used = true; all[j].is("who") {
				w.people = add(w.people, all[j].named["id"])
			}
		}
	}
}

// narrow takes up the departments. Each further one has to be joined to those before, and “only” stands beside one.
func (w *wish) narrow(all []token) {
	var at []int
	for i := range all {
		t := &all[i]
		if !t.is("dept") || addressed(all, i) {
			continue
		}
		if n := len(at); n > 0 && (slices.Contains(w.departments, t.means) ||
			!all[i-1].is("j") && all[i-1].text != "も" && i-1 != at[n-1]) {
			w.stop("noSecond", t.text)
		}
		w.departments, t.used, at = add(w.departments, t.means), true, append(at, i)
	}
	for i := range all {
		if len(at) == 1 && all[i].is("only") && (i == at[0]-1 ||
			i > at[0] && !slices.ContainsFunc(all[at[0]+1:i], func(t token) bool { return !t.is("p") })) {
			all[i].used = true
		}
	}
}

// addressed reports whether a department is who speaks, is spoken to, or gets the result: it narrows nothing.
func addressed(all []token, i int) bool {
	at := func(i int) token {
		if i < 0 || i >= len(all) {
			return token{tag: "s"}
		}
		return all[i]
	}
	begins := i == 0 || !slices.ContainsFunc(all[:i], func(t token) bool { return !t.is("hi", "j", "s") })
	switch after := at(i + 1); {
	case after.is("only") && strings.HasSuffix(after.text, "に") && at(i+2).is("send"),
		at(i-1).is("send", "lead") && !after.is("topic"):
		return true
	case begins && after.is("j") && (strings.HasSuffix(all[i].text, "さん") || at(i-1).is("hi")):
		return true
	}
	return begins && strings.HasPrefix(at(i+1).text, "です") && at(i+2).is("s") && i+3 < len(all)
}

// flag takes up what is left out, added or said about the result, if the topic has a use for it.
func (w *wish) flag(t *token, said []string) {
	if t.is("day", "clock", "length") {
		t.used = w.topic == "meeting" && w.slot.read(*t, w.now)
	}
	if use := uses[t.tag]; t.used || use == "" || use != "any" && (w.topic == "" || !has(use, w.kind())) {
		return
	}
	switch t.used = true; t.tag {
	case "nodm", "nosheet", "check", "validate", "brief":
		w.is[t.tag] = true
	case "neither":
		w.is["nodm"], w.is["nosheet"] = true, true
	case "dm", "sheet":
		t.used = !w.is["no"+t.tag]
	case "urgent", "high", "low":
		w.priority = t.tag
	case "each":
		t.used = !w.is["sends"]
	case "tab":
		name := strings.Join(strings.Fields(quotation(t.text, said)), " ")
		if t.used = !w.is["nosheet"] && name != "" && w.tab == "" && len([]rune(name)) <= maxTab; t.used {
			w.tab = name
		}
	}
}

// quotation is the text that stands where its rune is.
func quotation(place string, said []string) string {
	for _, r := range place {
		if at := int(r - firstQuotation); at >= 0 && at < len(said) {
			return said[at]
		}
	}
	return ""
}

// quote takes up a quotation: a message's text, a booking's title, or the name of a department.
func (w *wish) quote(t *token, said string) {
	quoted := lex(normal(said), false)
	switch {
	case w.topic == "message" || w.topic == "meeting":
		w.quotes, t.used = append(w.quotes, said), true
	case len(quoted) == 1 && quoted[0].is("dept") && has("records list", w.kind()) && w.topic != "":
		w.departments, t.used = add(w.departments, quoted[0].means), true
	default:
		t.text = said
	}
}

// maxTab is the length limit of a tab's name, and maxMessage the tool's limit for a text, in characters.
const maxTab, maxMessage = 100, 3000

// judge names what no phrase takes, and refuses contradictory combinations and texts without a subject.
func (w *wish) judge(all []token) {
	w.is["courtesy"] = len(all) > 0 && !slices.ContainsFunc(all, func(t token) bool { return !t.is("hi", "s", "j") })
	unread := strange(all)
	switch n := len(unread); {
	case n > 0 && w.topic == "" && len(w.people) > 0:
		w.no = ""
		w.stop("noText", strings.Join(unread, " "))
	case n > maxUnread:
		w.no = w.say("tooMuch", w.quoted(unread[:maxUnread]...), n-maxUnread) + w.where(unread...)
	case n > 0:
		w.no = w.say("noWords", w.quoted(unread...)) + w.where(unread...)
	case w.topic != "message" && len(w.people) > 0 && len(w.quotes) > 0:
		w.stop("noSecond", w.quotes[0])
	case len(w.quotes) > 1:
		w.stop("noSecond", w.quotes[1])
	case w.topic == "message" && len([]rune(w.quotes[0])) > maxMessage:
		w.no = w.say("longMessage", maxMessage)
	case w.topic == "" && len(w.people) > 0:
		w.no = w.say("noMessage")
	case w.topic == "" && len(all) > 0 && !w.helps():
		w.stop("noWords", w.text)
	}
	if second := pairs(all); second != "" {
		w.stop("noSecond", second)
	}
}

// stop says why nothing is planned, unless something else was said before.
func (w *wish) stop(form, word string) {
	w.no = cmp.Or(w.no, w.say(form, w.quoted(word))+w.where(word))
}

// helps reports whether a request only asks what there is to ask for, greets or thanks.
func (w *wish) helps() bool {
	return w.shut == "" && (w.text == "" || w.is["courtesy"] || form("$help").MatchString(w.text))
}

// maxParts and maxTables keep a plan within task.MaxSteps, and its steps within a card: nobody may stamp steps that they
// can't see in full. maxUnread is the most phrases that a refusal quotes.
const maxParts, maxTables, maxUnread = task.MaxSteps / 5, 9, 4

// cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (w *wish) cannot() string {
	parts, most := len(w.parts()), maxParts
	if w.kind() == "records" && w.Sheet() {
		most = maxTables
	}
	switch why := w.no + w.shut; {
	case w.helps():
		return w.can()
	case len(w.people) > task.MaxMentioned:
		return w.say("tooManyTold", len(w.people), task.MaxMentioned)
	case why != "" && len([]rune(why+w.can())) > task.MaxSentence:
		return legible.Clip(strings.TrimSpace(why), task.MaxSentence)
	case why != "":
		return why + w.can()
	case w.topic == "meeting" && w.slot.wrong(w.now), w.topic == "purchase" && w.order.wrong:
		return w.Form("wrong")
	case parts > most:
		return w.say("tooWide", parts, most)
	}
	return ""
}

// copy is a wish that can be changed by itself.
func (w *wish) copy() *wish {
	n := *w
	n.is = maps.Clone(w.is)
	return &n
}

func has(text string, any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
}

func add[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}
