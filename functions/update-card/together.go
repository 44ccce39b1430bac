package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// Calls that a key asks for within a few seconds share a message: that of the first, which shows each of them whole.
// The rows of both note it, the first's before the other's, so a crash in between never leaves a call without a card.
// From then on a change of any of them has the first one's message drawn again, by whose rows drawings keep out of each
// other's way.
const (
	shareWithin  = 10 * time.Second
	mostTogether = 40 // blocks of the 50 that a message may have, since calls grow by what people say
	// hostWithin is how long a message that others may join is waited for.
	hostWithin = time.Minute
	mostNewer  = 50 // calls of the tenant that are searched for the first
)

// Calls reads calls of outside agents.
type Calls interface {
	Load(ctx context.Context, ref aggregate.Ref) (*call.Aggregate, error)
	Listed(ctx context.Context, tenant, cursor string, limit, most int, keep func(call.Call) bool) (
		store.Page[call.Call], error)
}

// Live adds to a call those that stand in its message.
func (k callCards) Live(ctx context.Context, a aggregate.Aggregate) (aggregate.Aggregate, error) {
	of := a.(*call.Aggregate)
	of.Others = nil
	for _, id := range of.Beside {
		o, err := k.calls.Load(ctx, call.RefOf(of.Head.TenantID, id))
		if err != nil {
			return nil, fmt.Errorf("load what stands beside it: %w", err)
		}
		of.Others = append(of.Others, o)
	}
	return of, nil
}

// within returns the id of the call in whose message a card stands; "": it has its own.
func (d *drawing) within(c *aggregate.Card) string {
	if of, is := d.a.(*call.Aggregate); is && c.User == "" {
		return of.Within
	}
	return ""
}

// host returns the earlier call whose message has room for a card that wasn't posted, nil if there is none. While that
// message is about to be posted it returns later.
func (d *drawing) host(ctx context.Context, c *aggregate.Card, m card.Message) (*call.Aggregate, error) {
	of, is := d.a.(*call.Aggregate)
	if !is || c.User != "" || of.Within != "" || len(of.Beside) > 0 {
		return nil, nil
	}
	k, x := d.kind.(callCards), of.Call
	page, err := k.calls.Listed(ctx, x.TenantID, "", mostNewer, mostNewer, func(o call.Call) bool {
		first := o.CreatedAt.Compare(x.CreatedAt)
		return o.KeyID == x.KeyID && o.Channel == x.Channel && x.CreatedAt.Sub(o.CreatedAt) <= shareWithin &&
			(first < 0 || first == 0 && o.CallID < x.CallID)
	})
	if err != nil {
		return nil, fmt.Errorf("list the key's calls: %w", err)
	}
	for _, o := range slices.Backward(page.Items) {
		host, err := k.calls.Load(ctx, call.RefOf(x.TenantID, o.CallID))
		if err != nil || len(host.Cards) == 0 {
			return nil, err
		}
		switch at := host.Cards[0]; {
		case slices.Contains(host.Beside, x.CallID) && at.MessageTS != "":
			return host, nil
		case c.State == aggregate.CardPosting: // it may have a message already
		case host.Within != "" || host.Call.Over() || at.State == aggregate.CardUnreachable:
		case at.MessageTS == "" && d.Now().Sub(o.CreatedAt) < hostWithin:
			return nil, later{time.Second, "the message of an earlier call is posted first"}
		case at.MessageTS != "":
			if _, err := k.Live(ctx, host); err != nil {
				return nil, err
			}
			blocks := 0
			for _, a := range append(k.Render(host, at, d.settings, nil, d.Now()).Attachments, m.Attachments...) {
				blocks += len(a.Blocks.BlockSet)
			}
			if blocks <= mostTogether {
				return host, nil
			}
		}
	}
	return nil, nil
}

// join has a card that this drawing has claimed stand in the message of another call.
func (d *drawing) join(ctx context.Context, c *aggregate.Card, host *call.Aggregate, hash string) error {
	of := d.a.(*call.Aggregate)
	d.tried = d.Now()
	for _, note := range []struct {
		ref aggregate.Ref
		row *aggregate.Card
	}{{host.Ref(), call.Note(call.Beside, host, of, d.tried)}, {d.ref, call.Note(call.Within, of, host, d.tried)}} {
		if err := d.Rows.AddCopies(ctx, note.ref, []*aggregate.Card{note.row}); err != nil && !isOther(err) {
			return d.afterClaim(err.Error())
		}
	}
	if err := d.Store.Redraw(ctx, host.Ref()); err != nil {
		return d.afterClaim(err.Error())
	}
	d.drew = true
	d.log(c).InfoContext(ctx, "stands in another call's message", "ts", host.Cards[0].MessageTS)
	return d.keep(ctx, c, host.Cards[0].MessageTS, hash)
}

// shownWithin has the message drawn again in which a card stands that changed.
func (d *drawing) shownWithin(ctx context.Context, c *aggregate.Card, hash string) error {
	if err := d.Store.Redraw(ctx, call.RefOf(d.ref.Tenant, d.within(c))); err != nil {
		return fmt.Errorf("draw the message again: %w", err)
	}
	d.drew = true
	if err := d.save(ctx, c, c.ClaimedBy, hash, d.all()); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	d.noted = d.all() != nil
	return nil
}
