package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
)

// packAudit makes an entry's item: one partition for each month of a tenant.
func packAudit(x aggregate.AuditEntry) (item, error) {
	if !keyPart(x.TenantID) {
		return nil, fmt.Errorf("audit entry of tenant %.40q: %w", x.TenantID, aggregate.ErrNotFound)
	}
	at := aggregate.TimeText(x.Timestamp)
	sk := at + "#" + x.ID
	it, err := pack("audit", auditMonth(x.TenantID, x.Timestamp), sk, x)
	if err != nil {
		return nil, err
	}
	index(it, 1, auditOf(x.TenantID, "ACTION", string(x.Action)), sk)
	resource := x.TaskID
	if resource == "" {
		resource = x.ResourceID
	}
	index(it, 2, auditOf(x.TenantID, "RESOURCE", resource), sk)
	index(it, 3, auditOf(x.TenantID, "ACTOR", actorOf(x)), sk)
	return it, nil
}

func auditMonth(tenant string, at time.Time) string {
	return "AUDIT#" + tenant + "#" + at.UTC().Format("2006-01")
}

func auditOf(tenant, by, value string) string {
	return "AUDIT#" + tenant + "#" + by + "#" + value
}

// actorOf is a person's id; whoever has none is found by type ("system").
func actorOf(x aggregate.AuditEntry) string {
	if x.ActorID != "" {
		return x.ActorID
	}
	return string(x.ActorType)
}

// transactAudited writes items together with the entry that records it.
func (s *Store) transactAudited(ctx context.Context, items []types.TransactWriteItem, x aggregate.AuditEntry, by aggregate.Actor, now time.Time) error {
	entry, err := s.entry(x, by, now)
	if err != nil {
		return err
	}
	return s.transact(ctx, s.newID(), append(items, entry))
}

// entry puts a new entry into the audit log.
func (s *Store) entry(x aggregate.AuditEntry, by aggregate.Actor, now time.Time) (types.TransactWriteItem, error) {
	x.ID, x.Timestamp, x.ActorType, x.ActorID = s.newID(), moment(now), by.Type, by.ID
	it, err := packAudit(x)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	return s.put(it, 0), nil
}

// details are an entry's, of strings, numbers, flags and lists of them.
func details(values map[string]any) aggregate.JSON {
	text, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("encode audit details: %v", err))
	}
	return aggregate.JSON(text)
}
