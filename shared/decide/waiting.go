package decide

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

const (
	// mostFound is how many gates are collected for a person: more than Slack can show.
	mostFound = 50
	// mostListed and lookFor bound how many of a workspace's gates are searched for one person, and for how long.
	mostListed, lookFor = 1000, time.Second
)

// waiting returns the gates that wait for a person's decision, the oldest first: those at which they, or whom they
// stand in for, owe a stamp by name, wherever those were asked for, then those that they may decide as somebody of the
// place. It also returns how many of the oldest gates were searched; 0: all.
func (l *look) waiting(ctx context.Context) (out []card.Waits, looked int, err error) {
	if l.settings.Ruled {
		if l.standIns, err = StandInsOf(ctx, l.Store, l.tenant, l.user, l.Now()); err != nil {
			return nil, 0, err
		}
	}
	who := people.People{Slack: l.Slack, Now: l.Now}
	if l.reach, err = who.Reach(ctx, l.team, l.user, l.settings); err != nil {
		return nil, 0, err
	}
	may, looked, all, err := l.listed(ctx)
	if err != nil {
		return nil, 0, err
	}
	for len(may) > 0 && len(out) < mostFound {
		n := min(len(may), mostFound-len(out))
		for _, x := range l.open(ctx, may[:n]) {
			if g := x.Of.Asked(x.Question.ID).Gate; g != nil && l.along(g, x.Of.Origin(), x.Of.Askers()) {
				out = append(out, x)
			}
		}
		may = may[n:]
	}
	if all && len(may) == 0 {
		looked = 0
	}
	return out, looked, nil
}

// listed returns those gates of the index that the person may decide judging by their rows, those first that name them,
// how many it has checked, and whether these are all.
func (l *look) listed(ctx context.Context) (may []store.WaitingItem, looked int, all bool, err error) {
	var others []store.WaitingItem
	for cursor := ""; ; {
		page, err := l.Store.Waiting(ctx, l.tenant, cursor, store.MaxPage)
		if err != nil {
			return nil, 0, false, fmt.Errorf("list what waits: %w", err)
		}
		refs := make([]aggregate.Ref, len(page.Items))
		for i, x := range page.Items {
			refs[i] = x.Ref
		}
		origins, err := l.Rows.Origins(ctx, refs)
		if err != nil {
			return nil, 0, false, fmt.Errorf("read where what waits was asked for: %w", err)
		}
		for _, x := range page.Items {
			switch g, o := aggregate.GateOf(x.Row), origins[x.Ref]; {
			case o.Team == "" || g == nil:
			case l.named(g, nil):
				may = append(may, x)
			case l.reach.Owes(g, o): // judging by its row; the aggregate may still refuse
				others = append(others, x)
			}
		}
		looked, cursor = looked+len(page.Items), page.Next
		if cursor == "" || looked >= mostListed || !l.Now().Before(l.until) {
			return append(may, others...), looked, cursor == "", nil
		}
	}
}

// look is a search for the gates that one person may decide.
type look struct {
	InboxReader
	tenant, team, user string
	settings           tenancy.Settings
	reach              people.Reach
	until              time.Time
	standIns           StandIns
}

func (r InboxReader) look(tenant, team, user string, s tenancy.Settings) *look {
	return &look{InboxReader: r, tenant: tenant, user: user, team: team, settings: s, until: r.Now().Add(lookFor)}
}

// along reports whether the present stage of a gate waits for the person.
func (l *look) along(g *aggregate.Gate, o aggregate.Origin, askers []string) bool {
	return l.named(g, askers) || l.reach.Owes(g, o)
}

// named reports whether the present stage waits for the person, or for whom they stand in, by name.
func (l *look) named(g *aggregate.Gate, askers []string) bool {
	if g.Owes(l.user) > 0 {
		return true
	}
	_, stage := l.standIns.Owes(g, askers...)
	return stage > 0
}

// open returns the gates that still wait by their rows, without those that can't be read.
func (l *look) open(ctx context.Context, items []store.WaitingItem) (out []card.Waits) {
	refs := make([]aggregate.Ref, len(items))
	for i, x := range items {
		refs[i] = x.Ref
	}
	for i, of := range l.load(ctx, refs) {
		if q := items[i].Question; of != nil && of.Asked(q.ID).Open {
			x, g := card.Waits{Of: of, Question: q}, of.Asked(q.ID).Gate
			if x.Stage = g.Owes(l.user); x.Stage == 0 {
				x.For, x.Stage = l.standIns.Owes(g, of.Askers()...)
			}
			out = append(out, x)
		}
	}
	return out
}
