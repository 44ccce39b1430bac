// Command sweep-tasks checks, each minute, every aggregate that is due, and makes up for what other functions failed to
// do.
//
// It reads the index of due heads (DUE#0 to DUE#7) until nothing is due. First it makes the decisions of time, for all
// heads: it expires gates and choices, which no other function does, settles claims whose lease is over, and ends
// executions past their limit. None of them approves. Then it carries out the effects, as the relay does; repairs are
// counted, and an alarm watches. Only when all effects of a head are done does its due time move on.
//
// Work to do, no gate, lease or pause, and no new revision for 20 minutes: another run is begun, even if the old one
// looks open. Progress resets the count of restarts: a decision, a finished generation, a step's result. After three
// the head is parked or the execution fails, and people have a button.
//
// A head whose handling fails is put off by 2, 4, 8 minutes, an hour at most, so that one poisonous row delays no
// other. A service that fails three times in a row is left alone for this sweep. So an outage delays the work that
// needs it, and no expiry.
//
// Last it forgets conversations that are not kept: four at once, a few seconds each, since erasing may wait and gates
// may not. It tells principals what was done for them, half a minute after a delegation is over, so that what was
// decided before is saved.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large/removal"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Effects
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := store.OpenAll(cfg, env.Table)
	return &Handler{
		Store: s, Delegations: s,
		Effects: effect.New(cfg, s, store.Kinds(), store.Machines(env.Effects), env.CardQueueURL),
		Erase:   store.NewEraser(s, removal.Open(cfg, env.Results)),
		Now:     time.Now,
	}, nil
}
