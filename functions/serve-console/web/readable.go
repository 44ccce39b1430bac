package web

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// Readable returns the tenant's settings if the viewer may read the subject: as ReadableAt says, or since they are
// on the route of one of its gates or in the home of one, or stand in now for somebody who is on the route.
func (c *Site) Readable(ctx context.Context, v *Viewer, a decide.Subject) (s tenancy.Settings, err error) {
	if err := a.Readable(c.Now()); err != nil {
		return s, err
	}
	s, err = c.ReadableAt(ctx, v, a.Origin())
	of, has := a.(interface{ OnRoute(user string) bool })
	if err == nil || !has {
		return s, err
	}
	on := of.OnRoute(v.User) || c.atHome(ctx, v, a)
	if !on {
		all, failed := c.Store.StandInsBy(ctx, v.Tenant, v.User)
		if failed != nil {
			return s, failed
		}
		on = slices.ContainsFunc(all, func(x circulation.StandIn) bool {
			return x.Counts(c.Now()) && of.OnRoute(x.Principal.User)
		})
	}
	if on {
		return c.Store.Settings(ctx, v.Tenant)
	}
	return s, err
}

// atHome reports whether the viewer is in a channel whose members are asked in place of those of the subject's own.
func (c *Site) atHome(ctx context.Context, v *Viewer, a decide.Subject) bool {
	of, has := a.(interface{ Homes() []string })
	if !has || len(of.Homes()) == 0 {
		return false
	}
	sight, err := c.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		slog.WarnContext(ctx, "it is not known who is in a home", "err", err)
	}
	return slices.ContainsFunc(of.Homes(), sight.In)
}

// ReadableAt returns the tenant's settings if the viewer may read what was requested there: administrators, the
// requester, members of the channel, and people who may decide about it. For others it returns aggregate.ErrNotFound.
func (c *Site) ReadableAt(ctx context.Context, v *Viewer, o aggregate.Origin) (s tenancy.Settings, err error) {
	if s, err = c.Store.Settings(ctx, v.Tenant); err != nil {
		return s, err
	}
	if v.Admin || o.User == v.User {
		return s, nil
	}
	reach, err := c.People.Reach(ctx, v.Team, v.User, s)
	switch {
	case reach.Sees(o) || reach.Decides(o):
		return s, nil
	case err != nil:
		return s, err
	}
	return s, fmt.Errorf("of a channel that the viewer is not in: %w", aggregate.ErrNotFound)
}

// ChannelOf returns the name of a request's channel, or unnamed if the viewer isn't in it.
func (c *Site) ChannelOf(ctx context.Context, v *Viewer, o aggregate.Origin, unnamed string) string {
	return c.ChannelsOf(ctx, v, o, unnamed)(o.Channel)
}

// ChannelsOf returns what a request's channel and the homes of its gates are called. Of those that the viewer isn't in
// the request's channel is unnamed, another is its id.
func (c *Site) ChannelsOf(ctx context.Context, v *Viewer, o aggregate.Origin, unnamed string) func(id string) string {
	sight, err := c.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		slog.WarnContext(ctx, "channels stay without their names", "err", err)
	}
	names := sight.Channels()
	return func(id string) string {
		if id == o.Channel {
			return cmp.Or(ChannelName(names, id), unnamed)
		}
		return cmp.Or(ChannelName(names, id), id)
	}
}
