package aggregate

import (
	"cmp"
	"maps"
)

// Draft is a Change under construction. When a step fails, the draft keeps the first error; later steps still run, and
// Done returns that error.
type Draft struct {
	Change
	err error
}

// Fail records an error, unless an earlier one is recorded.
//
//go:noinline
func (d *Draft) Fail(err error) { d.err = cmp.Or(d.err, err) }

// Done returns the Change with its head and these rows added, or the first error.
func (d *Draft) Done(head Root, rows ...Row) (Change, error) {
	if d.err != nil {
		return Change{}, d.err
	}
	out := d.Change
	out.Put(rows...)
	out.Head = head
	return out, nil
}

// Record adds an entry to the aggregate's audit log. If the person decided elsewhere than in Slack, the details name
// that surface.
func (d *Draft) Record(of Root, by Actor, action Action, resourceType, resourceID string, details map[string]any) {
	if by.Surface != "" && by.Surface != SurfaceSlack {
		if details = maps.Clone(details); details == nil {
			details = map[string]any{}
		}
		details["surface"] = by.Surface
	}
	d.Audit = append(d.Audit, AuditEntry{
		TenantID: of.Common().TenantID, Timestamp: d.Now, ActorType: by.Type, ActorID: by.ID, Action: action,
		ResourceType: resourceType, ResourceID: resourceID, AggregateID: of.ID(), Details: Details(details),
	})
}
