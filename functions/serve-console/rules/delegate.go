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
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
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
func (c *StandInPages) setter(ctx context.Context, v *web.Viewer, in tenancy.Employed,
	may ...circulation.Person) (by tenancy.Setter, err error) {
	by = tenancy.Setter{Actor: v.Actor(), Person: circulation.Person{User: v.User, Person: in.Person}}
	if !slices.ContainsFunc(may, by.Person.Is) {
		err, by.Admin = c.StillAdmin(ctx, v), true
	}
	return by, err
}

// set sets a delegation. Hand and principal must be full members, and are told in the same commit: if Slack can't open
// their direct messages, nothing is set.
func (c *StandInPages) set(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("stand-ins")
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	t := typedStandIn{field("hand"), cmp.Or(field("principal"), v.User), field("from"), field("until"),
		r.PostForm["rules"]}
	in, err := c.Organised(r.Context(), v.Tenant, v.User)
	if err != nil {
		return err
	}
	d := tenancy.Delegation{TenantID: v.Tenant, Principal: person(in, t.principal), Team: v.Team}
	if t.hand != byOrder {
		d.Hand = person(in, t.hand)
	}
	by, err := c.setter(r.Context(), v, in, d.Principal)
	if err != nil {
		return err
	}
	if t.hand == "" {
		return c.show(w, r, v, t, "hand", words.Say("nobody"))
	}
	if d.From, err = organisation.ParseDate(t.from); err != nil {
		return c.show(w, r, v, t, "from", words.Say("no_day"))
	}
	if d.Until, err = organisation.ParseDate(t.until); err != nil {
		return c.show(w, r, v, t, "until", words.Say("no_day"))
	}
	offered, err := c.offered(r.Context(), v, t.rules)
	if err != nil {
		return err
	}
	d.Rules, _ = chosen(offered)
	if len(d.Rules) < len(t.rules) {
		return c.show(w, r, v, t, "rules", words.Say("no_rule"))
	}
	if d.Absence() && in.Organisation == nil {
		return c.show(w, r, v, t, "hand", words.Say("no_order"))
	}
	unfit, err := c.unfit(r.Context(), v, t)
	if err == nil && unfit != "" {
		return c.show(w, r, v, t, unfit, words.Say("unfit"))
	}
	if err == nil {
		err = c.forbidden(r.Context(), in, d, by)
	}
	var channels map[string]string
	if err == nil {
		channels, err = c.channels(r.Context(), d)
	}
	if !d.Absence() { // nothing is done for who is only away
		d.Channel = channels[t.principal]
	}
	if err == nil {
		_, err = c.Store.SetDelegation(r.Context(), d, by, c.Now(), c.telling(v, offered, channels))
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
	return c.Done(w, r, address, doneAs(d)+"_set")
}

// unfit returns the field with somebody who is no full member; explain.ErrUnverified when Slack can't be asked.
func (c *StandInPages) unfit(ctx context.Context, v *web.Viewer, t typedStandIn) (field string, err error) {
	users := []string{t.principal}
	if t.hand != byOrder {
		users = append(users, t.hand)
	}
	rules, _, err := c.Refused(ctx, v, users, nil)
	for _, x := range [][2]string{{"hand", t.hand}, {"principal", t.principal}} {
		if rules[x[1]] != "" {
			return x[0], nil
		}
	}
	return "", err
}

// doneAs is what the texts call a delegation.
func doneAs(d tenancy.Delegation) string {
	if d.Absence() {
		return "absence"
	}
	return "stand_in"
}

// parties are the accounts of those who are told of a delegation.
func parties(d tenancy.Delegation) []string {
	if d.Absence() {
		return []string{d.Principal.User}
	}
	return []string{d.Hand.User, d.Principal.User}
}

// channels opens the direct messages of hand and principal. It returns explain.ErrUnverified with those that could
// be opened when Slack doesn't open one.
func (c *StandInPages) channels(ctx context.Context, d tenancy.Delegation) (out map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	out = map[string]string{}
	for _, user := range parties(d) {
		channel, failed := c.Messages.OpenDM(ctx, user)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: open the direct messages of %s: %w", explain.ErrUnverified, user, failed))
			continue
		}
		out[user] = channel
	}
	return out, err
}

// offered returns the rules for which somebody may stand in, those that ask people, with these of them chosen.
func (c *StandInPages) offered(ctx context.Context, v *web.Viewer, ids []string) (all []web.Choice, err error) {
	x, _, err := c.Store.Rules(ctx, v.Tenant)
	if err != nil || x == nil {
		return nil, err
	}
	add := func(id, name string, o ...rules.Outcome) {
		if slices.ContainsFunc(o, func(o rules.Outcome) bool { return o.Route != nil }) {
			all = append(all, web.Choice{Value: id, Text: name, Chosen: slices.Contains(ids, id)})
		}
	}
	for _, rule := range x.Rules {
		add(rule.ID, rule.Name, rule.Outcome)
	}
	add(rules.LastID, v.Texts("stand-ins").Say("last"), x.Last.Reads, x.Last.Writes)
	return all, nil
}

