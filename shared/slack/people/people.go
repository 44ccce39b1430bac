// Package people finds out who a person in Slack is and what they may decide, from Slack and the tenant's present
// settings.
package people

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
)

type Users interface {
	User(ctx context.Context, id string) (slackapi.User, error)
}

// Groups looks up people, and the members of user groups and channels.
type Groups interface {
	Users
	UsergroupMembers(ctx context.Context, group string) ([]string, error)
	Members(ctx context.Context, channel string, most int) (ids []string, more bool, err error)
}

// Directory is Groups with the channels that a person is in.
type Directory interface {
	Groups
	Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error]
}

// remembered is how long an answer of Slack's about membership is cached.
const remembered = time.Minute

// People identifies a person and the policy that applies to them.
type People struct {
	Slack Directory
	Now   func() time.Time

	member   clock.Answers[membership, bool]
	channels clock.Answers[place, map[string]string] // names by id of those that people are in
	asking   Requesters
}

// Want says who wants to do something, what, and from where.
type Want struct {
	User      string
	Surface   aggregate.Surface // empty: Slack; in the console people signed in to the tenant's own workspace
	Withdraws bool              // cancels or tries again: the requester may
	Retries   bool              // tries again: guests may not
	// Asked is whom the gate's present stage asks. If it is empty, as of no gate, the settings say who may, as without a
	// rule.
	Asked circulation.Mode
}

// membership is the key of a cached answer: is the person in the channel?
type membership struct{ team, channel, user string }

// Who returns the person in w, and the policy that applies to them for a request with the origin o. It returns
// explain.ErrUnverified when Slack can't be asked.
func (p *People) Who(
	ctx context.Context, w Want, o aggregate.Origin, s tenancy.Settings,
) (aggregate.Actor, aggregate.Policy, error) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: w.User, Surface: w.Surface}
	policy := s.Policy(o.Team)
	if w.Withdraws && !w.Retries && by.ID == o.User { // requesters may always cancel their own request
		by.Team = o.Team
		// Nothing was asked, so what is cached of them may be old; Spoken then asks.
		p.asking.users.Forget(place{o.Team, w.User})
		return by, policy, nil
	}
	var wg sync.WaitGroup
	var whoErr, listErr error
	wg.Go(func() { whoErr = belongs(ctx, p.now(o.Team), &by, o.Team) })
	var member bool
	wg.Go(func() {
		if w.Retries && w.User == o.User { // requesters who are no guests may always try again
			return
		}
		if w.Asked == circulation.ModePeople { // the route names them
			return
		}
		if (w.Asked == "" || w.Asked == circulation.ModeSettings) && policy.Mode == aggregate.ApproversList {
			policy.Approvers, listErr = p.approvers(ctx, o.Team, w.User, s.Approvers)
			return
		}
		member, listErr = p.memberOf(ctx, w, o)
	})
	wg.Wait()
	by.Member = member
	if err := errors.Join(whoErr, listErr); err != nil {
		return by, policy, fmt.Errorf("%w: %w", explain.ErrUnverified, err)
	}
	return by, policy, nil
}

// Left returns aggregate.ErrNotAllowed if one of these people is no full member of the workspace any more, as Slack
// says now, and explain.ErrUnverified when Slack can't be asked.
func (p *People) Left(ctx context.Context, team string, ids ...string) error {
	refused, err := Members{Team: team}.Refused(ctx, p.Slack, ids, nil)
	if err == nil && len(refused) > 0 {
		err = aggregate.ErrNotAllowed{Rule: aggregate.RuleLeft}
	}
	return err
}

// now returns a function that asks Slack about a person, whatever is cached, and caches the answer.
func (p *People) now(team string) func(context.Context, string) (slackapi.User, error) {
	return func(ctx context.Context, id string) (slackapi.User, error) {
		u, err := p.Slack.User(ctx, id)
		if err == nil {
			p.asking.users.Keep(place{team, id}, u, p.Now(), knownFor)
		}
		return u, err
	}
}

// Requester is Requesters.Requester with what is cached of other people, too.
func (p *People) Requester(ctx context.Context, team, user string) (aggregate.Actor, error) {
	return p.asking.Requester(ctx, p.Slack, team, user, p.Now())
}

// Language asks Slack now which language a person chose, as Requesters.Language does.
func (p *People) Language(ctx context.Context, team, user, otherwise string) string {
	return languageOf(ctx, func(ctx context.Context) (slackapi.User, error) { return p.now(team)(ctx, user) }, otherwise)
}

// Spoken is Language by what is cached. After Who that is what Slack says now: Who was told it, or forgot it.
func (p *People) Spoken(ctx context.Context, team, user, otherwise string) string {
	return p.asking.Language(ctx, p.Slack, team, user, otherwise, p.Now())
}

// belongs asks Slack which workspace a person belongs to, and whether they are a guest. A click doesn't say: it names
// an organization, the person's home workspace, or nothing. A member of an organization belongs to our workspace if
// they are in it. People whom the app can't see, and those who have left, belong to no workspace.
func belongs(ctx context.Context, user func(context.Context, string) (slackapi.User, error), by *aggregate.Actor,
	ours string) error {
	u, err := user(ctx, by.ID)
	switch code := slackapi.Code(err); {
	case code == slackapi.CodeUserNotFound, code == slackapi.CodeUserNotVisible:
		return nil
	case err != nil:
		return err
	case u.Gone, u.Bot: // who has left may still have a page open; a bot is nobody, whoever's
		return nil
	}
	if by.Team, by.Guest = u.Team, u.Guest; u.Of(ours) {
		by.Team = ours
	}
	return nil
}

