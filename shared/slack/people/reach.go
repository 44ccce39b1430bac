package people

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
)

// Reach says what a person may see and decide in their workspace. It asks Slack once for all the rows of a list, so it
// is only for display: a decision is checked again when it is made. The zero value allows nothing.
type Reach struct {
	by       aggregate.Actor
	policy   aggregate.Policy
	channels map[string]string // names by id of the channels that the person is in
}

// Channels caches for a minute which channels people are in. The zero value is ready.
type Channels struct {
	known clock.Answers[place, map[string]string]
}

// Of returns the names, by id, of the public and private channels that a person is in.
func (k *Channels) Of(
	ctx context.Context, slack Directory, team, user string, now time.Time,
) (map[string]string, error) {
	names, err := k.known.Ask(place{team, user}, now, remembered, func() (map[string]string, error) {
		names := map[string]string{}
		for ch, err := range slack.Channels(ctx, user, typesOf(aggregate.Origin{})...) {
			if err != nil {
				return nil, err
			}
			for _, id := range append([]string{ch.ID}, ch.Also...) {
				names[id] = ch.Name
			}
		}
		return names, nil
	})
	switch {
	case slackapi.Code(err) == slackapi.CodeUnknownMethod:
		return map[string]string{}, nil
	case err != nil:
		return nil, fmt.Errorf("%w: list a person's channels: %w", explain.ErrUnverified, err)
	}
	return names, nil
}

// Sight returns a Reach that says what a person may see, but nothing about decisions. It returns
// errorclass.ErrUnverified when Slack can't be asked; the Reach then covers only their own requests.
func (p *People) Sight(ctx context.Context, team, user string) (Reach, error) {
	r := Reach{by: aggregate.Actor{Type: aggregate.ActorUser, ID: user, Surface: aggregate.SurfaceConsole}}
	var err error
	r.channels, err = p.channels.Of(ctx, p.Slack, team, user, p.Now())
	return r, err
}

// Reach returns a person's Reach under a tenant's settings. It returns errorclass.ErrUnverified when Slack can't be
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
	return g.WaitsFor(r.at(g.Place(o)), r.policy)
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
