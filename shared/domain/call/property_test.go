package call

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// oracle says what may be of a call, by the words of the rules alone: who stamped, how often it was made, how it ended.
type oracle struct {
	stamped        bool
	stampedAt      time.Time
	made, taken    int
	holder, taker  string // whose claim it is, which attempt has the grant
	lease, takenAt time.Time
}

// Whatever happens in whatever order, a call is made or granted once at most, only with a stamp of somebody else than
// who answers for it, and the key's counter counts it until it is over.
func TestNoOrderOfThingsMakesACallTwiceOrUnstamped(t *testing.T) {
	expect.Walks(t, func(reached map[Status]int) {
		rapid.Check(t, func(rt *rapid.T) {
			tool := rapid.SampledFrom([]string{"write_rows", "Bash"}).Draw(rt, "tool")
			x := asking(rt, tool, `{"command":"x"}`)
			x.LooksUp = rapid.IntRange(0, 3).Draw(rt, "rules") == 0
			w, o := asked(rt, x), &oracle{}
			for i := range rapid.IntRange(5, 40).Draw(rt, "moves") {
				w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 25 * time.Hour,
					400 * time.Hour}).Draw(rt, "elapsed"))
				o.move(rt, w, i)
				is := w.a.Call
				expect.Must(rt, o.made+o.taken <= 1 && (o.made+o.taken == 0 || o.stamped), "made %d, taken %d, stamped %v",
					o.made,
					o.taken, o.stamped)
				expect.Must(rt, (w.open == 0) == is.Over() && w.open >= 0, "%s, and the counter says %d", is.Status, w.open)
				expect.Must(rt, w.a.Head.Run >= 1 && (!w.a.work(w.now) || w.a.DueAt(w.now) != nil), "a run that nobody looks after")
				expect.Must(rt, is.Over() || w.a.DueAt(w.now.Add(time.Second)) != nil, "%s, and nobody looks after it", is.Status)
				reached[is.Status]++
			}
		})
	}, slices.Collect(maps.Keys(Moves))...)
}

func (o *oracle) move(rt *rapid.T, w *world, i int) {
	was, unopened := w.a.Call.Status, w.a.Call.Unopened()
	who := rapid.SampledFrom([]string{sato, suzuki, "U_TAKADA"}).Draw(rt, "who")
	name := fmt.Sprint("i", rapid.IntRange(max(0, i-3), i).Draw(rt, "of"))
	aged := o.stamped && w.now.After(o.stampedAt.AddDate(0, 0, aggregate.ApprovalDays))
	switch rapid.SampledFrom([]string{"stamp", "stamp", "stamp", "back", "claim", "claim", "claim", "finish",
		"finish", "finish", "take", "take", "take", "cancel", "confirm", "sweep", "revoke", "route", "route"}).Draw(rt,
		"move") {
	case "stamp":
		err := w.act(circulation.Stamp, who, "")
		may := was == conversation.ActionPending && !unopened && who != sato
		expect.Must(rt, (w.a.Call.Status == conversation.ActionApproved && was == conversation.ActionPending) == may,
			"%s stamped a call that was %s: %v", who, was, err)
		if may {
			o.stamped, o.stampedAt = true, *w.a.Call.Gate.ApprovedAt
		}
	case "back":
		_ = w.act(circulation.SendBack, who, "no")
	case "claim":
		err := w.claim(name)
		may := was == conversation.ActionApproved && !aged && !w.a.Call.Elsewhere
		expect.Must(rt, (err == nil) == may, "claimed: %v, it was %s", err, was)
		if may {
			o.made++
			o.holder, o.lease = name, w.now.Add(time.Minute)
		}
	case "finish":
		if o.holder != "" && rapid.Bool().Draw(rt, "of the holder") {
			name = o.holder
		}
		err := w.finish(name, Result{Status: rapid.SampledFrom([]Status{conversation.ActionSucceeded,
			conversation.ActionFailed}).Draw(rt, "result")})
		expect.Must(rt, (err == nil) == (o.holder != "" && o.holder == name), "the result of %s, %s has it: %v", name,
			o.holder, err)
	case "take":
		err := w.take(name)
		first := was == conversation.ActionApproved && !aged && w.a.Call.Elsewhere && w.key.Stands(w.now) == nil
		again := o.taker != "" && o.taker == name && w.now.Sub(o.takenAt) < tellAgain
		expect.Must(rt, (err == nil) == (first || again), "taken by %s: %v, it was %s", name, err, was)
		if first {
			o.taken++
			o.taker, o.takenAt = name, *w.a.Call.CompletedAt
		}
	case "cancel":
		_ = w.do(w.a.Cancel("k1", w.now))
		expect.Must(rt, was != conversation.ActionExecuting || w.a.Call.Status == was, "cancelled while it was made")
	case "confirm":
		unknown := w.a.Call.Outcome == conversation.OutcomeUnknown
		err := w.do(w.a.Confirm(w.a.Call.CallID, person(who), policy, w.now))
		expect.Must(rt, (w.a.Call.Status == conversation.ActionSucceeded) == (was == conversation.ActionSucceeded || unknown),
			"confirmed: %v, it was %s and is %s", err, was, w.a.Call.Status)
	case "route":
		r := Routed{Terms: w.a.Call.Gate.Terms}
		if rapid.Bool().Draw(rt, "refused") {
			r.Refused = &aggregate.Refusal{Why: task.ReasonRuleRefuses}
		}
		err := w.do(w.a.Route(w.a.Head.Run, r, w.now))
		expect.Must(rt, (err == nil) == unopened && (w.a.Call.Status == Refused) == (was == Refused || unopened &&
			r.Refused != nil), "routed: %v, it was %s and is %s", err, was, w.a.Call.Status)
	case "revoke":
		if i < 20 { // most walks go on
			return
		}
		w.key.RevokedAt = &w.now
		w.must(w.a.Follow(w.key, w.now))
		expect.Must(rt, w.a.Call.Over() || was == conversation.ActionExecuting, "its key is revoked, and it is %s",
			w.a.Call.Status)
	case "sweep":
		for _, x := range w.a.Overdue(w.now) {
			_ = w.do(x.Decide(w.a))
		}
		lost := was == conversation.ActionExecuting && !w.now.Before(o.lease)
		expect.Must(rt, lost == (was == conversation.ActionExecuting && w.a.Call.Status == conversation.ActionFailed),
			"the sweeper made %s of %s", w.a.Call.Status, was)
	}
}

