package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// testCards lets several callers act on one card: who does what, "!" where it is refused with ErrClaimed, and what the
// row says in the end. Claims are made some seconds after the first, and are stale after 30.
func testCards(t *testing.T, st *taskStore) {
	for n, c := range []struct{ name, acts, row string }{
		{"from nothing to posted, also where an answer was lost", "me claims 0, me posts 1.1, me posts 1.1",
			"posted 1.1 C1 hash"},
		{"one's own claim may be made again", "me claims 0, me claims 1", "posting by me at 1"},
		{"another's fresh claim stands", "me claims 0, other claims 30 !", "posting by me at 0"},
		{"another's old claim is taken over", "me claims 0, other claims 31", "posting by other at 31"},
		{"who lost the claim cannot save a message",
			"me claims 0, other claims 60, me posts 1.1 !, other posts 2.1, me posts 1.1 !", "posted 2.1 C1 hash"},
		{"a posted card cannot be claimed", "me claims 0, me posts 1.1, other claims 3600 !", "posted 1.1 C1 hash"},
		{"a newer message than the lost one stays", "me claims 0, me posts 1.1, slack lost 0.1", "posted 1.1 C1 hash"},
		{"a message that Slack lost is forgotten", "me claims 0, me posts 1.1, slack lost 1.1", "none"},
		{"and may be posted again", "me claims 0, me posts 1.1, slack lost 1.1, other claims 0", "posting by other at 0"},
		{"an unreachable card says why, also where an answer was lost", "me claims 0, me fails , me fails ",
			"unreachable because is_archived at revision 7"},
		{"and may be tried again", "me claims 0, me fails , other claims 0, other posts 3.1", "posted 3.1 C1 hash"},
		{"who lost the claim cannot call the card unreachable, nor release it",
			"me claims 0, other claims 60, me fails !, me releases !", "posting by other at 60"},
		{"a message that may not be changed makes its card unreachable, another's does not",
			"me claims 0, me posts 1.1, other fails 9.1 !, other fails 1.1",
			"unreachable 1.1 C1 because is_archived at revision 7"},
		{"a released card remembers that people were told", "me claims 0, me fails , me claims 0, me releases",
			"none because is_archived at revision 7"},
		{"and may be claimed at once", "me claims 0, me releases, other claims 0", "posting by other at 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := cardTest{t, st, created(t, st, n), "CARD#task"}
			for act := range strings.SplitSeq(c.acts, ", ") {
				word := append(strings.Split(act, " "), "", "")
				err, want := k.act(word[0], word[1], word[2]), error(nil)
				if strings.HasSuffix(act, "!") {
					want = ErrClaimed
				}
				expect.Fails(t, err, want, act)
			}
			expect.Is(t, k.row(), c.row)
		})
	}
	for n, run := range []func(cardTest){cardTest.claimAtOnce, cardTest.drawn, cardTest.missing} {
		run(cardTest{t, st, created(t, st, 100+n), "CARD#task"})
	}
}

// cardTest tests one card that nobody has claimed yet.
type cardTest struct {
	*testing.T
	st  *taskStore
	ref aggregate.Ref
	key string
}

func (c cardTest) act(by, does, with string) error {
	ctx := c.Context()
	with = strings.TrimSuffix(with, "!")
	switch does {
	case "claims":
		now := at().Add(expect.Value(time.ParseDuration(with + "s"))(c))
		got, err := c.st.ClaimCard(ctx, c.ref, c.key, by, now, now.Add(-30*time.Second))
		expect.Same(c, c.read(), got) // also who lost is told who has it
		return err
	case "posts":
		return c.st.PostedCard(ctx, c.ref, c.key, by, with, "C1", "hash", nil)
	case "fails":
		return c.st.UnreachableCard(ctx, c.ref, c.key, by, with, "is_archived", 7, at())
	case "releases":
		return c.st.ReleaseCard(ctx, c.ref, c.key, by)
	default:
		row, err := c.st.ResetCard(ctx, c.ref, c.key, with)
		expect.Same(c, c.read(), row)
		return err
	}
}

func (c cardTest) read() aggregate.Card {
	c.Helper()
	return *loaded(c.T, c.st, c.ref).Card(c.key)
}

