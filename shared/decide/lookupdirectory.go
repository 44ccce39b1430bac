package decide

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Standing says which organisation stands for a tenant.
type Standing struct {
	Organisation *Organisation // nil: none
	// On is the row that says so, with the error aggregate.ErrSettings. Commits rely on it.
	On []aggregate.Owned
}

// Directory is an opening.Directory that knows what Slack has been asked. It notes what it doesn't know, and answers
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
	d.Directory = Of(org, &d.slack)
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
