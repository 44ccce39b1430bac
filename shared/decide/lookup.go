package decide

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
)

// atOnce is how many calls of Slack are made at the same time.
const atOnce = 8

// Places are where people are looked up.
type Places struct {
	Slack        people.Grouped
	Known        *people.Requesters
	Team         string
	Organisation *Organisation // nil: none stands
	Now          time.Time
}

// Resolve calls do until its directory knows everything that do asks of it, and returns the last call's error. do is
// called again after each time that something was asked, and must have no effect but its result. Resolve returns
// explain.ErrUnverified when Slack doesn't answer.
func (p *Places) Resolve(ctx context.Context, do func(d *OpenDirectory) error) error {
	d := newDirectory(p.Organisation)
	return d.Settle(func() error { return do(d) }, func() (some bool, err error) {
		if d.lacks.nothing() {
			return false, nil
		}
		if err := p.ask(ctx, d); err != nil {
			return true, fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
		d.lacks = lacking{}
		return true, nil
	})
}

// ask asks Slack what a directory lacks: user groups and channels first, because of whom is in them the other questions
// may be.
func (p *Places) ask(ctx context.Context, d *OpenDirectory) error {
	var mu sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	for _, id := range d.lacks.groups {
		all.Go(func() error {
			handle, members, err := p.Known.Group(ctx, p.Slack, p.Team, id, p.Now)
			if err != nil {
				return fmt.Errorf("ask who is in user group %s: %w", id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			d.groups[id] = group{handle, members}
			return nil
		})
	}
	for _, id := range d.lacks.places {
		all.Go(func() error {
			members, whole, err := p.Known.InChannel(ctx, p.Slack, p.Team, id, p.Now)
			if err != nil {
				return fmt.Errorf("ask who is in channel %s: %w", id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			d.places[id] = place{members, whole}
			return nil
		})
	}
	if len(d.lacks.groups)+len(d.lacks.places) == 0 {
		for _, user := range d.lacks.users {
			all.Go(func() error {
				may, err := p.Known.MayStamp(ctx, p.Slack, p.Team, user, p.Now)
				if err != nil {
					return fmt.Errorf("ask who %s is: %w", user, err)
				}
				mu.Lock()
				defer mu.Unlock()
				d.stamps[user] = may
				return nil
			})
		}
	}
	return all.Wait()
}

// Finder looks up whom a tenant's rules ask.
type Finder struct {
	Rules RulesReader
	// Organisation reads which organisation stands; nil: none does.
	Organisation func(ctx context.Context, tenant string) (StandingOrganisation, error)
	Slack        people.Grouped
	Known        *people.Requesters
	Within       time.Duration // for which Slack is asked
}

// Find looks up whom the rules that the settings s note ask about something of a tenant, and returns the tenant's rows
// on which that depends. Without rules it finds nothing: the settings say who is asked. It returns
// aggregate.ErrSettings if other rules stand by now, and explain.ErrUnverified when Slack doesn't answer.
func (x *Finder) Find(ctx context.Context, tenant, team string, s tenancy.Settings, now time.Time, about *About) (
	found Found, on []aggregate.Owned, err error) {
	r, err := Rules(ctx, x.Rules, tenant, s)
	if err != nil || r == nil {
		return found, nil, err
	}
	var standing StandingOrganisation
	if x.Organisation != nil {
		if standing, err = x.Organisation(ctx, tenant); err != nil {
			return found, nil, fmt.Errorf("read the organisation: %w", err)
		}
	}
	in := Places{Slack: x.Slack, Known: x.Known, Team: team, Organisation: standing.Organisation, Now: now}
	ctx, cancel := context.WithTimeout(ctx, x.Within)
	defer cancel()
	err = in.Resolve(ctx, func(d *OpenDirectory) (err error) {
		found, err = about.By(r, d)
		return err
	})
	if err != nil {
		return Found{}, nil, err
	}
	return found, standing.On, nil
}

// StandingOrganisation says which organisation stands for a tenant.
type StandingOrganisation struct {
	Organisation *Organisation // nil: none
	// On is the row that says so, with the error aggregate.ErrSettings. Commits rely on it.
	On []aggregate.Owned
}

// OpenDirectory is a Seats that knows what Slack has been asked. It notes what it doesn't know, and answers
// for the time being that a user group has nobody, that everybody is a full member and that channels have others.
type OpenDirectory struct {
	*Directory
	slack
}

// slack is what Slack has said so far.
type slack struct {
	stamps map[string]bool // whether an account is a full member's
	groups map[string]group
	places map[string]place // channels, by id
	lacks  lacking
}

// place is who is in a channel.
type place struct {
	members []string
	all     bool
}

type group struct {
	handle  string
	members []string
}

// lacking is what Slack must be asked.
type lacking struct{ groups, places, users []string }

func (l *lacking) nothing() bool { return len(l.groups)+len(l.places)+len(l.users) == 0 }

func note(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

func newDirectory(org *Organisation) *OpenDirectory {
	d := &OpenDirectory{slack: slack{stamps: map[string]bool{}, groups: map[string]group{}, places: map[string]place{}}}
	d.Directory = NewDirectory(org, &d.slack)
	return d
}

// Full reports whether an account is a full member's.
func (d *slack) Full(user string) bool {
	may, known := d.stamps[user]
	if !known {
		note(&d.lacks.users, user)
	}
	return may || !known
}

func (d *slack) Members(id string) []string {
	is, known := d.groups[id]
	if !known {
		note(&d.lacks.groups, id)
	}
	return is.members
}

func (d *slack) Handle(id string) string { return d.groups[id].handle }

func (d *slack) InChannel(id string) (members []string, all bool) {
	is, known := d.places[id]
	if !known {
		note(&d.lacks.places, id)
	}
	return is.members, is.all
}
