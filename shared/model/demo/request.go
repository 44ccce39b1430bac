package demo

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/width"

	"ringi/shared/words/language"
)

// A text is read as a sequence of the clauses in phrases.txt, from its beginning to its end. Nothing is planned of one
// in which something is part of no clause, or for which the request's topic has no use.

//go:embed phrases.txt
var table string

// phrase is a row of the table: a clause, one of the values of a name, or an expression that is read by name.
type phrase struct {
	tag, means string
	form       *regexp.Regexp
}

// macros, kinds and phrases are the rows of the table: what {x} stands for, what may be said by a tag, and the others.
// The catalog's lists are values of the topic.
var macros, kinds, phrases = map[string]string{}, map[string]string{}, sync.OnceValue(func() (all []phrase) {
	lines := strings.Split(table, "\n")
	for _, l := range allLists() {
		lines = append([]string{"+topic:" + l.Name + " " + l.Demo.Asks}, lines...)
	}
	for _, line := range lines {
		tag, form, _ := strings.Cut(line, " ")
		tag, means, _ := strings.Cut(tag, ":")
		form = macroForm.Get().ReplaceAllStringFunc(form, func(s string) string { return macros[strings.Trim(s, "{}")] })
		name, rest, _ := strings.Cut(form, " ")
		switch (tag + "#")[:1] {
		case "#":
		case "=":
			macros[name] = rest
		case "&":
			kinds[name] = rest
		case "+":
			macros[tag[1:]] = strings.TrimPrefix(macros[tag[1:]]+"|"+form, "|")
			all = append(all, phrase{tag, means, regexp.MustCompile(`^(?i:` + form + `)$`)})
		case "~", "@", "$", "%":
			form, by, _ := strings.Cut(form, " =>")
			all = append(all, phrase{tag, means + strings.TrimSpace(by), regexp.MustCompile(form)})
		default:
			all = append(all, phrase{tag, means, regexp.MustCompile(`^(?i:` + form + `)(?:` + macros["end"] + `)`)})
			all[len(all)-1].form.Longest()
		}
	}
	return all
})

var macroForm = &language.Regexp{Text: `\{[a-z]+\}`}

// form is the expression of a row that is read by its name. A test reads each.
func form(tag string) *regexp.Regexp {
	return phrases()[slices.IndexFunc(phrases(), func(p phrase) bool { return p.tag == tag })].form
}

// uses reports whether a tag may be said in a kind of request, or in a reason.
func uses(tag, kind string) bool { return slices.Contains(strings.Fields(kinds[tag]), kind) }

// value is what a text means as the value of a name.
func value(name, text string) string {
	for _, p := range phrases() {
		if p.tag == "+"+name && p.form.MatchString(text) {
			return p.form.ReplaceAllString(text, p.means)
		}
	}
	return ""
}

// clause is a part of a text, with what the named groups of its form took.
type clause struct {
	tag   string
	named map[string]string
}

// clauses reads a text: at each place the longest clause. It reports false if some part is none, or says twice what can
// be said once.
func clauses(text string) (all []clause, ok bool) {
	for text = normal(text); text != ""; {
		var form *regexp.Regexp
		taken, c := "", clause{named: map[string]string{}}
		for _, p := range phrases() {
			if strings.Contains("+~@$%", p.tag[:1]) {
				continue
			}
			if m := p.form.FindString(text); len(m) > len(taken) {
				form, taken, c.tag = p.form, m, p.tag
			}
		}
		if taken == "" {
			return nil, false
		}
		for i, took := range form.FindStringSubmatch(text) {
			if name := form.SubexpNames()[i]; name != "" && took != "" {
				if c.named[name] != "" {
					return nil, false
				}
				c.named[name] = took
			}
		}
		all, text = append(all, c), text[len(taken):]
	}
	return all, true
}

// normal writes full-width characters as ASCII, and leaves out what only says how a text looks. What is quoted stays.
func normal(text string) string {
	return strings.TrimSpace(form("$part").ReplaceAllStringFunc(text, func(part string) string {
		if form("$quoted").MatchString(part) {
			return part
		}
		part = form("$blanks").ReplaceAllString(width.Fold.String(part), " ")
		for _, p := range phrases() {
			if p.tag == "~" {
				part = p.form.ReplaceAllString(part, p.means)
			}
		}
		return part
	}))
}

