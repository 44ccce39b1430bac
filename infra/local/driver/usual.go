package driver

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Usual is Readable with Titles and, in the sandbox's workspace, the tool that orders from suppliers. locale is the
// language of cards; "" leaves the default.
func UsualSettings(ctx context.Context, s *stack.Stack, team, locale string) error {
	if err := ConnectReadable(ctx, s, team); err != nil || s.Sandbox == nil || team != s.Sandbox.TeamID() {
		return err
	}
	if err := ConnectOrdering(ctx, s, aggregate.TenantID(team)); err != nil {
		return err
	}
	return change(ctx, s, func(x *tenancy.Settings) {
		SetTitles(x)
		x.Locale = cmp.Or(locale, x.Locale)
	})
}

// Titles lets the sandbox's people do what their titles say: the two approvers decide, and nobody on their own request.
func SetTitles(x *tenancy.Settings) {
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki, webapi.Tanaka}}
	x.AllowSelfApproval, x.SelfApprovalChosen = false, true
}

// change changes the settings of the sandbox's workspace. If somebody else changes them at the same time, it tries
// again.
func change(ctx context.Context, s *stack.Stack, apply func(*tenancy.Settings)) error {
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	for {
		x, err := rows(s).Settings(ctx, tenant)
		if err != nil {
			return err
		}
		apply(&x)
		if _, err = rows(s).SaveSettings(ctx, tenant, x, setup(), time.Now()); !errors.Is(err, aggregate.ErrConflict) {
			return err
		}
	}
}

// cards is the setting of the cards' language. It waits until the workspace is prepared.
type cards struct{ stack *stack.Stack }

func (c cards) Language(ctx context.Context) (string, error) {
	x, err := rows(c.stack).Settings(ctx, aggregate.TenantID(c.stack.Sandbox.TeamID()))
	return x.Locale, err
}

func (c cards) SetLanguage(ctx context.Context, language string) error {
	select {
	case <-c.stack.Prepared():
	case <-ctx.Done():
		return ctx.Err()
	}
	return change(ctx, c.stack, func(x *tenancy.Settings) { x.Locale = language })
}
