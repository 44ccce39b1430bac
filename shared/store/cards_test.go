package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func testCards(t *testing.T, st *taskStore) {
	for n, c := range []struct {
		name string
		run  func(cardTest)
	}{
		{"from nothing to posted", cardTest.fromNothing},
		{"one's own claim may be made again", func(c cardTest) { c.claimAgain("me", time.Second, false) }},
		{"another's fresh claim stands", func(c cardTest) { c.claimAgain("other", 30*time.Second, true) }},
		{"another's old claim is taken over", func(c cardTest) { c.claimAgain("other", 31*time.Second, false) }},
		{"of 8 who claim at once one does", cardTest.claimAtOnce},
		{"who lost the claim cannot save a message", cardTest.lostClaimPosts},
		{"a posted card cannot be claimed", cardTest.claimPosted},
		{"the hash is saved after an update", cardTest.hash},
		{"of two updates at once the later to save is refused", cardTest.hashSaved},
		{"a message that Slack lost is forgotten, a newer one is not", cardTest.lostMessage},
		{"an unreachable card says why and may be tried again", cardTest.triedAgain},
		{"who lost the claim cannot call the card unreachable, nor release it", cardTest.lostClaimEnds},
		{"a message that may not be changed makes its card unreachable, another's does not", cardTest.unchangeable},
		{"a released card may be claimed at once, and remembers that people were told", cardTest.released},
		{"a card that is not there", cardTest.missing},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(cardTest{t, st, created(t, st, n), "CARD#task"}) })
	}
}

// cardTest tests one card that nobody has claimed yet.
type cardTest struct {
	*testing.T
	st  *taskStore
	ref aggregate.Ref
	key string
}

func (c cardTest) read() aggregate.Card {
	c.Helper()
	return *loaded(c.T, c.st, c.ref).Card(c.key)
}

func (c cardTest) claim(by string, now time.Time) (aggregate.Card, error) {
	return c.st.ClaimCard(c.Context(), c.ref, c.key, by, now, now.Add(-30*time.Second))
}

func (c cardTest) claimed(by string, now time.Time) aggregate.Card {
	c.Helper()
	return expect.Value(c.claim(by, now))(c)
}

func (c cardTest) post(by, message string) error {
	return c.st.PostedCard(c.Context(), c.ref, c.key, by, message, "C1", "hash", nil)
}

func (c cardTest) posted() {
	c.Helper()
	c.claimed("me", at())
	expect.NoError(c, c.post("me", "1.000001"))
}

func (c cardTest) unreachable(by, message string) error {
	return c.st.UnreachableCard(c.Context(), c.ref, c.key, by, message, "is_archived", 7, at())
}

func (c cardTest) fromNothing() {
	want, moment := c.read(), at()
	got := c.claimed("me", moment)
	want.State, want.ClaimedBy, want.ClaimedAt = aggregate.CardPosting, "me", &moment
	expect.Same(c, want, got)
	for range 2 { // the second time as after a lost answer
		expect.NoError(c, c.post("me", "1.000001"))
	}
	want.State, want.ClaimedBy, want.ClaimedAt, want.MessageTS, want.Channel, want.Hash = aggregate.CardPosted, "", nil,
		"1.000001", "C1", "hash"
	expect.Same(c, want, c.read())
}

// claimAgain claims a card for by, some time after "me" claimed it.
func (c cardTest) claimAgain(by string, after time.Duration, refused bool) {
	c.claimed("me", at())
	got, err := c.claim(by, at().Add(after))
	expect.Must(c, errors.Is(err, ErrClaimed) == refused && (err == nil || refused), "%v, want refused %v", err, refused)
	want := by
	if refused {
		want = "me"
	}
	expect.That(c, got.ClaimedBy == want && got.State == aggregate.CardPosting,
		"the returned card is claimed by %q in state %s, want %q", got.ClaimedBy, got.State, want)
}

