package main

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/errorclass"
)

// What somebody else decided, or what can't be done as things stand, is no fault of Ringi's.
func TestWhatAPageIsAnsweredAs(t *testing.T) {
	words := faultWords.In("en")
	for _, tt := range []struct {
		err     error
		status  int
		says    sentence
		refused bool
	}{
		{aggregate.ErrNotFound, http.StatusNotFound, words.NotFound, true},
		{errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), http.StatusConflict, words.Conflict, false},
		{aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, http.StatusForbidden, words.NotAllowed, true},
		{aggregate.ErrNotLatest{Latest: 2}, http.StatusConflict, words.Conflict, false},
		{aggregate.ErrConflict, http.StatusConflict, words.Conflict, false},
		{aggregate.ErrInFlight, http.StatusConflict, words.Conflict, false},
		{aggregate.ErrUncovered, http.StatusConflict, words.Conflict, false},
		{task.ErrNothingToRetry, http.StatusConflict, words.Conflict, false},
		{task.ErrMaxAttempts, http.StatusConflict, words.Conflict, false},
		{task.ErrMaxRetries, http.StatusConflict, words.Conflict, false},
		{aggregate.ErrFull{}, http.StatusConflict, words.Conflict, false},
		{aggregate.ErrField{Field: "slug"}, http.StatusBadRequest, words.BadInput, false},
		{aggregate.ErrUnconfirmed, http.StatusServiceUnavailable, words.Unavailable, false},
		{errorclass.ErrUnavailable, http.StatusServiceUnavailable, words.Unavailable, false},
		{errorclass.ErrModelUnavailable, http.StatusServiceUnavailable, words.Unavailable, false},
		{errors.New("a bug"), http.StatusInternalServerError, words.Internal, false},
		{errNoPage, http.StatusNotFound, words.NoPage, false},
	} {
		status, says, refused := words.of(fmt.Errorf("save it: %w", tt.err))
		if status != tt.status || says != tt.says || refused != tt.refused {
			t.Errorf("%v: %d %q, noted %t; want %d %q", tt.err, status, says.Title, refused, tt.status, tt.says.Title)
		}
	}
}