// meant is what a request asks for, with the reasons for which people rejected its versions. Templates read it.
type meant struct {
	in              input
	words           *words
	now             time.Time
	text            string // all that a request says
	no              string // why nothing is planned
	Applied, Unread []string

	Topic, Part, Quote, Requester string   // Part is a department, Quote a message's text
	People                        []string // who gets it
	This, Month                   time.Time
	Start                         time.Time // of a meeting, which lasts an hour
	Order                         order
	Is                            map[string]bool // tags that were said, and assumed, helps and notools
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
		text: strings.TrimSpace(text), Is: map[string]bool{"assumed": true}}
	w.This = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	w.Month, w.Start = w.This, time.Date(now.Year(), now.Month(), now.Day()+1, 10, 0, 0, 0, now.Location())
	all, known := clauses(text)
	known = known && w.take(all)
	w.Is["helps"] = known && !slices.ContainsFunc(all, func(c clause) bool { return c.tag != "hi" }) ||
		form("$help").MatchString(w.text)
	switch {
	case w.Is["helps"]:
	case hidden:
		w.no = w.Say("hidden")
	case len(in.Files) > 0 && w.Topic != "purchase": // whoever approves an order opens its quotation
		w.no = w.Say("noFile")
	case !known && form("$who").MatchString(w.text):
		w.no = w.Say("noMessage")
	case !known:
		w.no = w.Say("noWords", w.Quoted([]string{w.text}))
	case w.Topic == "":
		w.no = w.Say("noTopic", w.Quoted([]string{w.text}))
	}
	w.Is["check"] = w.Is["check"] || marker("check", in.Message) != nil
	return w, nil
}

// Kind groups topics by what their requests may say.
func (w *meant) Kind() string {
	return cmp.Or(w.words.Topics[w.Topic]["kind"], map[bool]string{true: "list"}[w.Topic != ""])
}

// take takes clauses up. It reports false if the request's topic has no use for one of them, or if they say twice what
// is said once.
func (w *meant) take(all []clause) bool {
	for _, c := range all {
		topic := value("topic", c.named["topic"])
		if w.words.Topics[c.tag] != nil {
			topic = c.tag
		}
		if topic != "" && w.Topic != "" {
			return false
		}
		w.Topic = cmp.Or(w.Topic, topic)
	}
	said := map[string]bool{}
	for _, c := range all {
		if w.Topic != "" && !uses(c.tag, w.Kind()) || c.tag == "this" && len(w.in.Forwarded) == 0 {
			return false
		}
		for name := range c.named {
			if said[name] {
				return false
			}
			said[name] = true
		}
		said[c.tag], w.Is[c.tag] = true, true
		if !w.takeNames(c) {
			return false
		}
	}
	if said["sheet"] { // and nothing else
		w.Is["nodm"], w.Is["nosheet"] = true, false
	}
	return !said["sheet"] || !said["nosheet"]
}

// takeNames takes up what a clause names.
func (w *meant) takeNames(c clause) bool {
	if month := c.named["month"]; month != "" {
		w.Month, w.Is["assumed"] = w.month(value("month", month)), false
	}
	if part := c.named["dept"]; part != "" {
		w.Part = value("dept", part)
	}
	if hour := c.named["hour"]; hour != "" {
		w.Start, w.Is["clock"] = w.Start.Add(time.Duration(number(hour)-10)*time.Hour), true
	}
	for _, m := range form("$who").FindAllStringSubmatch(c.named["whos"], -1) {
		w.People = add(w.People, m[1])
	}
	switch w.Quote = cmp.Or(unquoted(c.named["q"]), w.Quote); c.tag {
	case "message":
		return strings.TrimSpace(w.Quote) != "" && utf8.RuneCountInString(w.Quote) <= maxMessage && len(w.People) <= maxTold
	case "purchase":
		return w.buy(c.named)
	}
	return !form("$nodept").MatchString(w.Part) && (w.Kind() != "list" || c.named["month"] == "" &&
		(w.Part == "" || strings.Contains(string(w.List().Input), `"department"`)))
}

