package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/store"
)

// DirectMessages opens people's direct messages.
type DirectMessages interface {
	OpenDM(ctx context.Context, user string) (channel string, err error)
}

const standInsPath = "/console/stand-ins"

type standInsData struct {
	Problem string // of no field
	Fields  []web.Field
	Rows    []standInRow
}

type standInRow struct {
	Key, Hand, Principal, From, Until, SetBy string
	Now, Ends                                bool // it counts now; the viewer may end it
}

func (c *Pages) standIns(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	today := c.Today().String()
	return c.showStandIns(w, r, v, url.Values{"from": {today}, "until": {today}}, "", "")
}

// showStandIns shows the form as it was typed, with a problem of a field, and the delegations that the viewer may see.
func (c *Pages) showStandIns(w http.ResponseWriter, r *http.Request, v *web.Viewer, typed url.Values, field,
	problem string) error {
	words, now := v.Texts("stand-ins"), c.Now()
	all, err := c.seen(r.Context(), v)
	if err != nil {
		return err
	}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, now)
	if err != nil {
		return err
	}
	out := standInsData{Problem: problem}
	add := func(f web.Field) {
		f.Label, f.Required = words.Say(f.Name), true
		if f.Name == field {
			out.Problem, f.Problems = "", []web.Fault{{Text: problem}}
		}
		out.Fields = append(out.Fields, f)
	}
	if v.Admin {
		add(web.Field{Name: "principal", Choices: web.MembersToChoose(m, cmp.Or(typed.Get("principal"), v.User), "", "")})
	}
	for _, name := range []string{"from", "until"} {
		add(web.Day(name, "", typed.Get(name)))
	}
	add(web.Field{Name: "hand", Choices: web.MembersToChoose(m, typed.Get("hand"), v.User, words.Say("choose"))})
	all = slices.DeleteFunc(all, func(d tenancy.Delegation) bool { return d.Over(now) })
	c.Naming(r.Context(), v, func(named func(id string) string) {
		out.Rows = web.Each(all, func(d tenancy.Delegation) standInRow {
			return standInRow{Key: d.Key(), Hand: named(d.Hand), Principal: named(d.Principal), From: d.From.String(),
				Until: d.Until.String(), SetBy: named(d.SetBy), Now: d.Counts(now),
				Ends: v.Admin || v.User == d.Hand || v.User == d.Principal}
		})
	})
	d := web.Document{Here: "stand-ins", Data: out, Status: web.Answer(false, problem != "")}
	return c.Show(w, r, v, d, "stand-ins")
}

// seen returns the delegations that the viewer may see, by their first days: administrators all, others their own.
func (c *Pages) seen(ctx context.Context, v *web.Viewer) (all []tenancy.Delegation, err error) {
	if v.Admin {
		all, err = c.Store.Delegations(ctx, v.Tenant)
	} else if all, err = c.Store.DelegationsTo(ctx, v.Tenant, v.User); err == nil {
		var of []tenancy.Delegation
		of, err = c.Store.DelegationsOf(ctx, v.Tenant, v.User)
		all = append(all, of...)
	}
	slices.SortStableFunc(all, func(a, b tenancy.Delegation) int {
		return cmp.Or(cmp.Compare(a.From, b.From), strings.Compare(a.Key(), b.Key()))
	})
	return all, err
}

// saveStandIn sets a delegation, or ends one. What forbids it is said at its field.
func (c *Pages) saveStandIn(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	switch r.PostForm.Get("act") {
	case "set":
		err := c.setStandIn(r.Context(), v, r.PostForm)
		if err == nil {
			return c.Done(w, r, standInsPath, "stand_in_set")
		}
		words := v.Texts("stand-ins")
		if errors.Is(err, aggregate.ErrConflict) {
			return c.showStandIns(w, r, v, r.PostForm, "", words.Say("conflict"))
		}
		wrong, _ := errors.AsType[aggregate.Problem](err)
		if text := words.Problem(wrong, nil); text != wrong.Code {
			return c.showStandIns(w, r, v, r.PostForm, wrong.Field, text)
		}
		return err
	case "end":
		if err := c.endStandIn(r.Context(), v, r.PostForm.Get("key")); err != nil {
			return err
		}
		return c.Done(w, r, standInsPath, "stand_in_ended")
	}
	return web.ErrBadForm
}

