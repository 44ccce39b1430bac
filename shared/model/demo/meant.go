package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// meant is what a request asks for, with the remarks that people made on its versions. Templates read it.
type meant struct {
	in         input
	words      *words
	now        time.Time
	pieces     []piece
	text       string // all that a request says, in one line
	priority   string
	no         string   // why nothing is planned
	Fates      []fate   // of each part of the remarks, in order
	FollowedTo int      // how many of them there are up to the newest that was followed
	Unclear    []string // lines of the approved policy that can't be followed
	People     []string // who is named to get a direct message; else the requester does

	Topic, Part, Quote, TabSaid string // Part is a department, Quote a message's text
	Requester                   string
	This, Month                 time.Time // the first days of the request's month, and of the one that it is about
	Start                       time.Time // of a meeting
	length                      time.Duration
	Order                       order
	Is                          map[string]bool // tags that were said, and assumed, courtesy and notools
}

func read(in input) (*meant, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return nil, fmt.Errorf("read the data: now: %w", err)
	}
	text := plain(in.Message)
	for _, e := range in.Forwarded {
		text = cmp.Or(strings.TrimSpace(text), e.Text)
	}
	w := &meant{in: in, Requester: in.Requester, words: spoken.In(language.Detect(text, in.Locale)), now: now,
		priority: "medium", length: time.Hour, Is: map[string]bool{}}
	w.This = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	w.Start = time.Date(now.Year(), now.Month(), now.Day()+1, 10, 0, 0, 0, now.Location())
	all := w.enclose()
	w.take(all)
	w.refuseFiles()
	w.judge(all)
	w.Is["check"] = w.Is["check"] || marker("check", in.Message) != nil
	w.Is["assumed"], w.Month = w.Month.IsZero(), cmp.Or(w.Month, w.This)
	return w, nil
}

// enclosed is a message that the request forwards, or a file of it.
type enclosed struct {
	Text, Name, By string // By is of a message, Name of a file
	NotShown       string `json:"not_shown"`
	NotRead        string `json:"not_read"`
}

// piece is one of the texts that are read as a request: the message, or what it forwards. in names where it stands,
// unless it is the message.
type piece struct{ text, in string }

// enclose splits a request into the texts that it is read from, and reads each. Forwarded messages that can't be seen
// whole are refused.
func (w *meant) enclose() (all []token) {
	w.pieces = []piece{{unstruck(plain(w.in.Message)), ""}}
	for _, f := range w.in.Forwarded {
		in := w.Say("forwarded")
		if by, _, _ := strings.Cut(strings.TrimPrefix(f.By, "?"), "<@"); by != "" {
			in += w.Say("about", strings.TrimSpace(by))
		}
		w.pieces = append(w.pieces, piece{unstruck(f.Text), in})
		if f.NotShown+f.NotRead != "" || strings.TrimSpace(f.Text) == "" {
			w.no = w.Say("forwardHidden")
		}
	}
	for _, p := range w.pieces {
		w.text = strings.Join(strings.Fields(w.text+" "+p.text), " ")
		for _, t := range append(lex(normal(p.text), false), token{tag: "s", text: "\n"}) {
			t.in = map[bool]string{true: w.Say("stands", p.in)}[p.in != ""]
			all = append(all, t)
		}
	}
	return all
}

// refuseFiles refuses files, but for those of an order: whoever approves it opens its quotation.
func (w *meant) refuseFiles() {
	var names []string
	for _, f := range w.in.Files {
		names = append(names, f.Name)
	}
	if len(names) > 0 && w.Kind() != "purchase" {
		w.no += w.Say("noFile", w.Quoted(names))
	}
}

// says reports whether a text says more than that something else is meant.
func says(text string) bool {
	return slices.ContainsFunc(lex(normal(text), false), func(t token) bool { return !t.is("this") && !t.quiet() })
}

// Kind groups topics by what their requests may say.
func (w *meant) Kind() string {
	return cmp.Or(w.words.Topics[w.Topic]["kind"], map[bool]string{true: "list"}[w.Topic != ""])
}

// about finds what is asked for. A second subject, and what is said a second time, is for another request, unless it is
// the same month or subject.
func (w *meant) about(all []token) {
	for i := range all {
		t := &all[i]
		if t.is("order") {
			t.means = w.buy(*t)
		}
		other := func(x token) bool { return x.tag == t.tag && !(t.is("month", "topic") && x.text == t.text) }
		asks := t.is("topic", "order") && t.means != ""
		if asks && w.Topic != "" && w.Topic != t.means || uses(t.tag, "1") && slices.ContainsFunc(all[:i], other) {
			w.stop("noSecond", *t)
		} else if asks {
			w.Topic = t.means
		}
		t.used = asks || t.is("this") && len(w.pieces) > 1
	}
	if w.Topic == "" && has(all, "to") && has(all, "q") {
		w.Topic = "message"
	}
}