// A call goes no further than its key: it ends once the key is revoked, has ended or lost the tool.
func TestACallEndsWithItsKey(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(k *tenancy.Key, now time.Time)
		why    aggregate.Reason
	}{
		"revoked":       {func(k *tenancy.Key, now time.Time) { k.RevokedAt = &now }, ReasonKey},
		"ended":         {func(k *tenancy.Key, now time.Time) { k.ExpiresAt = now }, ReasonKey},
		"lost the tool": {func(k *tenancy.Key, _ time.Time) { k.Tools = []string{"write_rows"} }, ReasonKeyTool},
	} {
		for _, stamped := range []bool{false, true} {
			w := asked(t, asking(t, "Bash", `{"command":"rm x"}`))
			if stamped {
				expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
			}
			tt.change(&w.key, w.now)
			taken := *w
			_, over := errors.AsType[tenancy.ErrKey](taken.take("one"))
			expect.That(t, over, "%s: taken", name)
			for range 2 {
				w.must(w.a.Follow(w.key, w.now))
			}
			expect.That(t, w.a.Call.CancelReason == tt.why && w.a.Call.Over() && w.open == 0, "%s: %+v", name, w.a.Call)
		}
	}
}

// A call on which nobody acted is forgotten in time; where people acted it stays as long as the audit log.
func TestWhatNobodyActedOnIsForgotten(t *testing.T) {
	for acted, forgotten := range map[bool]bool{false: true, true: false} {
		w := asked(t, asking(t, "write_rows", `{"a":1}`, func(x *Proposal) { x.Keep = 30 }))
		if acted {
			expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
		}
		w.must(w.a.Cancel("k1", start))
		w.a.Head.ShownRev = w.a.Head.Rev
		at := w.a.Call.CompletedAt.AddDate(0, 0, 30)
		expect.That(t, !w.a.Forgotten(at.Add(-1)) && w.a.Forgotten(at) == forgotten &&
			(w.a.Effects(at).Erased != nil) == forgotten && (w.a.DueAt(w.now) != nil) == forgotten, "acted %t", acted)
	}
}
