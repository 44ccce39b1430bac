package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/tenancy"
)

// SaveAgent makes an agent and its environment a tenant's, in the place of those
// that t was read with. It returns the tenant as it then is: with another's agent,
// when somebody was faster. It returns task.ErrNotFound without a tenant.
func (s *Store) SaveAgent(ctx context.Context, t tenancy.Tenant, agent, environment string, now time.Time) (tenancy.Tenant, error) {
	pk, err := tenantPartition(t.ID)
	if err != nil {
		return t, err
	}
	e := newExpression()
	e.set("agent_id", agent)
	e.set("environment_id", environment)
	e.set("updated_at", moment(now))
	as := e.lacks("agent_id")
	if t.AgentID != "" {
		as = e.is("agent_id", "=", t.AgentID)
	}
	err = s.transact(ctx, s.newID(), []types.TransactWriteItem{{Update: &types.Update{
		TableName: &s.table, Key: key(pk, tenantKey), UpdateExpression: e.update(), ConditionExpression: all(e.exists(), as),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}})
	var taken *lost
	if err != nil && !errors.As(err, &taken) {
		return t, fmt.Errorf("save the agent of tenant %s: %w", t.ID, err)
	}
	return s.Tenant(ctx, t.ID)
}
