package store

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// held is DynamoDB's answer to a single write while a transaction holds its item.
const held = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ongoing for the item"}`

// Transactions hold rows that other calls update one by one: these calls wait shortly and then succeed.
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
			r.left.Store(4)
			expect.NoError(t, c.write(st.over(r)))
			expect.Is(t, r.refused.Load(), 4, "times refused")
		})
	}
	a := loaded(t, st, ref)
	if len(a.Waits) != 0 || a.Card("CARD#task").State != aggregate.CardPosting {
		t.Errorf("waits %v, the card is %s", a.Waits, a.Card("CARD#task").State)
	}
}
