package store

import (
	"testing"

	"ringi/shared/aggregate"
	"ringi/shared/expect"
)

// A further workspace's settings have what bounds its day, whatever is saved; the own workspace's don't, nor those of one that has no row yet.
func testFurther(t *testing.T, st *taskStore) {
	own := workspace("T0OWN")
	own.Own = true
	own = expect.Value(st.Bootstrap(t.Context(), own, at()))(t)
	second := expect.Value(st.Bootstrap(t.Context(), workspace("T0SECOND"), at()))(t)
	bounds := func(tenant string, want float64) {
		t.Helper()
		if s := expect.Value(st.Settings(t.Context(), tenant))(t); s.FurtherDay != aggregate.USD(want) {
			t.Errorf("%s is bounded by %s", tenant, s.FurtherDay)
		}
	}
	bounds(second.ID, 0) // nobody said
	for _, usd := range []string{"", "0", "-1", "x", "NaN", "0.0000001"} {
		if st.CapFurther(usd) == nil {
			t.Errorf("%q is taken", usd)
		}
	}
	expect.NoError(t, st.CapFurther("2.5"))
	bounds(own.ID, 0)
	bounds(second.ID, 2.5)
	bounds(aggregate.TenantID("T0FIRSTCONTACT"), 0)
	expect.NoError(t, st.MarkOwn(t.Context(), second, true, at()))
	bounds(second.ID, 0)
	expect.NoError(t, st.MarkOwn(t.Context(), second, false, at()))
	bounds(second.ID, 2.5)
}
