package store

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Slack may repeat an event, deliver it late, and in any order.
func testChannelsThatMoved(t *testing.T, st *taskStore) {
	owner := aggregate.TenantID("T0MOVED")
	expect.Same(t, expect.Value(st.Channels(t.Context(), owner))(t), tenancy.Channels{})
	for _, x := range []struct{ was, to, at string }{
		{"C2", "C3", "1612206779.000000"}, {"C1", "C2", "1612206778.000000"}, {"C1", "C2", "1612206778.000000"},
		{"C1", "C9", "1612206700.000000"},
	} {
		expect.NoError(t, st.MoveChannel(t.Context(), owner, x.was, tenancy.Moved{To: x.to, At: x.at}))
	}
	is := expect.Value(st.Channels(t.Context(), owner))(t)
	expect.Same(t, is, tenancy.Channels{"C1": {To: "C2", At: "1612206778.000000"}, "C2": {To: "C3", At: "1612206779.000000"}})
	expect.Is(t, is.Now("C1"), "C3")
	expect.Same(t, expect.Value(st.Channels(t.Context(), aggregate.TenantID("T0OTHER")))(t), tenancy.Channels{})
}