// setter returns the viewer as who sets or ends something that one of these may. For others they must be an
// administrator now, whatever their session says.
func setter(v *web.Viewer, may ...string) (by tenancy.Setter, err error) {
	by = tenancy.Setter{Actor: v.Actor()}
	if !slices.Contains(may, v.User) {
		if by.Admin = true; !v.Admin {
			err = web.ErrAdminsOnly
		}
	}
	return by, err
}

// setStandIn sets a delegation. The hand must be a full member; the principal may have left. Both are told in the same
// commit: if Slack can't open the hand's direct messages, nothing is set.
func (c *Pages) setStandIn(ctx context.Context, v *web.Viewer, form url.Values) error {
	d := tenancy.Delegation{TenantID: v.Tenant, Principal: cmp.Or(form.Get("principal"), v.User), Hand: form.Get("hand")}
	by, err := setter(v, d.Principal)
	if err != nil {
		return err
	}
	if d.Hand == "" {
		return aggregate.Problem{Field: "hand", Code: "no_hand"}
	}
	for name, day := range map[string]*tenancy.Date{"from": &d.From, "until": &d.Until} {
		if *day, err = tenancy.ParseDate(strings.TrimSpace(form.Get(name))); err != nil {
			return aggregate.Problem{Field: name, Code: "no_day"}
		}
	}
	refused, _, err := c.Refused(ctx, v, []string{d.Hand}, nil)
	if err == nil && refused[d.Hand] != "" {
		err = aggregate.Problem{Field: "hand", Code: "unfit"}
	}
	if err == nil {
		err = c.forbidden(ctx, d, by)
	}
	if err != nil {
		return err
	}
	channels, err := c.channels(ctx, d)
	if channels[d.Hand] == "" {
		return err
	}
	_, err = c.Store.SetDelegation(ctx, d, by, c.Now(), c.telling(v, channels)) // who has left can't be told
	return err
}

// slackWithin bounds the calls that open direct messages.
const slackWithin = 3 * time.Second

// channels opens the direct messages of hand and principal. It returns explain.ErrUnverified with those that could
// be opened when Slack doesn't open one.
func (c *Pages) channels(ctx context.Context, d tenancy.Delegation) (out map[string]string, err error) {
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
func (c *Pages) telling(v *web.Viewer, channels map[string]string) func(tenancy.Delegation) []store.Notice {
	return func(d tenancy.Delegation) (out []store.Notice) {
		for user, channel := range channels {
			change, ref := task.TellStandIn(d, v.Team, user, channel, c.Now())
			out = append(out, store.Notice{Ref: ref, Change: change})
		}
		return out
	}
}

// endStandIn ends a delegation. Whoever Slack can't tell of it isn't told: ending never waits for Slack.
func (c *Pages) endStandIn(ctx context.Context, v *web.Viewer, key string) error {
	all, err := c.seen(ctx, v)
	i := slices.IndexFunc(all, func(d tenancy.Delegation) bool { return d.Key() == key })
	if err != nil || i < 0 {
		return cmp.Or(err, fmt.Errorf("the delegation %.80q: %w", key, aggregate.ErrNotFound))
	}
	by, err := setter(v, all[i].Principal, all[i].Hand)
	if err != nil {
		return err
	}
	channels, err := c.channels(ctx, all[i])
	if err != nil {
		slog.WarnContext(ctx, "not everybody is told that a delegation ended", "err", err)
	}
	_, err = c.Store.EndDelegation(ctx, all[i], by, c.Now(), c.telling(v, channels))
	return err
}

// forbidden returns a problem that the delegation's own row doesn't show: the principal owes something on the own
// request of the administrator who sets it.
func (c *Pages) forbidden(ctx context.Context, d tenancy.Delegation, by tenancy.Setter) error {
	for cursor := ""; by.Admin; {
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
			break
		}
	}
	return nil
}
