package table

import (
	"context"
	"testing"
	"time"
)

// TestACallIsMadeAgainHoweverLateItsFirstAnswerIs checks that one slow answer does not use up all tries.
func TestACallIsMadeAgainHoweverLateItsFirstAnswerIs(t *testing.T) {
	tries := 0
	for wait := NewBackoff(1, 1); wait.Until(t.Context(), time.Now()); {
		tries++
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if tries != fewestTries || NewBackoff(time.Minute, time.Minute).Until(ctx, time.Now()) || ctx.Err() != nil {
		t.Errorf("%d tries, and none is to be made when its time comes after the caller's", tries)
	}
}
