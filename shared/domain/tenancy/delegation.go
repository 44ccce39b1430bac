package tenancy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
)

const (
	// MaxDelegationDays is how many days a delegation has at most, its first and last included.
	MaxDelegationDays = 92
	// MaxDelegationAhead is how many days from now a delegation may begin at the latest.
	MaxDelegationAhead = 366
	// MaxDelegations is how many delegations that are not over a person has at most, for whom others stand in; and for
	// how many people one stands in. They are counted as they were read: two that are set at once may be one more.
	MaxDelegations = 20
	// MaxDelegationsOfTwo is how many that are not over the same two have at most, so that no principal takes up all
	// that a hand may have.
	MaxDelegationsOfTwo = 5
	// MaxDelegationRules is how many rules a delegation may name. One for more is for all. Each act by it holds them.
	MaxDelegationRules = 20
	// delegationKept is for how many days a delegation's row is kept once it is over. The audit log has it for longer.
	delegationKept = 400
)

// The rules that a delegation can break.
const (
	RuleOwnHand   Rule = "own_hand"   // the hand is the principal
	RuleSetter    Rule = "setter"     // who sets one for another would be the hand
	RuleOthers    Rule = "others"     // of somebody else, set or ended by who is no administrator
	RulePast      Rule = "past"       // the first day is over
	RuleAhead     Rule = "ahead"      // the first day is too far away
	RuleDays      Rule = "days"       // too many days
	RuleBackwards Rule = "backwards"  // the last day is before the first
	RuleMost      Rule = "most"       // the principal has as many as may be
	RuleMostHand  Rule = "most_hand"  // the hand stands in for as many people as may be
	RuleMostOfTwo Rule = "most_two"   // the same two have as many as may be
	RuleSet       Rule = "set"        // the same two have one from that day on
	RuleNoAccount Rule = "no_account" // a key can't name somebody
	RuleMostRules Rule = "most_rules" // it names too many rules

	// What callers find out.
	RuleNoEmployee Rule = "no_employee" // the hand is no employee in the organisation
	RuleNoRow      Rule = "no_row"      // the principal is not in the organisation
	RuleOnLeave    Rule = "on_leave"    // the principal is on leave or seconded
	RuleParty      Rule = "party"       // the principal owes something on the administrator's own request
)

// Before reports whether a delegation comes before an absence on some day and for some rule: its hand is asked first.
func (d Delegation) Before(absence Delegation) bool {
	return !d.Absence() && d.Principal.Is(absence.Principal) && d.From <= absence.Until && absence.From <= d.Until &&
		(len(d.Rules) == 0 || len(absence.Rules) == 0 || slices.ContainsFunc(d.Rules, func(id string) bool {
			return slices.Contains(absence.Rules, id)
		}))
}

// DelegationRules lists them.
var DelegationRules = []Rule{
	RuleOwnHand, RuleSetter, RuleOthers, RulePast, RuleAhead, RuleDays, RuleBackwards, RuleMost, RuleMostHand, RuleMostOfTwo, RuleSet,
	RuleNoAccount, RuleMostRules, RuleNoEmployee, RuleNoRow, RuleOnLeave, RuleParty,
}

// Delegation is the row by which a hand stands in for a principal, on the days From to Until of the tenant's zone. It
// begins when it is set, if that is later. An absence has no hand: it says that the principal is away, so that rules
// ask whom they name instead.
type Delegation struct {
	aggregate.Meta
	TenantID    string             `json:"tenant_id"`
	Hand        circulation.Person `json:"hand,omitzero"`
	Principal   circulation.Person `json:"principal"`
	From        organisation.Date  `json:"from"`
	Until       organisation.Date  `json:"until"`
	Rules       []string           `json:"rules,omitempty"` // ids of the rules for which it counts; none: for all
	Begins      time.Time          `json:"begins_at"`
	Begun       bool               `json:"begun,omitempty"` // the cards that wait were drawn again since it begins
	Ends        time.Time          `json:"ends_at"`         // then it no longer counts; EndedAt may be earlier
	SetBy       string             `json:"set_by"`
	SetAt       time.Time          `json:"set_at"`
	EndedAt     *time.Time         `json:"ended_at,omitempty"`
	EndedBy     string             `json:"ended_by,omitempty"`
	DeleteAfter int64              `json:"delete_after"`
	// Team and Channel are the principal's direct messages. There they are told what was done for them since Since,
	// once it is over; ListedAt is when that was noted.
	Team     string     `json:"team,omitempty"`
	Channel  string     `json:"channel,omitempty"`
	Since    time.Time  `json:"since,omitzero"`
	ListedAt *time.Time `json:"listed_at,omitempty"`
}

