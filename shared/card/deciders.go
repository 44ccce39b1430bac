package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/aggregate"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// maxNamed is how many people and groups a line names; more are counted.
const maxNamed = 10

// waits says who may decide what waits, as the settings say now, and until when.
func (d drawing) waits(t aggregate.Terms) slack.Block {
	lines := []string{fill(d.w.WhoDecides, "who", d.w.deciders(d.settings, d.a.Request))}
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(lines...)
}

// chooses says who may choose what a message is meant to be, and until when. Whoever may
// send back what waits may make its reason of it; its writer may make a request of it, too.
func (d drawing) chooses(t aggregate.Terms, asReason bool) slack.Block {
	who, writer := d.w.approvers(d.settings, d.a.Request), ""
	if d.a.Request != nil {
		writer = d.a.Request.User
	}
	var lines []string
	if asReason {
		lines = append(lines, fill(d.w.WhoMakesReason, "who", who))
	}
	lines = append(lines, fill(d.w.WhoMakesRequest, "who", d.w.either(writer, who)))
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(lines...)
}

// either names a person beside those who may decide; where there is nobody who may, the person alone.
func (w *words) either(user, who string) string {
	switch {
	case user == "" || who == w.mention(user):
		return who
	case who == w.NobodyDecides:
		return w.mention(user)
	}
	return w.mention(user) + " / " + who
}

// deciders names those who may stamp or send back what r asked for.
func (w *words) deciders(s tenancy.Settings, r *task.Request) string {
	who := w.approvers(s, r)
	if who != w.NobodyDecides && !s.AllowSelfApproval && r != nil && r.User != "" {
		who += fill(w.NotRequester, "who", w.mention(r.User))
	}
	return who
}

// approvers names those whom the settings let decide about what r asked for.
func (w *words) approvers(s tenancy.Settings, r *task.Request) (who string) {
	requester, channel, direct := "", "", false
	if r != nil {
		requester, channel, direct = r.User, r.Channel, r.ChannelType == "im"
	}
	switch {
	case s.Approvers.Mode == aggregate.ApproversList:
		if who = w.listed(s.Approvers); who == "" {
			return w.NobodyDecides
		}
	case direct && requester != "":
		who = w.mention(requester)
	case idForm().MatchString(channel):
		who = fill(w.MembersDecide, "channel", "<#"+channel+">")
	default:
		who = w.MembersOfIt
	}
	return who
}

// listed names the people and groups of a list, empty for an empty one.
func (w *words) listed(a tenancy.Approvers) string {
	var names []string
	for _, id := range a.Users {
		names = append(names, w.mention(id))
	}
	for _, id := range a.Usergroups {
		if idForm().MatchString(id) {
			names = append(names, "<!subteam^"+id+">")
			continue
		}
		names = append(names, or(inline(id, maxTool), w.None))
	}
	if rest := len(names) - maxNamed; rest > 0 {
		return strings.Join(names[:maxNamed], " ") + " " + fill(w.AndOthers, "n", rest)
	}
	return strings.Join(names, " ")
}

// Refused is Note for a click that a rule refused: it also names the people who may.
func Refused(err error, s tenancy.Settings, r *task.Request) string {
	w := wordsOf(s.Locale)
	text := Note(s.Locale, err)
	switch rule := ruleOf(err); rule {
	case aggregate.RuleGuest, aggregate.RuleNotMember, aggregate.RuleNotListed, aggregate.RuleSelf:
		return text + "\n" + fill(w.WhoDecides, "who", w.deciders(s, r))
	case aggregate.RuleNotParty:
		who := w.approvers(s, r)
		if r != nil {
			who = w.either(r.User, who)
		}
		return text + "\n" + fill(w.WhoMay, "who", who)
	}
	return text
}
