package organisation_test

import (
	"fmt"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// toldByDay returns what differs, each day with its lines.
func toldByDay(all []organisation.DayDifferences, more bool) string {
	text := ""
	if more {
		text = "more\n"
	}
	for _, d := range all {
		text += d.From.String() + "\n" + toldOf(d.Differences)
	}
	return text
}

// A difference is told on the first day on which it is one.
func TestWhatDiffersIsToldByDay(t *testing.T) {
	was := read(t, file(top, "2,Bob,,A,,,,,,,employee,,", "3,Eve,,A,,,,,,,employee,,2027-03-31"))
	is := read(t, file(top, "2,Bob,,A,,,,,,,employee,,2027-03-31", "2,Bob,,A,,,aide,5,,,employee,2027-04-01,",
		"4,Dan,,A,,,,,,,employee,2027-10-01,2027-12-31"))
	expect.Same(t, `2026-04-01
3 Eve goes
2027-04-01
2 Bob: position ["aide"], was [""]
2027-10-01
4 Dan comes
`, toldByDay(organisation.Changes(was, is, day("2026-04-01"))))
	expect.Is(t, toldByDay(organisation.Changes(is, is, day("2026-04-01"))), "")
	expect.Same(t, `2027-05-01
1 Ann comes
2 Bob comes
A  begins
2027-10-01
4 Dan comes
`, toldByDay(organisation.Changes(nil, is, day("2027-05-01"))))
}

func TestVersionsAreComparedOnSoManyDays(t *testing.T) {
	rows := []string{top}
	for i := range organisation.MaxChanges {
		rows = append(rows, fmt.Sprintf("%d,Bob,,A,,,,,,,employee,2027-01-%02d,", i+2, i+1))
	}
	all, more := organisation.Changes(nil, read(t, file(rows...)), day("2026-12-31"))
	expect.That(t, more && len(all) == organisation.MaxChanges, "%d days, more: %v", len(all), more)
	all, more = organisation.Changes(nil, read(t, file(rows[:len(rows)-1]...)), day("2026-12-31"))
	expect.That(t, !more && len(all) == organisation.MaxChanges, "%d days, more: %v", len(all), more)
}
