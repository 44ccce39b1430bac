package tenancy

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// shippedHolidays are Japan's national holidays of 2026 to 2028 with the days off that follow from them, by law
// (https://www8.cao.go.jp/chosei/shukujitsu/gaiyou.html). The Cabinet Office announces the equinoxes of a year in
// February of the year before: those of 2028 are computed.
//
//go:embed holidays.txt
var shippedHolidays string

// WorkingDay reports whether a day is one of Monday to Friday and no holiday. After the last year of the list only
// weekends are off.
func WorkingDay(d Date) bool {
	weekday := dayBegins(d).In(Zone()).Weekday()
	return weekday != time.Saturday && weekday != time.Sunday &&
		!slices.Contains(strings.Fields(shippedHolidays), d.String())
}

// NextReminder returns the working day on which people are reminded next of what waits for them, and when: at once if
// that is not after now. day is the one whose turn it is; 0: any whose time is still to come. Without a RemindAt there
// is no day, and the time is when to look again.
func (s Settings) NextReminder(day Date, now time.Time) (Date, time.Time) {
	clock, ok := clockOf(s.RemindAt)
	if !ok {
		return 0, now.AddDate(0, 0, 1)
	}
	today := DateOf(now.In(Zone()))
	if day == 0 && !now.Before(dayBegins(today).Add(clock)) {
		day = today + 1
	}
	for day = max(day, today); !WorkingDay(day); {
		day++
	}
	return day, dayBegins(day).Add(clock)
}

// clockOf returns how long after midnight a time such as 09:30 is; false if the text is none.
func clockOf(text string) (time.Duration, bool) {
	t, err := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err == nil
}

func isClockOrNone(text string) bool {
	_, ok := clockOf(text)
	return ok || text == ""
}

// Reminding is the row of a tenant where something waits for people by name. It says on which day they are reminded
// next (0: that is not known yet), and when.
type Reminding struct {
	aggregate.Meta
	TenantID string    `json:"tenant_id"`
	Day      Date      `json:"day,omitempty"`
	DueAt    time.Time `json:"due_at"`
}

// RemindPrefix begins the partition of a tenant's Reminding; RemindersDue is the partition of GSI2 that has those of
// all tenants, by when they are due.
const RemindPrefix, RemindersDue = "REMIND#", "REMINDERS#DUE"

// Place is in a partition of its own.
func (r Reminding) Place() (partition, key, typ string) {
	return RemindPrefix + r.TenantID, "REMIND", "reminding"
}

// Indexes returns the row's key in GSI2.
func (r Reminding) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 2, PK: RemindersDue, SK: aggregate.TimeText(r.DueAt) + "#" + r.TenantID}}
}

// Over puts the row in the place of was, the zero value if there is none. One that is never due is deleted.
func (r Reminding) Over(was Reminding) Change {
	r.Rev, r.DueAt = was.Rev+1, moment(r.DueAt)
	w := Write{Row: r, Over: was.Rev}
	if r.DueAt.IsZero() {
		w = Write{Row: was, Delete: true, If: map[string]any{"rev": was.Rev}}
	}
	return Change{Tenant: r.TenantID, Writes: []Write{w}}
}
