package store_test

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func TestWhoIsToBeRemindedIsFoundByTime(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	now := time.Date(2026, 11, 20, 0, 30, 0, 0, time.UTC)
	due := func(at time.Time) (out []tenancy.Reminding) {
		for r, err := range s.DueReminders(t.Context(), at) {
			expect.NoError(t, err)
			out = append(out, r)
		}
		return out
	}
	save := func(next, was tenancy.Reminding) error { return s.SaveReminding(t.Context(), next, was) }
	none := tenancy.Reminding{}
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T2", DueAt: now.Add(time.Second)}, none))
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T1", DueAt: now}, none))
	err := save(tenancy.Reminding{TenantID: "T1", DueAt: now.Add(time.Hour)}, none)
	expect.That(t, errors.Is(err, aggregate.ErrConflict), "another row is made: %v", err)
	expect.Is(t, len(due(now.Add(-time.Millisecond))), 0)
	expect.Is(t, len(due(now)), 1)
	all := due(now.Add(time.Second))
	expect.Must(t, len(all) == 2 && all[0].TenantID == "T1" && all[0].Day == 0 && all[1].TenantID == "T2", "%+v", all)
	next := all[0]
	next.Day, next.After, next.DueAt = organisation.DateOf(now), "U1", now.Add(time.Hour)
	expect.NoError(t, save(next, all[0]))
	for _, stale := range []tenancy.Reminding{next, {TenantID: "T1"}} {
		err = save(stale, all[0])
		expect.That(t, errors.Is(err, aggregate.ErrConflict), "over what has changed: %v", err)
	}
	is := due(now.Add(2 * time.Hour))
	expect.Must(t, len(is) == 2 && is[1].Day == next.Day && is[1].After == "U1" && is[1].Rev == 2, "%+v", is)
	expect.NoError(t, save(tenancy.Reminding{TenantID: "T1"}, is[1]))
	expect.Is(t, len(due(now.Add(2*time.Hour))), 1, "the row that was ended stays due")
}
