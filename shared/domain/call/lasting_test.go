package call

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

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
			expect.That(t, over == (tt.why != ""), "%s: taken", name)
			for range 2 {
				w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.now) })
			}
			ends := tt.why != ""
			expect.That(t, w.a.Call.CancelReason == tt.why && w.a.Call.Over() == ends && (w.open == 0) == ends,
				"%s: %+v", name, w.a.Call)
		}
	}
	w := asked(t, asking(t, "Bash", `{"command":"rm x"}`))
	w.key.ExpiresAt = w.now.Add(time.Hour)
	w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.now) })
	w.a.Head.ShownRev = w.a.Head.Rev
	expect.That(t, w.a.DueAt(w.now).Equal(w.key.ExpiresAt), "due %s", w.a.DueAt(w.now))
	expect.Fails(t, w.do(func(a *Aggregate) (aggregate.Change, error) { return a.keyEnds(w.now) }), aggregate.ErrNotDue)
	w.now = w.key.ExpiresAt
	w.must(func(a *Aggregate) (aggregate.Change, error) { return a.keyEnds(w.now) })
	expect.Is(t, w.a.Call.CancelReason, ReasonKey)
}

// A call on which nobody acted is forgotten in time; where people acted it stays as long as the audit log.
func TestWhatNobodyActedOnIsForgotten(t *testing.T) {
	cancel := func(a *Aggregate) (aggregate.Change, error) { return a.Cancel("k1", start) }
	for acted, forgotten := range map[bool]bool{false: true, true: false} {
		w := asked(t, asking(t, "write_rows", `{"a":1}`, func(x *Proposal) { x.Keep = 30 }))
		if acted {
			expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
		}
		w.must(cancel)
		w.a.Head.ShownRev = w.a.Head.Rev
		at := w.a.Call.CompletedAt.AddDate(0, 0, 30)
		expect.That(t, !w.a.Forgotten(at.Add(-1)) && w.a.Forgotten(at) == forgotten &&
			(w.a.Effects(at).Erased != nil) == forgotten && (w.a.DueAt(w.now) != nil) == forgotten, "acted %t", acted)
	}
}

// Who answers for the key may cancel a call of it, also under a rule.
func TestWhoAnswersForTheKeyCancelsACall(t *testing.T) {
	for _, ruled := range []bool{false, true} {
		for who, may := range map[string]bool{sato: true, "U_OTHER": false} {
			w := asked(t, asking(t, "Bash", `{"command":"rm x"}`, func(x *Proposal) {
				if ruled {
					x.Opening = &aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1},
						Askers: []circulation.Person{{User: sato}}, Route: circulation.Route{Form: circulation.Form,
							Stages: []circulation.Stage{{Mode: circulation.ModePeople, Need: 1,
								People: []circulation.Person{{User: suzuki}}}}}}
				}
			}))
			by := person(who)
			by.Member = false
			expect.Is(t, w.a.Call.AnsweredBy(who), may, who)
			_, err := w.a.End(by, policy, w.now)
			_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
			expect.That(t, refused != may && (err == nil) == may, "%s, ruled %t: %v", who, ruled, err)
		}
	}
}
