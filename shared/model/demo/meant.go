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

	"ringi/shared/words/language"
)

// meant is what a request asks for, with the reasons for which people rejected its versions. Templates read it.
type meant struct {
	in              input
	words           *words
	now             time.Time
	text            string // all that a request says
	priority        string
	no              string   // why nothing is planned
	Applied, Unread []string // of reasons of rejections: what was understood, and reasons that were not
	People          []string // who is named to get a direct message; else the requester does

	Topic, Part, Quote, TabSaid string // Part is a department, Quote a message's text
	Requester                   string
	This, Month                 time.Time // the first days of the request's month, and of the one that it is about
	Start                       time.Time // of a meeting, which lasts an hour
	Order                       order
	Is                          map[string]bool // tags that were said, and assumed, courtesy and notools
}

// read reads a request with what it forwards.
func read(in input) (*meant, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return nil, fmt.Errorf("read the data: now: %w", err)
	}
	text, hidden := plain(in.Message), false
	for _, f := range in.Forwarded {
		text, hidden = text+"\n"+f.Text, hidden || f.NotShown+f.NotRead != "" || strings.TrimSpace(f.Text) == ""
	}
	w := &meant{in: in, Requester: in.Requester, words: spoken.In(language.Detect(text, in.Locale)), now: now,
		text: strings.TrimSpace(text), priority: "medium", Is: map[string]bool{}}
	w.This = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	w.Start = time.Date(now.Year(), now.Month(), now.Day()+1, 10, 0, 0, 0, now.Location())
	all := lex(normal(text), false)
	w.take(all)
	w.Is["courtesy"] = !slices.ContainsFunc(all, func(t token) bool { return !t.is("hi", "s", "j") })
	switch unread, known := strange(all); {
	case w.helps():
	case hidden:
		w.no = w.Say("hidden")
	case len(in.Files) > 0 && w.Kind() != "purchase": // whoever approves an order opens its quotation
		w.no = w.Say("noFile")
	case len(unread) > 0 && known && w.Topic != "":
		w.no = w.Say("noUse", w.Quoted(unread))
	case len(unread) > 0:
		w.no = w.Say("noWords", w.Quoted(unread))
	case w.Topic == "message" && (strings.TrimSpace(w.Quote) == "" || utf8.RuneCountInString(w.Quote) > maxMessage),
		w.Topic == "" && has(all, "to"), len(w.People) > maxTold:
		w.no = w.Say("noMessage")
	case w.Topic == "":
		w.no = w.Say("noTopic", w.Quoted([]string{w.text}))
	}
	w.Is["check"] = w.Is["check"] || marker("check", in.Message) != nil
	w.Is["assumed"], w.Month = w.Month.IsZero(), cmp.Or(w.Month, w.This)
	return w, nil
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
		if t.used = t.is("topic", "order") && t.means != "" && (w.Topic == "" || w.Topic == t.means); t.used {
			w.Topic = t.means
		}
		t.used = t.used || t.is("this") && len(w.in.Forwarded) > 0
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
		if !uses(t.tag, w.Kind()) || kinds[t.means] != "" && !uses(t.means, w.Kind()) || w.Kind() == "list" &&
			(t.is("month") && !w.takes("as_of") || t.is("dept") && !w.takes("department")) || second(all[:i], *t) {
			continue
		}
		switch w.Is[t.tag], w.Is[t.means], t.used = true, true, true; t.tag {
		case "month":
			w.Month = t.month(w.This)
		case "dept":
			w.Part = t.means + t.named["d"]
		case "to":
			for _, m := range form("$who").FindAllStringSubmatch(t.text, -1) {
				w.People = add(w.People, named(form("$who"), m)["id"])
			}
		case "q":
			w.Quote = t.named["q"]
		case "tab":
			w.TabSaid = strings.Join(strings.Fields(t.named["q"]), " ")
			t.used = utf8.RuneCountInString(w.TabSaid) <= maxTab
		case "clock":
			w.Start = w.Start.Add(time.Duration(number(t.named["h"])-10) * time.Hour)
		case "urgent", "high", "low":
			w.priority = t.tag
		}
	}
	for i := range all { // what is left out is not asked for, too
		t := &all[i]
		t.used = t.used && !(w.Is["nodm"] && t.is("dm", "to") || w.Is["nosheet"] && (t.is("sheet", "tab", "rows") ||
			t.is("topic") && form("$listed").MatchString(t.text)))
	}
}

// End is that of a meeting.
func (w *meant) End() time.Time { return w.Start.Add(time.Hour) }

const marks = `「」『』“”"＂` // of quotations: they have to come in pairs

// has reports whether there is a token of one of these tags.
func has(all []token, tags ...string) bool {
	return slices.ContainsFunc(all, func(t token) bool { return t.is(tags...) })
}

// second reports whether a token says for another time what is said once. The same month again is the same.
func second(before []token, t token) bool {
	return uses(t.tag, "1") && slices.ContainsFunc(before, func(x token) bool {
		return x.tag == t.tag && !(t.is("month", "topic") && x.text == t.text)
	})
}

// maxTab and maxMessage are the limits of a tab's name and a message in characters. maxTold keeps the steps within a
// card: nobody may stamp steps that they can't see in full.
const maxTab, maxMessage, maxTold = 100, 3000, 10

// helps reports whether a request only asks what there is to ask for, greets or thanks.
func (w *meant) helps() bool {
	return w.no == "" && (w.Is["courtesy"] || form("$help").MatchString(w.text))
}

// Cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (w *meant) Cannot() string {
	if w.no != "" || w.helps() {
		return w.no + w.Say("can")
	}
	return map[bool]string{true: w.Form("wrong")}[w.Order.wrong]
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
	wrong                     bool // it is beyond the limits of the tool
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
		o.Total, o.Price = o.Price, o.Price/o.Quantity
	}
	o.wrong = o.Quantity < 1 || o.Quantity > mostOrdered || o.Price*o.Quantity != o.Total || o.Price < 1 ||
		o.Price > mostPaid
	sum := sha256.Sum256([]byte(w.text + w.now.Format(time.RFC3339)))
	o.Reference = "R-" + hex.EncodeToString(sum[:4])
	w.Order = o
	return "purchase"
}
