package model_test

import (
	"context"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestABucketThatHangsHoldsNoAnswerBack(t *testing.T) {
	hangs := func(ctx context.Context, _ []byte) (aggregate.Blob, error) {
		<-ctx.Done()
		return aggregate.Blob{}, ctx.Err()
	}
	expect.Within(t, 4*time.Second, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, _ = extract(ctx, t, sender{scripted: says(goodExtract)}, hangs)
	})
}