// DelegatePrefix begins the partition with a tenant's delegations.
const DelegatePrefix = "DELEGATE#"

// PersonKey returns by what keys name somebody: their key of the organisation, or else their account.
func PersonKey(p circulation.Person) string {
	if p.Person != "" {
		return p.Person
	}
	return p.User
}

// Key returns the row's sort key.
func (d Delegation) Key() string {
	return PersonKey(d.Hand) + "#" + PersonKey(d.Principal) + "#" + d.From.String()
}

// Absence reports whether it has no hand.
func (d Delegation) Absence() bool { return d.Hand == circulation.Person{} }

// Place is in a partition that holds only the tenant's delegations.
func (d Delegation) Place() (partition, key, typ string) {
	return DelegatePrefix + d.TenantID, d.Key(), "delegation"
}

// DelegatedBy returns the partition of GSI1 that has a principal's delegations.
func DelegatedBy(tenant, principal string) string {
	return "TENANT#" + tenant + "#DELEGATED#" + principal
}

// StandsInBy returns the partition of GSI3 that has the delegations by which an account stands in for others.
func StandsInBy(tenant, account string) string { return "TENANT#" + tenant + "#STANDS#" + account }

// DelegationsDue is the partition of GSI2 that has all tenants' delegations: by when they begin, until the cards that
// wait are drawn again, and then by when they end, until their principals are told what was done.
const DelegationsDue = "DELEGATIONS#DUE"

// Indexes returns the row's keys in GSI1: by principal, and there by the first day; in GSI3: by the hand's account, and
// there by principal and first day; and in GSI2 while something is due.
func (d Delegation) Indexes(aggregate.Root) []aggregate.Index {
	out := []aggregate.Index{
		{N: 1, PK: DelegatedBy(d.TenantID, PersonKey(d.Principal)), SK: d.From.String() + "#" + PersonKey(d.Hand)},
	}
	if d.Absence() {
		return out
	}
	out = append(out, aggregate.Index{N: 3, PK: StandsInBy(d.TenantID, d.Hand.User),
		SK: PersonKey(d.Principal) + "#" + d.From.String()})
	due := d.Begins
	if !d.Comes() {
		due = d.StandIn().Ends
	}
	if d.Comes() || d.Channel != "" && d.ListedAt == nil {
		out = append(out, aggregate.Index{N: 2, PK: DelegationsDue,
			SK: aggregate.TimeText(due) + "#" + d.TenantID + "#" + d.Key()})
	}
	return out
}

// StandIn returns the delegation as decisions need it.
func (d Delegation) StandIn() circulation.StandIn {
	s := circulation.StandIn{Delegation: circulation.Delegation{Key: d.Key(), Rev: d.Rev, Rules: d.Rules},
		Hand: d.Hand, Principal: d.Principal, SetBy: circulation.Person{User: d.SetBy}, Begins: d.Begins, Ends: d.Ends}
	if d.EndedAt != nil && d.EndedAt.Before(s.Ends) {
		s.Ends = *d.EndedAt
	}
	return s
}

// Comes reports whether Begin is due, at Begins.
func (d Delegation) Comes() bool { return !d.Begun && d.EndedAt == nil }

// Over reports whether it will count at no later time.
func (d Delegation) Over(now time.Time) bool { return d.EndedAt != nil || !now.Before(d.Ends) }

// Counts reports whether it counts at a time.
func (d Delegation) Counts(now time.Time) bool {
	s := d.StandIn()
	return s.Counts(now)
}

