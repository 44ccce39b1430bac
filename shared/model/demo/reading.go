package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// topic is the subject of a request.
type topic int

const (
	other topic = iota
	attendance
	overtime
	meeting
	message   // a text to be sent to somebody
	purchase  // an order from a supplier
	lists     // the first topic that is planned from a file of the catalog
	employees = lists
)

// name is the topic's in the words; lists have forms of their own.
func (t topic) name() string {
	return map[topic]string{attendance: "attendance", overtime: "overtime", meeting: "meeting", message: "message",
		purchase: "purchase"}[t]
}

// reading is the demo's understanding of a request, with the reasons of rejections.
type reading struct {
	words    words
	now      time.Time
	text     string // what is read, without the markers
	pieces   []piece
	shut     string // what of the request's enclosures can't be used, in sentences; nothing is planned
	priority string

	topic       topic
	months      []month // in order
	fiscal      bool    // the text names a quarter, which is taken as one of a fiscal year from April
	assumed     bool    // the message names no month, so the current one is meant
	departments []string
	recipients  []string // Slack ids; empty: only the requester
	copied      bool     // the requester is notified, too, besides the recipients
	quotes      []string
	tab         string // name of the sheet's tab, if the message has one
	slot        slot   // of a meeting
	order       order  // of a purchase

	validate, humanCheck, noNotice, noSheet, brief bool
	courtesy                                       bool     // the message only greets or thanks
	noTools                                        bool     // a server's tool that is needed isn't allowed
	marked                                         bool     // the request asks for people above a limit; the result marks them
	left                                           []string // kinds of steps that are left out
	stops                                          []string // why nothing is planned, each a sentence
	unread                                         []string // what no phrase takes; nothing is planned
	// parts of the reasons of rejections, oldest first: followed, not understood, and against steps that others need
	taken, refused, needed []string
	fates                  []fate // of each part, in order
}

func read(in input) (reading, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return reading{}, fmt.Errorf("read the data: now: %w", err)
	}
	bare := plain(in.Message)
	r := reading{now: now, priority: "medium", words: *spoken.In(in.language(bare))}
	r.humanCheck = marker("check", in.Message) != nil
	r.enclose(in, bare)
	for _, p := range r.pieces {
		r.text = strings.Join(strings.Fields(r.text+" "+p.text), " ")
	}
	all, said, closed := r.tokens()
	if !closed {
		return r, nil
	}
	r.takeUp(all, said)
	r.unread = strange(all)
	if len(r.months) == 0 {
		r.months, r.assumed = []month{thisMonth(now)}, true
	}
	r.judge(all)
	return r, nil
}

// takeUp reads tokens, and marks those that it uses. What of them the topic has no use for stays unused.
func (r *reading) takeUp(all []token, said []string) {
	r.subject(all, said)
	r.people(all)
	if r.topic == other && len(r.recipients) > 0 && len(said) > 0 {
		r.topic = message
	}
	if r.dates() {
		r.periods(all)
	}
	if r.topic == meeting {
		r.slot = slot{day: r.now.AddDate(0, 0, 1), start: 10 * 60, end: 11 * 60, noDay: true, noTime: true, noEnd: true}
	}
	if r.topic.takesDepartments() {
		r.narrow(all)
	}
	for i := range all {
		r.beside(all, i, said)
		r.flag(&all[i], said)
	}
	able := slices.ContainsFunc(all, func(t token) bool { return has(strings.ToLower(t.text), "can ", "could ") })
	for i := range all {
		t := &all[i]
		switch t.tag {
		case "this":
			t.used = len(r.pieces) > 1
		case "forme":
			t.used = able
		case "asks":
			t.used = r.topic != meeting && r.topic != message
		case "send", "know":
			t.used = t.used || r.topic != other
		case "store":
			t.used = r.tab != "" || slices.ContainsFunc(all, func(t token) bool { return t.tag == "sheet" && t.used })
		case "day", "clock", "clocks", "length":
			t.used = r.topic == meeting && r.slot.read(*t, r.now)
		}
	}
}

// beside takes up a token that has a meaning with its neighbours: the name of a room, a channel, what cancels a request.
func (r *reading) beside(all []token, i int, said []string) {
	t := &all[i]
	near := func(at int, is func(token) bool) bool { return at >= 0 && at < len(all) && is(all[at]) }
	switch room := func(t token) bool { return t.tag == "room" }; {
	case t.tag == "q" && r.topic == meeting && (near(i-1, room) || near(i+1, room)):
		r.stop(r.words.Say["noRoom"], quotation(t.text, said))
	case t.tag == "cancel":
		r.stop(r.words.Say["noCancel"], t.text)
		t.used = true
	case t.tag == "channel":
		label := strings.Trim(t.text, "<>")
		if id, name, named := strings.Cut(label, "|"); named {
			label = id[:1] + name
		}
		r.stop(r.words.Say["noChannel"], label)
		t.used = true
		if near(i-1, func(t token) bool { return strings.EqualFold(t.text, "to") }) {
			all[i-1].used = true
		}
		if near(i+1, func(t token) bool { return t.tag == "dest" }) {
			all[i+1].used = true
		}
	}
}

