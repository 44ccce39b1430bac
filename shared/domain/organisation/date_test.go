package organisation_test

import (
	"testing"
	"time"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

func TestDaysAsPeopleAndSpreadsheetsWriteThem(t *testing.T) {
	for _, s := range []string{"2026-04-01", "2026/04/01", "2026/4/1", "2026-4-1", "20260401"} {
		expect.Is(t, day(s).String(), "2026-04-01", "%s", s)
	}
	for _, s := range []string{"", "2026-02-29", "2026-13-01", "2026-04", "04/01/2026", "260401", "2026-04-01T00:00:00Z",
		"1899-12-31",
		"3000-01-01", "46113", "令和8年4月1日"} {
		_, err := organisation.ParseDate(s)
		expect.That(t, err != nil, "%q is a day", s)
	}
	for _, s := range []string{"1900-01-01", "2028-02-29", "2999-12-31"} {
		expect.Is(t, day(s).String(), s)
	}
	expect.Is(t, day(firstDay)-day(lastDay), 1)
	expect.Is(t, organisation.Date(0).String(), "")
	expect.Is(t, organisation.Date(1).String(), "0001-01-01")
}

// At 15:00 UTC the next day begins in Japan.
func TestADayIsThatOfTheTimesZone(t *testing.T) {
	japan := time.FixedZone("JST", 9*60*60)
	before := time.Date(2027, 3, 31, 14, 59, 59, 999, time.UTC)
	expect.Is(t, organisation.DateOf(before.In(japan)).String(), lastDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second).In(japan)).String(), firstDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second)).String(), lastDay)
}

func TestTheNextChange(t *testing.T) {
	o := twelve(t)
	for after, want := range map[string]string{
		"1900-01-01": firstDay, "2027-03-30": firstDay, lastDay: firstDay, firstDay: "2027-10-01", "2027-09-30": "2027-10-01",
	} {
		got, ok := o.NextChange(day(after))
		expect.That(t, ok && got == day(want), "after %s: %s, %v", after, got, ok)
	}
	_, ok := o.NextChange(day("2027-10-01"))
	expect.That(t, !ok, "something changes after the last change")
}
