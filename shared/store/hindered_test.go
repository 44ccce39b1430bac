package store

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// held is DynamoDB's answer to a single write while a transaction holds its item.
const held = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ongoing for the item"}`

// Transactions hold rows that other calls update one by one: these calls wait shortly and then succeed. Three refusals
// are what a call outlasts however long its tries take (table.Unhindered). What is held longer is an error after which
// whoever called is called again.
func testHinderedWrites(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)
	wait := aggregate.Wait{Gate: "PROMPT#0001", Token: "token", Run: 1, Entered: at()}
	for _, c := range []struct {
		name, operation string
		write           func(*taskStore) error
	}{
		{"a claim of a card", "UpdateItem", func(st *taskStore) error {
			_, err := st.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at())
			return err
		}},
		{"a redraw", "UpdateItem", func(st *taskStore) error { return st.Redraw(t.Context(), ref) }},
		{"a run's token", "PutItem", func(st *taskStore) error { return st.PutWait(t.Context(), ref, wait) }},
		{"a token that was answered", "DeleteItem", func(st *taskStore) error { return st.DropWait(t.Context(), ref, wait) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &refuser{operation: c.operation, body: held}
			r.left.Store(1 << 30)
			inTime(t, func() bool {
				begun := time.Now()
				err := c.write(st.over(r))
				expect.Is(t, explain.ClassOf(err), explain.Unavailable, fmt.Sprint("held for good: ", err))
				return time.Since(begun) < 2500*time.Millisecond
			})
			r.refused.Store(0)
			r.left.Store(3)
			expect.NoError(t, c.write(st.over(r)))
			expect.Is(t, r.refused.Load(), 3, "times refused")
		})
	}
	a := loaded(t, st, ref)
	if len(a.Waits) != 0 || a.Card("CARD#task").State != aggregate.CardPosting {
		t.Errorf("waits %v, the card is %s", a.Waits, a.Card("CARD#task").State)
	}
}
