package tenancy

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
)

// The rules that settings about reminders can break.
const (
	RuleClock Rule = "clock" // a time of the day, or empty
	RuleQuiet Rule = "quiet" // people are not reminded in their quiet hours
)

// QuietHours are the hours of each day, in the tenant's zone, in which nobody is reminded. They may last over midnight.
// An empty From or To is midnight; if both are empty, there are none.
type QuietHours struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// shippedHolidays are Japan's national holidays of 2026 to 2028 with the days off that follow from them, by law
// (https://www8.cao.go.jp/chosei/shukujitsu/gaiyou.html). The Cabinet Office announces the equinoxes of a year in
// February of the year before: those of 2028 are computed.
//
//go:embed holidays.txt
var shippedHolidays string

// MaxHolidays is how many days off the settings may list.
const MaxHolidays = 400

// WorkingDay reports whether a day is one of Monday to Friday and no holiday. After the last year of the list that
// ships, or of the settings' own, only weekends are off.
func (s Settings) WorkingDay(d organisation.Date) bool {
	off := s.Holidays
	if len(off) == 0 {
		off = strings.Fields(shippedHolidays)
	}
	weekday := dayBegins(d).In(Zone()).Weekday()
	return weekday != time.Saturday && weekday != time.Sunday && !slices.Contains(off, d.String())
}

// NextReminder returns the working day on which people are reminded next of what waits for them, and when: at once if
// that is not after now. day is the one whose turn it is; 0: any whose time is still to come. In quiet hours it is when
// they end. Without a RemindAt there is no day, and the time is when to look again.
func (s Settings) NextReminder(day organisation.Date, now time.Time) (organisation.Date, time.Time) {
	clock, ok := clockOf(s.RemindAt)
	if !ok {
		return 0, now.AddDate(0, 0, 1)
	}
	today := organisation.DateOf(now.In(Zone()))
	if day == 0 && !now.Before(dayBegins(today).Add(clock)) {
		day = today + 1
	}
	for day = max(day, today); !s.WorkingDay(day); {
		day++
	}
	at := dayBegins(day).Add(clock)
	if since := now.Sub(dayBegins(today)); !at.After(now) && s.QuietHours.at(since) {
		_, to := s.QuietHours.clocks()
		if at = dayBegins(today).Add(to); to <= since {
			at = dayBegins(today + 1).Add(to)
		}
	}
	return day, at
}

// Quiet reports whether nobody is reminded at a time.
func (s Settings) Quiet(now time.Time) bool {
	return s.QuietHours.at(now.Sub(dayBegins(organisation.DateOf(now.In(Zone())))))
}

func (q QuietHours) at(clock time.Duration) bool {
	from, to := q.clocks()
	if from < to {
		return clock >= from && clock < to
	}
	return q != QuietHours{} && (clock >= from || clock < to)
}

func (q QuietHours) clocks() (from, to time.Duration) {
	from, _ = clockOf(q.From)
	to, some := clockOf(q.To)
	if !some && q.From != "" {
		to = 24 * time.Hour
	}
	return from, to
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

func isDay(text string) bool {
	d, err := organisation.ParseDate(text)
	return err == nil && d.String() == text
}

// remindProblems returns the problem of a RemindAt in the quiet hours.
func (s Settings) remindProblems() (all []Problem) {
	if clock, ok := clockOf(s.RemindAt); ok && s.QuietHours.at(clock) {
		all = append(all, Problem{Field: "remind_at", Rule: RuleQuiet})
	}
	return all
}

// Reminding is the row of a tenant where something waits for people by name. It says on which day they are reminded
// next (0: that is not known yet), when, and of whom on that day the last one was.
type Reminding struct {
	aggregate.Meta
	TenantID string            `json:"tenant_id"`
	Day      organisation.Date `json:"day,omitempty"`
	DueAt    time.Time         `json:"due_at"`
	After    string            `json:"after,omitempty"`
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
