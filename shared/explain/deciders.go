package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// maxNamed is how many people and groups a line names; further ones are counted.
const maxNamed = 10

// WhoDecides returns a line that names who may approve or reject a request by these askers under the current settings.
// Without askers, only the requester of o has asked.
func (s Surface) WhoDecides(set tenancy.Settings, o aggregate.Origin, askers ...string) string {
	w, who, own := refusalWordsOf.In(s.Locale), s.Approvers(set, o), s.own(o, askers)
	switch {
	case who == w.Nobody || own == "":
	case set.AllowSelfApproval:
		if amongOthers(set, o, askersOf(o, askers)) {
			who += fill(w.RequesterAlone, "who", own)
		}
	case nobodyElse(set, o, askers):
		return fill(w.NobodyElse, "who", own)
	default:
		who += fill(w.NotRequester, "who", own)
	}
	return fill(w.CanDecide, "who", who)
}

// amongOthers reports whether the askers, who may approve their own request, are some of several who may. Only Slack
// knows whether they are in a listed user group.
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
	w, more := refusalWordsOf.In(s.Locale), ""
	if rest := len(names) - maxNamed; rest > 0 {
		names, more = names[:maxNamed], " "+fill(w.AndOthers, "n", rest)
	}
	return strings.Join(names, w.And) + more
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
	if !set.AllowSelfApproval {
		set.Approvers.Users = slices.DeleteFunc(slices.Clone(set.Approvers.Users), func(id string) bool {
			return slices.Contains(askersOf(o, askers), id)
		})
	}
	return s.Approvers(set, o)
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

// listed names the people and groups in a list, empty for an empty list.
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

// RefusedByRules says why the tenant's rules let an action not be proposed. text shows what others wrote, at most so
// many characters of it, person names a person.
func RefusedByRules(locale string, e conversation.ErrByRules, text func(s string, most int) string,
	person func(id string) string) string {
	detail := text(e.Detail, maxDetail)
	if e.Why == task.ReasonNoRowWords {
		detail = person(e.Detail)
	}
	said := fill(refusalWordsOf.In(locale).ByRules[e.Why], "rule", text(e.Rule.Name, maxName), "text", detail)
	return strings.TrimSpace(said)
}

// act says why somebody can't do what they wanted on a gate under a rule of a request with the origin o, and what to
// do.
func (s Surface) act(r *circulation.Refusal, o aggregate.Origin) string {
	w, key := refusalWordsOf.In(s.Locale), string(r.Why)
	switch {
	case r.Why == circulation.WhyTurn && r.Yours == "":
		key = "turn_over"
	case r.Why == circulation.WhySelf && r.Put:
		key = "self_successor"
	case r.Why == circulation.WhySelf && r.For.User != "" && r.For.User == r.Asker.User:
		key = "self_principal"
	case r.Why == circulation.WhySelf && o.User != "" && r.Asker.User != o.User:
		key = "author"
	case r.Lacks == circulation.LackDelegation && !r.Ends.IsZero():
		key = "period"
	case r.Lacks == circulation.LackEmployee && r.For.User == "":
		key = "only_employees"
	case r.Why == circulation.WhyFound:
		key = "no_" + string(r.Lacks)
	}
	var names []string
	for _, p := range r.People {
		names = append(names, s.Marks.Person(p.User))
	}
	who := s.few(names)
	if who == "" {
		who = s.Approvers(tenancy.Settings{}, aggregate.Origin{Channel: cmp.Or(r.Home, o.Channel)})
	}
	return fill(cmp.Or(w.Acts[key], w.Acts[string(circulation.WhyUnknown)]), "stage", s.Marks.Text(r.Name, maxName),
		"names", who, "yours", s.Marks.Text(r.Yours, maxName), "principal", s.Marks.Person(r.For.User),
		"n", r.Missing, "max", circulation.MaxText, "from", day(r.Begins), "until", day(r.Ends.Add(-time.Millisecond)))
}

// day returns the tenant's day of a time.
func day(t time.Time) string { return t.In(tenancy.Zone()).Format(time.DateOnly) }
