package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"ringi/infra/local/lambda"
	"ringi/shared/runtime/clock"
)

// delivery passes on invocations by streams, queues and schedules; while disturbed, it delivers some batches twice,
// late or shuffled.
type delivery struct {
	next lambda.Invoker
	lost func(record []byte) bool // records that never reach the relay

	mu     sync.Mutex
	random *rand.Rand // nil while undisturbed
	times  int        // disturbed deliveries
}

func (p *delivery) wrap(next lambda.Invoker) lambda.Invoker {
	p.next = next
	return p
}

// disturb starts random faults of deliveries by the seed. end stops them and returns how many deliveries were
// disturbed.
func (p *delivery) disturb(seed uint64) (end func() int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random, p.times = rand.New(rand.NewPCG(seed, 2)), 0
	return func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.random = nil
		return p.times
	}
}

// Invoke implements mapping.Invoker.
func (p *delivery) Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error) {
	payload, some := p.withoutLost(payload)
	if !some {
		return lambda.Result{Payload: []byte(`{"batchItemFailures":[]}`)}, nil
	}
	twice, late, mixed := p.draw(payload)
	if err := clock.Sleep(ctx, late); err != nil {
		return lambda.Result{}, err
	}
	if twice {
		var copies sync.WaitGroup
		defer copies.Wait()
		// The copy's answer is dropped: AWS too uses only one.
		copies.Go(func() { _, _ = p.next.Invoke(ctx, function, payload) })
	}
	return p.next.Invoke(ctx, function, mixed)
}

// draw decides at random what happens to a delivery.
func (p *delivery) draw(payload []byte) (twice bool, late time.Duration, mixed []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random == nil {
		return false, 0, payload
	}
	twice = p.random.IntN(2) == 0
	if p.random.IntN(3) == 0 {
		late = time.Duration(p.random.IntN(600)) * time.Millisecond
	}
	mixed = payload
	var batch struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(payload, &batch) == nil && len(batch.Records) > 1 {
		p.random.Shuffle(len(batch.Records), func(i, j int) { batch.Records[i], batch.Records[j] = batch.Records[j], batch.Records[i] })
		if b, err := json.Marshal(batch); err == nil {
			mixed = b
		}
	}
	if twice || late > 0 || len(batch.Records) > 1 {
		p.times++
	}
	return twice, late, mixed
}

// withoutLost removes lost records from a batch of the table's changes, and reports whether any are left; it returns
// other payloads unchanged.
func (p *delivery) withoutLost(payload []byte) (rest []byte, some bool) {
	var batch struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(payload, &batch) != nil {
		return payload, true
	}
	kept := slices.DeleteFunc(slices.Clone(batch.Records), func(r json.RawMessage) bool {
		return bytes.Contains(r, []byte(`"aws:dynamodb"`)) && p.lost(r)
	})
	if len(kept) == len(batch.Records) {
		return payload, true
	}
	batch.Records = kept
	rest, err := json.Marshal(batch)
	return rest, err == nil && len(kept) > 0
}
