package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// atOnce is how many calls of Slack are made at the same time.
const atOnce = 8

// Places are where people are looked up.
type Places struct {
	Slack        people.Grouped
	Known        *people.Requesters
	Listed       *people.Members // answers first, and nobody is asked who is in channels; nil: nobody is listed
	Team         string
	Organisation *rules.Organisation // nil: none stands
	Now          time.Time
	Most         int // answers that Slack may be asked for; 0: any number
}

// Resolve calls do until its directory knows everything that do asks of it, and returns the last call's error. do is
// called again after each time that something was asked, and must have no effect but its result. Resolve returns
// explain.ErrUnverified when Slack doesn't answer.
func (p *Places) Resolve(ctx context.Context, do func(d *Directory) error) error {
	d := p.directory()
	for asked := 0; ; {
		err := do(d)
		lacks := d.lacks
		n := len(lacks.groups) + len(lacks.channels) + len(lacks.mails) + len(lacks.users)
		if n == 0 {
			return err
		}
		if asked += n; p.Most > 0 && asked > p.Most {
			return fmt.Errorf("%w: rules need %d answers of Slack's", explain.ErrUnverified, asked)
		}
		d.lacks = lacking{}
		if err := d.ask(ctx, lacks); err != nil {
			return fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
	}
}

// Directory is the rules.Directory of an organisation and of what Slack has been asked. It notes what it doesn't know,
// and answers for the time being that a user group has nobody, that everybody has an account, which is a full member's,
// and that channels have others.
type Directory struct {
	*Places
	*rules.Organisation                            // an empty one while none stands
	accounts            map[string]string          // ids by address; "" where nobody has it
	people              map[string]people.Standing // by id
	groups              map[string]group
	channels            map[string]channel
	lacks               lacking
}

func (p *Places) directory() *Directory {
	return &Directory{Places: p, Organisation: cmp.Or(p.Organisation, &rules.Organisation{}),
		accounts: map[string]string{}, people: map[string]people.Standing{}, groups: map[string]group{},
		channels: map[string]channel{}}
}

type group struct {
	handle  string
	members []string
}

// channel is who is in a channel.
type channel struct {
	members []string
	all     bool
}

// lacking is what Slack must be asked.
type lacking struct{ groups, channels, mails, users []string }

func note(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// ask asks Slack what is lacking: who is in user groups and channels and who has an address first, because of that the
// other questions may be.
func (d *Directory) ask(ctx context.Context, lacks lacking) error {
	var mu sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	each := func(ids []string, about string, ask func(id string) (keep func(), err error)) {
		for _, id := range ids {
			all.Go(func() error {
				keep, err := ask(id)
				if err != nil {
					return fmt.Errorf("ask %s %s: %w", about, id, err)
				}
				mu.Lock()
				defer mu.Unlock()
				keep()
				return nil
			})
		}
	}
	each(lacks.groups, "who is in user group", func(id string) (func(), error) {
		handle, members, err := d.Known.Group(ctx, d.Slack, d.Team, id, d.Now)
		return func() { d.groups[id] = group{handle, members} }, err
	})
	each(lacks.channels, "who is in channel", func(id string) (func(), error) {
		members, whole, err := d.Known.InChannel(ctx, d.Slack, d.Team, id, d.Now)
		return func() { d.channels[id] = channel{members, whole} }, err
	})
	each(lacks.mails, "who has the address", func(mail string) (func(), error) {
		is, err := d.Known.ByMail(ctx, d.Slack, d.Team, mail, d.Now)
		return func() { d.accounts[mail], d.people[is.ID] = is.ID, is }, err
	})
	if len(lacks.groups)+len(lacks.channels)+len(lacks.mails) == 0 {
		each(lacks.users, "who is", func(id string) (func(), error) {
			is, err := d.Known.Standing(ctx, d.Slack, d.Team, id, d.Now)
			return func() {
				if d.people[id] = is; is.Full && is.Mail != "" { // a stranger's may be a member's, too
					d.accounts[is.Mail] = id
				}
			}, err
		})
	}
	return all.Wait()
}

// person returns what is known of an account.
func (d *Directory) person(id string) people.Standing {
	if is, known := d.people[id]; known {
		return is
	}
	if d.Listed != nil {
		if u, listed := d.Listed.Person(id); listed || !d.Listed.More {
			return people.Standing{ID: id, Full: listed && d.Listed.Rule(u) == "", Mail: strings.ToLower(u.Mail)}
		}
	}
	note(&d.lacks.users, id)
	return people.Standing{Full: true}
}

// Full reports whether an account is a full member's: nobody else stamps along a route.
func (d *Directory) Full(user string) bool {
	if strings.Contains(user, "@") { // which account this is must be asked first
		return true
	}
	return d.person(user).Full
}

// Organised reports whether an organisation stands.
func (d *Directory) Organised() bool { return d.Places.Organisation != nil }

// Person returns whom of the organisation an account belongs to, by id before address; "" for a stranger.
func (d *Directory) Person(user string) string {
	if !d.Organised() || user == "" {
		return ""
	}
	if d.Has(user) {
		return user
	}
	if mail := d.person(user).Mail; d.Has(mail) {
		return mail
	}
	return ""
}

// Account returns the account of somebody of the organisation, "" for who has none.
func (d *Directory) Account(person string) string {
	if !strings.Contains(person, "@") {
		return person
	}
	id, known := d.accounts[person]
	if !known && d.Listed != nil {
		i := slices.IndexFunc(d.Listed.People, func(u slackapi.User) bool { return strings.EqualFold(u.Mail, person) })
		if known = i >= 0 || !d.Listed.More; i >= 0 {
			id = d.Listed.People[i].ID
		}
	}
	if !known {
		note(&d.lacks.mails, person)
		return person
	}
	return id
}

// MayStamp reports whether an account is a full member's and, while an organisation stands, of somebody in it.
func (d *Directory) MayStamp(user string) bool {
	return user != "" && (!d.Organised() || d.Person(user) != "") && d.Full(user)
}

// Members returns the accounts of a user group. One that is gone or disabled has none.
func (d *Directory) Members(id string) []string {
	if d.Listed != nil {
		if g, listed := d.Listed.Group(id); !listed || g.Disabled {
			return nil
		}
	}
	is, known := d.groups[id]
	if !known {
		note(&d.lacks.groups, id)
	}
	return is.members
}

// Handle returns what a user group is called, such as @keiri, or its id.
func (d *Directory) Handle(id string) string { return d.groups[id].handle }

// mostLooked bounds how many members of a channel are looked up in the search for one who may stamp.
const mostLooked = 20

// Empty reports whether a channel has no full member beside these people, as far as Slack says.
func (d *Directory) Empty(id string, but []circulation.Person) bool {
	is, known := d.channels[id]
	if !known {
		if d.Listed == nil {
			note(&d.lacks.channels, id)
		}
		return false
	}
	looked := 0
	for _, user := range is.members {
		if slices.ContainsFunc(but, circulation.Person{User: user}.Is) {
			continue
		}
		if looked++; looked > mostLooked || d.Full(user) {
			return false
		}
	}
	return is.all
}

// Above returns who stands above an account or a person, the nearest first, and whether the organisation says that
// nobody is higher.
func (d *Directory) Above(who string) (chain []string, top bool) {
	return d.Organisation.Above(d.Person(who))
}

// Departments returns an account's department and those above it; none while no organisation stands.
func (d *Directory) Departments(user string) []string {
	return d.Organisation.Departments(d.Person(user))
}

// Tenants reads what of a tenant says whom its rules ask.
type Tenants interface {
	RulesReader
	Organisation(ctx context.Context, tenant string) (store.StandingOrganisation, error)
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

// Finder looks up whom a tenant's rules ask.
type Finder struct {
	Store  Tenants
	Slack  people.Grouped
	Known  *people.Requesters
	Within time.Duration // for which Slack is asked
}

// Find looks up whom the rules that the settings s note ask about something of a tenant, and returns the tenant's rows
// on which that depends. Without rules it finds nothing: the settings say who is asked. It returns
// aggregate.ErrSettings if other rules stand by now, and explain.ErrUnverified when Slack doesn't answer.
func (x *Finder) Find(ctx context.Context, tenant, team string, s tenancy.Settings, now time.Time, about *About) (
	found Found, on []aggregate.Owned, err error) {
	r, err := Rules(ctx, x.Store, tenant, s)
	if err != nil || r == nil {
		return found, nil, err
	}
	is, err := x.Store.Organisation(ctx, tenant)
	if err != nil {
		return found, nil, fmt.Errorf("read the organisation: %w", err)
	}
	in := Places{Slack: x.Slack, Known: x.Known, Team: team, Organisation: is.Organisation, Now: now}
	ctx, cancel := context.WithTimeout(ctx, x.Within)
	defer cancel()
	if err := in.Resolve(ctx, func(d *Directory) (err error) {
		found, err = about.By(r, d)
		return err
	}); err != nil {
		return Found{}, nil, err
	}
	return found, []aggregate.Owned{{Key: tenancy.OrganisationKey, Rev: is.Rev, Err: aggregate.ErrSettings}}, nil
}
