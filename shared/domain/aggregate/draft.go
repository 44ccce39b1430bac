package aggregate

import (
	"cmp"
	"maps"
)

// Draft is a Change under construction. A step that the rows don't allow notes its error, and the steps after it do no
// harm: Done returns the first error.
type Draft struct {
	Change
	err error
}

// Fail notes why there is no Change.
func (d *Draft) Fail(err error) { d.err = cmp.Or(d.err, err) }

// Done is the Change with its head and these rows, or the first error of its making.
func (d *Draft) Done(head Root, rows ...Row) (Change, error) {
	if d.err != nil {
		return Change{}, d.err
	}
	out := d.Change
	out.Put(rows...)
	out.Head = head
	return out, nil
}

// Record adds an entry to the audit log of the aggregate with this head. Where a person decided stands in its details,
// unless that is Slack.
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
