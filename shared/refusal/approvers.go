package refusal

import (
	"strings"

	"ringi/shared/aggregate"
	"ringi/shared/tenancy"
)

// maxNamed is how many people and groups a line names; more are counted.
const maxNamed = 10

// WhoDecides is the line that names those who may approve or reject what was asked for there, as the settings say now.
func (s Surface) WhoDecides(set tenancy.Settings, o aggregate.Origin) string {
	w, who := wordsOf(s.Locale), s.Approvers(set, o)
	if who != w.nobody && !set.AllowSelfApproval && o.User != "" {
		who += fill(w.notRequester, "who", s.Marks.Person(o.User))
	}
	return fill(w.canDecide, "who", who)
}

// Approvers names those whom the settings let decide about what was asked for there.
func (s Surface) Approvers(set tenancy.Settings, o aggregate.Origin) string {
	w := wordsOf(s.Locale)
	switch {
	case set.Approvers.Mode == aggregate.ApproversList:
		if who := s.listed(set.Approvers); who != "" {
			return who
		}
		return w.nobody
	case o.ChannelType == "im" && o.User != "":
		return s.Marks.Person(o.User)
	}
	if name := s.Marks.Channel(o.Channel); name != "" {
		return fill(w.members, "channel", name)
	}
	return w.membersOfIt
}

// Either names a person beside those who may decide; where there is nobody who may, the person alone.
func (s Surface) Either(user, who string) string {
	switch {
	case user == "" || who == s.Marks.Person(user):
		return who
	case who == wordsOf(s.Locale).nobody:
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
		return strings.Join(names[:maxNamed], " ") + " " + fill(wordsOf(s.Locale).andOthers, "n", rest)
	}
	return strings.Join(names, " ")
}
