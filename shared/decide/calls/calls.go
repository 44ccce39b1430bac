// Package calls is what the key of an outside agent may do: ask for a call of a tool, look what became of it, cancel
// it, take the grant of one that runs where the agent runs, and read by tools that only read.
package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// Calls asks people about calls, by the rows of a store.
type Calls struct {
	Store   store.CallStore
	Catalog *tool.Catalog
	Now     func() time.Time
}

// Request is what a key asks for.
type Request struct {
	Tool      string
	Arguments []byte // a JSON object
	Reason    string // the agent's words; empty: it gave none
	Again     string // id of the same call that was asked for before and is meant to be made once more
	Elsewhere bool   // it runs where the agent runs, so that the tool must not be one of Ringi's
}

// Ask asks people about a call, or finds the same call that the key asked for before, whatever became of it: the newest
// if it was asked for once more. It returns tenancy.ErrKey if the key may not, aggregate.Problem for what is wrong in
// the request, tool.ErrForbidden for a tool that isn't allowed, aggregate.ErrFull for the key's limits, and
// aggregate.ErrNotAllowed if nobody could decide. Where the tenant has rules, call-tool asks them.
func (x Calls) Ask(ctx context.Context, key tenancy.Key, w Request) (*call.Aggregate, error) {
	if err := key.Holds(w.Tool, x.Now()); err != nil {
		return nil, err
	}
	asks := call.Proposal{Key: key, Reason: w.Reason, Content: call.Content{
		Key: key.ID, Answers: key.Answers, Tool: w.Tool, Again: w.Again, Elsewhere: w.Elsewhere}}
	members, err := call.Members(w.Arguments)
	if err == nil {
		asks.Content.Arguments, asks.Effect, err = call.Digest(members, call.Idle(w.Tool, w.Elsewhere))
	}
	if err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if a, err := x.joined(ctx, key, asks.Ref().ID); !errors.Is(err, aggregate.ErrNotFound) {
		return a, err
	}
	if err := x.again(ctx, &asks); err != nil {
		return nil, err
	}
	if asks.Thread, err = x.Store.Thread(ctx, key, x.Now()); err != nil {
		return nil, fmt.Errorf("read the thread of a key's day: %w", err)
	}
	return pipeline.Anew(func() (*call.Aggregate, error) { return x.ask(ctx, asks) })
}

// joined returns the call with this id, or the newest by which it was asked for once more, unless that is forgotten. It
// makes none: a stamp that is found this way was given for making the call once more.
func (x Calls) joined(ctx context.Context, key tenancy.Key, id string) (*call.Aggregate, error) {
	a, err := x.Store.Joined(ctx, key, id)
	if err != nil || a.Call.Newest == "" {
		return a, err
	}
	newest, err := x.Store.Joined(ctx, key, a.Call.Newest)
	if errors.Is(err, aggregate.ErrNotFound) {
		return a, nil
	}
	return newest, err
}

// again returns an aggregate.Problem unless the call that is meant to be made once more is the same one.
func (x Calls) again(ctx context.Context, asks *call.Proposal) error {
	if asks.Content.Again == "" {
		return nil
	}
	was, err := x.Store.Joined(ctx, asks.Key, asks.Content.Again)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
	case err != nil:
		return fmt.Errorf("read the earlier call: %w", err)
	case was.Call.Tool == asks.Content.Tool && was.Call.Elsewhere == asks.Content.Elsewhere &&
		was.Call.Effect == asks.Effect && was.Call.Over():
		asks.Was = call.WasOf(was.Call)
		return nil
	}
	return aggregate.Problem{Field: "again", Code: "must be the id of the same call, which has ended"}
}