// row is what the row says in words.
func (c cardTest) row() string {
	x := c.read()
	words := []string{string(x.State)}
	if x.MessageTS != "" {
		words = append(words, x.MessageTS, x.Channel, x.Hash)
	}
	if x.ClaimedAt != nil {
		words = append(words, fmt.Sprintf("by %s at %.0f", x.ClaimedBy, x.ClaimedAt.Sub(at()).Seconds()))
	}
	if x.Refusal != "" || x.TriedRev != 0 {
		words = append(words, fmt.Sprintf("because %s at revision %d", x.Refusal, x.TriedRev))
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

func (c cardTest) claimAtOnce() {
	won, lost := atOnce(c, 8, func(i int) error {
		return expect.Err(c.st.ClaimCard(c.Context(), c.ref, c.key, fmt.Sprint(i), at(), at().Add(-30*time.Second)))
	}, ErrClaimed)
	expect.That(c, won == 1 && lost == 7, "%d have the claim", won)
}

// What a drawing saves stays saved though an answer was lost, and ends what others have begun meanwhile.
func (c cardTest) drawn() {
	c.act("me", "claims", "0")
	expect.NoError(c, c.act("me", "posts", "1.1"))
	shown := func(as aggregate.Card, hash string) error {
		return c.st.ShownCard(c.Context(), c.ref, &as, hash, nil)
	}
	another := aggregate.Card{CardType: "task", MessageTS: "2.1"}
	wantError(c.T, c.st.DoubtCard(c.Context(), c.ref, &another), ErrClaimed)
	wantError(c.T, shown(another, "other"), ErrClaimed)
	read := c.read()
	expect.NoError(c, shown(read, "next"))
	begun := c.read()
	expect.NoError(c, shown(read, "next")) // the first answer was lost
	wantError(c.T, shown(read, "other"), ErrClaimed)
	wantError(c.T, shown(begun, "other"), ErrClaimed)
	expect.Is(c, c.read().Hash, "next")
	begun = c.read()
	expect.NoError(c, c.st.DoubtCard(c.Context(), c.ref, &read))
	expect.Is(c, c.row(), "posted 1.1 C1")
	wantError(c.T, shown(begun, "other"), ErrClaimed)
	expect.NoError(c, shown(c.read(), "mine"))
	want := c.read()
	expect.That(c, want.Hash == "mine" && want.Drawn == 4, "%+v", want)
	expect.NoError(c, c.st.GaveBack(c.Context(), c.ref, c.key, "m1/2"))
	want.GivenBack = "m1/2"
	expect.Same(c, want, c.read())
}

func (c cardTest) missing() {
	c.key = "CARD#prompt#0001"
	wantError(c.T, expect.Err(c.st.ClaimCard(c.Context(), c.ref, c.key, "me", at(), at())), aggregate.ErrNotFound)
	wantError(c.T, c.act("me", "fails", ""), aggregate.ErrNotFound)
	expect.Is(c, len(rows(c.T, c.st, "TASK#"+c.ref.Tenant+"#"+c.ref.ID)), 3, "rows")
}

func testLeases(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	lease := func(by string, until time.Time) *aggregate.Lease {
		return &aggregate.Lease{Of: "EXECUTION#0001#001", Invocation: by, LeaseUntil: until, Failing: &until}
	}
	load := func() aggregate.Aggregate {
		t.Helper()
		return expect.Value(st.Store.Load(t.Context(), ref))(t)
	}
	first := load()
	put := func(on *Store, a aggregate.Aggregate, l *aggregate.Lease, want error) {
		t.Helper()
		expect.Fails(t, on.PutLease(t.Context(), a, l), want, "%+v", l)
	}
	soon := at().Add(30 * time.Second)
	put(st.Store, first, lease("mine", soon), nil)
	put(st.Store, first, lease("another", soon), aggregate.ErrInFlight)
	put(st.Store, first, lease("mine", soon), nil) // the same again is an answer that was lost
	second := load()
	is := second.Common().Leases
	expect.That(t, len(is) == 1 && is[0].Same(lease("mine", soon)) && is[0].Failing.Equal(soon), "%+v", is)
	put(st.Store, second, lease("mine", soon.Add(time.Minute)), nil)                    // renewed
	put(st.Store, second, lease("another", soon.Add(time.Hour)), aggregate.ErrInFlight) // as it was before
	put(st.Store, load(), lease("", soon.Add(time.Minute)), nil)                        // released
	for _, options := range [][]func(*dynamodb.Options){nil, {oneTry}} {
		d := dropping("PutItem", 1)
		soon = soon.Add(time.Hour)
		put(st.over(d, options...).Store, load(), lease("mine", soon), nil)
		expect.That(t, d.met.Load() == 1 && load().Common().Leases[0].Same(lease("mine", soon)),
			"no answer was lost, or it is not there")
	}
	last := load().Root().Common()
	was := first.Root().Common()
	expect.That(t, last.Rev == was.Rev && last.DueAt.Equal(*was.DueAt), "the head moved: %+v", last)
}
