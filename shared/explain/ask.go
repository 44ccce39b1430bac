package explain

import (
	"cmp"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// Ask is what everybody is shown of a gate, before and after it is decided. Each surface has one printer of it: the
// card and the direct message, a line of a list, the dialogs, the page.
type Ask struct {
	aggregate.Asked // a button carries its hash, and the click compares it
	Origin          aggregate.Origin
	Denies          bool   // it may be denied
	no              string // what a rejection leads to: a key of Ways
}

// Asking is an aggregate with gates.
type Asking interface {
	aggregate.Placed
	Askers() []string
	Asked(id string) aggregate.Asked
}

// AskOf returns what is shown of the gate with this id; ok is false if there is none.
func AskOf(a Asking, id string) (x Ask, ok bool) {
	x = Ask{Asked: a.Asked(id), Origin: a.Origin()}
	if x.Gate == nil {
		return x, false
	}
	x.Denies = x.Gate.Ruled()
	if t, is := a.(*task.Aggregate); is {
		x.no = string(t.Follows(id))
	}
	x.no = cmp.Or(x.no, string(x.Kind))
	return x, true
}

// Way is how people say no to what a gate asks: what follows, the button of its form, and an example of a reason.
type Way struct {
	Kind circulation.Kind // one that ends the gate
	WayWords
}

// WayWords are the texts of a way.
type WayWords struct{ Follows, Submit, Example string }

// Cancelling is what is said before what waits is cancelled.
type Cancelling struct{ Title, Text, Yes, No string }

type askWords struct {
	Why  string              // asks for a reason
	Lost string              // whose stamps end with a rejection
	Ways map[string]WayWords // by what follows

	Again, AgainMade, AgainRejected, AgainUnknown string // of a call that is asked for once more: how the first ended
	Cancels                                       map[aggregate.CardType]Cancelling
}

var askWordsOf = language.Catalog[askWords]{Files: &texts, Folder: "texts/asks"}

// Ways returns how people may say no: the first is what ❌ does. What gets no other version isn't sent back where it
// may be denied.
func (x Ask) Ways(locale string) (all []Way) {
	w, versions := askWordsOf.In(locale), x.no == string(task.FollowsNext) || x.no == string(task.FollowsAsker)
	for _, kind := range circulation.Kinds {
		if kind.Ends && (kind.Final && x.Denies || !kind.Final && (versions || !x.Denies)) {
			all = append(all, Way{kind.Kind, w.Ways[kind.Verb]})
		}
	}
	all[0].WayWords = w.Ways[cmp.Or(x.no, string(task.FollowsNext))]
	return all
}

// WhyNot asks for the reason of a rejection, and says whose stamps end with it.
func (s Surface) WhyNot(x Ask) (ask, lost string) {
	w := askWordsOf.In(s.Locale)
	st, names := circulation.Walk(x.Gate.Circulating()), []string(nil)
	for _, act := range st.Stamps() {
		if name := s.Marks.Person(act.Hand.User); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return w.Why, ""
	}
	return w.Why, fill(w.Lost, "names", s.few(names))
}

// More reports whether people may do more than stamp and reject: deny, or cancel what an agent asks for.
func (x Ask) More() bool { return x.Denies || x.Kind == conversation.CardAction || x.Kind == call.Card }

// MayReject reports whether somebody may send it back or deny it, as far as that is known without their stand-ins.
func (x Ask) MayReject(by aggregate.Actor, p aggregate.Policy) bool {
	if x.Denies {
		return !x.Gate.IsAsker(by.ID)
	}
	return p.Reject(by) == nil
}

// Cancels returns what is said before whoever may takes back what a gate of this kind is about.
func Cancels(locale string, kind aggregate.CardType) Cancelling {
	if kind != conversation.CardAction && kind != call.Card {
		kind = task.CardTask
	}
	return askWordsOf.In(locale).Cancels[kind]
}

// Again says of a call that is asked for once more how the first ended.
func (s Surface) Again(x *call.Call) string {
	w := askWordsOf.In(s.Locale)
	switch was := x.Was; {
	case x.Again == "":
		return ""
	case was == nil:
		return w.Again
	case was.Unknown:
		return w.AgainUnknown
	case was.By != "":
		return fill(w.AgainRejected, "who", s.Marks.Person(was.By), "text", s.Marks.Text(was.Why, maxDetail))
	case was.Status == call.Granted || was.Status == conversation.ActionSucceeded:
		return w.AgainMade
	}
	return w.Again
}
