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

// Organisation is the version of an organisation that stands for a tenant.
type Organisation struct {
	Version  string
	People   *organisation.Organisation
	Accounts *organisation.Accounts
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

// Directory is a rules.Directory. It alone knows who of the organisation has an account.
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

// number returns the employee number of whoever has an account.
func (d *Directory) number(user string) string {
	if d.org == nil {
		return ""
	}
	number, _ := d.org.Accounts.Number(user)
	return number
}

// Has reports whether an account is of somebody in the organisation.
func (d *Directory) Has(user string) bool { return d.number(user) != "" }

// MayStamp reports whether an account is a full member's and, while an organisation stands, an employee's.
func (d *Directory) MayStamp(user string) bool { return d.employee(user) && user != "" && d.Full(user) }

// mostLooked bounds how many members of a channel are looked up in the search for one who may stamp.
const mostLooked = 20

// Empty reports whether a channel has no full member beside these people, as far as Slack says.
func (d *Directory) Empty(channel string, but []circulation.Person) bool {
	members, all := d.InChannel(channel)
	looked := 0
	for _, user := range members {
		if slices.ContainsFunc(but, circulation.Person{User: user}.Is) {
			continue
		}
		if looked++; looked > mostLooked || d.Full(user) {
			return false
		}
	}
	return all
}

// employee reports whether an account is an employee's, if an organisation stands.
func (d *Directory) employee(user string) bool {
	if d.org == nil {
		return true
	}
	p, here := d.org.People.Person(d.number(user))
	return here && p.Kind == organisation.Employee
}

// Above returns who stands above somebody, the nearest first, and whether the organisation says that nobody is higher.
func (d *Directory) Above(user string) (chain []string, top bool) {
	number := d.number(user)
	if number == "" {
		return nil, false
	}
	above, top := d.org.People.Above(number)
	return d.accounts(above), top
}

// Over returns who stands over a position of a department, whoever holds it, and above them.
func (d *Directory) Over(department, position string) []string {
	if d.org == nil {
		return nil
	}
	return d.accounts(d.org.People.Over(department, position))
}

func (d *Directory) accounts(of []organisation.Superior) (all []string) {
	for _, s := range of {
		all = append(all, d.account(s.Number))
	}
	return all
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

// Holders returns who holds a position of a department or, without one, who heads it, of whatever kind.
func (d *Directory) Holders(department, position string) (all []string) {
	if d.org == nil {
		return nil
	}
	numbers := d.org.People.Holders(department, position)
	if position == "" {
		numbers = slices.DeleteFunc([]string{d.org.People.Head(department)}, func(n string) bool { return n == "" })
	}
	for _, number := range numbers {
		all = append(all, d.account(number))
	}
	return all
}

// account returns the first of a person's accounts that is a full member's, else the first, or "".
func (d *Directory) account(number string) string {
	all := d.org.Accounts.ByNumber(number)
	for _, x := range all {
		if len(all) == 1 || d.Full(x.ID) {
			return x.ID
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// path returns somebody's department and those above it; none while no organisation stands.
func (d *Directory) path(user string) []organisation.Department {
	number := d.number(user)
	if number == "" {
		return nil
	}
	post, _ := d.org.People.Main(number)
	return d.org.People.Path(post.Department)
}

// Departments returns the codes of somebody's department and of those above it; none while no organisation stands.
func (d *Directory) Departments(user string) (codes []string) {
	for _, x := range d.path(user) {
		codes = append(codes, x.Code)
	}
	return codes
}

// Department returns what somebody's department is called, or its code if it has no name; "" if they have none, and
// while no organisation stands.
func (d *Directory) Department(user string) string {
	for _, x := range d.path(user) {
		return cmp.Or(x.Name, x.Code)
	}
	return ""
}

// RulesReader reads a tenant's rules with their revision.
type RulesReader interface {
	Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error)
}

// Rules reads the rules that the settings s note; nil: there are none. It returns aggregate.ErrSettings if others stand
// by now.
func Rules(ctx context.Context, from RulesReader, tenant string, s tenancy.Settings) (*rules.Rules, error) {
	if s.RulesRev == 0 {
		return nil, nil
	}
	r, rev, err := from.Rules(ctx, tenant)
	if err == nil && rev != s.RulesRev {
		err = aggregate.ErrSettings
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return r, nil
}
