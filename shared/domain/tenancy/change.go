package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Change is one transaction on rows that a tenant owns. Unlike an aggregate.Change it has no head, its rows are in
// several partitions, and some writes set single attributes. It changes nothing if it has no writes.
type Change struct {
	Tenant string
	Writes []Write
	Audit  []aggregate.AuditEntry // the store sets their ids
	Redraw bool                   // redraw the cards that wait for a decision
}

// Row is an item that belongs to a tenant.
type Row interface {
	// Place returns the partition key, the sort key and the attribute "type". The tenant in the keys is not checked.
	Place() (partition, key, typ string)
}

// Write replaces a row whose revision is Over; 0 means that the row must be absent. With Set it writes only these
// attributes, and with Delete it removes the row. These two need an existing row with the attributes of If, where nil
// means that the attribute must be absent.
type Write struct {
	Row    Row
	Over   int
	Set    map[string]any
	Delete bool
	If     map[string]any
	Err    error // returned if the condition fails; nil means ErrConflict
}

// entry returns an audit entry.
func entry(tenant string, action aggregate.Action, typ, id string, details map[string]any, by aggregate.Actor, now time.Time) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		TenantID: tenant, Timestamp: moment(now), ActorType: by.Type, ActorID: by.ID,
		Action: action, ResourceType: typ, ResourceID: id, Details: aggregate.Details(details),
	}
}

// bySomebody returns ErrField unless by is a person.
func bySomebody(by aggregate.Actor) error {
	if by.Type != aggregate.ActorUser || by.ID == "" {
		return aggregate.ErrField{Field: "updated_by", Limit: "must be a person"}
	}
	return nil
}

// moment truncates a time to the table's precision.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
