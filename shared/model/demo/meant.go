package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/slack/slackapi/seen"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// meant is what a request asks for, with the remarks that people made on its versions. Templates read it.
type meant struct {
	in       input
	words    *words
	now      time.Time
	pieces   []piece
	said     []string // the texts in quotation marks
	priority string
	no       string // why nothing is planned
	fates    []fate // of each part of the remarks, in order
	people   []string
	copied   bool // the requester is told, too, besides the people

	Topic, Month, Part, Quote, TabSaid string // the month as 2026-10, the department, a message's text, a tab's name
	This                               string // the month of the request
	Slot                               slot
	Order                              order
	Is                                 map[string]bool // tags that were said, and assumed, courtesy and notools
}

func read(in input) (*meant, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return nil, fmt.Errorf("read the data: now: %w", err)
	}
	text := plain(in.Message)
	for _, e := range append(slices.Clone(in.Forwarded), in.Files...) {
		text = cmp.Or(strings.TrimSpace(text), e.Text)
	}
	w := &meant{in: in, words: spoken.In(language.Of(text, in.Locale)), now: now, priority: "medium",
		Is: map[string]bool{}, This: now.Format(byMonth), Slot: slot{1, 10 * 60, 60}}
	w.enclose()
	all, ok := w.tokens()
	w.take(all)
	if ok {
		w.judge(all)
	}
	w.Is["check"] = w.Is["check"] || marker("check", in.Message) != nil
	w.Is["assumed"], w.Month = w.Month == "", cmp.Or(w.Month, w.This)
	return w, nil
}

// enclosed is a message that the request forwards, or a file of it.
type enclosed struct {
	Text     string `json:"text"`
	NotShown string `json:"not_shown"`
	By       string `json:"by"`       // of a message
	Name     string `json:"name"`     // of a file
	NotRead  string `json:"not_read"` // of a file
}

// whole reports whether there is a text, and all of it.
func (e enclosed) whole() bool { return e.NotShown+e.NotRead == "" && strings.TrimSpace(e.Text) != "" }

// piece is one of the texts that are read as a request: the message, what it forwards, or its only file. in names where
// it stands, unless it is the message.
type piece struct{ text, in string }

// maxFileAsked is the most characters of a file that is read as a request.
const maxFileAsked = 1000

// enclose splits a request into the texts that it is read from. What it encloses beside is refused: forwarded messages
// that can't be seen whole, and files, unless one alone is the request.
func (w *meant) enclose() {
	w.pieces = []piece{{plain(w.in.Message), ""}}
	for _, f := range w.in.Forwarded {
		in := w.say("forwarded")
		if by, _, _ := strings.Cut(strings.TrimPrefix(f.By, "?"), "<@"); by != "" {
			in += w.say("about", strings.TrimSpace(by))
		}
		if w.pieces = append(w.pieces, piece{seen.WithoutStruck(f.Text), in}); !f.whole() {
			w.no = w.say("forwardHidden")
		}
	}
	alone := w.no == "" && !slices.ContainsFunc(w.pieces, func(p piece) bool { return says(p.text) })
	var names []string
	for _, f := range w.in.Files {
		names = append(names, f.Name)
		if len(w.in.Files) == 1 && alone && f.whole() && utf8.RuneCountInString(f.Text) <= maxFileAsked {
			w.pieces, names = append(w.pieces, piece{seen.WithoutStruck(f.Text), w.say("inFile", w.Quoted(names))}), nil
		}
	}
	if more := len(names) - maxUnread; more > 0 {
		w.no += w.say("noFiles", w.Quoted(names[:maxUnread]), more)
	} else if len(names) > 0 {
		w.no += w.say("noFile", w.Quoted(names))
	}
}

// says reports whether a text says more than that something else is meant.
func says(text string) bool {
	return slices.ContainsFunc(lex(normal(text), false), func(t token) bool { return !t.is("this") && !t.quiet() })
}

// text is all that a request says, in one line.
func (w *meant) text() (all string) {
	for _, p := range w.pieces {
		all += " " + p.text
	}
	return strings.Join(strings.Fields(all), " ")
}

// tokens reads the pieces one by one. A month or subject that an earlier piece has already says nothing more. It
// reports false if a quotation has no end.
func (w *meant) tokens() (all []token, ok bool) {
	for i, p := range w.pieces {
		rest, said, closed := quotations(p.text, w.said)
		if !closed {
			w.no += w.say("noQuote") + w.where(p.text)
			return nil, false
		}
		part := lex(normal(rest), false)
		for j, t := range part {
			again := func(x token) bool { return x.tag == t.tag && x.text == t.text }
			if i > 0 && t.is("month", "topic") && slices.ContainsFunc(all, again) {
				part[j].tag = "."
			}
		}
		all, w.said = append(append(all, token{tag: "s", text: "\n"}), part...), said
	}
	return all[1:], true
}

