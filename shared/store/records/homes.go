package records

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Rows of people who have the app's Home tab open: HOME#<tenant>, one per person, with a TTL.
const homes = "HOME#"

// Notes reads and writes the table.
type Notes struct{ t *table.Table }

// Of returns the notes in a table.
func NotesOf(t *table.Table) Notes { return Notes{t} }

const (
	// HomeFor is how long a Home tab is kept up to date after it was opened.
	HomeFor = time.Hour
	// HomeEvery is the minimum time between two automatic updates of a person's tab.
	HomeEvery = 30 * time.Second
)

// Home is a person who opened the tab.
type OpenHome struct {
	Team     string    `json:"team"`
	User     string    `json:"user"`
	OpenedAt time.Time `json:"opened_at"`
}

// HomeOpened records that a person opened their Home tab, and the table's stream triggers its update. If it was opened
// just before, nothing happens.
func (s Notes) HomeOpened(ctx context.Context, tenant string, h OpenHome) error {
	return s.home(ctx, tenant, h, func(e *table.Expression) string {
		return table.AnyOf(e.Absent(), e.Is("opened_at", "<", h.OpenedAt.Add(-HomeEvery)))
	})
}

// HomeChanged triggers an update of a person's Home tab after they decided something there.
func (s Notes) HomeChanged(ctx context.Context, tenant string, h OpenHome) error {
	return s.home(ctx, tenant, h, func(e *table.Expression) string { return table.AnyOf(e.Absent(), e.Exists()) })
}

func (s Notes) home(ctx context.Context, tenant string, h OpenHome, when func(*table.Expression) string) error {
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

// OpenHome returns the person's row. It returns aggregate.ErrNotFound if they have not opened the tab within an hour.
func (s Notes) OpenHome(ctx context.Context, tenant, user string) (OpenHome, error) {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return OpenHome{}, err
	}
	if !table.KeyPart(user) {
		return OpenHome{}, aggregate.ErrNotFound
	}
	var h OpenHome
	err = s.t.Get(ctx, pk, user, &h)
	return h, table.Wrapped(err, "read an open Home tab")
}

// OpenHomes returns up to most people of a tenant who opened the tab within the hour. The list may be slightly stale.
func (s Notes) OpenHomes(ctx context.Context, tenant string, most int) ([]OpenHome, error) {
	pk, err := table.TenantPartition(homes, tenant)
	if err != nil {
		return nil, err
	}
	l := table.List{Name: "homes", Tenant: tenant, Prefixes: []string{homes}, Partitions: []string{pk}}
	page, err := table.Rows(ctx, s.t, l, "", min(most, table.MaxPage), func(OpenHome) bool { return true })
	return page.Items, err
}

// HomeOf parses the key of a Home tab's row from the table's stream.
func HomeOf(partition, sort string) (tenant, user string, ok bool) {
	if len(partition) <= len(homes) || partition[:len(homes)] != homes {
		return "", "", false
	}
	return partition[len(homes):], sort, sort != ""
}
