package explain

import (
	"cmp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
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
	Askers() []string                // the people whose own request is waiting
	Asked(id string) aggregate.Asked // the gate with this id
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

const maxNamed = 10 // people and groups that a line names; further ones are counted

// WhoDecides returns a line that names who may approve or reject a request by these askers under the current settings.
// Without askers, only the requester of o has asked.
func (s Surface) WhoDecides(set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w := refusalWordsOf.In(s.Locale)
	if nobodyElse(set, o, askers) {
		return fill(w.NobodyElse, "who", s.own(o, askers))
	}
	note := s.ofAskers(set, o, askers)
	set.Approvers = others(set, o, askers)
	who := s.Approvers(set, o)
	if who != w.Nobody && note != "" {
		who += " (" + note + ")"
	}
	return fill(w.CanDecide, "who", who)
}

// ofAskers says of the askers what the names of those who may decide don't say; it may be empty.
func (s Surface) ofAskers(set tenancy.Settings, o aggregate.Origin, askers []string) string {
	w, own := refusalWordsOf.In(s.Locale), s.own(o, askers)
	switch {
	case own == "", set.Approvers.Mode == aggregate.ApproversList && len(set.Approvers.Usergroups) == 0 &&
		!(set.AllowSelfApproval && slices.ContainsFunc(askersOf(o, askers), func(id string) bool {
			return slices.Contains(set.Approvers.Users, id)
		})):
		return "" // who may is named one by one, without them
	case !set.AllowSelfApproval:
		return fill(w.NotRequester, "who", own)
	case amongOthers(set, o, askersOf(o, askers)):
		return fill(w.RequesterAlone, "who", own)
	}
	return ""
}

// Turn says in a few words whose turn it is by the settings, and in note what that doesn't say of the askers. ok is
// false if nobody may decide: then turn is a sentence about that.
func (r *Route) Turn() (turn, note string, ok bool) {
	s, set, o, askers := r.on, r.Settings, r.Of, r.askers()
	w, a := refusalWordsOf.In(s.Locale), set.Approvers
	turn = s.Deciders(set, o, askers...)
	if turn == w.Nobody || nobodyElse(set, o, askers) {
		return s.WhoDecides(set, o, askers...), "", false
	}
	list := a.Mode == aggregate.ApproversList
	note = s.ofAskers(set, o, askers)
	a = others(set, o, askers)
	if list && len(a.Users)+2*len(a.Usergroups) > 1 || !list && o.ChannelType != "im" {
		turn = fill(w.OneOf, "who", turn)
	}
	return turn, note, true
}

// amongOthers reports whether the askers, who may approve their own request, are some of several who may.
func amongOthers(set tenancy.Settings, o aggregate.Origin, askers []string) bool {
	if set.Approvers.Mode != aggregate.ApproversList {
		return o.ChannelType != "im"
	}
	return !slices.ContainsFunc(askers, func(id string) bool { return !slices.Contains(set.Approvers.Users, id) })
}

func (s Surface) own(o aggregate.Origin, askers []string) string {
	var names []string
	for _, id := range askersOf(o, askers) {
		names = append(names, s.Marks.Person(id))
	}
	return s.few(names)
}

// few joins names, and counts those beyond maxNamed.
func (s Surface) few(names []string) string {
	w := refusalWordsOf.In(s.Locale)
	return few(names, maxNamed, w.And, w.AndOthers)
}

// few joins names by and, and says how many others there are beyond most.
func few(names []string, most int, and, others string) string {
	text := strings.Join(names[:min(len(names), most)], and)
	if more := len(names) - most; more > 0 {
		text = fill(others, "who", text, "n", more)
	}
	return text
}

func askersOf(o aggregate.Origin, askers []string) []string {
	if len(askers) == 0 && o.User != "" {
		return []string{o.User}
	}
	return askers
}

// nobodyElse reports whether the settings let only the askers decide, who may not approve their own request. Only Slack
// knows who else is in a channel or user group.
func nobodyElse(set tenancy.Settings, o aggregate.Origin, askers []string) bool {
	askers = askersOf(o, askers)
	switch {
	case set.AllowSelfApproval || len(askers) == 0:
		return false
	case set.Approvers.Mode != aggregate.ApproversList:
		return o.ChannelType == "im" && slices.Contains(askers, o.User)
	}
	others := slices.ContainsFunc(set.Approvers.Users, func(id string) bool { return !slices.Contains(askers, id) })
	return !others && len(set.Approvers.Usergroups) == 0
}

// Deciders names who may approve or reject a request by these askers, in a few words: without listed askers if they may
// not approve their own request, or in a sentence if nobody else is left.
func (s Surface) Deciders(set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	if nobodyElse(set, o, askers) {
		return s.WhoDecides(set, o, askers...)
	}
	set.Approvers = others(set, o, askers)
	return s.Approvers(set, o)
}

// others returns the approvers, without the listed askers if they may not approve their own request.
func others(set tenancy.Settings, o aggregate.Origin, askers []string) tenancy.Approvers {
	a := set.Approvers
	if !set.AllowSelfApproval {
		a.Users = slices.DeleteFunc(slices.Clone(a.Users), func(id string) bool {
			return slices.Contains(askersOf(o, askers), id)
		})
	}
	return a
}

// Approvers names those who may decide on a request from there by the settings.
func (s Surface) Approvers(set tenancy.Settings, o aggregate.Origin) string {
	w := refusalWordsOf.In(s.Locale)
	switch {
	case set.Approvers.Mode == aggregate.ApproversList:
		if who := s.listed(set.Approvers); who != "" {
			return who
		}
		return w.Nobody
	case o.ChannelType == "im" && o.User != "":
		return s.Marks.Person(o.User)
	}
	if name := s.Marks.Channel(o.Channel); name != "" {
		return fill(w.Members, "channel", name)
	}
	return w.MembersOfIt
}

// Either names a person and those who may decide; if there are none, only the person.
func (s Surface) Either(user, who string) string {
	switch {
	case user == "" || who == s.Marks.Person(user):
		return who
	case who == refusalWordsOf.In(s.Locale).Nobody:
		return s.Marks.Person(user)
	}
	return s.Marks.Person(user) + " / " + who
}

func (s Surface) listed(a tenancy.Approvers) string {
	var names []string
	for _, id := range a.Users {
		names = append(names, s.Marks.Person(id))
	}
	for _, id := range a.Usergroups {
		names = append(names, s.Marks.Group(id))
	}
	return s.few(names)
}
