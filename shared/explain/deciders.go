package explain

import (
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

const maxNamed = 10 // people and groups that a line names; further ones are counted

// WhoDecides returns a line that names who may approve or reject a request by these askers under the current settings.
// Without askers, only the requester of o has asked.
func (s Surface) WhoDecides(set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w, who := refusalWordsOf.In(s.Locale), s.Approvers(set, o)
	switch note := s.ofAskers(set, o, askers); {
	case who == w.Nobody || note == "":
	case nobodyElse(set, o, askers):
		return fill(w.NobodyElse, "who", s.own(o, askers))
	default:
		who += " (" + note + ")"
	}
	return fill(w.CanDecide, "who", who)
}

// ofAskers says of the askers what the names of those who may decide don't say; it may be empty.
func (s Surface) ofAskers(set tenancy.Settings, o aggregate.Origin, askers []string) string {
	w, own := refusalWordsOf.In(s.Locale), s.own(o, askers)
	switch {
	case own == "":
		return ""
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
	if !list || set.AllowSelfApproval || len(a.Usergroups) > 0 { // else they are named one by one, without the askers
		note = s.ofAskers(set, o, askers)
	}
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
