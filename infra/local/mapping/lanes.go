package mapping

import (
	"context"
	"hash/fnv"
	"sync"
)

// waitingInLane is how many reads of the stream a lane may be behind before the stream is read no further.
const waitingInLane = 16

// lanes are the batches of a stream that are under way at once. AWS keeps the order of the changes of one item, which has
// one partition key and one sort key (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html), and no other order.
// Each item therefore has one lane, while the items of a partition may be in several. The partition key alone decides
// the shard.
type lanes struct {
	into    []chan []change
	running sync.WaitGroup
}

// open begins lanes for each of the shards that the stream is taken for.
func (r *streamRun) open(ctx context.Context) {
	r.into = nil
	for range r.shards * max(1, r.Mapping.Parallel) {
		lane := make(chan []change, waitingInLane)
		r.into = append(r.into, lane)
		r.running.Go(func() { r.carry(ctx, lane) })
	}
}

// close waits until all that was put into lanes is delivered, or the context's end.
func (r *streamRun) close() {
	for _, lane := range r.into {
		close(lane)
	}
	r.running.Wait()
}

// split ends the shards. As in Lambda, the following ones begin when all batches of the old ones have been delivered, so
// that an item keeps its order in its new lane.
func (r *streamRun) split(ctx context.Context) {
	r.close()
	r.shards = 3 - r.shards
	r.splitAt = r.Now().Add(r.SplitEvery)
	r.open(ctx)
}

// put gives each lane its changes of one read.
func (r *streamRun) put(ctx context.Context, changes []change) error {
	each := make([][]change, len(r.into))
	for _, c := range changes {
		i := r.laneOf(c)
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

func (r *streamRun) laneOf(c change) int {
	each := len(r.into) / r.shards
	return pick(c.pk, r.shards)*each + pick(c.item, each)
}

// pick is one of n for a key, the same each time.
func pick(key string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(key)) // never fails
	return int(h.Sum32() % uint32(n))
}

// carry delivers what comes into a lane, one batch after the other, until it is closed or ctx ends.
func (r *streamRun) carry(ctx context.Context, lane chan []change) {
	var left []change
	for {
		batch, open := left, true
		if left = nil; batch == nil {
			batch, open = <-lane
		}
		for waits := true; open && waits && len(batch) < r.Mapping.BatchSize; {
			select {
			case more, is := <-lane:
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