// dates reports whether the topic is one of records of months, or of a list that can be asked as of a month.
func (r *reading) dates() bool {
	l := r.topic.list()
	return r.withMonth() || l != nil && l.past
}

// subject finds what is asked for. A second subject is refused; attendance has the columns of overtime, too.
func (r *reading) subject(all []token, said []string) {
	last := -1
	for i := range all {
		t, of := &all[i], other
		switch t.tag {
		case "overtime", "overtime-count":
			of = overtime
		case "attendance":
			of = attendance
		case "order", "order-priced", "order-en":
			r.orders(t, said)
			continue
		case "room":
			of = meeting
		case "marked":
			before := all[:i]
			for len(before) > 0 && before[len(before)-1].tag == "." && !has(before[len(before)-1].text, "me", "us") {
				before = before[:len(before)-1]
			}
			r.marked = true
			t.used = len(before) == 0 || before[len(before)-1].tag != "send" && before[len(before)-1].tag != "lead"
			continue
		}
		if name, ok := strings.CutPrefix(t.tag, "list "); ok {
			of = lists + topic(slices.IndexFunc(allLists(), func(l *list) bool { return l.Name == name }))
		}
		if of == other {
			continue
		}
		beside := last >= 0 && !slices.ContainsFunc(all[last+1:i], func(t token) bool { return t.tag != "j" && t.tag != "p" })
		switch {
		case r.topic == other || beside && of == attendance && r.topic == overtime:
			r.topic = of
		case of != r.topic && !(beside && of == overtime && r.topic == attendance):
			r.stop(r.words.Say["noSecond"], t.text)
		}
		t.used, last = true, i
		r.marked = r.marked || t.tag == "overtime-count"
	}
	if r.marked && r.topic == other {
		r.topic = overtime
	}
	if r.marked && !r.withMonth() {
		r.stop(r.words.Say["noSecond"], all[slices.IndexFunc(all, func(t token) bool { return t.tag == "marked" })].text)
	}
}

// people finds who is to be told: mentions and addresses behind “to” or “tell”, or before 「に」. Whoever is mentioned
// otherwise stays unused.
func (r *reading) people(all []token) {
	for i := 0; i < len(all); i++ {
		if all[i].tag != "who" {
			continue
		}
		end := i + 1
		for ; end < len(all) && (all[end].tag == "who" || all[end].tag == "j" && end+1 < len(all) && all[end+1].tag == "who"); end++ {
		}
		var before, after token
		if i > 0 {
			before = all[i-1]
		}
		if end < len(all) {
			after = all[end]
		}
		begin := i
		led := before.tag == "lead" || before.tag == "send" || strings.EqualFold(before.text, "to") || before.tag == "only" && i > 1 &&
			strings.EqualFold(all[i-2].text, "to")
		if before.tag == "only" {
			begin--
		}
		switch {
		case after.tag == "dest" || after.tag == "only" && strings.HasSuffix(after.text, "に"):
			r.copied = r.copied || strings.Contains(after.text, "も")
			end++
		case !led || strings.HasPrefix(after.text, "の") || strings.HasPrefix(after.text, "'"):
			i = end - 1
			continue
		default:
			begin--
			r.copied = r.copied || strings.EqualFold(before.text, "cc")
			if after.tag == "too" || after.tag == "only" {
				r.copied = r.copied || after.tag == "too"
				end++
			}
		}
		for j := max(0, begin); j < end; j++ {
			all[j].used = true
			if g := all[j].groups; all[j].tag == "who" {
				r.recipients = add(r.recipients, g[1]+g[2]+g[3])
			}
		}
		i = end - 1
	}
}

// narrow takes up the departments. Each further one has to be joined to those before, and “only” stands beside one.
func (r *reading) narrow(all []token) {
	var at []int
	for i := range all {
		t := &all[i]
		if t.tag != "dept" {
			continue
		}
		name := t.means
		if len(at) > 0 && (slices.Contains(r.departments, name) || all[i-1].tag != "j" && all[i-1].text != "も" &&
			i-1 != at[len(at)-1]) {
			r.stop(r.words.Say["noSecond"], t.text)
		}
		r.departments, t.used, at = add(r.departments, name), true, append(at, i)
	}
	if len(at) != 1 {
		return
	}
	for i := range all {
		beside := i == at[0]-1 || i > at[0] && !slices.ContainsFunc(all[at[0]+1:i], func(t token) bool { return t.tag != "p" })
		if all[i].tag == "only" && beside {
			all[i].used = true
		}
	}
}

