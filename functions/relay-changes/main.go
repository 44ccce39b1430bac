// Command relay-changes turns changes of the table into effects: it starts and wakes runs, and requests cards.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Effects
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := store.OpenAll(cfg, env.Table)
	return &Handler{
		Store: s, Kinds: store.Kinds(),
		Effects: effect.New(cfg, s, store.Kinds(), store.Machines(env.Effects), env.CardQueueURL),
	}, nil
}

// margin of the invocation's time is for returning unhandled records: after a timeout the stream would repeat the
// complete batch.
const margin = 5 * time.Second

// againAfter is the delay before a second try after a service failed. Without that try the task would wait a minute or
// two for the sweeper.
const againAfter = time.Second

type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	// FollowKey ends what waits for people of a key that doesn't hold any more.
	FollowKey(ctx context.Context, tenant, id string, now time.Time) error
}

// keyKind stands in a ref for the kind, which keys of outside agents have none of.
const keyKind = "key"

type Handler struct {
	Store   Store
	Effects effect.Runner
	Kinds   aggregate.Kinds
	asked   clock.Answers[aggregate.Ref, requested] // the last request for an aggregate's cards
}

// Handle carries out the effects of a batch of the table's stream, once for each task: effects depend on the present
// rows, not on the records. Tasks for which a service failed are tried again after the others. If that fails too, or a
// record can't be handled, Handle logs and counts it, and the sweeper handles the task within a minute. If the card
// queue fails, Handle goes on to start and wake runs, but returns all records from the first undrawn task on. It also
// returns the records that it has no time for.
func (h *Handler) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var out events.DynamoDBEventResponse
	ctx, cancel := clock.Sparing(ctx, margin)
	defer cancel()
	var again []move
all:
	for i, m := range moves(h.Kinds, e.Records) {
		err := ctx.Err()
		if i == 0 || err == nil {
			err = h.relay(ctx, m, len(out.BatchItemFailures) == 0)
		}
		switch late := i > 0 && err != nil && ctx.Err() != nil; {
		case late, errors.Is(err, effect.ErrQueue):
			slog.ErrorContext(ctx, "gives back", m.ref.Log(), "done", i, "err", err)
			if out.BatchItemFailures == nil {
				out.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: m.first}}
			}
			if late {
				break all
			}
		case explain.ClassOf(err) == explain.Unavailable || explain.ClassOf(err) == explain.Conflict:
			slog.WarnContext(ctx, "tries again", m.ref.Log(), "err", err)
			again = append(again, m)
		case err != nil:
			left(ctx, m, err)
		}
	}
	if len(again) > 0 {
		clock.LastsFor(ctx, againAfter)
	}
	for _, m := range again {
		switch err := h.relay(ctx, m, true); {
		case errors.Is(err, effect.ErrQueue):
			slog.ErrorContext(ctx, "gives back", m.ref.Log(), "err", err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: m.first})
		case err != nil:
			left(ctx, m, err)
		}
	}
	return out, nil
}

func left(ctx context.Context, m move, err error) {
	slog.ErrorContext(ctx, "left to the sweeper", m.ref.Log(), "err", err)
}

// requested is a request for cards: when they are drawn, and the revision that they will show at least.
type requested struct {
	at  time.Time
	rev int
}

// draw requests cards that are older than their rows: at once, or once in an interval if they only lack progress since
// the last request. The sweeper finds cards whose last request is lost.
func (h *Handler) draw(ctx context.Context, head aggregate.Head, e aggregate.Effects, m move) error {
	now := h.Effects.Now()
	last, ok := h.asked.Known(m.ref, now)
	switch {
	case !e.Cards:
		return nil
	case !ok || m.again || head.Rev-e.Progress > last.rev:
		err := h.Effects.Redraw(ctx, m.ref, head, m.event)
		if err == nil {
			h.asked.Keep(m.ref, requested{now, head.Rev}, now, effect.ProgressEvery)
		}
		return err
	case last.rev >= head.Rev, last.at.After(now): // requested, or a request waits for the end of the interval
		return nil
	}
	at, err := h.Effects.RedrawLater(ctx, m.ref, head)
	if err == nil {
		h.asked.Keep(m.ref, requested{at, last.rev}, now, at.Add(effect.ProgressEvery).Sub(now))
	}
	return err
}