// Party reports whether somebody is the delegation's hand or principal, who may both end it.
func (d Delegation) Party(p circulation.Person) bool { return p.Is(d.Hand) || p.Is(d.Principal) }

// Setter is who sets or ends a delegation.
type Setter struct {
	aggregate.Actor
	Person circulation.Person
	Admin  bool
}

// may returns a problem unless the setter is one of these people or an administrator.
func (by Setter) may(people ...circulation.Person) error {
	if err := bySomebody(by.Actor); err != nil {
		return err
	}
	if !by.Admin && !slices.ContainsFunc(people, by.Person.Is) {
		return problem("principal", RuleOthers)
	}
	return nil
}

// Set puts a delegation in the place of was, the row with its key as it was read, the zero value if there is none. of
// are the principal's delegations and theirs those by which the hand stands in for others, as they were read. The same
// delegation once more changes nothing. That hand and principal are full members the caller has asked Slack.
//
// It returns ErrField with one of DelegationRules, and if the setter is not a person.
func (d Delegation) Set(was Delegation, of, theirs []Delegation, by Setter, now time.Time) (Delegation, Change, error) {
	now = moment(now)
	if err := d.fits(by, now); err != nil {
		return d, Change{}, err
	}
	switch {
	case was.Rev > 0 && !was.Over(now) && was.Until == d.Until && slices.Equal(was.Rules, d.Rules):
		return was, Change{}, nil
	case was.Rev > 0 && !was.Over(now):
		return d, Change{}, problem("from", RuleSet)
	case open(of, now) >= MaxDelegations:
		return d, Change{}, problem("principal", RuleMost)
	}
	ofTwo, others := d.beside(theirs, now)
	switch {
	case ofTwo >= MaxDelegationsOfTwo:
		return d, Change{}, problem("hand", RuleMostOfTwo)
	case others >= MaxDelegations:
		return d, Change{}, problem("hand", RuleMostHand)
	}
	d.Rev, d.SetBy, d.SetAt, d.EndedAt, d.EndedBy = was.Rev+1, by.ID, now, nil, ""
	d.ListedAt, d.Since = nil, now
	if was.Rev > 0 && was.ListedAt == nil && !was.Since.IsZero() { // what was done before isn't told yet
		d.Since = was.Since
	}
	if d.Begins = dayBegins(d.From); d.Begins.Before(now) {
		d.Begins = now
	}
	d.Begun = d.Begins.Equal(now)
	d.Ends = dayBegins(d.Until + 1)
	d.DeleteAfter = d.Ends.AddDate(0, 0, delegationKept).Unix()
	return d, d.changed(was.Rev, AuditDelegationSet, by, now), nil
}

