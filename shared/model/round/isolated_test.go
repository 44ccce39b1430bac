package round_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// room stands in for isolation: it answers what a test says.
type room struct {
	orders []isolated.Order
	lines  []string
	end    isolated.End
	errs   []error
}

func (r *room) Run(_ context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	r.orders = append(r.orders, o)
	if n := len(r.orders); n <= len(r.errs) {
		return isolated.End{}, r.errs[n-1]
	}
	for _, l := range r.lines {
		if err := onLine(isolated.Line{Text: l}); err != nil {
			return isolated.End{}, err
		}
	}
	return r.end, nil
}

func TestAMembersScriptGetsNothingAndKeepsNothing(t *testing.T) {
	r := &room{lines: []string{"42", "7"}, end: isolated.End{ExitCode: 3, TimedOut: true, Missing: "python3", Dropped: 2, Limit: isolated.EndedByMemory}}
	for range 2 {
		got := expect.Value(round.Isolated(r).Run(t.Context(), "echo 42"))(t)
		want := "42\n7\n(2 more lines)\n(it was ended after its time limit)\n(the tool python3 is not installed)\n(" + isolated.EndedByMemory + ")\nexit code: 3"
		expect.That(t, got == want, "%q", got)
	}
	for _, o := range r.orders {
		expect.NoError(t, o.Validate())
		expect.That(t, o.Workspace == "" && o.Cancel == "" && o.Upload.URL == "" && o.Script == "echo 42", "%+v", o)
	}
	expect.That(t, r.orders[0].Action != r.orders[1].Action, "two scripts share a sandbox")
	r.lines = strings.Split(strings.Repeat(strings.Repeat("x", 1000)+"\n", 100), "\n")
	if got := expect.Value(round.Isolated(r).Run(t.Context(), "x"))(t); len(got) > 32<<10 || !strings.Contains(got, "more lines)") {
		t.Errorf("%d bytes", len(got))
	}
}

func TestAScriptRunsOnceOrNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notYet, never := fmt.Errorf("busy: %w", isolated.ErrNotBegun), fmt.Errorf("gone: %w: %w", isolated.ErrCannot, isolated.ErrNotBegun)
		for about, tt := range map[string]struct {
			errs   []error
			orders int
			fails  string
		}{
			"not to be had at first": {[]error{notYet, notYet}, 3, ""}, "not to be had": {[]error{notYet, notYet, notYet}, 3, "could not be run"},
			"never to be had": {[]error{never}, 1, "can't be executed here"}, "lost on its way": {[]error{errors.New("cut off: secret words")}, 1, "nobody knows"},
		} {
			r := &room{errs: tt.errs}
			_, err := round.Isolated(r).Run(t.Context(), "x")
			if len(r.orders) != tt.orders || (err != nil) != (tt.fails != "") || err != nil && (!strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%s: %d orders, %v", about, len(r.orders), err)
			}
		}
		r := &room{}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		expect.Value(round.Isolated(r).Run(ctx, "x"))(t)
		expect.Is(t, r.orders[0].TimeoutSeconds, 10, "%+v", r.orders)
		short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := round.Isolated(r).Run(short, "x"); err == nil || len(r.orders) != 1 {
			t.Errorf("%v", err)
		}
		if _, err := round.Isolated(r).Run(t.Context(), strings.Repeat("x", isolated.MaxScript+1)); err == nil || len(r.orders) != 1 {
			t.Errorf("%v", err)
		}
	})
}