func (c cardTest) claimAtOnce() {
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { _, errs[i] = c.claim(fmt.Sprint(i), at()) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, ErrClaimed) {
			c.Error(err)
		}
	}
	expect.That(c, won == 1, "%d have the claim, want 1", won)
}

func (c cardTest) lostClaimPosts() {
	c.claimed("me", at())
	c.claimed("other", at().Add(time.Minute))
	wantError(c.T, c.post("me", "1.000001"), ErrClaimed)
	expect.NoError(c, c.post("other", "2.000001"))
	wantError(c.T, c.post("me", "1.000001"), ErrClaimed)
	expect.Is(c, c.read().MessageTS, "2.000001", "message")
}

func (c cardTest) claimPosted() {
	c.posted()
	got, err := c.st.ClaimCard(c.Context(), c.ref, c.key, "other", at().Add(time.Hour), at().Add(time.Hour))
	expect.That(c, errors.Is(err, ErrClaimed) && got.MessageTS == "1.000001" && got.State == aggregate.CardPosted,
		"%v with %s %q, want ErrClaimed with the posted card", err, got.State, got.MessageTS)
}

func cardAt(messageTS string) *aggregate.Card {
	return &aggregate.Card{CardType: "task", MessageTS: messageTS}
}

func (c cardTest) hash() {
	c.posted()
	expect.NoError(c, c.st.ShownCard(c.Context(), c.ref, cardAt("1.000001"), "next", nil))
	expect.Is(c, c.read().Hash, "next", "hash")
	wantError(c.T, c.st.DoubtCard(c.Context(), c.ref, cardAt("2.000001")), ErrClaimed)
	wantError(c.T, c.st.ShownCard(c.Context(), c.ref, cardAt("2.000001"), "other", nil), ErrClaimed)
	// Read before next was saved.
	wantError(c.T, c.st.ShownCard(c.Context(), c.ref, cardAt("1.000001"), "other", nil), ErrClaimed)
	expect.Is(c, c.read().Hash, "next", "hash")
}

// What a drawing saves stays saved though an answer was lost, and ends what others have begun meanwhile.
func (c cardTest) hashSaved() {
	c.posted()
	read := c.read()
	expect.NoError(c, c.st.ShownCard(c.Context(), c.ref, &read, "next", nil))
	begun := c.read()
	expect.NoError(c, c.st.ShownCard(c.Context(), c.ref, &read, "next", nil)) // the first answer was lost
	wantError(c.T, c.st.ShownCard(c.Context(), c.ref, &read, "other", nil), ErrClaimed)
	wantError(c.T, c.st.ShownCard(c.Context(), c.ref, &begun, "other", nil), ErrClaimed)
	begun = c.read()
	expect.NoError(c, c.st.DoubtCard(c.Context(), c.ref, &read))
	if got := c.read(); got.Hash != "" || got.State != aggregate.CardPosted {
		c.Errorf("hash %q in state %s", got.Hash, got.State)
	}
	wantError(c.T, c.st.ShownCard(c.Context(), c.ref, &begun, "other", nil), ErrClaimed)
	now := c.read()
	expect.NoError(c, c.st.ShownCard(c.Context(), c.ref, &now, "mine", nil))
	got := c.read()
	expect.That(c, got.Hash == "mine" && got.Drawn == 4, "%+v", got)
	expect.NoError(c, c.st.GaveBack(c.Context(), c.ref, c.key, "m1/2"))
	want := got
	want.GivenBack = "m1/2"
	expect.Same(c, want, c.read())
}

func (c cardTest) lostMessage() {
	c.posted()
	read := c.read()
	expect.NoError(c, c.st.ShownCard(c.Context(), c.ref, &read, "later", nil))
	row := expect.Value(c.st.ResetCard(c.Context(), c.ref, c.key, "0.000001"))(c)
	expect.That(c, row.State == aggregate.CardPosted && row.MessageTS == "1.000001", "%+v", row)
	row = expect.Value(c.st.ResetCard(c.Context(), c.ref, c.key, "1.000001"))(c)
	expect.That(c, row.MessageTS == "" && row.Drawn == 1, "%+v", row)
	if got := c.read(); got.State != aggregate.CardNone || got.MessageTS != "" || got.Hash != "" {
		c.Errorf("state %s, message %q, hash %q", got.State, got.MessageTS, got.Hash)
	}
	c.claimed("other", at())
}

