package tasks

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/store"
)

// Registered is a line of the register: a decision that has a number, a request that has one, or both.
type Registered struct {
	Decision task.Numbered  // N is 0: there is none, or it is not decided yet
	Request  task.Requested // N is 0: only its decision was looked for
	Task     Listed         // of a request; without a title until there is a task
	Head     task.Head      // of a request
	Gate     aggregate.Gate // of a decision that which was settled, else the newest about the steps

	Conversation conversation.Conversation // of an action; empty once it is forgotten
	Action       *conversation.Action      // nil: the decision is a request's
}

// MostRegistered is how many lines are read at once.
const MostRegistered = 50

// lines are lines that are being filled.
type lines struct {
	*Store
	tenant string
	all    []Registered
}

// DecisionLines reads what the register shows of at most MostRegistered decisions, for display only.
func (s *Store) DecisionLines(ctx context.Context, tenant string, of []task.Numbered) ([]Registered, error) {
	l := &lines{s, tenant, make([]Registered, len(of))}
	for i, x := range of {
		l.all[i].Decision = x
	}
	if err := l.requests(ctx, func(x *Registered) string { return x.Decision.GateKey }); err != nil {
		return nil, err
	}
	return l.all, l.actions(ctx)
}

// RequestLines reads what the register shows of at most MostRegistered requests, for display only.
func (s *Store) RequestLines(ctx context.Context, tenant string, of []task.Requested) ([]Registered, error) {
	l := &lines{s, tenant, make([]Registered, len(of))}
	for i, x := range of {
		l.all[i].Request = x
	}
	return l.all, l.requests(ctx, func(x *Registered) string { return x.Head.GateOfSteps() })
}

func (x *Registered) taskID() string {
	if x.Request.N > 0 {
		return x.Request.TaskID
	}
	return x.Decision.TaskID
}

// requests reads the rows of the lines that are requests'; gate says which gate's, "" for none.
func (l *lines) requests(ctx context.Context, gate func(x *Registered) string) error {
	fixed := func(key string) func(*Registered) string { return func(*Registered) string { return key } }
	err := fill(ctx, l, fixed(aggregate.HeadKey), func(x *Registered, is task.Head) { x.Head = is })
	if err == nil {
		err = fill(ctx, l, fixed((&task.Task{}).Key()), func(x *Registered, is Listed) { x.Task = is })
	}
	if err == nil {
		untitled := func(x *Registered) string {
			if x.Task.ID != "" {
				return ""
			}
			return (&task.Request{}).Key()
		}
		err = fill(ctx, l, untitled, func(x *Registered, is task.Request) { x.Task.Text = is.Words("") })
	}
	if err == nil {
		err = fill(ctx, l, gate, func(x *Registered, is gateRow) { x.Gate = is.Gate })
	}
	return err
}

// fill reads a row of each line's request, and has take keep it; key returns "" for a line that needs none.
func fill[T any](ctx context.Context, l *lines, key func(x *Registered) string, take func(x *Registered, is T)) error {
	places := make([]store.Place, len(l.all))
	var wanted []store.Place
	for i := range l.all {
		x := &l.all[i]
		if x.taskID() == "" || key(x) == "" {
			continue
		}
		places[i] = store.Place{Ref: task.RefOf(l.tenant, x.taskID()), Key: key(x)}
		wanted = append(wanted, places[i])
	}
	rows, err := store.RowsAt[T](ctx, l.Of.Store, wanted)
	for i, p := range places {
		if is, there := rows[p]; there {
			take(&l.all[i], is)
		}
	}
	return err
}

// actions reads the rows of the lines that are actions'. One that has left its conversation is in the list of those.
func (l *lines) actions(ctx context.Context) error {
	var places, talks []store.Place
	for _, x := range l.all {
		if x.Decision.SessionID != "" {
			ref := conversation.RefOf(l.tenant, x.Decision.SessionID)
			places = append(places, store.Place{Ref: ref, Key: x.Decision.GateKey})
			talks = append(talks, store.Place{Ref: ref, Key: (&conversation.Conversation{}).Key()})
		}
	}
	if len(places) == 0 {
		return nil
	}
	actions, err := store.RowsAt[conversation.Action](ctx, l.Of.Store, places)
	if err != nil {
		return err
	}
	titles, err := store.RowsAt[conversation.Conversation](ctx, l.Of.Store, talks)
	if err != nil {
		return err
	}
	load, ctx := errgroup.WithContext(ctx)
	load.SetLimit(8)
	for i := range l.all {
		x := &l.all[i]
		if x.Decision.SessionID == "" {
			continue
		}
		ref := conversation.RefOf(l.tenant, x.Decision.SessionID)
		x.Conversation = titles[store.Place{Ref: ref, Key: (&conversation.Conversation{}).Key()}]
		is, there := actions[store.Place{Ref: ref, Key: x.Decision.GateKey}]
		load.Go(func() error {
			if !there {
				kept, err := store.Listed[conversation.Action](ctx, l.Of.Store, l.tenant, conversation.ActionsList,
					x.Decision.SessionID, x.Decision.GateKey, x.Decision.GateKey, false, 1)
				if err != nil {
					return err
				}
				if i := slices.IndexFunc(kept, func(k conversation.Action) bool {
					return k.ActionID == x.Decision.ActionID
				}); i >= 0 {
					is = kept[i]
				}
			}
			x.Action, x.Gate = &is, is.Gate
			return nil
		})
	}
	return load.Wait()
}

// gateRow is the part of any gate's row that the register shows.
type gateRow struct{ aggregate.Gate }