// take reads tokens, and marks those that it uses. What of them the topic has no use for stays unused.
func (w *meant) take(all []token) {
	w.about(all)
	for i := range all {
		t := &all[i]
		x, minutes := t.named, number(t.named["min"])+number(t.means)
		if !uses(t.tag, w.Kind()) || kinds[t.means] != "" && !uses(t.means, w.Kind()) || w.Kind() == "list" &&
			(t.is("month") && !w.takes("as_of") || t.is("dept") && !w.takes("department")) {
			continue
		}
		switch w.Is[t.tag], w.Is[t.means], t.used = true, true, true; t.tag {
		case "month":
			w.Month = t.month(w.This)
		case "dept":
			w.Part = t.means + x["d"]
		case "to":
			for _, m := range form("$who").FindAllStringSubmatch(t.text, -1) {
				w.People = add(w.People, named(form("$who"), m)["id"])
			}
		case "count":
			t.used = w.Order.counts(*t)
		case "q":
			w.Quote = x["q"]
		case "tab":
			w.TabSaid = strings.Join(strings.Fields(x["q"]), " ")
			t.used = utf8.RuneCountInString(w.TabSaid) <= maxTab
		case "day":
			w.Start = w.Start.AddDate(0, 0, number(t.means)-1)
		case "clock":
			hour := number(x["h"]) + map[bool]int{true: 12}[x["pm"] != "" && x["h"] != "12"]
			w.Start = time.Date(w.Start.Year(), w.Start.Month(), w.Start.Day(), hour, minutes, 0, 0, w.now.Location())
		case "length":
			w.length = time.Duration(60*number(x["h"])+minutes) * time.Minute
		case "urgent", "high", "low":
			w.priority = t.tag
		}
	}
	for i := range all { // what is left out is not asked for, too
		t := &all[i]
		t.used = t.used && !(w.Is["nodm"] && t.is("dm", "to") || w.Is["nosheet"] && (t.is("sheet", "tab") ||
			t.is("rows") && w.Kind() == "records"))
	}
}

// End is that of a meeting.
func (w *meant) End() time.Time { return w.Start.Add(w.length) }

const marks = `「」『』“”"＂` // of quotations: they have to come in pairs

// has reports whether there is a token of one of these tags.
func has(all []token, tags ...string) bool {
	return slices.ContainsFunc(all, func(t token) bool { return t.is(tags...) })
}

// maxTab and maxMessage are the limits of a tab's name and a message in characters, maxUnread that of quoted remarks.
// maxTold keeps the steps within a card: nobody may stamp steps that they can't see in full.
const maxTab, maxMessage, maxUnread, maxTold = 100, 3000, 4, 10

// judge names what no phrase takes, by the place where it stands, and refuses texts without a subject.
func (w *meant) judge(all []token) {
	w.Is["courtesy"] = !slices.ContainsFunc(all, func(t token) bool { return !t.is("hi", "s", "j") })
	if w.helps() {
		return
	}
	said := ""
	for i, t := range all {
		if i > 0 && t.in == all[i-1].in {
			continue
		}
		unread := strange(slices.DeleteFunc(slices.Clone(all), func(x token) bool { return x.in != t.in }))
		switch words := strings.Join(unread, ""); {
		case strings.ContainsAny(words, marks) && !form("$quoted").MatchString(words):
			said += w.Say("noQuote") + t.in
		case words != "" && w.Topic == "" && form("$buys").MatchString(w.text):
			said += w.Say("noNames", w.Quoted(unread)) + t.in
		case words != "" && w.Topic == "" && has(all, "to"):
			said += w.Say("noText", w.Quoted(unread)) + t.in
		case words != "":
			said += w.Say("noWords", w.Quoted(unread)) + t.in
		}
	}
	switch {
	case said != "":
		w.no = said + w.no
	case utf8.RuneCountInString(w.Quote) > maxMessage:
		w.no += w.Say("longMessage", maxMessage)
	case len(w.People) > maxTold:
		w.no += w.Say("tooManyTold", len(w.People), maxTold)
	case w.Topic == "" && has(all, "to"), w.Topic == "message" && strings.TrimSpace(w.Quote) == "":
		w.no += w.Say("noMessage")
	case w.Topic == "":
		w.stop("noTopic", token{text: w.text})
	}
}

