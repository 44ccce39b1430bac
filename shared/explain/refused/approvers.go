package refused

import (
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// maxNamed is how many people and groups a line names; more are counted.
const maxNamed = 10

// WhoDecides is the line that names those who may approve or reject what these people asked for there, as the settings
// say now; without askers whoever asked there is the only one.
func (s Surface) WhoDecides(set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w, who, own := wordsOf(s.Locale), s.Approvers(set, o), s.own(o, askers)
	switch {
	case who == w.Nobody || set.AllowSelfApproval || own == "":
	case nobodyElse(set, o, askers):
		return fill(w.NobodyElse, "who", own)
	default:
		who += fill(w.NotRequester, "who", own)
	}
	return fill(w.CanDecide, "who", who)
}

// own names the people who asked.
func (s Surface) own(o aggregate.Origin, askers []string) string {
	var names []string
	for _, id := range askersOf(o, askers) {
		names = append(names, s.Marks.Person(id))
	}
	return strings.Join(names, " ")
}

func askersOf(o aggregate.Origin, askers []string) []string {
	if len(askers) == 0 && o.User != "" {
		return []string{o.User}
	}
	return askers
}

// nobodyElse reports whether the settings let nobody but those decide who asked, and may not approve it. Who else is in
// a channel or a user group only Slack knows.
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

// Approvers names those whom the settings let decide about what was asked for there.
func (s Surface) Approvers(set tenancy.Settings, o aggregate.Origin) string {
	w := wordsOf(s.Locale)
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

// Either names a person beside those who may decide; where there is nobody who may, the person alone.
func (s Surface) Either(user, who string) string {
	switch {
	case user == "" || who == s.Marks.Person(user):
		return who
	case who == wordsOf(s.Locale).Nobody:
		return s.Marks.Person(user)
	}
	return s.Marks.Person(user) + " / " + who
}

// listed names the people and groups of a list, empty for an empty one.
func (s Surface) listed(a tenancy.Approvers) string {
	var names []string
	for _, id := range a.Users {
		names = append(names, s.Marks.Person(id))
	}
	for _, id := range a.Usergroups {
		names = append(names, s.Marks.Group(id))
	}
	if rest := len(names) - maxNamed; rest > 0 {
		return strings.Join(names[:maxNamed], " ") + " " + fill(wordsOf(s.Locale).AndOthers, "n", rest)
	}
	return strings.Join(names, " ")
}
