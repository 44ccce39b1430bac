package lambda

import (
	"context"
	"hash/fnv"
	"sync"
)

// waitingAtWorker is how many reads may wait at one worker before the stream is no longer read.
const waitingAtWorker = 16

// workers run a stream's concurrent batches. Lambda keeps the order of changes to one item, and no other order
// (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html). An item is identified by its partition key and sort
// key, so each item always uses the same worker, but the items of one partition may use several. The shard depends on
// the partition key only.
type workers struct {
	into    []chan []change
	running sync.WaitGroup
}

// open starts the workers of each simulated shard.
func (r *streamRun) open(ctx context.Context) {
	r.into = nil
	for range r.shards * max(1, r.Mapping.Parallel) {
		worker := make(chan []change, waitingAtWorker)
		r.into = append(r.into, worker)
		r.running.Go(func() { r.carry(ctx, worker) })
	}
}

// close waits until the workers have delivered all their changes, or ctx ends.
func (r *streamRun) close() {
	for _, worker := range r.into {
		close(worker)
	}
	r.running.Wait()
}

// split replaces one simulated shard by two, or two by one. As in Lambda, the new shards start when all batches of the
// old ones are delivered, so that an item's changes stay in order in the new worker.
func (r *streamRun) split(ctx context.Context) {
	r.close()
	r.shards = 3 - r.shards
	r.splitAt = r.Now().Add(r.SplitEvery)
	r.open(ctx)
}

// put distributes the changes of one read to the workers.
func (r *streamRun) put(ctx context.Context, changes []change) error {
	each := make([][]change, len(r.into))
	for _, c := range changes {
		i := r.workerOf(c)
		each[i] = append(each[i], c)
	}
	for i, some := range each {
		if len(some) == 0 {
			continue
		}
		select {
		case r.into[i] <- some:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (r *streamRun) workerOf(c change) int {
	each := len(r.into) / r.shards
	return pick(c.pk, r.shards)*each + pick(c.item, each)
}

// pick maps a key to a number below n. The same key always gives the same number.
func pick(key string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(key)) // never fails
	return int(h.Sum32() % uint32(n))
}

// carry delivers a worker's changes, one batch after the other, until the worker is closed or ctx ends.
func (r *streamRun) carry(ctx context.Context, worker chan []change) {
	var left []change
	for {
		batch, open := left, true
		if left = nil; batch == nil {
			batch, open = <-worker
		}
		for waits := true; open && waits && len(batch) < r.Mapping.BatchSize; {
			select {
			case more, is := <-worker:
				if open = is; len(batch)+len(more) > r.Mapping.BatchSize {
					left, waits = more, false
				} else {
					batch = append(batch, more...)
				}
			default:
				waits = false
			}
		}
		if r.deliver(ctx, batch) != nil || !open {
			return
		}
	}
}
