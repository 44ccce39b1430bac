package people

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// knownFor is how long a process caches Slack's answer about a person. users.info may be called about 100 times a
// minute (Tier 4), and every click calls it too.
const knownFor = time.Minute

// place identifies a person, a user group or a channel. Two workspaces may use the same id.
type place struct{ team, id string }

// Requesters identifies people who ask for something, and caches Slack's answers for knownFor. The zero value is ready.
type Requesters struct {
	users    clock.Answers[place, slackapi.User]
	groups   clock.Answers[place, []string]          // their members
	inside   clock.Answers[place, inside]            // who is in channels
	standing clock.Answers[place, Standing]          // by id and by address
	named    clock.Answers[string, []slackapi.Group] // user groups, by team
}

// Requester identifies a person of a workspace who asks for something. It returns Slack's error when Slack doesn't
// answer.
func (q *Requesters) Requester(
	ctx context.Context, slack Users, team, user string, now time.Time,
) (aggregate.Actor, error) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: user}
	err := q.who(ctx, slack, &by, team, now)
	return by, err
}

// who adds Slack's facts about a person to by.
func (q *Requesters) who(ctx context.Context, slack Users, by *aggregate.Actor, team string, now time.Time) error {
	return belongs(ctx, func(ctx context.Context, id string) (slackapi.User, error) {
		return q.user(ctx, slack, team, id, now)
	}, by, team)
}

// user returns Slack's facts about a person; they may be knownFor old.
func (q *Requesters) user(ctx context.Context, slack Users, team, id string, now time.Time) (slackapi.User, error) {
	return q.users.Ask(place{team, id}, now, knownFor, func() (slackapi.User, error) { return slack.User(ctx, id) })
}

// languageWithin bounds the call that asks Slack for a person's language.
const languageWithin = 700 * time.Millisecond

// Language returns the language that a person chose in Slack, or otherwise when Ringi doesn't speak it or Slack doesn't
// say within languageWithin.
func (q *Requesters) Language(
	ctx context.Context, slack Users, team, user, otherwise string, now time.Time,
) string {
	return languageOf(ctx, func(ctx context.Context) (slackapi.User, error) {
		return q.user(ctx, slack, team, user, now)
	}, otherwise)
}

func languageOf(ctx context.Context, user func(context.Context) (slackapi.User, error), otherwise string) string {
	ctx, cancel := context.WithTimeout(ctx, languageWithin)
	defer cancel()
	u, err := user(ctx)
	if err != nil || !slices.Contains(language.All, u.Language) {
		return otherwise
	}
	return u.Language
}

const (
	// mostLooked bounds how many people of a list or channel are looked up in the search for one member of the
	// workspace. Only members can be saved in a list, so few of them should have left.
	mostLooked = 20
	// mostMembers is how many of a channel's members one call asks for.
	mostMembers = 100
)

// Somebody returns nil if somebody may approve what these people together ask for. Otherwise it returns
// aggregate.ErrNotAllowed with a rule: RuleSelf if only they themselves could, and may not; RuleNobody if the list is
// empty; RuleNotMember if nobody in the channel may; RuleUnlisted if Slack can't list the members. It is checked when
// a request begins, and a click is checked again. It returns explain.ErrUnverified when Slack can't be asked about a
// list.
func (q *Requesters) Somebody(
	ctx context.Context, slack Groups, o aggregate.Origin, s tenancy.Settings, now time.Time, askers ...string,
) error {
	policy, err := s.Policy(o.Team), s.Nobody(o, askers...)
	switch {
	case err != nil:
		return err
	case policy.Mode != aggregate.ApproversList:
		return q.inChannel(ctx, slack, policy, o, now, askers)
	}
	if policy.Approvers, err = q.Listed(ctx, slack, o.Team, s.Approvers, now); err != nil {
		return fmt.Errorf("%w: who is listed: %w", explain.ErrUnverified, err)
	}
	looked := 0
	for _, id := range policy.Approvers {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}
		if policy.ApproveAll(by, askers) != nil {
			continue // they may not approve their own request, whatever Slack says
		}
		if looked++; looked > mostLooked {
			return nil
		}
		by.Team = ""
		if err := q.who(ctx, slack, &by, o.Team, now); err != nil {
			return fmt.Errorf("%w: who is listed: %w", explain.ErrUnverified, err)
		}
		if policy.ApproveAll(by, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}

// inChannel is Somebody for requests that a channel's members approve. It refuses only if Slack says that nobody can; a
// missing or partial answer is no refusal. It must ask Slack whether members are listed, because nothing else
// identifies a group direct message: a mention there has no channel type, its id may look like a channel's
// (https://docs.slack.dev/reference/events/app_mention), and the app lacks the scope to list it, so memberOf would
// never find anybody in it.
func (q *Requesters) inChannel(
	ctx context.Context, slack Groups, p aggregate.Policy, o aggregate.Origin, now time.Time, askers []string,
) error {
	if o.ChannelType == "im" { // the requester is its only member
		return nil
	}
	is, err := q.in(ctx, slack, o.Team, o.Channel, now)
	switch {
	case is.unlisted:
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleUnlisted}
	case err != nil:
		slog.WarnContext(ctx, "a channel's members are not known", "channel", o.Channel, "err", err)
		return nil
	}
	looked := 0
	for _, id := range is.members {
		if looked++; looked > mostLooked {
			return nil
		}
		u, err := q.user(ctx, slack, o.Team, id, now)
		if err == nil && u.Bot { // Ringi's own bot is in it
			continue
		}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Member: true}
		if err := q.who(ctx, slack, &by, o.Team, now); err != nil || p.ApproveAll(by, askers) == nil {
			return nil
		}
	}
	if !is.all {
		return nil
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}
}

