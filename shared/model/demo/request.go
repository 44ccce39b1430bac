package demo

import (
	"cmp"
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

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// A text is read as a sequence of the clauses in phrases.txt, from its beginning to its end. Nothing is planned of one
// in which something is part of no clause, or for which the request's topic has no use.

// row is a row of the table: a clause, one of the values of a name, or an expression that is read by name.
type row struct {
	name, means string
	form        *regexp.Regexp
}

// macros are what {x} stands for. rows are the table's other rows, by the sign before their name. The catalog's lists
// are values of the topic.
var macros, rows = map[string]string{}, sync.OnceValue(func() map[string][]row {
	all, topics := map[string][]row{}, ""
	table, _ := embedded.ReadFile("phrases.txt")
	for _, name := range slices.Sorted(maps.Keys(lists())) {
		topics += "+topic:" + name + " " + lists()[name].Demo.Asks + "\n"
	}
	for line := range strings.SplitSeq(topics+string(table), "\n") {
		tag, form, _ := strings.Cut(line, " ")
		form = macro.Get().ReplaceAllStringFunc(form, func(s string) string { return macros[s[1:len(s)-1]] })
		sign := (tag + "#")[:1]
		name, means, _ := strings.Cut(strings.TrimPrefix(tag, sign), ":")
		switch sign {
		case "#":
			continue
		case "=":
			macros[name] = form
			continue
		case "+":
			macros[name] = strings.TrimPrefix(macros[name]+"|"+form, "|")
			form = `^(?i:` + form + `)$`
		case "*":
			form = `^(?i:` + form + `)(?:` + macros["end"] + `)`
		}
		all[sign] = append(all[sign], row{name, means, regexp.MustCompile(form)})
	}
	for _, clause := range all["*"] {
		clause.form.Longest()
	}
	return all
})

var macro = &language.Regexp{Text: `\{[a-z]+\}`}

// form is the expression of a row that is read by its sign and name. A test reads each.
func form(tag string) *regexp.Regexp {
	of := rows()[tag[:1]]
	return of[slices.IndexFunc(of, func(r row) bool { return r.name == tag[1:] })].form
}

// value is what a text means as the value of a name, or the text.
func value(name, text string) string {
	for _, v := range rows()["+"] {
		if v.name == name && v.form.MatchString(text) {
			return v.form.ReplaceAllString(text, v.means)
		}
	}
	return text
}

// uses reports whether a clause may stand in a kind of request, or in a reason.
func uses(clause, kind string) bool {
	return slices.Contains(strings.Fields(macros["in_"+clause]), kind)
}

// normal writes full-width characters as ASCII, and leaves out what only says how a text looks. What is quoted stays.
func normal(text string) string {
	return strings.TrimSpace(form("$part").ReplaceAllStringFunc(text, func(part string) string {
		if form("$quoted").MatchString(part) {
			return part
		}
		part = form("$blanks").ReplaceAllString(width.Fold.String(part), " ")
		for _, looks := range []string{"$bullet", "$bold", "$joint"} {
			part = form(looks).ReplaceAllString(part, "$1")
		}
		return part
	}))
}

// meant is what a request asks for, with the reasons for which people rejected its versions. Templates read it.
type meant struct {
	In      input
	words   *words
	now     time.Time
	Request string            // all that it says
	No      string            // why nothing is planned, by the name of its sentence
	Part    string            // of the request, from where no clause fits
	Said    map[string]string // what the clauses name, and each of them by its own name
	Applied []string
	Unread  string // the newest reason, if not all of it is understood

	// What follows from it. Kind groups topics by what their requests may say; List is the topic's, or that of people.
	// Price is that of one, in yen. The same order is placed once under its reference.
	Sheet                                  bool // results are written to the sheet
	Kind, Quote, Supplier, Name, Reference string
	Quantity, Price, Total                 int
	People                                 []string
	This, Month, Start, End                time.Time
	List                                   tenancy.OwnTool
}

// read reads a request with what it forwards.
func read(in input) (*meant, error) {
	now, err := time.Parse("2006-01-02T15:04-07:00", in.Now)
	if err != nil {
		return nil, fmt.Errorf("read the data: now: %w", err)
	}
	text, hidden := plain(in.Message), false
	for _, f := range in.Forwarded {
		text, hidden = text+"\n"+f.Text, hidden || f.NotShown != "" || strings.TrimSpace(f.Text) == ""
	}
	w := &meant{In: in, words: spoken.In(language.Detect(text, in.Locale)), now: now, Request: strings.TrimSpace(text),
		Said: map[string]string{}}
	w.settle()
	known := fmt.Sprint(in.Servers, in.More, in.Tools, in.Forbidden)
	unknown := func(tool string) bool { return !strings.Contains(known, tool) }
	switch w.No = w.says(text, ""); {
	case w.No == "help" || form("$help").MatchString(w.Request):
		w.No = "help"
	case hidden, len(in.Files) > 0 && w.Kind != "purchase": // whoever approves an order opens its quotation
		w.No = "hidden"
	case w.No == "unknown" && form("$who").MatchString(w.Request) && !strings.ContainsAny(w.Request, `"“「『`):
		w.No = "noMessage"
	case w.No == "" && w.Said["topic"] == "":
		w.No = "unknown"
	case w.No == "" && slices.ContainsFunc(strings.Fields(macros["tools_"+w.Said["topic"]]), unknown):
		w.No = "noTools"
	}
	if w.No == "" && form("@check").MatchString(in.Message) {
		w.Said["check"] = "marked"
	}
	return w, nil
}

// says takes up a text that is a request or, with on, a reason: at each place the longest clause. If a part is none, or
// is of no use there, or something is said twice, it takes nothing and names the sentence that says why.
func (w *meant) says(text, on string) (no string) {
	said := map[string]string{}
	for text = normal(text); text != ""; {
		var of row
		var took []string
		for _, c := range rows()["*"] {
			if m := c.form.FindStringSubmatch(text); m != nil && (took == nil || len(m[0]) > len(took[0])) {
				of, took = c, m
			}
		}
		if took == nil && on == "" {
			w.Part = text
		}
		if took == nil || on != "" && !uses(of.name, on) {
			return "unknown"
		}
		said[of.name], text, took[0] = "said", text[len(took[0]):], of.means
		for i, name := range slices.Concat([]string{"topic"}, of.form.SubexpNames()[1:]) {
			switch {
			case name == "" || took[i] == "":
			case said[name] != "":
				return "unknown"
			default:
				said[name] = value(name, took[i])
			}
		}
	}
	if len(said) == 0 || len(said) == 1 && said["hi"] != "" {
		return "help"
	}
	next := *w
	next.Said = maps.Clone(w.Said)
	if said["count"] != "" { // each costs what it did
		next.Said["price"], next.Said["each"] = strconv.Itoa(w.Price), "said"
	}
	maps.Copy(next.Said, said)
	if said["nosheet"] != "" {
		next.Said["sheet"] = said["sheet"]
	}
	if said["sheet"] != "" { // and nothing else
		next.Said["nosheet"], next.Said["nodm"] = said["nosheet"], "said"
	}
	if no = next.settle(); no == "" {
		*w = next
	}
	return no
}

// maxMessage is the limit of a message in characters. maxTold keeps the steps within a card: nobody may stamp steps
// that they can't see in full. mostOrdered and mostPaid are the limits of the tool that orders.
const maxMessage, maxTold, mostOrdered, mostPaid = 3000, 10, 10_000, 100_000_000

// settle finds what follows from what was said. It names the sentence that says why that can't be done as a whole.
func (w *meant) settle() string {
	said, now := w.Said, w.now
	w.This = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	w.Month = w.This.AddDate(0, number(said["month"]), 0)
	if y, m, absolute := strings.Cut(said["month"], "/"); absolute {
		w.Month = time.Date(cmp.Or(number(y), now.Year()), time.Month(number(m)), 1, 0, 0, 0, 0, now.Location())
		if y == "" && w.Month.After(now) { // without its year it is the latest that has begun
			w.Month = w.Month.AddDate(-1, 0, 0)
		}
	}
	w.Start = w.This.AddDate(0, 0, now.Day()).Add(time.Duration(cmp.Or(number(said["hour"]), 10)) * time.Hour)
	w.End = w.Start.Add(time.Hour)
	w.Quote, w.Supplier, w.Name = unquoted(said["q"]), unquoted(said["from"]), unquoted(said["thing"])
	w.Quantity, w.Price, w.People = number(said["n"]), number(said["price"]), nil
	if w.Total = w.Quantity * w.Price; said["each"] == "" { // the price is that of all
		w.Total, w.Price = w.Price, w.Price/max(1, w.Quantity)
	}
	w.Reference = fmt.Sprintf("R-%08x", checksum(w.Request, w.In.Now))
	for _, m := range form("$who").FindAllStringSubmatch(said["whos"], -1) {
		w.People = append(slices.DeleteFunc(w.People, func(id string) bool { return id == m[1] }), m[1])
	}
	w.Kind, w.List = cmp.Or(macros["kind_"+said["topic"]], "list"), lists()[said["topic"]]
	if w.List.Demo == nil {
		w.List = lists()["list_employees"]
	}
	for clause, v := range said {
		if v != "" && said["topic"] != "" && macros["in_"+clause] != "" && !uses(clause, w.Kind) {
			return "unknown"
		}
	}
	w.Sheet = uses("ask", w.Kind) && said["nosheet"] == ""
	switch {
	case form("$nodept").MatchString(said["dept"]), said["this"] != "" && len(w.In.Forwarded) == 0,
		said["sheet"] != "" && said["nosheet"] != "",
		w.Kind == "list" && said["topic"] != "" && said["month"] != "",
		said["dept"] != "" && !strings.Contains(string(w.List.Input), `"department"`),
		w.Kind == "purchase" && (strings.TrimSpace(w.Supplier) == "" || strings.TrimSpace(w.Name) == ""):
		return "unknown"
	case w.Kind == "records" && w.Month.After(w.This):
		return "unbegun"
	case w.Kind == "message" && (strings.TrimSpace(w.Quote) == "" || len(w.People) > maxTold ||
		utf8.RuneCountInString(w.Quote) > maxMessage):
		return "noMessage"
	case w.Kind == "purchase" && (w.Quantity < 1 || w.Quantity > mostOrdered || w.Price < 1 || w.Price > mostPaid ||
		w.Quantity*w.Price != w.Total):
		return "noOrder"
	}
	return ""
}

// heed follows the reasons of rejections on the policy or the steps: one of which all is understood is applied. If that
// isn't so of the newest, the steps say so; a policy stays as it was. Steps are planned after the policy is stamped, so
// less may be said of them.
func (w *meant) heed(on string) {
	for i, r := range w.In.Earlier {
		if reason := strings.Join(strings.Fields(r.Reason), " "); w.says(reason, on) == "" {
			w.Applied = append(w.Applied, reason)
		} else if i == len(w.In.Earlier)-1 {
			w.Unread = reason
		}
	}
}

func number(digits string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", "")) // no digits mean 0
	return n
}

func unquoted(s string) string { return form("$marks").ReplaceAllString(s, "") }
