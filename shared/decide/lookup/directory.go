package lookup

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// Accounts say whose an account is.
type Accounts interface {
	// Number returns the employee number of the person to whom an account belongs.
	Number(account string) (number string, known bool)
	// Of returns a person's accounts, by id.
	Of(number string) []organisation.Matched
}

// Organisation is the version of an organisation that stands for a tenant.
type Organisation struct {
	Version  string
	People   *organisation.Organisation
	Accounts Accounts
}

// Standing says which organisation stands for a tenant.
type Standing struct {
	Organisation *Organisation // nil: none
	// On is the row that says so, with the error aggregate.ErrSettings. Commits rely on it.
	On []aggregate.Owned
}

// Directory is an opening.Directory that knows what Slack has been asked. It notes what it doesn't know, and answers
// for the time being that a user group has nobody and that everybody is a full member.
type Directory struct {
	org    *Organisation
	chart  *organisation.Chart
	stamps map[string]bool // whether an account is a full member's
	groups map[string]group
	lacks  lacking
}

type group struct {
	handle  string
	members []string
}

// lacking is what Slack must be asked.
type lacking struct{ groups, users []string }

func (l *lacking) nothing() bool { return len(l.groups)+len(l.users) == 0 }

func note(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

func newDirectory(org *Organisation, now time.Time) *Directory {
	d := &Directory{org: org, stamps: map[string]bool{}, groups: map[string]group{}}
	if org != nil {
		d.chart = org.People.Chart(organisation.DateOf(now.In(tenancy.Zone())))
	}
	return d
}

func (d *Directory) Org() string {
	if d.org == nil {
		return ""
	}
	return d.org.Version
}

func (d *Directory) Person(user string) circulation.Person {
	p := circulation.Person{User: user}
	if d.org != nil {
		p.Person, _ = d.org.Accounts.Number(user)
	}
	return p
}

// Standing is that of the day for which the directory was made, as all that it says of the organisation.
func (d *Directory) Standing(p circulation.Person, _ string) rules.Standing {
	as := rules.StandingEmployee
	if d.org != nil {
		is, here := d.chart.Person(p.Person)
		if !here {
			return rules.StandingNone
		}
		if is.Kind != organisation.Employee {
			as = rules.StandingOther
		}
	}
	if p.User == "" || !d.full(p.User) {
		return rules.StandingNone
	}
	return as
}

// full reports whether an account is a full member's.
func (d *Directory) full(user string) bool {
	may, known := d.stamps[user]
	if !known {
		note(&d.lacks.users, user)
	}
	return may || !known
}

func (d *Directory) Members(id string) []string {
	is, known := d.groups[id]
	if !known {
		note(&d.lacks.groups, id)
	}
	return is.members
}

func (d *Directory) Handle(id string) string { return d.groups[id].handle }

func (d *Directory) Manager(p circulation.Person, _ string) (circulation.Person, bool) {
	if d.org == nil {
		return circulation.Person{}, false
	}
	above, ok := d.chart.Manager(p.Person)
	if !ok {
		return circulation.Person{}, false
	}
	return d.account(above.Number), true
}

func (d *Directory) Holders(department, position, _ string) (all []circulation.Person) {
	if d.org == nil {
		return nil
	}
	kinds := []organisation.Kind{organisation.Employee, organisation.Contractor, organisation.Temporary}
	for _, h := range d.chart.HoldersOf(position, department, kinds...) {
		all = append(all, d.account(h.Number))
	}
	return all
}

// account returns a person by the first of their accounts that is a full member's, else by the first, if they have one.
func (d *Directory) account(number string) circulation.Person {
	p := circulation.Person{Person: number}
	for _, x := range d.org.Accounts.Of(number) {
		if p.User == "" {
			p.User = x.ID
		}
		if d.full(x.ID) {
			p.User = x.ID
			break
		}
	}
	return p
}

func (d *Directory) Departments(p circulation.Person, _ string) (codes []string) {
	if d.org == nil {
		return nil
	}
	post, ok := d.chart.Main(p.Person)
	if !ok {
		return nil
	}
	for _, x := range d.chart.Path(post.Department) {
		codes = append(codes, x.Code)
	}
	return codes
}
