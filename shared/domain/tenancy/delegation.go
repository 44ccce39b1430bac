package tenancy

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

const (
	// MaxDelegationDays is how many days a delegation has at most, its first and last included.
	MaxDelegationDays = 92
	// MaxDelegationAhead is how many days from now a delegation may begin at the latest.
	MaxDelegationAhead = 366
	// MaxDelegations is how many delegations that are not over a person has at most, for whom others stand in; and by
	// how many one stands in. They are counted as they were read: two that are set at once may be one more.
	MaxDelegations = 20
	// delegationKept is for how many days a delegation's row is kept once it is over. The audit log has it for longer.
	delegationKept = 400
)

// Delegation is the row by which a hand stands in for a principal, both accounts, on the days From to Until of the
// tenant's zone. It begins when it is set, if that is later.
type Delegation struct {
	aggregate.Meta
	TenantID    string     `json:"tenant_id"`
	Hand        string     `json:"hand"`
	Principal   string     `json:"principal"`
	From        Date       `json:"from"`
	Until       Date       `json:"until"`
	SetBy       string     `json:"set_by"`
	SetAt       time.Time  `json:"set_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	EndedBy     string     `json:"ended_by,omitempty"`
	DeleteAfter int64      `json:"delete_after"`
}

// DelegatePrefix begins the partition with a tenant's delegations.
const DelegatePrefix = "DELEGATE#"

// Key returns the row's sort key.
func (d Delegation) Key() string { return d.Hand + "#" + d.Principal + "#" + d.From.String() }

// Place is in a partition that holds only the tenant's delegations.
func (d Delegation) Place() (partition, key, typ string) {
	return DelegatePrefix + d.TenantID, d.Key(), "delegation"
}

// DelegatedBy returns the partition of GSI1 that has a principal's delegations.
func DelegatedBy(tenant, principal string) string {
	return "TENANT#" + tenant + "#DELEGATED#" + principal
}

// Indexes returns the row's keys in GSI1: by principal, and there by the first day.
func (d Delegation) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 1, PK: DelegatedBy(d.TenantID, d.Principal), SK: d.From.String() + "#" + d.Hand}}
}

// StandIn returns the delegation as decisions need it.
func (d Delegation) StandIn() circulation.StandIn {
	s := circulation.StandIn{Delegation: circulation.Delegation{Key: d.Key(), Rev: d.Rev},
		Hand: circulation.Person{User: d.Hand}, Principal: circulation.Person{User: d.Principal},
		SetBy: circulation.Person{User: d.SetBy}, Begins: dayBegins(d.From), Ends: dayBegins(d.Until + 1)}
	if s.Begins.Before(d.SetAt) {
		s.Begins = d.SetAt
	}
	if d.EndedAt != nil && d.EndedAt.Before(s.Ends) {
		s.Ends = *d.EndedAt
	}
	return s
}

// Over reports whether it will count at no later time.
func (d Delegation) Over(now time.Time) bool {
	return d.EndedAt != nil || !now.Before(dayBegins(d.Until+1))
}

// Counts reports whether it counts at a time.
func (d Delegation) Counts(now time.Time) bool {
	s := d.StandIn()
	return s.Counts(now)
}

// Setter is who sets or ends a delegation.
type Setter struct {
	aggregate.Actor
	Admin bool
}

// may returns a problem unless the setter is one of these people or an administrator.
func (by Setter) may(users ...string) error {
	if err := bySomebody(by.Actor); err != nil {
		return err
	}
	if !by.Admin && !slices.Contains(users, by.ID) {
		return aggregate.Problem{Field: "principal", Code: "others"}
	}
	return nil
}

// Set puts a delegation in the place of was, the row with its key as it was read, the zero value if there is none. of
// are the principal's delegations and theirs those by which the hand stands in for others, as they were read. The same
// delegation once more changes nothing. That the hand is a full member the caller has asked Slack: the principal may
// have left.
//
// It returns a Problem, also if the setter is not a person.
func (d Delegation) Set(was Delegation, of, theirs []Delegation, by Setter, now time.Time) (Delegation, Change, error) {
	now = moment(now)
	if err := d.fits(by, now); err != nil {
		return d, Change{}, err
	}
	switch {
	case was.Rev > 0 && !was.Over(now) && was.Until == d.Until:
		return was, Change{}, nil
	case was.Rev > 0 && !was.Over(now):
		return d, Change{}, aggregate.Problem{Field: "from", Code: "set"}
	case open(of, now) >= MaxDelegations:
		return d, Change{}, aggregate.Problem{Field: "principal", Code: "most_stand_ins", Args: []any{MaxDelegations}}
	case open(theirs, now) >= MaxDelegations:
		return d, Change{}, aggregate.Problem{Field: "hand", Code: "most_hand", Args: []any{MaxDelegations}}
	}
	d.Rev, d.SetBy, d.SetAt, d.EndedAt, d.EndedBy = was.Rev+1, by.ID, now, nil, ""
	d.DeleteAfter = dayBegins(d.Until+1).AddDate(0, 0, delegationKept).Unix()
	return d, d.changed(was.Rev, AuditDelegationSet, by, now), nil
}

// fits returns what forbids a delegation that begins at now or later.
func (d Delegation) fits(by Setter, now time.Time) error {
	today := DateOf(now.In(Zone()))
	switch {
	case !like(&aggregate.UserForm)(d.Principal), !like(&aggregate.UserForm)(d.Hand):
		return aggregate.Problem{Field: "hand", Code: "no_account"}
	case d.Hand == d.Principal:
		return aggregate.Problem{Field: "hand", Code: "own_hand"}
	case by.ID == d.Hand: // who is not the principal
		return aggregate.Problem{Field: "hand", Code: "setter"}
	case by.may(d.Principal) != nil:
		return by.may(d.Principal)
	case d.From < today:
		return aggregate.Problem{Field: "from", Code: "past"}
	case d.From > today+MaxDelegationAhead:
		return aggregate.Problem{Field: "from", Code: "ahead"}
	case d.Until < d.From:
		return aggregate.Problem{Field: "until", Code: "backwards"}
	case d.Until-d.From >= MaxDelegationDays:
		return aggregate.Problem{Field: "until", Code: "days", Args: []any{MaxDelegationDays}}
	}
	return nil
}

// End ends a delegation early, from now on, also by its hand, who was not asked. One that is over changes nothing.
func (d Delegation) End(by Setter, now time.Time) (Delegation, Change, error) {
	now = moment(now)
	if err := by.may(d.Principal, d.Hand); err != nil {
		return d, Change{}, err
	}
	if d.Over(now) {
		return d, Change{}, nil
	}
	over := d.Rev
	d.Rev, d.EndedAt, d.EndedBy = over+1, &now, by.ID
	return d, d.changed(over, AuditDelegationEnded, by, now), nil
}

// changed writes the row over a revision of it. Cards that wait for the principal say who stands in.
func (d Delegation) changed(over int, what aggregate.Action, by Setter, now time.Time) Change {
	details := map[string]any{"hand": d.Hand, "principal": d.Principal, "from": d.From.String(),
		"until": d.Until.String(), "revision": d.Rev}
	return Change{Tenant: d.TenantID, Redraw: true, Owes: d.Principal, Writes: []Write{{Row: d, Over: over}},
		Audit: []aggregate.AuditEntry{entry(d.TenantID, what, "delegation", d.Key(), details, by.Actor, now)}}
}

// open counts the delegations that are not over.
func open(all []Delegation, now time.Time) (n int) {
	for _, d := range all {
		if !d.Over(now) {
			n++
		}
	}
	return n
}

// dayBegins returns the first moment of a day in the tenant's zone.
func dayBegins(d Date) time.Time {
	y, m, day := d.utc().Date()
	return time.Date(y, m, day, 0, 0, 0, 0, Zone()).UTC()
}

// Date is a calendar day, counted from 1970-01-01, which is no day.
type Date int

// DateOf returns the calendar day of a time in the time's own zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// ParseDate reads a day such as 2026-04-01.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	d := DateOf(t)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no day", s)
	}
	return d, nil
}

func (d Date) utc() time.Time { return time.Unix(0, 0).UTC().AddDate(0, 0, int(d)) }

// String returns the day as 2026-04-01, and nothing for no day.
func (d Date) String() string {
	if d <= 0 {
		return ""
	}
	return d.utc().Format(time.DateOnly)
}

func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))
	return err
}

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
	TenantID  string    `json:"tenant_id"`
	Day       Date      `json:"day,omitempty"`
	DueAt     time.Time `json:"due_at"`
	LookAgain bool      `json:"look_again,omitempty"` // somebody left: people are to be looked up again
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