// where says in which of the enclosed texts words stand that the message doesn't have.
func (w *meant) where(words ...string) (said string) {
	plain := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(normal(text)), "")) }
	for _, x := range words {
		at := slices.IndexFunc(w.pieces, func(p piece) bool { return strings.Contains(plain(p.text), plain(x)) })
		if at > 0 && !strings.Contains(said, w.pieces[at].in) {
			said += w.say("stands", w.pieces[at].in)
		}
	}
	return said
}

// Kind groups topics by what their requests may say.
func (w *meant) Kind() string {
	switch w.Topic {
	case "overtime", "attendance":
		return "records"
	case "", "message", "meeting", "purchase":
		return w.Topic
	}
	return "list"
}

// take reads tokens, and marks those that it uses. What of them the topic has no use for stays unused.
func (w *meant) take(all []token) {
	of := func(tags ...string) bool {
		return slices.ContainsFunc(all, func(t token) bool { return t.is(tags...) })
	}
	for i := range all { // what it is about says what else it may say
		if t := &all[i]; t.is("topic") {
			w.once(all, i, &w.Topic, t.means)
		} else if t.is("order") {
			w.buy(all, i)
		}
	}
	if w.Topic == "" && of("to", "also") && of("q") {
		w.Topic = "message"
	}
	for i := range all {
		t := &all[i]
		if t.used = t.used || t.is("this") && len(w.pieces) > 1; !uses(t.tag, w.Kind()) ||
			w.Kind() == "list" && (t.is("month") && !w.List().past || t.is("dept") && !w.List().departments) {
			continue
		}
		switch t.used = true; t.tag {
		case "month":
			w.once(all, i, &w.Month, t.month(w.now))
		case "dept":
			w.once(all, i, &w.Part, t.means)
		case "to", "also":
			for _, m := range form("$who").FindAllStringSubmatch(t.text, -1) {
				w.people = add(w.people, named(form("$who"), m)["id"])
			}
			w.copied = t.is("also")
		case "q":
			w.once(all, i, &w.Quote, w.shown(t.text, false))
		case "tab":
			name := strings.Join(strings.Fields(w.shown(form("$place").FindString(t.text), false)), " ")
			w.once(all, i, &w.TabSaid, name)
			t.used = utf8.RuneCountInString(name) <= maxTab
		case "day", "clock", "length":
			w.Slot.read(*t)
		case "neither":
			w.Is["nodm"], w.Is["nosheet"] = true, true
		case "urgent", "high", "low":
			w.priority = t.tag
		}
		if w.Is[t.tag] && t.is("to", "also", "day", "clock", "length") { // these are said once
			w.stop("noSecond", t.text)
		}
		w.Is[t.tag] = true
	}
	for i := range all { // what is left out is not asked for, too
		t := &all[i]
		t.used = t.used && !(w.Is["nodm"] && t.is("dm", "to", "also") || w.Is["nosheet"] && t.is("sheet", "tab") ||
			w.Is["to"] && t.is("also"))
	}
}

// once takes up what a text says once. What is said a second time is for another request.
func (w *meant) once(all []token, i int, had *string, value string) {
	again := slices.ContainsFunc(all[:i], func(t token) bool { return t.is(all[i].tag) })
	if again || *had != "" && *had != value {
		w.stop("noSecond", all[i].text)
	}
	*had, all[i].used = cmp.Or(*had, value), true
}

// shown is a text with what was quoted in it, in quotation marks or as it was said.
func (w *meant) shown(text string, marks bool) string {
	for i, s := range w.said {
		if marks {
			s = w.words.quote(oneLine(s))
		} else if strings.ContainsRune(text, firstQuotation+rune(i)) {
			return s
		}
		text = strings.ReplaceAll(text, string(firstQuotation+rune(i)), s)
	}
	return text
}

// maxTab and maxMessage are the limits of a tab's name and a message in characters, maxUnread that of quoted phrases.
// maxTold keeps the steps within a card: nobody may stamp steps that they can't see in full.
const maxTab, maxMessage, maxUnread, maxTold = 100, 3000, 4, 10

// judge names what no phrase takes, and refuses texts without a subject.
func (w *meant) judge(all []token) {
	w.Is["courtesy"] = len(all) > 0 && !slices.ContainsFunc(all, func(t token) bool { return !t.is("hi", "s", "j") })
	unread := strange(all)
	to := slices.ContainsFunc(all, func(t token) bool { return t.is("to", "also") })
	switch n := len(unread); {
	case n > 0 && w.Topic == "" && to:
		w.no = w.say("noText", w.Quoted(unread))
	case n > maxUnread:
		w.no = w.say("tooMuch", w.Quoted(unread[:maxUnread]), n-maxUnread) + w.where(unread...) + w.no
	case n > 0:
		w.no = w.say("noWords", w.Quoted(unread)) + w.where(unread...) + w.no
	case utf8.RuneCountInString(w.Quote) > maxMessage:
		w.no += w.say("longMessage", maxMessage)
	case len(w.people) > maxTold:
		w.no += w.say("tooManyTold", len(w.people), maxTold)
	case w.Topic == "" && to:
		w.no += w.say("noMessage")
	case w.Topic == "" && len(all) > 0 && !w.helps():
		w.stop("noWords", w.text())
	}
}