// fits returns what forbids a delegation that begins at now or later.
func (d Delegation) fits(by Setter, now time.Time) error {
	today := organisation.DateOf(now.In(Zone()))
	switch {
	case !keyed(d.Principal), !d.Absence() && !keyed(d.Hand):
		return problem("hand", RuleNoAccount)
	case d.Hand.Is(d.Principal):
		return problem("hand", RuleOwnHand)
	case by.Person.Is(d.Hand): // who is not the principal
		return problem("hand", RuleSetter)
	case by.may(d.Principal) != nil:
		return by.may(d.Principal)
	case d.From < today:
		return problem("from", RulePast)
	case d.From > today+MaxDelegationAhead:
		return problem("from", RuleAhead)
	case d.Until < d.From:
		return problem("until", RuleBackwards)
	case d.Until-d.From >= MaxDelegationDays:
		return problem("until", RuleDays)
	case len(d.Rules) > MaxDelegationRules:
		return problem("rules", RuleMostRules)
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
	return Change{Tenant: d.TenantID, Redraw: true, Owes: d.Principal.User, Writes: []Write{{Row: d, Over: over}},
		Audit: []aggregate.AuditEntry{entry(d.TenantID, what, "delegation", d.Key(), d.details(), by.Actor, now)}}
}

// Begin notes that a delegation has begun. Cards that wait for the principal are drawn again, and the hand gets theirs.
func (d Delegation) Begin() Change {
	over := d.Rev
	d.Rev, d.Begun = over+1, true
	return Change{Tenant: d.TenantID, Redraw: true, Owes: d.Principal.User, Writes: []Write{{Row: d, Over: over}}}
}

// Listed notes that the principal of a delegation that is over is told what was done for them.
func (d Delegation) Listed(now time.Time) Change {
	now, over := moment(now), d.Rev
	d.Rev, d.ListedAt = over+1, &now
	return Change{Tenant: d.TenantID, Writes: []Write{{Row: d, Over: over}}}
}

func (d Delegation) details() map[string]any {
	details := map[string]any{"principal": d.Principal.User, "from": d.From.String(), "until": d.Until.String(),
		"revision": d.Rev}
	if !d.Absence() {
		details["hand"] = d.Hand.User
	}
	if len(d.Rules) > 0 {
		details["only_rules"] = d.Rules
	}
	return details
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

// beside counts, of those that are not over by which the hand of d stands in for others, those of d's principal, and
// the other principals.
func (d Delegation) beside(theirs []Delegation, now time.Time) (ofTwo, others int) {
	var seen []circulation.Person
	for _, x := range theirs {
		switch {
		case x.Over(now):
		case x.Principal.Is(d.Principal):
			ofTwo++
		case !slices.ContainsFunc(seen, x.Principal.Is):
			seen = append(seen, x.Principal)
		}
	}
	return ofTwo, len(seen)
}

// keyed reports whether a row's key can name somebody.
func keyed(p circulation.Person) bool {
	key := PersonKey(p)
	return like(&userForm)(p.User) && key != "" && len(key) <= 100 && !strings.Contains(key, "#")
}

// dayBegins returns the first moment of a day in the tenant's zone.
func dayBegins(d organisation.Date) time.Time {
	at, err := time.ParseInLocation(time.DateOnly, d.String(), Zone())
	if err != nil {
		panic(fmt.Sprintf("day %d: %v", d, err)) // fits has refused it
	}
	return at.UTC()
}

func problem(field string, rule Rule) error { return Problem{Field: field, Rule: rule}.Err() }

// StoodList is the prefix of the lists of what was done for people by those who stand in for them.
const StoodList = "STOOD#"

// Stood is an act that a hand did for a principal. It is put in the act's Change, and never changed.
type Stood struct {
	aggregate.Meta
	Delegation  string           `json:"delegation"` // key of its row
	DoneAt      time.Time        `json:"done_at"`
	Kind        string           `json:"kind"` // of aggregate
	ID          string           `json:"id"`
	Gate        string           `json:"gate"` // id
	Stage       int              `json:"stage"`
	Did         circulation.Kind `json:"did"`
	Hand        string           `json:"hand"` // account
	DeleteAfter int64            `json:"delete_after"`
}

// StoodOf returns the list's entry of an act that was done by a delegation with this key, at a time. The list is that
// of the delegation's principal, whom a route may know by another key.
func StoodOf(ref aggregate.Ref, gate string, act *circulation.Act, delegation string, at time.Time) aggregate.Listed {
	x := &Stood{Delegation: delegation, DoneAt: at, Kind: ref.Kind, ID: ref.ID, Gate: gate, Stage: act.Stage,
		Did:  act.Kind,
		Hand: act.Hand.User, DeleteAfter: at.AddDate(0, 0, MaxDelegationDays+delegationKept).Unix()}
	of := strings.Split(delegation, "#")
	return aggregate.Listed{List: StoodList, Of: of[min(1, len(of)-1)], Row: x}
}

// StoodFrom returns where entries of a time begin in their list.
func StoodFrom(at time.Time) string { return aggregate.TimeText(at) }

func (x *Stood) Key() string {
	return strings.Join([]string{aggregate.TimeText(x.DoneAt), x.ID, x.Gate, strconv.Itoa(x.Stage), string(x.Did),
		x.Hand}, "#")
}

func (*Stood) Type() string { return "stood" }

func (x Stood) At(rev int) aggregate.Row { x.Rev = rev; return &x }