// Listed returns the listed people and the members of the listed user groups.
func (q *Requesters) Listed(
	ctx context.Context, slack Groups, team string, a tenancy.Approvers, now time.Time,
) ([]string, error) {
	all := slices.Clone(a.Users)
	for _, name := range a.Usergroups {
		members, err := q.group(ctx, slack, team, name, now)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

// group returns a user group's members; the answer may be as old as remembered.
func (q *Requesters) group(ctx context.Context, slack Groups, team, name string, now time.Time) ([]string, error) {
	return q.groups.Ask(place{team, name}, now, remembered, func() ([]string, error) {
		members, err := slack.UsergroupMembers(ctx, name)
		if slackapi.Code(err) == slackapi.CodeNoSuchGroup { // deleted since it was listed: other groups still count
			slog.WarnContext(ctx, "a listed user group is gone", "group", name)
			return nil, nil
		}
		return members, err
	})
}

// standsFor is how long Requesters cache what an account is along a route. A route may need 250 people looked up, and
// users.info may be called about 100 times a minute (Tier 4), users.lookupByEmail 50 times (Tier 3): whoever is refused
// goes on where they were. Who has left since then can't stamp anyway.
const standsFor = 10 * time.Minute

// Standing is what an account is along a route.
type Standing struct {
	ID   string
	Full bool   // a full member's of the workspace: nobody else stamps
	Mail string // its address in lower case; "": Slack doesn't tell
}

func standingOf(team string, u slackapi.User) Standing {
	return Standing{u.ID, Members{Team: team}.Rule(u) == "", strings.ToLower(u.Mail)}
}

// Grouped is Groups with the names of the user groups, and with whose account has an address.
type Grouped interface {
	Groups
	UserByMail(ctx context.Context, mail string) (slackapi.User, error)
	Usergroups(ctx context.Context) ([]slackapi.Group, error)
}

// Standing returns what the account with this id is along a route. It returns Slack's error when Slack doesn't answer.
func (q *Requesters) Standing(ctx context.Context, slack Users, team, id string, now time.Time) (Standing, error) {
	return q.standing.Ask(place{team, id}, now, standsFor, func() (Standing, error) {
		u, err := q.user(ctx, slack, team, id, now)
		u.ID = id
		switch slackapi.Code(err) {
		case slackapi.CodeUserNotFound, slackapi.CodeUserNotVisible:
			return Standing{ID: id}, nil
		}
		return standingOf(team, u), err
	})
}

// ByMail is Standing of the account with an address in lower case. While nobody has it, it returns none, and asks again
// the next time.
func (q *Requesters) ByMail(ctx context.Context, slack Grouped, team, mail string, now time.Time) (Standing, error) {
	is, err := q.standing.Ask(place{team, mail}, now, standsFor, func() (Standing, error) {
		u, err := slack.UserByMail(ctx, mail)
		u.Mail = mail
		return standingOf(team, u), err
	})
	if slackapi.Code(err) == slackapi.CodeNobody {
		return Standing{}, nil
	}
	return is, err
}

// Group returns the members of a user group and what people call it, such as @keiri. One that is gone or disabled has
// no members. It returns Slack's error when Slack doesn't say who is in it, and the group's id if it doesn't say what
// it is called.
func (q *Requesters) Group(ctx context.Context, slack Grouped, team, id string, now time.Time) (
	handle string, members []string, err error) {
	handle, disabled := q.Handle(ctx, slack, team, id, now)
	if disabled {
		return handle, nil, nil
	}
	members, err = q.group(ctx, slack, team, id, now)
	return handle, members, err
}

// Handle is what people call a user group, such as @keiri, or its id if Slack doesn't say, and whether it is disabled.
func (q *Requesters) Handle(ctx context.Context, slack Grouped, team, id string, now time.Time) (
	handle string, disabled bool) {
	all, err := q.named.Ask(team, now, remembered, func() ([]slackapi.Group, error) { return slack.Usergroups(ctx) })
	if err != nil {
		slog.WarnContext(ctx, "user groups are named by id", "err", err)
	}
	handle = id
	if i := slices.IndexFunc(all, func(g slackapi.Group) bool { return g.ID == id }); i >= 0 {
		if all[i].Handle != "" {
			handle = "@" + all[i].Handle
		}
		disabled = all[i].Disabled
	}
	return handle, disabled
}

// InChannel returns members of a channel, and whether they are all. It returns none, and true, where Slack can't list
// them to the app, as in a group direct message: whoever is there, a click would not count. It returns none, and false,
// for a channel that the app can't see, and Slack's error when Slack doesn't answer.
func (q *Requesters) InChannel(ctx context.Context, slack Groups, team, id string, now time.Time) (
	members []string, all bool, err error) {
	is, err := q.in(ctx, slack, team, id, now)
	return is.members, is.all || is.unlisted, err
}

// in returns who is in a channel; the answer may be as old as remembered. A refusal for want of a scope isn't cached:
// it may be granted meanwhile.
func (q *Requesters) in(ctx context.Context, slack Groups, team, id string, now time.Time) (inside, error) {
	is, err := q.inside.Ask(place{team, id}, now, remembered, func() (inside, error) {
		members, more, err := slack.Members(ctx, id, mostMembers)
		if refused, is := errors.AsType[slackapi.Refused](err); is && refused.Permanent { // asking again would not help
			slog.WarnContext(ctx, "a channel's members are not known", "channel", id, "err", err)
			return inside{}, nil
		}
		return inside{members: members, all: !more}, err
	})
	if slackapi.Code(err) == slackapi.CodeMissingScope {
		return inside{unlisted: true}, nil
	}
	return is, err
}

// inside is who is in a channel.
type inside struct {
	members       []string
	all, unlisted bool // unlisted: Slack can't list them to the app
}