func (c cardTest) triedAgain() {
	c.claimed("me", at())
	for range 2 { // the first answer was lost
		expect.NoError(c, c.unreachable("me", ""))
	}
	if got := c.read(); got.State != aggregate.CardUnreachable || got.Refusal != "is_archived" || got.TriedRev != 7 ||
		got.ClaimedBy != "" {
		c.Errorf("%+v", got)
	}
	c.claimed("other", at())
	expect.NoError(c, c.post("other", "3.000001"))
	if got := c.read(); got.Refusal != "" || got.TriedRev != 0 {
		c.Errorf("refusal %q at %d stays after a success", got.Refusal, got.TriedRev)
	}
}

func (c cardTest) lostClaimEnds() {
	c.claimed("me", at())
	c.claimed("other", at().Add(time.Minute))
	wantError(c.T, c.unreachable("me", ""), ErrClaimed)
	wantError(c.T, c.st.ReleaseCard(c.Context(), c.ref, c.key, "me"), ErrClaimed)
	got := c.read()
	expect.That(c, got.State == aggregate.CardPosting && got.ClaimedBy == "other" && got.Refusal == "", "%+v", got)
}

func (c cardTest) unchangeable() {
	c.posted()
	wantError(c.T, c.unreachable("other", "9.000001"), ErrClaimed)
	expect.NoError(c, c.unreachable("other", "1.000001"))
	got := c.read()
	expect.That(c, got.State == aggregate.CardUnreachable && got.MessageTS == "1.000001", "%+v", got)
}

func (c cardTest) released() {
	c.claimed("me", at())
	expect.NoError(c, c.unreachable("me", ""))
	c.claimed("me", at())
	expect.NoError(c, c.st.ReleaseCard(c.Context(), c.ref, c.key, "me"))
	got := c.read()
	expect.That(c, got.State == aggregate.CardNone && got.ClaimedBy == "" && got.ClaimedAt == nil &&
		got.Refusal == "is_archived", "%+v", got)
	c.claimed("other", at())
}

func (c cardTest) missing() {
	c.key = "CARD#prompt#0001"
	wantError(c.T, expect.Err(c.claim("me", at())), aggregate.ErrNotFound)
	wantError(c.T, c.unreachable("me", ""), aggregate.ErrNotFound)
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
		expect.That(t, d.dropped.Load() == 1 && load().Common().Leases[0].Same(lease("mine", soon)),
			"no answer was lost, or it is not there")
	}
	last := load().Root().Common()
	was := first.Root().Common()
	expect.That(t, last.Rev == was.Rev && last.DueAt.Equal(*was.DueAt), "the head moved: %+v", last)
}

// A claim relies on a tool's permission even if the tool has no row: here an administrator restricts the tool between
// the read and the claim.
func testClaimBeside(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	decided(t, st, ref, extract, beginPrompt, finishPrompt, approvePrompt, beginProcess, finishProcess(1), approveProcess,
		start)
	read, _, err := st.ToolPermission(t.Context(), tenant, "list_departments")
	expect.Must(t, err == nil && read.Allowed, "%v %v", read, err)
	a := loaded(t, st, ref)
	p := read
	p.Allowed = false
	expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at()))(t)
	c := expect.Value(a.ClaimStep(a.Head.Run, task.Call{Order: 1, Arguments: aggregate.Blob{JSON: "{}", Bytes: 2},
		Tool:  task.ToolRef{Name: "list_departments", Rev: read.Rev},
		Claim: aggregate.Claim{Invocation: "i", LeaseUntil: at().Add(75e9)}}, at()))(t)
	expect.That(t, expect.Err(st.Commit(t.Context(), a, c)) != nil, "the step of a tool that is off was claimed")
}
