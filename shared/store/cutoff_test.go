package store

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
)

// hanging holds back the answers of one operation until the caller gives up. If reaches is set, the call itself is
// made.
type hanging struct {
	operation string
	reaches   bool
}

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if operation(r) != h.operation {
		return http.DefaultTransport.RoundTrip(r)
	}
	if h.reaches {
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		res.Body.Close()
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// When a decision's deadline ends during its commit, the store looks once more for the commit. It must not report an
// unseen commit as unsaved, unless the deadline ended before the commit.
func testCutOff(t *testing.T, st *taskStore) {
	for i, tt := range []struct {
		name        string
		transport   hanging
		saved       bool
		unconfirmed bool
	}{
		{"an answer that never comes", hanging{"TransactWriteItems", true}, true, false},
		{"a call that never arrives", hanging{"TransactWriteItems", false}, false, true},
		{"rows that never come", hanging{"Query", false}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 10 * i
			inTime(t, func() bool {
				n++
				ref := waitingPrompt(t, st, n)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				_, err := st.over(tt.transport).Decide(ctx, ref, approvePrompt)
				t.Log(err)
				return (err == nil) == tt.saved && errors.Is(err, aggregate.ErrUnconfirmed) == tt.unconfirmed && ctx.Err() == nil
			})
		})
	}
}
