package subject

import (
	"context"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/store"
)

// Sheet is what the pages of all kinds of subjects have: what they ask, and the audit log.
type Sheet struct {
	Ask
	Path, ID      string
	Live          string // address that refreshes the page; empty: it doesn't refresh itself
	Stands, Badge string // how the subject stands, in words
	About, Quoted string // what stands above the buttons, in Ringi's words and in somebody's
	Route         *Route // nil: no rule chose one
	Log           []Entry
	LogGoesOn     bool
}

// mostEntries is the number of audit entries on a page.
const mostEntries = 100

// Logged returns the newest audit entries about a subject, the oldest of them first, and whether there are more.
func (c *Acts) Logged(ctx context.Context, ref aggregate.Ref) ([]aggregate.AuditEntry, bool, error) {
	log, err := c.Store.Audit(ctx, ref.Tenant, store.AuditFilter{Resource: ref.ID}, "", mostEntries)
	slices.Reverse(log.Items)
	return log.Items, log.Next != "", err
}

// Say formats audit entries; agent returns what an agent is called.
func (s *Sheet) Say(log []aggregate.AuditEntry, locale string, person, agent func(id string) string) {
	s.Log = EntriesOf(log, auditlog.WordsIn(locale), person, agent)
}
