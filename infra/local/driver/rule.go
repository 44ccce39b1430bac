package driver

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// Circulate saves rules of circulation for a test, and ends them after it.
func Circulate(t *testing.T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	SaveRules(t, s, all...)
	t.Cleanup(func() { SaveRules(t, s) })
}

// SaveRules saves rules of circulation in the place of all that stand; none ends them.
func SaveRules(t T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	store, tenant := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName), aggregate.TenantID(s.Sandbox.TeamID())
	_, rev, err := store.Rules(context.Background(), tenant)
	expect.NoError(t, err)
	var x *rules.Rules
	if all != nil {
		x = &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: all}
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	_, _, err = store.SaveRules(context.Background(), tenant, x, rev, nil, by, time.Now())
	expect.NoError(t, err)
}

// Rule saves a tool's constraints as an administrator does at the console, and removes them when the test ends.
func Rule(t *testing.T, s *stack.Stack, name, constraints string) error {
	t.Helper()
	ctx, rows := context.Background(), store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	spec, known := expect.Value(tool.Builtin())(t).Lookup(name)
	expect.Must(t, known, "there is no tool %s", name)
	save := func(constraints string) error {
		x, _, err := rows.ToolPermission(ctx, aggregate.TenantID(s.Sandbox.TeamID()), name)
		if err != nil {
			return err
		}
		x.Allowed, x.Constraints = true, aggregate.JSON(constraints)
		_, err = rows.SaveToolPermission(ctx, x, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now(),
			spec.Knows()...)
		return err
	}
	t.Cleanup(func() { expect.NoError(t, save(`{}`)) })
	return save(constraints)
}