// relay carries out one task's effects, its cards first. Without draw it requests no cards, since the records are
// returned anyway.
func (h *Handler) relay(ctx context.Context, m move, draw bool) (err error) {
	defer boot.Recover(ctx, &err, m.ref.Log())
	if m.ref.Kind == keyKind {
		return h.Store.FollowKey(ctx, m.ref.Tenant, m.ref.ID, h.Effects.Now())
	}
	if last, ok := h.asked.Known(m.ref, h.Effects.Now()); m.alike && ok && last.at.After(h.Effects.Now()) {
		return nil // its cards are drawn at the end of the interval
	}
	a, err := h.Store.Load(ctx, m.ref)
	if err != nil {
		return fmt.Errorf("load it: %w", err)
	}
	var undrawn error
	e := a.Effects(h.Effects.Now())
	if draw && m.cards {
		undrawn = h.draw(ctx, *a.Root().Common(), e, m)
	}
	_, err = h.Effects.Run(ctx, a, e, m.run)
	return errors.Join(undrawn, err)
}

// move says what changed of one aggregate in a batch.
type move struct {
	ref   aggregate.Ref
	run   bool   // the head names a new run
	cards bool   // the head's revision changed, or the head asks for a redraw
	again bool   // the head asks for a redraw
	event string // id of the last record, the same in a repeated delivery
	alike bool   // in each record the head notes before and after that its execution runs, and the run is the same
	first string // sequence number of the first record, to return it
}

// moves returns a move for each changed aggregate of a batch, in the order of their first records, and for keys.
// Changes of the head's internal fields don't count.
func moves(kinds aggregate.Kinds, changes []events.DynamoDBEventRecord) []move {
	var out []move
	at := map[aggregate.Ref]int{}
	for _, r := range changes {
		is, moved := changed(r)
		ref, ok := kinds.Ref(text(r.Change.Keys, "PK"))
		if id, key := strings.CutPrefix(text(r.Change.Keys, "PK"), tenancy.KeyPrefix); key {
			tenant := text(r.Change.NewImage, "tenant_id")
			ref, ok = aggregate.Ref{Tenant: tenant, Kind: keyKind, ID: id}, tenant != ""
			moved = number(r.Change.NewImage, "rev") != number(r.Change.OldImage, "rev")
		}
		kind, _ := kinds.Named(ref.Kind)
		if !ok || kind.Still || !moved {
			continue
		}
		i, seen := at[ref]
		if !seen {
			i = len(out)
			at[ref] = i
			out = append(out, move{ref: ref, first: r.Change.SequenceNumber, alike: true})
		}
		out[i].run = out[i].run || is.run
		out[i].cards = out[i].cards || is.cards
		out[i].again = out[i].again || is.again
		out[i].alike = out[i].alike && is.alike
		out[i].event = r.EventID
	}
	return out
}

// changed returns what a record changed, and reports whether that can have effects.
func changed(r events.DynamoDBEventRecord) (is move, moved bool) {
	now, before := r.Change.NewImage, r.Change.OldImage
	if len(now) == 0 || text(r.Change.Keys, "SK") != aggregate.HeadKey {
		return move{}, false
	}
	is.run = number(now, "run") != number(before, "run")
	is.again = number(now, "redraws") != number(before, "redraws") ||
		number(now, "shown_rev") == "" && number(before, "shown_rev") != ""
	is.cards = is.again || number(now, "rev") != number(before, "rev")
	is.alike = !is.run && !is.again && runs(now) && runs(before)
	return is, is.run || is.cards
}

// runs reports whether a head notes that its execution runs.
func runs(head map[string]events.DynamoDBAttributeValue) bool {
	return text(head, "status") == string(task.StatusRunning)
}

func text(image map[string]events.DynamoDBAttributeValue, name string) string {
	if v, ok := image[name]; ok && v.DataType() == events.DataTypeString {
		return v.String()
	}
	return ""
}

func number(image map[string]events.DynamoDBAttributeValue, name string) string {
	if v, ok := image[name]; ok && v.DataType() == events.DataTypeNumber {
		return v.Number()
	}
	return ""
}
