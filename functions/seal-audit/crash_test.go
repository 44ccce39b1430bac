package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

var errDead = errors.New("the process died")

// mortal ends what a sealer does at its nth call that changes something: before it, or after it and before its answer.
type mortal struct {
	Store
	Signer
	Heads
	mu          sync.Mutex
	calls, dies int
	after       bool
}

func (m *mortal) do(call func() error) error {
	m.mu.Lock()
	m.calls++
	n := m.calls
	m.mu.Unlock()
	switch {
	case m.dies > 0 && n > m.dies, n == m.dies && !m.after:
		return errDead
	case n == m.dies:
		_ = call()
		return errDead
	}
	return call()
}

func (m *mortal) AppendLink(ctx context.Context, l chain.Link) error {
	return m.do(func() error { return m.Store.AppendLink(ctx, l) })
}

func (m *mortal) HeadKept(ctx context.Context, tenant string, seq int) error {
	return m.do(func() error { return m.Store.HeadKept(ctx, tenant, seq) })
}

func (m *mortal) Keep(ctx context.Context, head chain.Head) error {
	return m.do(func() error { return m.Heads.Keep(ctx, head) })
}

func (m *mortal) Sign(ctx context.Context, text []byte) (signature []byte, err error) {
	err = m.do(func() error {
		signature, err = m.Signer.Sign(ctx, text)
		return err
	})
	return signature, err
}

// A batch for two tenants and a minute's work, ended at each call: what is repeated afterwards leaves a chain that holds.
func TestACrashAnywhereLeavesAChainThatHolds(t *testing.T) {
	server := storetest.Start(t)
	met := 0
	for dies := 1; ; dies++ {
		died := false
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, after it %v", dies, after), func(t *testing.T) {
				w := newWorld(t, server)
				w.row(tenant, began.AddDate(0, -1, 0)) // of before the chain
				records := append(w.written(tenant, 2), w.written("01OTHER", 1)...)
				whole := w.Handler
				m := &mortal{Store: whole.Store, Signer: whole.Signer, Heads: whole.Heads, dies: dies, after: after}
				w.Handler = &Handler{Store: m, Signer: m, Heads: m, Now: whole.Now}
				_, _ = w.Handle(t.Context(), expect.Value(json.Marshal(events.DynamoDBEvent{Records: records}))(t))
				_, _ = w.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`))
				died = m.calls >= dies
				w.Handler = whole
				w.seals(records...)
				w.tick()
				w.tick()
				w.finds(tenant, 3)
				w.finds("01OTHER", 1)
			})
		}
		if !died {
			break
		}
		met++
	}
	expect.That(t, met >= 8, "only %d calls were met", met)
}
