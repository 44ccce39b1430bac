package model_test

import (
	"context"
	"testing"
	"time"

	"ringi/shared/aggregate"
)

func TestABucketThatHangsHoldsNoAnswerBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	hangs := func(ctx context.Context, _ []byte) (aggregate.Blob, error) {
		<-ctx.Done()
		return aggregate.Blob{}, ctx.Err()
	}
	start := time.Now()
	_, err := extract(ctx, t, sender{scripted: says(goodExtract)}, hangs)
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("the caller's time was 0.1 s, the answer was there at once (%v), and it came back after %s", err, d)
	}
}