// flag takes up what is left out, added or said about the result.
func (r *reading) flag(t *token, said []string) {
	records, table := r.withMonth(), r.withMonth() || r.topic >= lists
	if t.used {
		return
	}
	switch t.tag {
	case "nodm":
		r.noNotice, t.used = true, r.topic != message
	case "nosheet":
		r.noSheet, t.used = true, table
	case "neither":
		r.noNotice, r.noSheet, t.used = true, true, table
	case "dm":
		t.used = r.topic != other && r.topic != message && !r.noNotice
	case "sheet":
		t.used = table && !r.noSheet
	case "check":
		r.humanCheck, t.used = true, true
	case "validate":
		if r.validate, t.used = true, true; !records {
			r.stops = append(r.stops, r.words.Say["noValidate"])
		}
	case "brief":
		r.brief, t.used = true, true
	case "urgent", "high", "low":
		r.priority, t.used = t.tag, true
	case "tab":
		name := strings.Join(strings.Fields(quotation(strings.Join(t.groups[1:], ""), said)), " ")
		if t.used = table && !r.noSheet && r.tab == "" && len([]rune(name)) <= maxTab; t.used {
			r.tab = name
		}
	case "q":
		r.quote(t, quotation(t.text, said))
	}
}

// quotation is the text that stands where its rune is.
func quotation(place string, said []string) string {
	outside := func(c rune) bool { return c < firstQuotation || c >= firstQuotation+maxQuotations }
	at, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(place, outside))
	return said[at-firstQuotation]
}

// quote takes up a quotation: a message's text, a booking's title, or the name of a department.
func (r *reading) quote(t *token, said string) {
	quoted := lex(normal(said), false)
	switch {
	case r.topic == message || r.topic == meeting:
		r.quotes, t.used = append(r.quotes, said), true
	case len(quoted) == 1 && quoted[0].tag == "dept" && r.topic.takesDepartments() && r.topic != other:
		r.departments, t.used = add(r.departments, quoted[0].means), true
	default:
		t.text = said
	}
}

// maxTab is the length limit of a tab's name, and maxMessage the tool's limit for a text, in characters.
const maxTab, maxMessage = 100, 3000

// judge refuses contradictory combinations, and texts without a subject.
func (r *reading) judge(all []token) {
	t := r.words
	r.courtesy = len(all) > 0 && !slices.ContainsFunc(all, func(t token) bool { return t.tag != "hi" && t.tag != "s" && t.tag != "j" })
	if r.topic == other && len(r.recipients) > 0 && len(r.quotes) == 0 && len(r.unread) > 0 {
		r.stop(t.Say["noText"], strings.Join(r.unread, " "))
		r.unread = nil
	}
	if slices.ContainsFunc(all, func(t token) bool { return t.tag == "cancel" }) {
		r.unread = nil
	}
	switch {
	case len(all) == 0 || len(r.unread)+len(r.stops) > 0:
	case r.topic != message && len(r.recipients) > 0 && len(r.quotes) > 0:
		r.stop(t.Say["noSecond"], r.quotes[0])
	case len(r.quotes) > 1:
		r.stop(t.Say["noSecond"], r.quotes[1])
	case r.topic == message && len([]rune(r.quotes[0])) > maxMessage:
		r.stops = append(r.stops, fmt.Sprintf(t.Say["longMessage"], maxMessage))
	case r.topic == other && len(r.recipients) > 0:
		r.stops = append(r.stops, t.Say["noMessage"])
	case r.topic == other && !r.courtesy && !helpForm.Get().MatchString(r.text):
		r.stop(t.Say["noTopic"], r.text)
	}
	if second := pairs(all); second != "" {
		r.stop(t.Say["noSecond"], second)
	}
}

// stop adds a reason why nothing is planned, unless word is empty.
func (r *reading) stop(form, word string) {
	if word != "" {
		r.stops = append(r.stops, fmt.Sprintf(form, fmt.Sprintf(r.words.Say["quote"], oneLine(word)))+r.where(word))
	}
}

// mention writes a Slack id as a mention. An e-mail address stays as it is.
func mention(id string) string {
	if strings.Contains(id, "@") {
		return id
	}
	return "<@" + id + ">"
}

func add[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}
