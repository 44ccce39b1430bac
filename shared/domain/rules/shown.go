package rules

import (
	"reflect"

	"ringi/shared/words/language"
)

// Act says what a call does, as people say it.
type Act string

const (
	ActMessage Act = "message"
	ActSheet   Act = "sheet"  // only Ringi's own tool
	ActDecide  Act = "decide" // only Ringi's own tool
	ActRead    Act = "read"   // a call that only reads; no mark says so
)

// OwnNames are the names that surfaces give to what no argument is, in all languages. A test of shared/explain checks
// that these are all. An argument of such a name stands in quotation marks.
var OwnNames = []string{
	"合計", "読み取れない引数", "Total", "Arguments that can't be read",
}

// MaxNamed is how many characters the name of a label has at most.
const MaxNamed = 40

// Same reports whether rules read calls by both marks alike.
func (m *Mark) Same(other *Mark) bool {
	return m == other || m != nil && other != nil && reflect.DeepEqual(*m, *other)
}

// name checks a name in which every character shows, and looks like no other.
func (p *problems) name(text, field string, most int) {
	p.words(text, field, most)
	for _, r := range text {
		if language.Ignorable(r) || language.Blank(r) && r != ' ' {
			p.Unless(false, field, "must have no hidden character and no other space than the usual one")
			return
		}
	}
	p.Unless(language.OneLine(text) == text, field,
		"must have no letter that looks like another, and no space at its ends")
}

// IsName reports whether a text can be the name of an argument or a label, or of a value by which rules tell calls
// apart.
func IsName(text string, most int) bool {
	var p problems
	p.name(text, "", most)
	return p.Err() == nil
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
