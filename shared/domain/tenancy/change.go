package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Change is one commit to what a tenant owns: all of it or nothing. It has no head, and its rows stand in several
// partitions, some of them written by the attribute: that is why it is no aggregate.Change. Without writes it changes
// nothing.
type Change struct {
	Tenant string
	Writes []Write
	Audit  []aggregate.AuditEntry // the store gives their ids
	Redraw bool                   // cards that wait for a decision show what has changed
}

// Row is an item of what a tenant owns.
type Row interface {
	// Place is its partition key, its sort key and its attribute "type". The tenant's id in the keys is not checked.
	Place() (partition, key, typ string)
}

// Write puts a row whole over the one of revision Over, 0 when there must be none. With Set it writes these attributes
// only, and with Delete it removes the row; then the row must be there and say what If has, nil for an attribute that
// it must lack.
type Write struct {
	Row    Row
	Over   int
	Set    map[string]any
	Delete bool
	If     map[string]any
	Err    error // when the row is not as this relies on; nil: ErrConflict
}

// entry records a change by somebody.
func entry(tenant string, action aggregate.Action, typ, id string, details map[string]any, by aggregate.Actor, now time.Time) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		TenantID: tenant, Timestamp: moment(now), ActorType: by.Type, ActorID: by.ID,
		Action: action, ResourceType: typ, ResourceID: id, Details: aggregate.Details(details),
	}
}

// bySomebody returns ErrField unless a person saves.
func bySomebody(by aggregate.Actor) error {
	if by.Type != aggregate.ActorUser || by.ID == "" {
		return aggregate.ErrField{Field: "updated_by", Limit: "must be a person"}
	}
	return nil
}

// moment is a time as the table keeps it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
