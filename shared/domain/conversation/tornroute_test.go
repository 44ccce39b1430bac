package conversation

import (
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// An action whose row and head are of different moments, as a read may have them, is not claimed.
func TestAClaimOverATornReadOfARouteRunsNothing(t *testing.T) {
	tb := circulating(t, along(desk(suzuki), desk(tanaka)))
	tb.makes(tb.acting(circulation.Stamp, suzuki), "action.stamped")
	tb.makes(tb.acting(circulation.Stamp, tanaka), "action.approved")
	expect.NoError(t, tb.begin())
	key, torn := tb.load().Current().Key(), 0
	for head := range tb.images {
		for row := range tb.images {
			was := tb.images[head]
			if tb.images[row].rows[key] == was.rows[key] {
				continue
			}
			a := &Aggregate{Head: was.head}
			for k, r := range was.rows {
				if k != key {
					a.Add(r)
				}
			}
			if x := tb.images[row].rows[key]; x != nil {
				a.Add(x)
			}
			torn++
			_, err := a.Claim(a.Head.Run, "i1", tb.now.Add(time.Minute), tb.now)
			expect.That(t, err != nil, "the head of %d with the action of %d: it is claimed", head, row)
		}
	}
	expect.That(t, torn > 8, "only %d torn reads", torn)
	_, err := tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
	expect.NoError(t, err)
}
