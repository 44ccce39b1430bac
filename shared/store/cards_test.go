package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ringi/shared/aggregate"
)

func testCards(t *testing.T, st *taskStore) {
	const card = "CARD#task"
	n := 0
	fresh := func(t *testing.T) aggregate.Ref {
		t.Helper()
		n++
		return created(t, st, n)
	}
	read := func(t *testing.T, ref aggregate.Ref) aggregate.Card {
		t.Helper()
		a := loaded(t, st, ref)
		return *a.Card(card)
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		noError(t, err)
	}
	claimed := func(t *testing.T, ref aggregate.Ref, by string, now time.Time) {
		t.Helper()
		_, err := st.ClaimCard(t.Context(), ref, card, by, now, now.Add(-30*time.Second))
		must(t, err)
	}
	posted := func(t *testing.T, ref aggregate.Ref) {
		t.Helper()
		claimed(t, ref, "me", at())
		must(t, st.PostedCard(t.Context(), ref, card, "me", "1.000001", "C1", "hash"))
	}

	t.Run("from nothing to posted", func(t *testing.T) {
		ref := fresh(t)
		was := read(t, ref)
		got, err := st.ClaimCard(t.Context(), ref, card, "me", at(), at().Add(-30*time.Second))
		must(t, err)
		moment := at()
		want := was
		want.State, want.ClaimedBy, want.ClaimedAt = aggregate.CardPosting, "me", &moment
		same(t, want, got)
		for range 2 { // as after a lost answer
			must(t, st.PostedCard(t.Context(), ref, card, "me", "1.000001", "C1", "hash"))
		}
		want.State, want.ClaimedBy, want.ClaimedAt, want.MessageTS, want.Channel, want.Hash = aggregate.CardPosted, "", nil, "1.000001", "C1", "hash"
		same(t, want, read(t, ref))
	})

	for _, c := range []struct {
		name    string
		by      string
		after   time.Duration
		refused bool
	}{
		{"one's own claim may be made again", "me", time.Second, false},
		{"another's fresh claim stands", "other", 30 * time.Second, true},
		{"another's old claim is taken over", "other", 31 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := fresh(t)
			claimed(t, ref, "me", at())
			now := at().Add(c.after)
			got, err := st.ClaimCard(t.Context(), ref, card, c.by, now, now.Add(-30*time.Second))
			if errors.Is(err, ErrClaimed) != c.refused || err != nil && !c.refused {
				t.Fatalf("%v, want refused %v", err, c.refused)
			}
			want := c.by
			if c.refused {
				want = "me"
			}
			if got.ClaimedBy != want || got.State != aggregate.CardPosting {
				t.Errorf("the returned card is claimed by %q in state %s, want %q", got.ClaimedBy, got.State, want)
			}
		})
	}

	t.Run("of 8 who claim at once one does", func(t *testing.T) {
		ref := fresh(t)
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			all.Go(func() {
				_, errs[i] = st.ClaimCard(t.Context(), ref, card, fmt.Sprint(i), at(), at().Add(-30*time.Second))
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, ErrClaimed) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d have the claim, want 1", won)
		}
	})

	t.Run("who lost the claim cannot save a message", func(t *testing.T) {
		ref := fresh(t)
		claimed(t, ref, "me", at())
		claimed(t, ref, "other", at().Add(time.Minute))
		wantError(t, st.PostedCard(t.Context(), ref, card, "me", "1.000001", "C1", "hash"), ErrClaimed)
		must(t, st.PostedCard(t.Context(), ref, card, "other", "2.000001", "C1", "hash"))
		wantError(t, st.PostedCard(t.Context(), ref, card, "me", "1.000001", "C1", "hash"), ErrClaimed)
		if got := read(t, ref).MessageTS; got != "2.000001" {
			t.Errorf("message %s, want the other's", got)
		}
	})

	t.Run("a posted card cannot be claimed", func(t *testing.T) {
		ref := fresh(t)
		posted(t, ref)
		got, err := st.ClaimCard(t.Context(), ref, card, "other", at().Add(time.Hour), at().Add(time.Hour))
		if !errors.Is(err, ErrClaimed) || got.MessageTS != "1.000001" || got.State != aggregate.CardPosted {
			t.Errorf("%v with %s %q, want ErrClaimed with the posted card", err, got.State, got.MessageTS)
		}
	})

	t.Run("the hash is cleared before an update and saved after it", func(t *testing.T) {
		ref := fresh(t)
		posted(t, ref)
		must(t, st.ForgetCard(t.Context(), ref, card, "1.000001"))
		if got := read(t, ref); got.Hash != "" || got.State != aggregate.CardPosted {
			t.Errorf("hash %q in state %s", got.Hash, got.State)
		}
		must(t, st.ShownCard(t.Context(), ref, card, "1.000001", "next"))
		if got := read(t, ref).Hash; got != "next" {
			t.Errorf("hash %q, want the next", got)
		}
		for name, err := range map[string]error{
			"forget": st.ForgetCard(t.Context(), ref, card, "2.000001"), "show": st.ShownCard(t.Context(), ref, card, "2.000001", "other"),
		} {
			if !errors.Is(err, ErrClaimed) {
				t.Errorf("%s another message: %v, want ErrClaimed", name, err)
			}
		}
		if got := read(t, ref).Hash; got != "next" {
			t.Errorf("hash %q, want it untouched", got)
		}
	})

	t.Run("a message that Slack lost is forgotten, a newer one is not", func(t *testing.T) {
		ref := fresh(t)
		posted(t, ref)
		must(t, st.ResetCard(t.Context(), ref, card, "0.000001"))
		if got := read(t, ref).State; got != aggregate.CardPosted {
			t.Errorf("state %s, want posted", got)
		}
		must(t, st.ResetCard(t.Context(), ref, card, "1.000001"))
		if got := read(t, ref); got.State != aggregate.CardNone || got.MessageTS != "" || got.Hash != "" {
			t.Errorf("state %s, message %q, hash %q", got.State, got.MessageTS, got.Hash)
		}
		claimed(t, ref, "other", at())
	})

	t.Run("an unreachable card says why and may be tried again", func(t *testing.T) {
		ref := fresh(t)
		claimed(t, ref, "me", at())
		must(t, st.UnreachableCard(t.Context(), ref, card, "me", "", "is_archived", 7, at()))
		must(t, st.UnreachableCard(t.Context(), ref, card, "me", "", "is_archived", 7, at())) // its answer was lost
		if got := read(t, ref); got.State != aggregate.CardUnreachable || got.Refusal != "is_archived" || got.TriedRev != 7 || got.ClaimedBy != "" {
			t.Errorf("%+v", got)
		}
		claimed(t, ref, "other", at())
		must(t, st.PostedCard(t.Context(), ref, card, "other", "3.000001", "C1", "hash"))
		if got := read(t, ref); got.Refusal != "" || got.TriedRev != 0 {
			t.Errorf("refusal %q at %d stays after a success", got.Refusal, got.TriedRev)
		}
	})

	t.Run("who lost the claim cannot call the card unreachable, nor release it", func(t *testing.T) {
		ref := fresh(t)
		claimed(t, ref, "me", at())
		claimed(t, ref, "other", at().Add(time.Minute))
		for name, err := range map[string]error{
			"unreachable": st.UnreachableCard(t.Context(), ref, card, "me", "", "is_archived", 7, at()),
			"release":     st.ReleaseCard(t.Context(), ref, card, "me"),
		} {
			if !errors.Is(err, ErrClaimed) {
				t.Errorf("%s: %v, want ErrClaimed", name, err)
			}
		}
		if got := read(t, ref); got.State != aggregate.CardPosting || got.ClaimedBy != "other" || got.Refusal != "" {
			t.Errorf("%+v", got)
		}
	})

	t.Run("a message that may not be changed makes its card unreachable, another's does not", func(t *testing.T) {
		ref := fresh(t)
		posted(t, ref)
		wantError(t, st.UnreachableCard(t.Context(), ref, card, "other", "9.000001", "is_archived", 7, at()), ErrClaimed)
		must(t, st.UnreachableCard(t.Context(), ref, card, "other", "1.000001", "is_archived", 7, at()))
		if got := read(t, ref); got.State != aggregate.CardUnreachable || got.MessageTS != "1.000001" {
			t.Errorf("%+v", got)
		}
	})

	t.Run("a released card may be claimed at once, and remembers that people were told", func(t *testing.T) {
		ref := fresh(t)
		claimed(t, ref, "me", at())
		must(t, st.UnreachableCard(t.Context(), ref, card, "me", "", "is_archived", 7, at()))
		claimed(t, ref, "me", at())
		must(t, st.ReleaseCard(t.Context(), ref, card, "me"))
		if got := read(t, ref); got.State != aggregate.CardNone || got.ClaimedBy != "" || got.ClaimedAt != nil || got.Refusal != "is_archived" {
			t.Errorf("%+v", got)
		}
		claimed(t, ref, "other", at())
	})

	t.Run("a card that is not there", func(t *testing.T) {
		ref := fresh(t)
		if _, err := st.ClaimCard(t.Context(), ref, "CARD#prompt#0001", "me", at(), at()); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("claim: %v", err)
		}
		if err := st.UnreachableCard(t.Context(), ref, "CARD#prompt#0001", "me", "", "is_archived", 1, at()); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("unreachable: %v", err)
		}
		if got := len(rows(t, st, "TASK#"+ref.Tenant+"#"+ref.ID)); got != 3 {
			t.Errorf("%d rows, want the three", got)
		}
	})
}
