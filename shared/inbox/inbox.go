// Package inbox is what concerns one person of a workspace: what waits for their decision, and what they asked for.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/people"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

const (
	// mostLooked is how many of a workspace's waiting gates are looked at for one person, the oldest first.
	mostLooked = 50
	// mostMine is how many of a person's requests are read, the newest first.
	mostMine = 10
	// atOnce is how many tasks are read side by side.
	atOnce = 10
)

// Store is what is read.
type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Waiting(ctx context.Context, tenant, cursor string, limit int) (store.Page[store.WaitingItem], error)
	Tasks(ctx context.Context, tenant string, f task.Filter, cursor string, limit int) (store.Page[task.Task], error)
}

// Inbox is what concerns one person.
type Inbox struct {
	Waiting []Item            // for this person's decision, the oldest first
	More    bool              // more waits in the workspace than was looked at
	Mine    []*task.Aggregate // what the person asked for, the newest first
}

// Item is a gate that waits.
type Item struct {
	Task *task.Aggregate
	aggregate.Question
}

// Reader reads inboxes.
type Reader struct {
	Store Store
	Slack people.Directory
	Now   func() time.Time
}

// Read reads what concerns a person of a workspace. Who may decide is asked of the one function that clicks ask, once for
// the person. On failure of the lists it returns their error; a task that can't be read is left out.
func (r Reader) Read(ctx context.Context, tenant, team, user string, s tenancy.Settings) (Inbox, error) {
	var out Inbox
	var waitingErr, mineErr error
	var wg sync.WaitGroup
	wg.Go(func() { out.Waiting, out.More, waitingErr = r.waiting(ctx, tenant, team, user, s) })
	wg.Go(func() { out.Mine, mineErr = r.mine(ctx, tenant, user) })
	wg.Wait()
	return out, errors.Join(waitingErr, mineErr)
}

func (r Reader) waiting(ctx context.Context, tenant, team, user string, s tenancy.Settings) ([]Item, bool, error) {
	page, err := r.Store.Waiting(ctx, tenant, "", mostLooked)
	if err != nil {
		return nil, false, fmt.Errorf("list what waits: %w", err)
	}
	refs := make([]aggregate.Ref, len(page.Items))
	for i, item := range page.Items {
		refs[i] = item.Ref
	}
	var out []Item
	who := people.People{Slack: people.Once(r.Slack), Now: r.Now}
	for i, a := range r.load(ctx, refs) {
		if a == nil || a.Request == nil || !a.IsOpen(page.Items[i].ID) {
			continue
		}
		by, policy, err := who.Who(ctx, people.Want{User: user, Team: team}, a.Request.Origin(), s)
		if err != nil {
			return nil, false, err
		}
		if c, err := a.Approve(page.Items[i].ID, by, policy, r.Now()); err == nil && !c.Empty() {
			out = append(out, Item{Task: a, Question: page.Items[i].Question})
		}
	}
	return out, page.Next != "", nil
}

func (r Reader) mine(ctx context.Context, tenant, user string) ([]*task.Aggregate, error) {
	page, err := r.Store.Tasks(ctx, tenant, task.Filter{Requester: user}, "", mostMine)
	if err != nil {
		return nil, fmt.Errorf("list a person's requests: %w", err)
	}
	refs := make([]aggregate.Ref, len(page.Items))
	for i, t := range page.Items {
		refs[i] = task.RefOf(tenant, t.ID)
	}
	return slices.DeleteFunc(r.load(ctx, refs), func(a *task.Aggregate) bool { return a == nil || a.Task == nil || a.Request == nil }), nil
}

// load reads tasks side by side; nil stands for one that can't be read.
func (r Reader) load(ctx context.Context, refs []aggregate.Ref) []*task.Aggregate {
	out := make([]*task.Aggregate, len(refs))
	room := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, ref := range refs {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			if a, err := r.Store.Load(ctx, ref); err == nil {
				out[i] = a
			}
		})
	}
	wg.Wait()
	return out
}

// Links are where messages are opened in Slack.
type Links interface {
	Link(ctx context.Context, channel, ts, thread string) string
}

// Summary is the inbox as it is shown, each entry with a link to its newest card.
func (b Inbox) Summary(ctx context.Context, links Links) card.Summary {
	out := card.Summary{More: b.More}
	for _, w := range b.Waiting {
		out.Waiting = append(out.Waiting, card.Waits{Task: w.Task, Question: w.Question, Link: link(ctx, links, w.Task, w.Key)})
	}
	for _, a := range b.Mine {
		out.Mine = append(out.Mine, card.Mine{Task: a, Link: link(ctx, links, a, "")})
	}
	return out
}

// link leads to the card that shows a row, or else to the request.
func link(ctx context.Context, links Links, a *task.Aggregate, row string) string {
	r := a.Request
	for _, c := range a.Cards {
		if c.Subject == row && c.MessageTS != "" {
			return links.Link(ctx, r.Channel, c.MessageTS, r.ThreadTS)
		}
	}
	return links.Link(ctx, r.Channel, r.MessageTS, r.ThreadTS)
}
