package task

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// owedOfPage is how many items that name the viewer a page reads at most. It has room for others.
const owedOfPage = waitingOfPage - 1

// ofOwed begins the cursors of pages that end before all that names the viewer is shown.
const ofOwed = "owed."

// waiting returns waiting items: first those whose route names the viewer now, wherever they stand, then others. A
// member sees those of requests that they may see or decide. Pages without any for the viewer are skipped, up to
// mostPages.
func (c *Pages) waiting(
	r *http.Request, v *web.Viewer, reach people.Reach, f approvalFilter, cursor string,
) (out []askedItem, page store.Page[store.WaitingItem], err error) {
	limit, prev := waitingOfPage, ""
	standIns, err := c.standIns(r, v)
	if err != nil {
		return nil, page, err
	}
	if of, owed := strings.CutPrefix(cursor, ofOwed); owed || cursor == "" {
		if out, page, err = c.owed(r, v, f, of); err != nil || page.Next != "" {
			return out, page, err
		}
		prev, cursor = page.Prev, ""
		if out, err = c.owedFor(r, v, f, standIns, out); err != nil {
			return nil, page, err
		}
		limit = max(1, limit-len(out))
	}
	for n := range mostPages {
		p, err := c.Store.Waiting(r.Context(), v.Tenant, cursor, limit)
		if err != nil {
			return nil, page, err
		}
		if page = p; n == 0 {
			prev = cmp.Or(prev, p.Prev)
		}
		items, err := c.unlisted(r, v, standIns, p.Items)
		if err != nil {
			return nil, page, err
		}
		all, err := c.known(r, v, items)
		if err != nil {
			return nil, page, err
		}
		for _, x := range all {
			sees := x.decides(reach, v) || f.For != web.Myself && (v.Admin || reach.Sees(x.origin) || x.along(v.User))
			if sees && f.keeps(x, v) {
				out = append(out, x)
			}
		}
		if cursor = p.Next; len(out) > 0 || cursor == "" {
			break
		}
	}
	page.Prev = prev
	return out, page, nil
}

// owed returns items whose route names the viewer now. The cursors of its page begin with ofOwed.
func (c *Pages) owed(
	r *http.Request, v *web.Viewer, f approvalFilter, cursor string,
) (out []askedItem, page store.Page[store.WaitingItem], err error) {
	prev := ""
	for n := range mostPages {
		if page, err = c.Store.Owed(r.Context(), v.Tenant, v.User, cursor, owedOfPage); err != nil {
			return nil, page, err
		}
		if n == 0 && page.Prev != "" {
			prev = ofOwed + page.Prev
		}
		all, err := c.known(r, v, page.Items)
		if err != nil {
			return nil, page, err
		}
		for _, x := range all {
			if x.named = true; f.keeps(x, v) {
				out = append(out, x)
			}
		}
		if cursor = page.Next; len(out) > 0 || cursor == "" {
			break
		}
	}
	if page.Prev = prev; page.Next != "" {
		page.Next = ofOwed + page.Next
	}
	return out, page, nil
}

// unlisted returns the items without those that owed or owedFor finds: the row of the copy of the viewer, or of whom
// they stand in for, says that they owe a stamp.
func (c *Pages) unlisted(r *http.Request, v *web.Viewer, standIns []circulation.StandIn,
	items []store.WaitingItem) ([]store.WaitingItem, error) {
	copyOf := func(x store.WaitingItem) (p store.Place) {
		g := aggregate.RuledGate(x.Row)
		if g == nil {
			return p
		}
		user, stage := v.User, g.Owes(v.User)
		if stage == 0 {
			user, stage = g.OwesFor(v.User, standIns, c.Now())
		}
		if stage > 0 {
			row := aggregate.Card{CardType: x.Kind, Subject: x.Key, User: user, Stage: stage}
			p = store.Place{Ref: x.Ref, Key: row.Key()}
		}
		return p
	}
	var places []store.Place
	for _, x := range items {
		if p := copyOf(x); p.Key != "" {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		return items, nil
	}
	rows, err := store.RowsAt[aggregate.Card](r.Context(), c.Store.Of.Store, places)
	return slices.DeleteFunc(items, func(x store.WaitingItem) bool { return rows[copyOf(x)].OwedSince != nil }), err
}
