// Package slackstate keeps what functions note for each other about Slack, all of it for a while: how much may be
// called, whether it answers, who has the app's Home tab open, what was begun already.
package slackstate

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Rows of who has the app's Home tab before them: HOME#<tenant>, one for each person, with a TTL.
const homes = "HOME#"

// Notes are in the table.
type Notes struct{ t *table.Table }

// Of are those of a table.
func Of(t *table.Table) Notes { return Notes{t} }

const (
	// HomeFor is how long a Home tab that was opened is kept up to date.
	HomeFor = time.Hour
	// HomeEvery is the least time between two publications of one person's tab that nobody asked for.
	HomeEvery = 30 * time.Second
)

// Home is a person who opened the tab.
type Home struct {
	Team     string    `json:"team"`
	User     string    `json:"user"`
	OpenedAt time.Time `json:"opened_at"`
}

// HomeOpened notes that a person opened their Home tab; what reads the table's stream has it published then. A tab that
// was opened a moment ago is up to date.
func (s Notes) HomeOpened(ctx context.Context, tenant string, h Home) error {
	return s.home(ctx, tenant, h, func(e *table.Expression) string {
		return table.AnyOf(e.Absent(), e.Is("opened_at", "<", h.OpenedAt.Add(-HomeEvery)))
	})
}

// HomeChanged has a person's Home tab published again, after they decided something there.
func (s Notes) HomeChanged(ctx context.Context, tenant string, h Home) error {
	return s.home(ctx, tenant, h, func(e *table.Expression) string { return table.AnyOf(e.Absent(), e.Exists()) })
}

func (s Notes) home(ctx context.Context, tenant string, h Home, when func(*table.Expression) string) error {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Row("home", h.OpenedAt.Add(HomeFor))
	e.Set("team", h.Team)
	e.Set("user", h.User)
	e.Set("opened_at", h.OpenedAt)
	condition := when(e)
	_, err = s.t.Update(ctx, table.Key(pk, h.User), e, &condition)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "note an open Home tab")
}

// OpenHome is the person's row. It returns aggregate.ErrNotFound for somebody who has not opened the tab for an hour.
func (s Notes) OpenHome(ctx context.Context, tenant, user string) (Home, error) {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return Home{}, err
	}
	if !table.KeyPart(user) {
		return Home{}, aggregate.ErrNotFound
	}
	var h Home
	err = s.t.Get(ctx, pk, user, &h)
	return h, table.Wrapped(err, "read an open Home tab")
}

// OpenHomes are the people of a tenant who opened the tab within the hour, at most most. The list may be a moment
// behind.
func (s Notes) OpenHomes(ctx context.Context, tenant string, most int) ([]Home, error) {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return nil, err
	}
	l := table.List{Name: "homes", Tenant: tenant, Prefixes: []string{homes}, Partitions: []string{pk}}
	page, err := table.Rows(ctx, s.t, l, "", min(most, table.MaxPage), func(Home) bool { return true })
	return page.Items, err
}

// HomeOf reads the key of such a row from the table's stream.
func HomeOf(partition, sort string) (tenant, user string, ok bool) {
	if len(partition) <= len(homes) || partition[:len(homes)] != homes {
		return "", "", false
	}
	return partition[len(homes):], sort, sort != ""
}