// stop says why nothing is planned, unless something else was said before.
func (w *meant) stop(form, word string) {
	w.no = cmp.Or(w.no, w.say(form, w.Quoted([]string{word}))+w.where(word))
}

// helps reports whether a request only asks what there is to ask for, greets or thanks.
func (w *meant) helps() bool {
	return w.no == "" && (w.text() == "" || w.Is["courtesy"] || form("$help").MatchString(w.text()))
}

// Cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (w *meant) Cannot() string {
	switch {
	case utf8.RuneCountInString(w.no+w.say("can")) > task.MaxSentence:
		return legible.Clip(strings.TrimSpace(w.no), task.MaxSentence)
	case w.no != "", w.helps():
		return w.no + w.say("can")
	case w.Topic == "meeting" && w.Slot.wrong(w.now), w.Topic == "purchase" && w.Order.wrong:
		return w.Form("wrong")
	}
	return ""
}

// copy is a request that can be changed by itself.
func (w *meant) copy() *meant {
	n := *w
	n.Is = maps.Clone(w.Is)
	return &n
}

func add[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}

const byMonth = "2006-01" // as tools have months

func number(digits string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", "")) // no digits mean 0
	return n
}

// monthOf is the number of the month that a token names, by its number or in English.
func monthOf(named map[string]string) int {
	mon := named["mon"]
	if t, err := time.Parse("Jan", mon[:min(3, len(mon))]); err == nil {
		return int(t.Month())
	}
	return number(named["m"])
}

// month is what a token means. Without its year it is the latest that has begun.
func (t token) month(now time.Time) string {
	year, month := cmp.Or(number(t.named["y"]), now.Year()), monthOf(t.named)
	if t.means != "" {
		month = int(now.Month()) + number(t.means)
	} else if t.named["y"] == "" && month > int(now.Month()) {
		year--
	}
	return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, now.Location()).Format(byMonth)
}

// slot is the time of a meeting: in how many days, from which minute, and how long.
type slot struct{ days, minute, length int }

func (s slot) Start() string { return fmt.Sprintf("%02d:%02d", s.minute/60, s.minute%60) }
func (s slot) End() string   { return slot{0, s.minute + s.length, 0}.Start() }

// Day is the day of a meeting.
func (w *meant) Day() string { return w.now.AddDate(0, 0, w.Slot.days).Format(time.DateOnly) }

func (s *slot) read(t token) {
	x, minutes := t.named, number(strings.Replace(t.named["min"], "半", "30", 1))
	switch t.tag {
	case "day":
		s.days = number(t.means)
	case "clock":
		if s.minute = 60*number(x["h"]) + minutes; x["half"] == "午後" || strings.EqualFold(x["half"], "pm") {
			s.minute = s.minute%720 + 720
		}
	default:
		s.length = number(t.means) + 60*number(x["hours"]) + minutes
	}
}

// wrong reports whether the time does not exist or is past.
func (s slot) wrong(now time.Time) bool {
	return s.length == 0 || s.minute >= 24*60 || s.minute+s.length > 24*60 ||
		s.days == 0 && s.minute < now.Hour()*60+now.Minute()
}

// order is what is to be ordered from whom. Price is that of one, in yen.
type order struct {
	Supplier, Name, Reference string // the same order is placed once under its reference
	Quantity, Price, Total    int
	wrong                     bool // a price that is no whole number for one, or a number beyond the limits
}

const mostOrdered = 100_000_000 // of a number in an order, as the tool has it

// buy takes up an order. One whose names say when something is to be done, or for whom, stays unused.
func (w *meant) buy(all []token, i int) {
	x := all[i].named
	o := order{Supplier: w.shown(x["from"], false), Name: strings.TrimSpace(x["name"]), Quantity: number(x["n"]),
		Price: number(x["price"])}
	for _, name := range []string{o.Supplier, o.Name} {
		if form("$due").MatchString(name) || slices.ContainsFunc(lex(normal(name), false), func(t token) bool {
			return t.is("day", "month", "clock", "who", "to", "nodm", "nosheet")
		}) {
			return
		}
	}
	if x["one"] != "" {
		o.Quantity = 1
	} else if all[i].means+x["each"] == "" && o.Quantity > 0 { // the price is that of all
		o.wrong = o.Price%o.Quantity != 0
		o.Price /= o.Quantity
	}
	o.wrong = o.wrong || o.Quantity < 1 || o.Quantity > mostOrdered/10_000 || o.Price < 1 || o.Price > mostOrdered
	sum := sha256.Sum256([]byte(w.text() + w.now.Format(time.RFC3339)))
	o.Total, o.Reference = o.Quantity*o.Price, "R-"+hex.EncodeToString(sum[:4])
	w.once(all, i, &w.Topic, "purchase")
	w.Order = o
}