// approvers returns the listed people and the members of the listed user groups. It asks Slack about groups only if the
// list doesn't name the person.
func (p *People) approvers(ctx context.Context, team, id string, a tenancy.Approvers) ([]string, error) {
	if slices.Contains(a.Users, id) {
		return slices.Clone(a.Users), nil
	}
	return p.asking.Listed(ctx, p.Slack, team, a, p.Now())
}

// memberOf reports whether the person is a member of the request's channel.
func (p *People) memberOf(ctx context.Context, w Want, o aggregate.Origin) (bool, error) {
	if o.ChannelType == "im" {
		return w.User == o.User, nil
	}
	m := membership{o.Team, o.Channel, w.User}
	if _, known := p.member.Known(m, p.Now()); known {
		return true, nil
	}
	for ch, err := range p.Slack.Channels(ctx, w.User, typesOf(o)...) {
		if err != nil {
			return false, err
		}
		if ch.ID == o.Channel {
			p.member.Keep(m, true, p.Now(), remembered)
			return true, nil
		}
	}
	return false, nil
}

// typesOf returns the types that the channel may have. Slack refuses the whole call for a type whose scope the app
// lacks. A mention comes without its channel's type, and a private channel's id may look like a public one's.
func typesOf(o aggregate.Origin) []string {
	if o.ChannelType == "mpim" {
		return []string{"mpim"}
	}
	return []string{"public_channel", "private_channel"}
}

// Reach says what a person may see and decide in their workspace. It asks Slack once for all the rows of a list, so it
// is only for display: a decision is checked again when it is made. The zero value allows nothing.
type Reach struct {
	by       aggregate.Actor
	policy   aggregate.Policy
	channels map[string]string // names by id of the channels that the person is in
}

// Sight returns a Reach that says what a person may see, but nothing about decisions. It returns
// explain.ErrUnverified when Slack can't be asked; the Reach then covers only their own requests.
func (p *People) Sight(ctx context.Context, team, user string) (Reach, error) {
	r := Reach{by: aggregate.Actor{Type: aggregate.ActorUser, ID: user, Surface: aggregate.SurfaceConsole}}
	names, err := p.channels.Ask(place{team, user}, p.Now(), remembered, func() (map[string]string, error) {
		names := map[string]string{}
		for ch, err := range p.Slack.Channels(ctx, user, typesOf(aggregate.Origin{})...) {
			if err != nil {
				return nil, err
			}
			names[ch.ID] = ch.Name
		}
		return names, nil
	})
	if err != nil {
		return r, fmt.Errorf("%w: list a person's channels: %w", explain.ErrUnverified, err)
	}
	r.channels = names
	return r, nil
}

// Reach returns a person's Reach under a tenant's settings. It returns explain.ErrUnverified when Slack can't be
// asked; the Reach then lacks the unanswered parts.
func (p *People) Reach(ctx context.Context, team, user string, s tenancy.Settings) (Reach, error) {
	r, err := p.Sight(ctx, team, user)
	r.policy = s.Policy(team)
	var wg sync.WaitGroup
	var whoErr, listErr error
	wg.Go(func() { whoErr = p.asking.who(ctx, p.Slack, &r.by, team, p.Now()) })
	wg.Go(func() {
		if r.policy.Mode == aggregate.ApproversList {
			r.policy.Approvers, listErr = p.approvers(ctx, team, user, s.Approvers)
		}
	})
	wg.Wait()
	if whoErr = errors.Join(whoErr, listErr); whoErr != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", explain.ErrUnverified, whoErr))
	}
	return r, err
}

// Sees reports whether the person may see a request: their own, and those of channels that they are in. Nobody else may
// see a direct message.
func (r Reach) Sees(o aggregate.Origin) bool {
	if o.User == r.by.ID {
		return o.User != ""
	}
	return r.In(o.Channel) && o.ChannelType != "im"
}

// In reports whether the person is in a channel.
func (r Reach) In(channel string) bool {
	_, in := r.channels[channel]
	return in
}

// Decides reports whether the person may approve a request, by the same rule as People.Who.
func (r Reach) Decides(o aggregate.Origin) bool {
	by := r.at(o)
	return by.ID != "" && r.policy.Team != "" && r.policy.Approve(by, o.User) == nil
}

// Owes reports whether the present stage of a gate, of a request with this origin, waits for the person.
func (r Reach) Owes(g *aggregate.Gate, o aggregate.Origin) bool {
	return g.WaitsFor(r.at(o), r.policy)
}

// at returns the person as a member of a place: of a direct message only who wrote it is one.
func (r Reach) at(o aggregate.Origin) aggregate.Actor {
	by := r.by
	if by.Member = r.In(o.Channel); o.ChannelType == "im" {
		by.Member = o.User == by.ID
	}
	return by
}

// Channels returns the names, by id, of the channels that the person is in.
func (r Reach) Channels() map[string]string { return maps.Clone(r.channels) }
