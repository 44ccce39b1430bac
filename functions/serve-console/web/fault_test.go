package web

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A conflict with another decision, or an act that is impossible now, is not logged as a fault of Ringi's.
func TestWhatAPageIsAnsweredAs(t *testing.T) {
	for _, tt := range []struct {
		err     error
		status  int
		says    string
		refused bool
	}{
		{aggregate.ErrNotFound, http.StatusNotFound, "not_found", true},
		{errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), http.StatusConflict, "conflict", false},
		{aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, http.StatusForbidden, "not_allowed", true},
		{aggregate.ErrNotLatest{Latest: 2}, http.StatusConflict, "conflict", false},
		{aggregate.ErrConflict, http.StatusConflict, "conflict", false},
		{aggregate.ErrInFlight, http.StatusConflict, "conflict", false},
		{aggregate.ErrUncovered, http.StatusConflict, "conflict", false},
		{task.ErrNothingToRetry, http.StatusConflict, "conflict", false},
		{task.ErrMaxAttempts, http.StatusConflict, "conflict", false},
		{task.ErrMaxRetries, http.StatusConflict, "conflict", false},
		{aggregate.ErrFull{}, http.StatusConflict, "conflict", false},
		{aggregate.Problem{Field: "slug"}, http.StatusBadRequest, "bad_input", false},
		{aggregate.ErrUnconfirmed, http.StatusServiceUnavailable, "unavailable", false},
		{explain.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", false},
		{explain.ErrModelUnavailable, http.StatusServiceUnavailable, "unavailable", false},
		{errors.New("a bug"), http.StatusInternalServerError, "internal", false},
		{ErrNoPage, http.StatusNotFound, "no_page", false},
		{fmt.Errorf("%w: %w", ErrExpired, aggregate.ErrNotFound), http.StatusNotFound, "expired", false},
		{fmt.Errorf("%w: %w", ErrDeletable, aggregate.ErrNotFound), http.StatusNotFound, "deletable", true},
	} {
		status, says, refused := FaultOf(fmt.Errorf("save it: %w", tt.err))
		expect.That(t, status == tt.status && says == tt.says && refused == tt.refused,
			"%v: %d %q, noted %t; want %d %q", tt.err, status, says, refused, tt.status, tt.says)
	}
}

func TestEveryFaultHasItsWords(t *testing.T) {
	source := string(expect.Value(os.ReadFile("site.go"))(t))
	all := regexp.MustCompile(`http\.Status\w+, "(\w+)"`).FindAllStringSubmatch(source, -1)
	expect.That(t, len(all) > 20, "%d faults", len(all))
	for _, f := range all {
		for _, locale := range language.All {
			words := TextsOf("fault", locale)
			expect.That(t, words.In("title", f[1]) != "" && words.In("text", f[1]) != "", "%s has no words for %s", locale, f[1])
		}
	}
}

// Exported for the tests of the pages.
var (
	UI     = ui
	Parsed = page
)
