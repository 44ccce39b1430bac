package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// Act says what a call does, as people say it.
type Act string

const (
	ActOrder   Act = "order"
	ActPayment Act = "payment"
	ActBooking Act = "booking"
	ActMessage Act = "message"
	ActRecord  Act = "record"
	ActSheet   Act = "sheet"  // only Ringi's own tool
	ActDecide  Act = "decide" // only Ringi's own tool
	ActRead    Act = "read"   // a call that only reads; no mark says so
)

// Acts are those that a mark may have.
var Acts = []Act{ActOrder, ActPayment, ActBooking, ActMessage, ActRecord}

// OwnNames are the names that surfaces give to what no argument is, in all languages. A test of shared/explain checks
// that these are all. An argument of such a name stands in quotation marks.
var OwnNames = []string{
	"小計", "合計", "読み取れない引数", "Subtotal", "Total", "Arguments that can't be read",
}

// Limits of what a mark says for people.
const (
	MaxNames     = 40 // values that have names
	MaxNamed     = 40 // characters of the name of a label
	MaxLabel     = 60 // characters of what a value is called
	MaxLabelled  = 200
	maxShownSize = 2048 // bytes of JSON: the steps of a plan, each with its mark, are one row
)

// shown is the part of a mark that decides nothing.
type shown struct {
	Act    Act               `json:"act,omitempty"`
	Party  string            `json:"party,omitempty"`
	Item   string            `json:"item,omitempty"`
	Words  string            `json:"words,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

func (m *Mark) shown() shown {
	return shown{m.Act, m.Party, m.Item, m.Words, m.Labels}
}

// shows reports whether the mark says anything about how calls are shown.
func (m *Mark) shows() bool { return !reflect.ValueOf(m.shown()).IsZero() }

// Decides returns the part of the mark that rules use: without what only surfaces show. A mark of nothing has none.
func (m *Mark) Decides() Mark {
	if m == nil {
		return Mark{}
	}
	of := *m
	of.Act, of.Party, of.Item, of.Words, of.Labels = "", "", "", "", nil
	return of
}

// DecidesAs reports whether rules read calls by both marks alike.
func (m *Mark) DecidesAs(other *Mark) bool {
	a, _ := json.Marshal(m.Decides()) // texts can always be written
	b, _ := json.Marshal(other.Decides())
	return string(a) == string(b)
}

// Silent reports whether the mark says nothing that rules use.
func (m *Mark) Silent() bool { return m.DecidesAs(&Mark{Version: m.Decides().Version}) }

// checkShown checks what the mark says for people.
func (m *Mark) checkShown(p *problems) {
	p.unless(m.Act == "" || slices.Contains(Acts, m.Act), "act", "one_of", choices(Acts))
	one := func(value, field string, most int) {
		if value == "" {
			return
		}
		p.pointer(value, field)
		p.unless(len(through(value)) == 0 || most > 0 && starred(value) <= most, field,
			"must go through lists, at most", most)
	}
	one(m.Party, "party", 0)
	one(m.Words, "words", 0)
	one(m.Item, "item", 1)
	p.unless(m.Party == "" || m.Party != m.Words && m.Party != m.Item, "party", "must be another argument")
	p.unless(m.Words == "" || m.Words != m.Item, "words", "must be another argument")
	p.unless(!m.itemApart(), "item", "must be in the same rows as the amount")
	m.checkValues(p)
	size, _ := json.Marshal(m.shown())
	p.unless(len(size) <= maxShownSize, "labels", "must have, with all that is shown, bytes at most", maxShownSize)
}

func starred(pointer string) (n int) {
	for _, token := range Tokens(pointer) {
		if token == rows {
			n++
		}
	}
	return n
}

// itemApart reports whether the item is in other rows than all parts of the amount that are in rows.
func (m *Mark) itemApart() bool {
	in := slices.DeleteFunc(slices.Clone(m.Pointers), func(p string) bool { return len(through(p)) == 0 })
	return starred(m.Item) > 0 && len(in) > 0 && !slices.ContainsFunc(in, func(p string) bool {
		return slices.Equal(through(p), through(m.Item))
	})
}

// checkValues checks what people call values.
func (m *Mark) checkValues(p *problems) {
	p.unless(len(m.Labels) <= MaxNames, "labels", "most", MaxNames)
	seen := map[string]bool{}
	for _, value := range slices.Sorted(maps.Keys(m.Labels)) {
		field, label := fmt.Sprintf("labels[%s]", value), m.Labels[value]
		p.unless(value != "" && len(value) <= MaxLabelled, field, "bytes", MaxLabelled)
		p.name(label, field, MaxLabel)
		p.unless(!seen[legible.Folded(label)], field, "twice")
		seen[legible.Folded(label)] = true
	}
}

// name checks a name in which every character shows, and looks like no other.
func (p *problems) name(text, field string, most int) {
	p.words(text, field, most)
	for _, r := range text {
		if legible.Ignorable(r) || legible.Blank(r) && r != ' ' {
			p.add(field, "must have no hidden character and no other space than the usual one")
			return
		}
	}
	p.unless(legible.OneLine(text) == text, field, "must have no letter that looks like another, and no space at its ends")
}

// IsName reports whether a text can be the name of an argument or a label, or of a value by which rules tell calls
// apart.
func IsName(text string, most int) bool {
	var p problems
	p.name(text, "", most)
	return len(p) == 0
}

// Subtotals returns the amounts of the rows of a product, in their order. It returns nil unless the call's amount is
// known and all factors are in the rows of one list.
func (m *Mark) Subtotals(version string, arguments aggregate.JSON) (all []Amount) {
	sum := m.AmountOf(version, aggregate.Write, arguments)
	if m == nil || m.How != HowProduct || len(m.Pointers) < 2 || starred(m.Pointers[0]) != 1 || !sum.Known() {
		return nil
	}
	root, _ := decode(string(arguments))
	products, why := m.products(root)
	if why != "" {
		return nil
	}
	for _, x := range products {
		all = append(all, known(decimal(x), sum.Currency))
	}
	return all
}

// Lead returns which of several writes people are told of first, -1 of none: the one that moves money, else the first
// that is no message. It also returns what all of them move.
func Lead(acts []Act, amounts []Amount) (lead int, sum Amount) {
	lead, sum = -1, Nothing()
	best := 0
	for i, act := range acts {
		sum = sum.Plus(amounts[i])
		worth := 1
		switch {
		case amounts[i].Known() && amounts[i].Currency != "":
			worth = 3
		case act != ActMessage:
			worth = 2
		}
		if worth > best {
			lead, best = i, worth
		}
	}
	return lead, sum
}

// wordsOf returns the words of a name in small letters, whatever their width; what is no letter, and a capital behind a
// small letter, ends one.
func wordsOf(name string) (words []string) {
	word := []rune{}
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	lower := false
	for _, r := range legible.Narrow(name) {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return words
}

// Identifies reports whether a result's member is called like an id or a number: order_number, 発注番号. One of money,
// such as price_id, is none.
func Identifies(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(moneyNames, w) }) {
		return false
	}
	last := words[len(words)-1]
	latin := strings.TrimLeftFunc(last, func(r rune) bool { return r >= utf8.RuneSelf })
	return slices.Contains([]string{"id", "ids", "no", "number"}, latin) || strings.HasSuffix(last, "番号")
}

var moneyNames = []string{"money", "fx", "amount", "price", "cost"}