// ask asks once, under the settings, rules and permission as they stand.
func (x Calls) ask(ctx context.Context, asks call.Proposal) (*call.Aggregate, error) {
	tenant, name := asks.Key.TenantID, asks.Content.Tool
	s, err := x.Store.Settings(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	p, _, err := x.Store.ToolPermission(ctx, tenant, name)
	if err != nil {
		return nil, fmt.Errorf("read the permission of %s: %w", name, err)
	}
	if err := x.complete(&asks.Content, p, s); err != nil {
		return nil, err
	}
	asks.Terms, asks.Keep = s.ActionTerms(x.Now()), s.RetainResultsDays
	if asks.LooksUp = s.RulesRev > 0; !asks.LooksUp {
		o := aggregate.Origin{Team: asks.Key.Team, User: asks.Key.Answers, Channel: asks.Key.Channel,
			ChannelType: "channel"}
		if err := s.Nobody(o, asks.Key.Answers); err != nil {
			return nil, err
		}
	}
	if !asks.Content.Elsewhere {
		asks.On = append(asks.On, aggregate.Owned{Key: tenancy.ToolKey(name), Rev: p.Rev, Err: aggregate.ErrSettings})
	}
	c, err := asks.Ask(x.Now())
	if err != nil {
		return nil, err
	}
	return x.Store.Ask(ctx, &asks, c)
}

// complete adds to a call of one of Ringi's tools what people are shown of it.
func (x Calls) complete(c *call.Content, p tenancy.ToolPermission, s tenancy.Settings) error {
	if c.Access = aggregate.Write; c.Elsewhere {
		_, _, known, err := x.lookup(c.Tool, p, s)
		if known {
			err = aggregate.Problem{Field: "tool", Code: "is one that Ringi calls itself: call it by MCP"}
		}
		return err
	}
	spec, a, _, err := x.read(c, p, s)
	if err != nil {
		return err
	}
	c.LeftOut, c.Declared = string(tool.LeftOut(spec, a)), string(tool.Declared(spec, a))
	if spec.Pin != nil {
		c.ToolTitle = spec.Pin.Title
	}
	if spec.Access == aggregate.Write {
		c.Mark = p.Mark
	}
	return nil
}

// lookup looks up one of Ringi's tools, among those of its permission.
func (x Calls) lookup(name string, p tenancy.ToolPermission, s tenancy.Settings) (allowed *tool.Catalog, spec tool.Spec,
	known bool, err error) {
	if allowed, err = x.Catalog.Allowed([]tenancy.ToolPermission{p}, s.MCPServers); err != nil {
		return nil, spec, false, fmt.Errorf("read the tool %s: %w", name, err)
	}
	spec, known = allowed.Lookup(name)
	return allowed, spec, known, nil
}

// read looks up one of Ringi's tools under its permission, notes its version and access in c, and reads the arguments.
// It returns tool.ErrForbidden for a tool that isn't allowed, and aggregate.Problem.
func (x Calls) read(c *call.Content, p tenancy.ToolPermission, s tenancy.Settings) (spec tool.Spec, a tool.Arguments,
	resolved tool.Resolved, err error) {
	allowed, spec, known, err := x.lookup(c.Tool, p, s)
	if err != nil {
		return spec, a, resolved, err
	}
	if !known || !p.Allowed || !spec.Keyed() {
		return spec, a, resolved, tool.ErrForbidden
	}
	c.Called = conversation.Called{ToolVersion: spec.Version(), Access: spec.Access}
	if a, resolved, err = allowed.Literal(c.Tool, aggregate.JSON(c.Arguments)); err != nil {
		err = aggregate.Problem{Field: "arguments", Code: err.Error()}
	}
	return spec, a, resolved, err
}

// Get returns a call of the key, whatever became of it, or aggregate.ErrNotFound. A revoked or expired key has none:
// tenancy.ErrKey.
func (x Calls) Get(ctx context.Context, key tenancy.Key, id string) (*call.Aggregate, error) {
	if err := key.Stands(x.Now()); err != nil {
		return nil, err
	}
	return x.Store.Joined(ctx, key, id)
}

// waitEvery is how often Wait looks at first, and waitLast after a while.
const waitEvery, waitLast = 300 * time.Millisecond, time.Second

// Wait is Get once something became of the call: it is over, or people settled one that runs elsewhere. After the time
// it returns the call as it is, or at once while the key waits for too many; see call.Waits. It returns tenancy.ErrKey
// once the key is revoked.
func (x Calls) Wait(ctx context.Context, key tenancy.Key, id string, most time.Duration) (*call.Aggregate, error) {
	a, err := x.Get(ctx, key, id)
	if err != nil || a.Call.Answered() || most <= 0 {
		return a, err
	}
	if err := x.Store.Count(ctx, key.TenantID, call.Waits(key, most, x.Now())); err != nil {
		if _, full := errors.AsType[aggregate.ErrFull](err); full {
			return a, nil
		}
		return a, err
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for every := waitEvery; clock.Sleep(within, every) == nil; every = min(every+waitEvery/10, waitLast) {
		if key, err = x.Store.Key(ctx, key.TenantID, key.ID); err == nil {
			a, err = x.Get(ctx, key, id)
		}
		if err != nil || a.Call.Answered() {
			return a, err
		}
	}
	return a, nil
}

// Cancel cancels a call of the key; see call.Aggregate. Once it is made it returns aggregate.ErrInFlight or
// aggregate.ErrDecided.
func (x Calls) Cancel(ctx context.Context, key tenancy.Key, id string) (*call.Aggregate, error) {
	a, err := x.Get(ctx, key, id)
	if err != nil {
		return nil, err
	}
	return x.Store.Decide(ctx, a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Cancel(key.ID, x.Now())
	})
}

// Take takes the grant of a call of the key for an attempt, just before it runs; see call.Aggregate. Once it returned
// no error, the attempt may run, once. It returns an aggregate.Problem if what is about to run is something else than
// people stamped.
func (x Calls) Take(ctx context.Context, key tenancy.Key, id, use string, runs Request) (*call.Aggregate, error) {
	members, err := call.Members(runs.Arguments)
	_, effect, wrong := call.Digest(members, call.Idle(runs.Tool, true))
	if err = cmp.Or(err, wrong); err != nil {
		return nil, fmt.Errorf("read what runs: %w", err)
	}
	return pipeline.Anew(func() (*call.Aggregate, error) {
		key, err := x.Store.Key(ctx, key.TenantID, key.ID) // the call may have been waited for
		if err != nil {
			return nil, fmt.Errorf("read the key: %w", err)
		}
		a, err := x.Get(ctx, key, id)
		if err != nil {
			return nil, err
		}
		switch is := a.Call; { // none of which changes
		case is.Tool != runs.Tool:
			return nil, aggregate.Problem{Field: "tool", Code: "must be that of the call with this id"}
		case is.Effect != effect:
			return nil, aggregate.Problem{Field: "arguments", Code: "must be those of the call with this id"}
		}
		return pipeline.Numbering(ctx, x.Store, a.Ref(), func(of task.Series) (*call.Aggregate, error) {
			return x.Store.Decide(ctx, a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
				return a.Take(key, use, of, x.Now())
			})
		})
	})
}

// Stays reports whether whoever answers for a key is still there, as far as ask, which asks Slack, says it within a
// time.
func Stays(ctx context.Context, k tenancy.Key, most time.Duration,
	ask func(ctx context.Context, tenant, team, user string) (bool, error)) bool {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	stays, err := ask(within, k.TenantID, k.Team, k.Answers)
	if err != nil {
		slog.WarnContext(ctx, "nobody knows whether who answers for a key is still there", "key_id", k.ID, "err", err)
	}
	return err != nil || stays
}
