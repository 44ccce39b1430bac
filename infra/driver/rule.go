package driver

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/tasks"
	"ringi/shared/tool"
)

// Circulate saves rules of circulation as an administrator does at the console, and ends them when the test does.
func Circulate(t *testing.T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}
	store, tenant := tasks.New(dynamodb.NewFromConfig(s.AWS), s.TableName), aggregate.TenantID(s.Sandbox.TeamID())
	save := func(x *rules.Rules) {
		ctx := context.Background()
		_, rev, err := store.Rules(ctx, tenant)
		expect.NoError(t, err)
		_, _, err = store.SaveRules(ctx, tenant, x, rev, nil, by, time.Now())
		expect.NoError(t, err)
	}
	save(&rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: all})
	t.Cleanup(func() { save(nil) })
}

// Rule saves a tool's constraints as an administrator does at the console, and removes them when the test ends.
func Rule(t *testing.T, s *stack.Stack, name, constraints string) error {
	t.Helper()
	ctx, rows := context.Background(), tasks.New(dynamodb.NewFromConfig(s.AWS), s.TableName)
	spec, known := expect.Value(tool.Builtin())(t).Lookup(name)
	expect.Must(t, known, "there is no tool %s", name)
	save := func(constraints string) error {
		x, _, err := rows.ToolPermission(ctx, aggregate.TenantID(s.Sandbox.TeamID()), name)
		if err != nil {
			return err
		}
		x.Allowed, x.Constraints = true, aggregate.JSON(constraints)
		_, err = rows.SaveToolPermission(ctx, x, aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}, time.Now(), spec.Knows()...)
		return err
	}
	t.Cleanup(func() { expect.NoError(t, save(`{}`)) })
	return save(constraints)
}