// stop says why nothing is planned, unless something else was said before.
func (w *meant) stop(form string, t token) {
	w.no = cmp.Or(w.no, w.Say(form, w.Quoted([]string{strings.TrimRight(t.text, ",、 ")}))+t.in)
}

// helps reports whether a request only asks what there is to ask for, greets or thanks.
func (w *meant) helps() bool {
	return w.no == "" && (w.Is["courtesy"] || form("$help").MatchString(w.text))
}

// Cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (w *meant) Cannot() string {
	switch {
	case utf8.RuneCountInString(w.no) > task.MaxSentence:
		return w.Say("tooMuch") + w.Say("can") // half a sentence would say nothing
	case utf8.RuneCountInString(w.no+w.Say("can")) > task.MaxSentence:
		return strings.TrimSpace(w.no)
	case w.no != "", w.helps():
		return w.no + w.Say("can")
	case w.Topic == "meeting" && (w.Start.Before(w.now) || w.length <= 0 || w.End().Day() != w.Start.Day()):
		return w.Form("wrong")
	case w.Order.wrong != "":
		return w.Form(w.Order.wrong, "n", w.Order.Quantity, "total", yen(w.Order.Total))
	}
	return ""
}

func add[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}

func number(digits string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", "")) // no digits mean 0
	return n
}

// month is what a token means. Without its year it is the latest that has begun.
func (t token) month(this time.Time) time.Time {
	year, month, mon := number(t.named["y"]), number(t.named["m"]), t.named["mon"]
	if t.means != "" {
		return this.AddDate(0, number(t.means), 0)
	}
	at, _ := time.Parse("Jan", mon[:min(3, len(mon))]) // a month has a number or a name
	then := time.Date(cmp.Or(year, this.Year()), cmp.Or(time.Month(month), at.Month()), 1, 0, 0, 0, 0, this.Location())
	return then.AddDate(map[bool]int{true: -1}[year == 0 && then.After(this)], 0, 0)
}

// order is what is to be ordered from whom. Price is that of one, in yen.
type order struct {
	Supplier, Name, Reference string // the same order is placed once under its reference
	Quantity, Price, Total    int
	Said, Of                  int    // the price that was said of several together, and how many these were; 0: of one
	wrong                     string // what of it can't be ordered
}

// mostOrdered and mostPaid are the limits of the tool.
const mostOrdered, mostPaid = 10_000, 100_000_000

// buy takes up an order. One whose names have a word with another meaning, which may be a condition, is none.
func (w *meant) buy(t token) (topic string) {
	x := t.named
	o := order{Supplier: strings.Trim(x["from"], marks+" "), Name: strings.Trim(x["name"], marks+" "),
		Quantity: number(cmp.Or(x["n"], "1")), Price: number(x["price"])}
	phrase := func(t token) bool { return t.tag != "" && strings.Trim(t.text, "., ") != "" }
	for _, name := range []string{x["from"], x["name"]} {
		bare := !strings.ContainsAny(name, marks)
		if o.Supplier == "" || o.Name == "" || bare && (form("$due").MatchString(name) ||
			slices.ContainsFunc(lex(normal(name), false), phrase)) {
			return ""
		}
	}
	o.Total = o.Quantity * o.Price
	if t.means+x["each"] == "" && o.Quantity > 0 { // the price is that of all
		if o.Total, o.Price = o.Price, o.Price/o.Quantity; o.Quantity > 1 {
			o.Said, o.Of = o.Total, o.Quantity
		}
	}
	switch {
	case o.Quantity < 1 || o.Quantity > mostOrdered:
		o.wrong = "wrongNumber"
	case o.Price*o.Quantity != o.Total:
		o.wrong = "wrongTotal"
	case o.Price < 1 || o.Price > mostPaid:
		o.wrong = "wrongPrice"
	}
	sum := sha256.Sum256([]byte(w.text + w.now.Format(time.RFC3339)))
	o.Reference = "R-" + hex.EncodeToString(sum[:4])
	w.Order = o
	return "purchase"
}

// counts changes how many are ordered, at the same price of one, if a remark names nothing else than what is ordered.
func (o *order) counts(t token) bool {
	n := number(t.named["n"])
	if n < 1 || n > mostOrdered || !o.names(form("$polite").ReplaceAllString(t.named["name"], "")) {
		return false
	}
	o.Quantity, o.Total = n, n*o.Price
	return true
}

// names reports whether a name, if there is one, is that of what is ordered.
func (o *order) names(name string) bool {
	one := func(name string) string {
		return strings.TrimSuffix(strings.ToLower(strings.Trim(name, marks+" ")), "s")
	}
	return name == "" || one(name) == one(o.Name)
}
