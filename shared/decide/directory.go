package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// Accounts say whose an account is.
type Accounts interface {
	// Number returns the employee number of the person to whom an account belongs.
	Number(account string) (number string, known bool)
	// ByNumber returns a person's accounts, by id.
	ByNumber(number string) []organisation.Matched
}

// Organisation is the version of an organisation that stands for a tenant.
type Organisation struct {
	Version  string
	People   *organisation.Organisation
	Accounts Accounts
}

// Standing returns the organisation that stands, nil if none does.
func Standing(s store.StandingOrganisation) *Organisation {
	if s.Organisation == nil {
		return nil
	}
	return &Organisation{Version: s.Version, People: s.Organisation, Accounts: s.Accounts}
}

// Slack is what a workspace says. What must be asked first is noted by whoever implements it.
type Slack interface {
	// Full reports whether an account is a full member's: nobody else stamps along a route.
	Full(user string) bool
	// Members returns the accounts of a user group.
	Members(group string) []string
	// Handle returns what a user group is called, such as @keiri, or its id.
	Handle(group string) string
	// InChannel returns members of a channel, and whether they are all.
	InChannel(channel string) (members []string, all bool)
}

// Directory is a rules.Directory.
type Directory struct {
	Slack
	org *Organisation
}

// NewDirectory returns the directory of an organisation, nil for a tenant without one.
func NewDirectory(org *Organisation, slack Slack) *Directory {
	return &Directory{Slack: slack, org: org}
}

// Settle calls do until the directory knows all that do asks of it, and returns the last call's error. ask asks Slack
// what do lacked, and reports whether that was anything. do must have no effect but its result.
func (d *Directory) Settle(do func() error, ask func() (some bool, err error)) error {
	for {
		err := do()
		asked, failed := ask()
		switch {
		case failed != nil:
			return failed
		case !asked:
			return err
		}
	}
}

// Org returns the version of the organisation, empty while none stands.
func (d *Directory) Org() string {
	if d.org == nil {
		return ""
	}
	return d.org.Version
}

// Person returns whose an account is.
func (d *Directory) Person(user string) circulation.Person {
	p := circulation.Person{User: user}
	if d.org != nil {
		p.Person, _ = d.org.Accounts.Number(user)
	}
	return p
}

// MayStamp reports whether somebody has a full member's account and, while an organisation stands, is an employee.
func (d *Directory) MayStamp(p circulation.Person) bool {
	return (d.org == nil || d.employee(p)) && p.User != "" && d.Full(p.User)
}

// mostLooked bounds how many members of a channel are looked up in the search for one who may stamp.
const mostLooked = 20

// Empty reports whether a channel has no full member beside these people, as far as Slack says, who is an employee:
// nobody else stamps at a channel's stage.
func (d *Directory) Empty(channel string, but []circulation.Person) bool {
	members, all := d.InChannel(channel)
	looked := 0
	for _, user := range members {
		p := d.Person(user)
		if slices.ContainsFunc(but, p.Is) || d.org != nil && !d.employee(p) {
			continue
		}
		if looked++; looked > mostLooked || d.Full(user) {
			return false
		}
	}
	return all
}

// employee reports whether somebody is an employee in the organisation.
func (d *Directory) employee(p circulation.Person) bool {
	is, here := d.org.People.Person(p.Person)
	return here && is.Kind == organisation.Employee
}

// Manager returns who stands directly above somebody.
func (d *Directory) Manager(p circulation.Person) (circulation.Person, bool) {
	if d.org == nil {
		return circulation.Person{}, false
	}
	above, ok := d.org.People.Manager(p.Person)
	if !ok {
		return circulation.Person{}, false
	}
	return d.account(above.Number), true
}

// Topmost reports whether nobody stands above somebody because the organisation says so.
func (d *Directory) Topmost(p circulation.Person) bool {
	return d.org != nil && d.org.People.Topmost(p.Person)
}

// Over returns who stands over a position of a department, whoever holds it.
func (d *Directory) Over(department, position string) (circulation.Person, bool) {
	if d.org == nil {
		return circulation.Person{}, false
	}
	over, ok := d.org.People.Over(department, position)
	if !ok {
		return circulation.Person{}, false
	}
	return d.account(over.Number), true
}

// Knows reports whether the organisation has a department and, if one is given, a position in it: without a department,
// in any.
func (d *Directory) Knows(department, position string) bool {
	return d.org != nil && d.org.People.Has(department, position)
}

// NameOf returns what a department is called, or its code if the organisation has no name of it.
func (d *Directory) NameOf(department string) string {
	if d.org == nil {
		return department
	}
	return d.org.People.NameOf(department)
}

var kinds = []organisation.Kind{organisation.Employee, organisation.Contractor, organisation.Temporary}

// Holders returns who holds a position of a department, of whatever kind.
func (d *Directory) Holders(department, position string) (all []circulation.Person) {
	if d.org == nil {
		return nil
	}
	for _, h := range d.org.People.HoldersOf(position, department, kinds...) {
		all = append(all, d.account(h.Number))
	}
	return all
}

// account returns a person by the first of their accounts that is a full member's, else by the first, if they have one.
func (d *Directory) account(number string) circulation.Person {
	p := circulation.Person{Person: number}
	for _, x := range d.org.Accounts.ByNumber(number) {
		if p.User == "" {
			p.User = x.ID
		}
		if d.Slack != nil && d.Full(x.ID) {
			p.User = x.ID
			break
		}
	}
	return p
}

// Departments returns the codes of somebody's department and of those above it; none while no organisation stands.
func (d *Directory) Departments(p circulation.Person) (codes []string) {
	if d.org == nil {
		return nil
	}
	post, ok := d.org.People.Main(p.Person)
	if !ok {
		return nil
	}
	for _, x := range d.org.People.Path(post.Department) {
		codes = append(codes, x.Code)
	}
	return codes
}

// Department returns what somebody's department is called, or its code if it has no name; "" if they have none, and
// while no organisation stands.
func (d *Directory) Department(p circulation.Person) string {
	if d.org == nil {
		return ""
	}
	post, _ := d.org.People.Main(p.Person)
	for _, x := range d.org.People.Path(post.Department) {
		return cmp.Or(x.Name, x.Code)
	}
	return ""
}

// RulesReader reads a tenant's rules with their revision.
type RulesReader interface {
	Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error)
}

// Rules reads the rules that the settings s note. It returns aggregate.ErrSettings if others stand by now.
func Rules(ctx context.Context, from RulesReader, tenant string, s tenancy.Settings) (*rules.Rules, error) {
	r, rev, err := from.Rules(ctx, tenant)
	if err == nil && rev != s.RulesRev {
		err = aggregate.ErrSettings
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return r, nil
}

// Organised reads whether an organisation stands, and the row on which a commit relies for that, with the error
// aggregate.ErrSettings.
func Organised(ctx context.Context, from interface {
	OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error)
}, tenant string) (stands bool, on aggregate.Owned, err error) {
	row, err := from.OrganisationRow(ctx, tenant)
	if err != nil {
		return false, on, fmt.Errorf("read whether an organisation stands: %w", err)
	}
	return row.Stands(), aggregate.Owned{Key: tenancy.OrganisationKey, Rev: row.Rev, Err: aggregate.ErrSettings}, nil
}
