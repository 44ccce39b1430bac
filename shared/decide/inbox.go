package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

const (
	// mostMine is how many of a person's own requests are listed, and mostSearched how many of the newest are searched for
	// open ones.
	mostMine, mostSearched = 10, 50
	// inboxAtOnce is how many tasks are read in parallel.
	inboxAtOnce = 10
)

// InboxRows reads rows of all kinds.
type InboxRows interface {
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Origins(ctx context.Context, refs []aggregate.Ref) (map[aggregate.Ref]aggregate.Origin, error)
}

// InboxStore lists waiting gates and requests.
type InboxStore interface {
	StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error)
	Waiting(ctx context.Context, tenant, cursor string, limit int) (store.Page[store.WaitingItem], error)
	Tasks(ctx context.Context, tenant string, f task.Filter, cursor string, limit int) (store.Page[task.Task], error)
}

// Inbox is what concerns one person.
type Inbox struct {
	User    string
	Waiting []card.Waits      // gates that wait for the person's decision: what they owe by name, then others
	Looked  int               // how many of the oldest waiting gates were searched; 0: all
	Mine    []*task.Aggregate // the person's requests, newest first
	More    card.More         // of these, which are not listed
}

type InboxReader struct {
	Rows  InboxRows
	Store InboxStore
	Slack people.Directory
	Now   func() time.Time
}

// Read reads a person's inbox. It decides who may decide by the same function as clicks do. It returns the errors of
// the lists; a task that can't be read is left out.
func (r InboxReader) Read(ctx context.Context, tenant, team, user string, s tenancy.Settings) (Inbox, error) {
	out := Inbox{User: user}
	var waitingErr, mineErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		l := r.look(tenant, team, user, s)
		out.Waiting, out.Looked, waitingErr = l.waiting(ctx)
	})
	wg.Go(func() { out.Mine, out.More, mineErr = r.mine(ctx, tenant, user) })
	wg.Wait()
	return out, errors.Join(waitingErr, mineErr)
}

// first orders what is so before what isn't.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// mine returns a person's newest requests. If there are too many, those stay that somebody has to try again, then
// those that are due first, those that were returned, those that are not over, and the newest.
func (r InboxReader) mine(ctx context.Context, tenant, user string) (out []*task.Aggregate, more card.More, err error) {
	page, err := r.Store.Tasks(ctx, tenant, task.Filter{Requester: user}, "", mostSearched)
	if err != nil {
		return nil, more, fmt.Errorf("list a person's requests: %w", err)
	}
	items := page.Items
	if len(items) > mostMine { // of those that are over no more is read than can be listed
		over := 0
		items = slices.DeleteFunc(slices.Clone(items), func(t task.Task) bool {
			if t.Status == task.TaskExtracted || t.Status == task.TaskRunning {
				return false
			}
			over++
			return over > mostMine
		})
	}
	refs := make([]aggregate.Ref, len(items))
	for i, t := range items {
		refs[i] = task.RefOf(tenant, t.ID)
	}
	for _, a := range r.load(ctx, refs) {
		if t, is := a.(*task.Aggregate); is && (t.Task != nil || t.Head.Parked != nil) {
			out = append(out, t)
		}
	}
	more = card.More{N: len(page.Items) - len(items) + max(0, len(out)-mostMine), Unread: page.Next != ""}
	return firstDue(out), more, nil
}

// firstDue leaves the most urgent of a person's requests, in the order in which they are.
func firstDue(all []*task.Aggregate) []*task.Aggregate {
	urgent := slices.Clone(all)
	due := func(a *task.Aggregate) *time.Time {
		open, waits := a.OpenGate()
		if !waits || a.Head.Ended != nil {
			return nil
		}
		return open.Terms.DecideBy
	}
	slices.SortStableFunc(urgent, func(a, b *task.Aggregate) int {
		x, y := due(a), due(b)
		if x != nil && y != nil {
			return x.Compare(*y)
		}
		return cmp.Or(first(a.Head.Parked != nil, b.Head.Parked != nil), first(x != nil, y != nil),
			first(a.Returned() != nil, b.Returned() != nil), first(a.Head.Ended == nil, b.Head.Ended == nil))
	})
	urgent = urgent[:min(len(urgent), mostMine)]
	return slices.DeleteFunc(all, func(a *task.Aggregate) bool { return !slices.Contains(urgent, a) })
}

// load reads subjects in parallel. The result is nil for one that can't be read.
func (r InboxReader) load(ctx context.Context, refs []aggregate.Ref) []Subject {
	out := make([]Subject, len(refs))
	var all errgroup.Group
	all.SetLimit(inboxAtOnce)
	for i, ref := range refs {
		all.Go(func() error {
			a, err := r.Rows.Load(ctx, ref)
			if of, asks := a.(Subject); err == nil && asks && of.Readable(r.Now()) == nil {
				out[i] = of
			}
			return nil
		})
	}
	_ = all.Wait() // no load ends the others
	return out
}

// InboxLinks returns the addresses of messages in Slack.
type InboxLinks interface {
	Link(ctx context.Context, channel, ts, thread string) string
}

// Summary returns the inbox for display, each entry with a link to its newest card, or to its page on the console: who
// stands in need not be in the channel. console is its address; empty: no page.
func (b Inbox) Summary(ctx context.Context, links InboxLinks, console string) card.Summary {
	out := card.Summary{Console: console, Looked: b.Looked, MoreMine: b.More}
	for _, x := range b.Waiting {
		if x.Link = b.link(ctx, links, x); x.For != "" {
			x.Link = cmp.Or(card.Page(console, x.Of.Ref()), x.Link)
		}
		out.Waiting = append(out.Waiting, x)
	}
	mine := slices.SortedStableFunc(slices.Values(b.Mine), func(a, b *task.Aggregate) int {
		return first(a.Head.Noted.Stopped(), b.Head.Noted.Stopped())
	})
	for _, a := range mine {
		to := &out.Mine
		if a.Returned() != nil {
			to = &out.Returned
		}
		*to = append(*to, card.Mine{Task: a, Link: b.link(ctx, links, card.Waits{Of: a})})
	}
	return out
}

// link returns the address of the message in which the person can open an item: of what they owe by name, their copy.
func (b Inbox) link(ctx context.Context, links InboxLinks, x card.Waits) string {
	channel, ts, thread := aggregate.MessageFor(x.Of, x.Question.Key, b.User, x.Stage, x.Stage > 0)
	if channel == "" {
		return ""
	}
	return links.Link(ctx, channel, ts, thread)
}

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
			if g := x.Of.Asked(x.Question.ID).Gate; g != nil && (l.named(g, x.Of.Askers()) || l.reach.Owes(g, x.Of.Origin())) {
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
