package task

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// standIns returns the delegations by which the viewer stands in for others now, with one query: those first that began
// first.
func (c *Pages) standIns(r *http.Request, v *web.Viewer) ([]circulation.StandIn, error) {
	all, err := c.Store.StandInsBy(r.Context(), v.Tenant, v.User)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	all = slices.DeleteFunc(all, func(s circulation.StandIn) bool { return !s.Counts(now) })
	slices.SortStableFunc(all, func(a, b circulation.StandIn) int { return a.Begins.Compare(b.Begins) })
	return all, nil
}

// owedFor adds items that the viewer may stamp for whom they stand in for: of each the oldest, as many as a page has.
// Further ones follow when these are stamped.
func (c *Pages) owedFor(r *http.Request, v *web.Viewer, f approvalFilter, standIns []circulation.StandIn,
	out []askedItem) ([]askedItem, error) {
	var principals []string
	found := map[store.Place]bool{}
	for _, x := range out {
		found[store.Place{Ref: x.Ref, Key: x.Key}] = true
	}
	for _, s := range standIns {
		principal := s.Principal.User
		if slices.Contains(principals, principal) || len(principals) == tenancy.MaxDelegations {
			continue
		}
		principals = append(principals, principal)
		page, err := c.Store.Owed(r.Context(), v.Tenant, principal, "", owedOfPage)
		if err != nil {
			return nil, err
		}
		all, err := c.known(r, v, page.Items)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			at := store.Place{Ref: x.Ref, Key: x.Key}
			var stage int
			if x.standsFor, stage = x.ruled().OwesFor(v.User, standIns, c.Now()); stage > 0 && !found[at] && f.keeps(x, v) {
				x.named, found[at] = true, true
				out = append(out, x)
			}
		}
	}
	return out, nil
}
