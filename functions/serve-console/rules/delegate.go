package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/store"
)

// save sets a delegation, or ends one.
func (c *StandInPages) save(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	switch r.PostForm.Get("act") {
	case "set":
		return c.set(w, r, v)
	case "end":
		return c.end(w, r, v)
	}
	return web.ErrBadForm
}

// setter returns the viewer as who sets or ends something that one of these may. For others they must be an
// administrator now, whatever their session says.
func (c *StandInPages) setter(v *web.Viewer, may ...string) (by tenancy.Setter, err error) {
	by = tenancy.Setter{Actor: v.Actor()}
	if !slices.Contains(may, v.User) {
		if by.Admin = true; !v.Admin {
			err = web.ErrAdminsOnly
		}
	}
	return by, err
}

// set sets a delegation. The hand must be a full member; the principal may have left. Both are told in the same commit:
// if Slack can't open the hand's direct messages, nothing is set.
func (c *StandInPages) set(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("stand-ins")
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	t := typedStandIn{field("hand"), cmp.Or(field("principal"), v.User), field("from"), field("until")}
	d := tenancy.Delegation{TenantID: v.Tenant, Principal: t.principal, Hand: t.hand}
	by, err := c.setter(v, d.Principal)
	if err != nil {
		return err
	}
	if t.hand == "" {
		return c.show(w, r, v, t, "hand", words.Say("nobody"))
	}
	if d.From, err = tenancy.ParseDate(t.from); err != nil {
		return c.show(w, r, v, t, "from", words.Say("no_day"))
	}
	if d.Until, err = tenancy.ParseDate(t.until); err != nil {
		return c.show(w, r, v, t, "until", words.Say("no_day"))
	}
	refused, _, err := c.Refused(r.Context(), v, []string{t.hand}, nil)
	if err == nil && refused[t.hand] != "" {
		return c.show(w, r, v, t, "hand", words.Say("unfit"))
	}
	if err == nil {
		err = c.forbidden(r.Context(), d, by)
	}
	var channels map[string]string
	if err == nil {
		if channels, err = c.channels(r.Context(), d); channels[d.Hand] != "" {
			err = nil // who has left can't be told
		}
	}
	if err == nil {
		_, err = c.Store.SetDelegation(r.Context(), d, by, c.Now(), c.telling(v, channels))
	}
	if field, text, refused := refusal(words, err); refused {
		return c.show(w, r, v, t, field, text)
	}
	if errors.Is(err, aggregate.ErrConflict) {
		return c.show(w, r, v, t, "", words.Say("conflict"))
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, address, "stand_in_set")
}

// channels opens the direct messages of hand and principal. It returns explain.ErrUnverified with those that could
// be opened when Slack doesn't open one.
func (c *StandInPages) channels(ctx context.Context, d tenancy.Delegation) (out map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	out = map[string]string{}
	for _, user := range []string{d.Hand, d.Principal} {
		channel, failed := c.Messages.OpenDM(ctx, user)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: open the direct messages of %s: %w", explain.ErrUnverified, user, failed))
			continue
		}
		out[user] = channel
	}
	return out, err
}

// telling returns what tells those people of a delegation whose channels are known.
func (c *StandInPages) telling(v *web.Viewer, channels map[string]string) func(tenancy.Delegation) []store.Notice {
	return func(d tenancy.Delegation) (out []store.Notice) {
		for _, user := range []string{d.Hand, d.Principal} {
			if channel := channels[user]; channel != "" {
				change, ref := task.TellStandIn(d, v.Team, user, channel, c.Now())
				out = append(out, store.Notice{Ref: ref, Change: change})
			}
		}
		return out
	}
}

// end ends a delegation. Whoever Slack can't tell of it isn't told: ending never waits for Slack.
func (c *StandInPages) end(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	all, err := c.seen(r.Context(), v)
	key := r.PostForm.Get("key")
	i := slices.IndexFunc(all, func(d tenancy.Delegation) bool { return d.Key() == key })
	if err != nil || i < 0 {
		return cmp.Or(err, fmt.Errorf("the delegation %.80q: %w", key, aggregate.ErrNotFound))
	}
	d := all[i]
	by, err := c.setter(v, d.Principal, d.Hand)
	if err != nil {
		return err
	}
	channels, err := c.channels(r.Context(), d)
	if err != nil {
		slog.WarnContext(r.Context(), "not everybody is told that a delegation ended", "err", err)
	}
	if _, err = c.Store.EndDelegation(r.Context(), d, by, c.Now(), c.telling(v, channels)); err != nil {
		return err
	}
	return c.Done(w, r, address, "stand_in_ended")
}

// forbidden returns a problem that the delegation's own row doesn't show: the principal owes something on the own
// request of the administrator who sets it.
func (c *StandInPages) forbidden(ctx context.Context, d tenancy.Delegation, by tenancy.Setter) error {
	if !by.Admin {
		return nil
	}
	for cursor := ""; ; {
		page, err := c.Store.Waiting(ctx, d.TenantID, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, x := range page.Items {
			if g := aggregate.GateOf(x.Row); g.Owes(d.Principal) > 0 && g.IsAsker(by.ID) {
				return aggregate.Problem{Field: "principal", Code: "party"}
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}