// chosen returns the ids and the names of those that are chosen.
func chosen(all []web.Choice) (ids, names []string) {
	for _, x := range all {
		if x.Chosen {
			ids, names = append(ids, x.Value), append(names, x.Text)
		}
	}
	return ids, names
}

// telling returns what tells those people of a delegation whose channels are known, for which rules it is.
func (c *StandInPages) telling(v *web.Viewer, offered []web.Choice,
	channels map[string]string) func(tenancy.Delegation) []store.Notice {
	_, rules := chosen(offered)
	return func(d tenancy.Delegation) (out []store.Notice) {
		for _, user := range parties(d) {
			if channel := channels[user]; channel != "" {
				change, ref := task.TellStandIn(d, rules, v.Team, user, channel, c.Now())
				out = append(out, store.Notice{Ref: ref, Change: change})
			}
		}
		return out
	}
}

// end ends a delegation. Whoever Slack can't tell of it isn't told: ending never waits for Slack.
func (c *StandInPages) end(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	in, err := c.Organised(r.Context(), v.Tenant, v.User)
	if err != nil {
		return err
	}
	all, err := c.seen(r.Context(), v, in)
	key := r.PostForm.Get("key")
	i := slices.IndexFunc(all, func(d tenancy.Delegation) bool { return d.Key() == key })
	if err != nil || i < 0 {
		return cmp.Or(err, fmt.Errorf("the delegation %.80q: %w", key, aggregate.ErrNotFound))
	}
	d := all[i]
	by, err := c.setter(r.Context(), v, in, d.Principal, d.Hand)
	if err != nil {
		return err
	}
	offered, err := c.offered(r.Context(), v, d.Rules)
	if err != nil {
		return err
	}
	channels, err := c.channels(r.Context(), d)
	if err != nil {
		slog.WarnContext(r.Context(), "not everybody is told that a delegation ended", "err", err)
	}
	if _, err = c.Store.EndDelegation(r.Context(), d, by, c.Now(), c.telling(v, offered, channels)); err != nil {
		return err
	}
	return c.Done(w, r, address, doneAs(d)+"_ended")
}

// person returns somebody by their account, and where an organisation stands, by their key there.
func person(in tenancy.Employed, user string) circulation.Person {
	p := circulation.Person{User: user}
	if in.Organisation != nil {
		p.Person, _ = in.Accounts.Number(user)
	}
	return p
}

// forbidden returns a problem that the delegation's own row doesn't show: where an organisation stands, a hand who is
// no employee on the first day, or a principal who isn't in it or is on leave; and a principal who owes something on
// the own request of the administrator who sets it.
func (c *StandInPages) forbidden(ctx context.Context, in tenancy.Employed, d tenancy.Delegation,
	by tenancy.Setter) error {
	if in.Organisation != nil {
		first := in.Organisation.Chart(max(d.From, c.Today()))
		hand, here := first.Person(d.Hand.Person)
		if !d.Absence() && (!here || hand.Kind != organisation.Employee) {
			return tenancy.Problem{Field: "hand", Rule: tenancy.RuleNoEmployee}.Err()
		}
		switch in.Organisation.Presence(d.Principal.Person, max(d.From, c.Today())) {
		case organisation.Here:
		case organisation.Away:
			return tenancy.Problem{Field: "principal", Rule: tenancy.RuleOnLeave}.Err()
		default:
			return tenancy.Problem{Field: "principal", Rule: tenancy.RuleNoRow}.Err()
		}
	}
	if !by.Admin {
		return nil
	}
	for cursor := ""; ; {
		page, err := c.Store.Owed(ctx, d.TenantID, d.Principal.User, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, x := range page.Items {
			if g := aggregate.RuledGate(x.Row); g != nil && slices.ContainsFunc(g.Askers, by.Person.Is) {
				return tenancy.Problem{Field: "principal", Rule: tenancy.RuleParty}.Err()
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// own returns the delegations by which somebody stands in or is stood in for, by their account or their person.
func (c *StandInPages) own(ctx context.Context, tenant, user string, in tenancy.Employed) (all []tenancy.Delegation,
	err error) {
	if all, err = c.Store.DelegationsBy(ctx, tenant, user); err != nil {
		return nil, err
	}
	of, err := c.Store.DelegationsOf(ctx, tenant, user)
	if all = append(all, of...); err != nil || in.Person == "" {
		return all, err
	}
	if of, err = c.Store.DelegationsOf(ctx, tenant, in.Person); err != nil {
		return nil, err
	}
	all = append(all, of...)
	to, err := c.Store.DelegationsTo(ctx, tenant, in.Person) // also those that name another account of theirs
	for _, d := range to {
		if d.Hand.User != user {
			all = append(all, d)
		}
	}
	return all, err
}
