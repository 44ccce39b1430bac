package table

import (
	"context"
	"testing"
	"time"
)

// TestACallIsMadeAgainHoweverLateItsFirstAnswerIs: an answer that took all of the time is no reason to give up.
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
