package task

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// owedOfPage is how many items that name the viewer a page reads at most. It has room for others.
const owedOfPage = waitingOfPage - 1

// ofOwed begins the cursors of pages that end before all that names the viewer is shown.
const ofOwed = "owed."

// waiting returns waiting items: first those whose route names the viewer now, wherever they stand, then others. A
// member sees those of requests that they may see or decide. Pages with none of the others are skipped, up to
// mostPages.
func (c *Pages) waiting(r *http.Request, v *web.Viewer, reach people.Reach, f approvalFilter,
	cursor string) (out []askedItem, page store.Page[store.WaitingItem], err error) {
	limit, prev := waitingOfPage, ""
	standIns, err := c.StandIns(r.Context(), v)
	if err != nil {
		return nil, page, err
	}
	if of, is := strings.CutPrefix(cursor, ofOwed); is || cursor == "" {
		if out, page, err = c.owed(r, v, f, of); err != nil || page.Next != "" {
			return out, page, err
		}
		prev, cursor = page.Prev, ""
		if out, err = c.owedFor(r, v, f, standIns, out); err != nil {
			return nil, page, err
		}
		limit = max(1, limit-len(out))
	}
	owed := len(out)
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
			sees := x.decides(reach) || f.For != web.Myself && (v.Admin || reach.Sees(x.origin) || x.along(v.User))
			if sees && f.keeps(x, v) {
				out = append(out, x)
			}
		}
		if cursor, limit = p.Next, waitingOfPage; len(out) > owed || cursor == "" {
			break
		}
	}
	page.Prev = prev
	return out, page, nil
}

// owed returns items whose route names the viewer now. The cursors of its page begin with ofOwed.
func (c *Pages) owed(r *http.Request, v *web.Viewer, f approvalFilter, cursor string) (out []askedItem,
	page store.Page[store.WaitingItem], err error) {
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
			if f.keeps(x, v) {
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
func (c *Pages) unlisted(r *http.Request, v *web.Viewer, standIns decide.StandIns,
	items []store.WaitingItem) ([]store.WaitingItem, error) {
	copyOf := func(x store.WaitingItem) (p store.Place) {
		g := aggregate.RuledGate(x.Row)
		if g == nil {
			return p
		}
		user, stage := v.User, g.Owes(v.User)
		if stage == 0 {
			user, stage = standIns.Owes(g, x.Askers...)
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
	rows, err := store.RowsAt[aggregate.Card](r.Context(), c.Store.KindStore.Store, places)
	return slices.DeleteFunc(items, func(x store.WaitingItem) bool { return rows[copyOf(x)].OwedSince != nil }), err
}

// ruled returns the gate that an item is about if it is under a rule, else nil.
func (x askedItem) ruled() *aggregate.Gate { return aggregate.RuledGate(x.Row) }

// decides reports whether an item waits for the viewer.
func (x askedItem) decides(reach people.Reach) bool {
	if g := aggregate.GateOf(x.Row); g != nil {
		return reach.Owes(g, x.origin)
	}
	return reach.Decides(x.origin)
}

// turn reports whether the viewer may decide, or stamp for whom they stand in for.
func (x askedItem) turn(reach people.Reach) bool {
	return x.decides(reach) || x.standsFor != ""
}

// along reports whether somebody is on the item's route.
func (x askedItem) along(user string) bool {
	g := x.ruled()
	return g != nil && g.OnRoute(user, nil)
}

func (x askedItem) until() time.Time {
	if g := x.ruled(); g != nil {
		return subject.RouteUntil(g)
	}
	return web.TimeOf(x.DecideBy)
}

// Limits of what the list says of an action; its page says all.
const (
	mostNames  = 3
	mostDoing  = 200 // characters of a command, and of a path
	mostFields = 8   // words of a program and its arguments
)

// doingOf says what an agent's action does that calls no tool.
func doingOf(p conversation.Payload, words web.Texts) (out []string) {
	switch {
	case p.Push != nil:
		out = append(out, legible.OneLine(p.Push.Repository)+" ← "+legible.OneLine(p.Push.Source))
	case p.Script != "":
		out = append(out, first(p.Script))
	case len(p.Argv) > 0:
		out = append(out, program(p.Argv))
	}
	return append(out, files(p, words)...)
}

// files counts the files that a payload adds, changes and deletes, the deleted ones first, and names some of each.
func files(p conversation.Payload, words web.Texts) (out []string) {
	paths := map[string][]string{}
	for _, c := range p.Changes {
		key := "changed"
		switch {
		case c.Is == nil:
			key = "deleted"
		case c.Was == nil:
			key = "added"
		}
		paths[key] = append(paths[key], c.Path)
	}
	for _, key := range []string{"deleted", "changed", "added"} {
		if of := paths[key]; of != nil {
			names := some(of, mostNames, func(path string) string { return legible.Isolated(first(path)) })
			out = append(out, words.Say(key, "n", len(of), "names", strings.Join(names, ", ")))
		}
	}
	return out
}

// some writes the first of these, and says whether there are more.
func some(all []string, most int, write func(string) string) []string {
	out := web.Each(all[:min(len(all), most)], write)
	if len(all) > most {
		out = append(out, "…")
	}
	return out
}

// first returns the beginning of a text in one line, with what hides spelled out.
func first(text string) string {
	return legible.Beginning(legible.OneLine(strings.TrimSpace(text)), mostDoing)
}

// program writes a program and its arguments; one that could be taken for several, or for none, has quotation marks.
func program(argv []string) string {
	return strings.Join(some(argv, mostFields, func(arg string) string {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			arg = fmt.Sprintf("%q", arg)
		}
		return first(arg)
	}), " ")
}
