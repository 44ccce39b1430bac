package card

import (
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/task"
)

// maxNamed is how many people and groups a line names; more are counted.
const maxNamed = 10

// waits says who may decide what waits, as the settings say now, and until when.
func (d drawing) waits(t task.Terms) slack.Block {
	lines := []string{fill(d.w.WhoDecides, "who", d.w.deciders(d.settings, d.a.Request))}
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(lines...)
}

// deciders names those who may stamp or send back what r asked for.
func (w *words) deciders(s task.Settings, r *task.Request) string {
	requester, channel, direct := "", "", false
	if r != nil {
		requester, channel, direct = r.User, r.Channel, r.ChannelType == "im"
	}
	var who string
	switch {
	case s.Approvers.Mode == task.ApproversList:
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
	if !s.AllowSelfApproval && requester != "" {
		who += fill(w.NotRequester, "who", w.mention(requester))
	}
	return who
}

// listed names the people and groups of a list, empty for an empty one.
func (w *words) listed(a task.Approvers) string {
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
func Refused(err error, s task.Settings, r *task.Request) string {
	w := wordsOf(s.Locale)
	text := Note(s.Locale, err)
	switch rule := ruleOf(err); rule {
	case task.RuleGuest, task.RuleNotMember, task.RuleNotListed, task.RuleSelf:
		return text + "\n" + fill(w.WhoDecides, "who", w.deciders(s, r))
	case task.RuleNotParty:
		who := w.deciders(s, r)
		if r != nil && r.User != "" {
			who = w.mention(r.User) + " / " + who
		}
		return text + "\n" + fill(w.WhoDecides, "who", who)
	}
	return text
}