// maxMessage is the limit of a message in characters. maxTold keeps the steps within a card: nobody may stamp steps
// that they can't see in full.
const maxMessage, maxTold = 3000, 10

// month is the first day of a month: so many months from the request's, or “year/month”. Without its year it is the
// latest that has begun.
func (w *meant) month(said string) time.Time {
	y, m, absolute := strings.Cut(said, "/")
	if !absolute {
		return w.This.AddDate(0, number(y), 0)
	}
	at, _ := time.Parse("Jan", m[:min(3, len(m))]) // a month has a number or a name
	then := time.Date(cmp.Or(number(y), w.This.Year()), cmp.Or(time.Month(number(m)), at.Month()), 1, 0, 0, 0, 0,
		w.This.Location())
	return then.AddDate(map[bool]int{true: -1}[y == "" && then.After(w.This)], 0, 0)
}

// heed follows the reasons of rejections on the policy or the steps: one of which all is understood is applied, any
// other is named. Steps are planned after the policy is stamped, so less may be said of them.
func (w *meant) heed(reasons []string, on string) {
	w.Applied, w.Unread = nil, nil
	for _, reason := range reasons {
		reason, n := strings.Join(strings.Fields(reason), " "), *w
		n.Is = maps.Clone(w.Is)
		all, ok := clauses(reason)
		if ok = ok && !slices.ContainsFunc(all, func(c clause) bool { return !uses(c.tag, on) }); !ok || !n.take(all) ||
			!slices.ContainsFunc(all, func(c clause) bool { return c.tag != "hi" }) {
			w.Unread = add(w.Unread, reason)
			continue
		}
		*w = n
		w.Applied = add(w.Applied, reason)
	}
}

// followed are the reasons that an approved policy says it applied, because people stamped what came of them.
func (w *meant) followed(policy string) (reasons []string) {
	before, after, _ := strings.Cut("• "+w.Say("applied", w.words.Say["quote"]), "%s")
	for line := range strings.SplitSeq(policy[max(0, strings.LastIndex(policy, w.Say("earlier"))):], "\n") {
		if reason, ok := strings.CutPrefix(line, before); ok && strings.HasSuffix(reason, after) {
			reasons = append(reasons, strings.TrimSuffix(reason, after))
		}
	}
	return reasons
}

// End is that of a meeting.
func (w *meant) End() time.Time { return w.Start.Add(time.Hour) }

// Cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (w *meant) Cannot() string {
	if w.no != "" || w.Is["helps"] {
		return w.no + w.Say("can")
	}
	return map[bool]string{true: w.Form("wrong")}[w.Order.wrong]
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}

func number(digits string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", "")) // no digits mean 0
	return n
}

// order is what is to be ordered from whom. Price is that of one, in yen.
type order struct {
	Supplier, Name, Reference string // the same order is placed once under its reference
	Quantity, Price, Total    int
	wrong                     bool // it is beyond the limits of the tool
}

// mostOrdered and mostPaid are the limits of the tool.
const mostOrdered, mostPaid = 10_000, 100_000_000

// buy takes up an order. A name in quotation marks may be empty, which is none.
func (w *meant) buy(x map[string]string) bool {
	o := order{Supplier: unquoted(x["from"]), Name: unquoted(x["thing"]),
		Quantity: number(x["n"]), Price: number(x["price"])}
	o.Total = o.Quantity * o.Price
	if x["each"] == "" && o.Quantity > 0 { // the price is that of all
		o.Total, o.Price = o.Price, o.Price/o.Quantity
	}
	o.wrong = o.Quantity < 1 || o.Quantity > mostOrdered || o.Price*o.Quantity != o.Total || o.Price < 1 ||
		o.Price > mostPaid
	sum := sha256.Sum256([]byte(w.text + w.now.Format(time.RFC3339)))
	o.Reference = "R-" + hex.EncodeToString(sum[:4])
	w.Order = o
	return strings.TrimSpace(o.Supplier) != "" && strings.TrimSpace(o.Name) != ""
}

func unquoted(s string) string { return form("$marks").ReplaceAllString(s, "") }
