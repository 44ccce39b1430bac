package subject

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// mostAsked bounds the people about whom Slack is asked one by one, because the list of the workspace's people doesn't
// have them.
const mostAsked = 50

// pagesLooked and ofPage are how many waiting gates a page of what is stuck looks at: a thousand. Older ones are on the
// next page.
var pagesLooked, ofPage = 10, store.MaxPage

// stuckRow is a gate that waits for somebody who can't stamp.
type stuckRow struct {
	Path, Title, Rule string
	Since             time.Time
	Stages            []stuckStage
}

type stuckStage struct{ Name, Who, Why, Successor string }

type stuckData struct {
	Rows          []stuckRow
	Silent        bool // Slack can't be asked
	Unsure        bool // about some people Slack was not asked
	Looked        int
	Newest, Older string
}

// stuck lists what waits for people who have left, the newest first.
func (c *SuccessorPages) stuck(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	cursor := r.URL.Query().Get("cursor")
	items, next, err := c.ruled(r.Context(), v, cursor)
	if err != nil {
		return err
	}
	d := stuckData{Looked: len(items)}
	if cursor != "" {
		d.Newest = "/console/successors"
	}
	if next != "" {
		d.Older = web.At("/console/successors", map[string]string{"cursor": next})
	}
	gone, unsure, err := c.gone(r.Context(), v, items)
	if d.Unsure = unsure; explain.ClassOf(err) == explain.Unverified {
		slog.WarnContext(r.Context(), "what is stuck is not listed", "tenant", v.Tenant, "err", err)
		d.Silent, err = true, nil
	} else if err == nil {
		d.Rows, err = c.rows(r, v, items, gone)
	}
	if err != nil {
		return err
	}
	doc := web.Document{Title: v.Texts("successor").Say("stuck"), Here: "approvals", Data: d}
	return c.Show(w, r, v, doc, "stand-ins/left")
}

// ruled returns the newest gates under rules that wait, and where the older ones begin.
func (c *SuccessorPages) ruled(ctx context.Context, v *web.Viewer, cursor string) (
	out []store.WaitingItem, next string, err error) {
	for range pagesLooked {
		page, err := c.Store.NewestWaiting(ctx, v.Tenant, cursor, ofPage)
		if err != nil {
			return nil, "", err
		}
		for _, x := range page.Items {
			if g := aggregate.RuledGate(x.Row); g != nil && g.Route != nil {
				out = append(out, x)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return out, cursor, nil
}

// gone returns why people whom the gates ask can't stamp. unsure: there were more than Slack was asked about.
func (c *SuccessorPages) gone(ctx context.Context, v *web.Viewer, items []store.WaitingItem) (
	gone map[string]tenancy.Rule, unsure bool, err error) {
	members, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now())
	if err != nil {
		return nil, false, err
	}
	var ids []string
	asked, seen := 0, map[string]bool{}
	for _, x := range items {
		g := aggregate.RuledGate(x.Row).Circulating()
		st := circulation.Walk(g)
		for i := range st.Stages {
			for _, p := range st.Stages[i].People {
				if seen[p.User] {
					continue
				}
				seen[p.User] = true
				if _, listed := members.Person(p.User); !listed {
					if asked++; asked > mostAsked {
						unsure = true
						continue
					}
				}
				ids = append(ids, p.User)
			}
		}
	}
	gone, err = members.Refused(ctx, c.Slack, ids, nil)
	return gone, unsure, err
}

// rows draws the gates that can't be settled without people who are gone.
func (c *SuccessorPages) rows(r *http.Request, v *web.Viewer, items []store.WaitingItem, gone map[string]tenancy.Rule) (
	[]stuckRow, error) {
	type found struct {
		store.WaitingItem
		vacant []circulation.Vacant
	}
	var all []found
	var ids []string
	for _, x := range items {
		g := aggregate.RuledGate(x.Row).Circulating()
		st := circulation.Walk(g)
		if vacant := st.Stuck(g, func(p circulation.Person) bool { return gone[p.User] != "" }); len(vacant) > 0 {
			all = append(all, found{x, vacant})
			for _, p := range vacant {
				ids = append(ids, p.Person.User)
			}
		}
	}
	slices.Sort(ids)
	name, words := c.Called(r.Context(), v, slices.Compact(ids)...), v.Texts("successor")
	shown := make([]store.WaitingItem, len(all))
	for i := range all {
		shown[i] = all[i].WaitingItem
	}
	titles, err := c.titles(r.Context(), v, shown)
	if err != nil {
		return nil, err
	}
	var out []stuckRow
	for _, x := range all {
		g := aggregate.RuledGate(x.Row)
		row := stuckRow{Path: pathOf(x.Ref), Title: cmp.Or(titles[x.Ref.ID], v.Untitled()),
			Since: web.TimeOf(g.AskedAt)}
		if g.Terms.Rule != nil {
			row.Rule = card.OneLine(g.Terms.Rule.Name)
		}
		to := Successors(row.Path, x.ID)
		for _, p := range x.vacant {
			row.Stages = append(row.Stages, stuckStage{
				Name: cmp.Or(card.OneLine(g.Route.Stages[p.Stage-1].Name), strconv.Itoa(p.Stage)),
				Who:  name(p.Person.User), Why: words.In("gone", gone[p.Person.User]),
				Successor: to(p.Stage, p.Person.User),
			})
		}
		out = append(out, row)
	}
	return out, nil
}

func pathOf(ref aggregate.Ref) string {
	if ref.Kind == conversation.RefOf("", "").Kind {
		return "/console/sessions/" + ref.ID
	}
	return "/console/tasks/" + ref.ID
}

// titles returns what the items belong to is called, by id.
func (c *SuccessorPages) titles(
	ctx context.Context, v *web.Viewer, items []store.WaitingItem,
) (map[string]string, error) {
	var requests, talks []string
	for _, x := range items {
		if x.Kind == conversation.CardAction {
			talks = append(talks, x.Ref.ID)
		} else {
			requests = append(requests, x.Ref.ID)
		}
	}
	out := map[string]string{}
	for some := range slices.Chunk(requests, store.MaxPage) {
		found, err := c.Store.Titled(ctx, v.Tenant, some...)
		if err != nil {
			return nil, err
		}
		for id, x := range found {
			out[id] = card.OneLine(cmp.Or(x.Title, x.Text))
		}
	}
	for some := range slices.Chunk(talks, store.MaxPage) {
		found, err := c.Conversations.Titled(ctx, v.Tenant, some...)
		if err != nil {
			return nil, err
		}
		for id, x := range found {
			out[id] = card.OneLine(x.Title)
		}
	}
	return out, nil
}
