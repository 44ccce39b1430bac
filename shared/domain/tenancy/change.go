// Package tenancy holds what a tenant owns apart from its aggregates: its settings, its administrators, its connections
// to vendors, and the permissions of tools.
package tenancy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Audit actions for changes to a tenant's settings, permissions, integrations and organisation.
const (
	AuditSettingsUpdated         aggregate.Action = "settings.updated"
	AuditRulesUpdated            aggregate.Action = "rules.updated"
	AuditIntegrationConnected    aggregate.Action = "integration.connected"
	AuditIntegrationDisconnected aggregate.Action = "integration.disconnected"
	AuditIntegrationFailed       aggregate.Action = "integration.failed"
	AuditDelegationSet           aggregate.Action = "delegation.set"
	AuditDelegationEnded         aggregate.Action = "delegation.ended"
	AuditToolPermissionUpdated   aggregate.Action = "tool_permission.updated"
	AuditOrganisationSaved       aggregate.Action = "organisation.saved"
	AuditOrganisationRemoved     aggregate.Action = "organisation.removed"
)

// Change is one transaction on rows that a tenant owns. Unlike an aggregate.Change it has no head, its rows are in
// several partitions, and some writes set single attributes. It changes nothing if it has no writes.
type Change struct {
	Tenant string
	Writes []Write
	Audit  []aggregate.AuditEntry // the store sets their ids
	Redraw bool                   // redraw the cards that wait for a decision
	Owes   string                 // redraw only those along routes that wait for this person
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
}

// entry returns an audit entry.
func entry(tenant string, action aggregate.Action, typ, id string, details map[string]any, by aggregate.Actor,
	now time.Time) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		TenantID: tenant, Timestamp: moment(now), ActorType: by.Type, ActorID: by.ID,
		Action: action, ResourceType: typ, ResourceID: id, Details: aggregate.Details(details),
	}
}

// bySomebody returns a Problem unless by is a person.
func bySomebody(by aggregate.Actor) error {
	if by.Type != aggregate.ActorUser || by.ID == "" {
		return aggregate.Problem{Field: "updated_by", Code: "must be a person"}
	}
	return nil
}

// moment truncates a time to the table's precision.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Difference is a field whose value differs between two settings. Nested fields have dotted names; a list is one field.
type Difference struct {
	Field string         `json:"-"`
	Was   aggregate.JSON `json:"was"`
	Is    aggregate.JSON `json:"is"`
}

// Differences returns the differences between two settings sorted by name, or nil.
func Differences(was, is Settings) []Difference { return differences(plain(was), plain(is)) }

// plain replaces nil lists by empty ones, because both mean the same.
func plain(x Settings) Settings {
	for _, f := range x.Fields() {
		if f.Value.Kind() == reflect.Slice && f.Value.IsNil() {
			f.Value.Set(reflect.MakeSlice(f.Value.Type(), 0, 0))
		}
	}
	return x
}

func differences(was, is any) (all []Difference) {
	before, after := leaves(was), leaves(is)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !bytes.Equal(before[name], after[name]) {
			all = append(all, Difference{Field: name, Was: aggregate.JSON(before[name]), Is: aggregate.JSON(after[name])})
		}
	}
	return all
}

// leaves returns the values of an object and of nested objects by dotted name.
func leaves(v any) map[string]json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode settings: %v", err)) // settings hold only strings, numbers, booleans and lists of these
	}
	out := map[string]json.RawMessage{}
	var within func(before string, text json.RawMessage)
	within = func(before string, text json.RawMessage) {
		var members map[string]json.RawMessage
		if text[0] != '{' || json.Unmarshal(text, &members) != nil {
			out[before] = text
			return
		}
		for name, value := range members {
			within(strings.TrimPrefix(before+"."+name, "."), value)
		}
	}
	within("", text)
	return out
}

// detailsOf returns the audit details of a change: the changed sections, and the old and new value of each field.
// Settings hold no secrets.
func detailsOf(all []Difference) map[string]any {
	changes, fields := map[string]any{}, []string{}
	for _, d := range all {
		changes[d.Field] = map[string]any{"was": json.RawMessage(d.Was), "is": json.RawMessage(d.Is)}
		if section, _, _ := strings.Cut(d.Field, "."); !slices.Contains(fields, section) {
			fields = append(fields, section)
		}
	}
	return map[string]any{"fields": fields, "changes": changes}
}

// ReadDifferences reads detailsOf's output, sorted by name. Details of other actions have no differences.
func ReadDifferences(details aggregate.JSON) (all []Difference) {
	var d struct {
		Changes map[string]struct {
			Was json.RawMessage `json:"was"`
			Is  json.RawMessage `json:"is"`
		} `json:"changes"`
	}
	if json.Unmarshal([]byte(details), &d) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.Changes)) {
		all = append(all, Difference{Field: name, Was: aggregate.JSON(d.Changes[name].Was),
			Is: aggregate.JSON(d.Changes[name].Is)})
	}
	return all
}
