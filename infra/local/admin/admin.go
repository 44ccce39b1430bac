// Package admin does for a local stack what an administrator does in production:
// it connects freee, Google and an MCP server and, unlike one, makes tools fail.
package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
	"ringi/shared/store/tasks"
)

// Configure gives a stack its administrator: every workspace is connected to the stack's own vendors before its first
// call, its administrator is known from the start, and the sandbox gets its panels.
func Configure(o *stack.Options) {
	o.PrepareTeam = Connect
	o.Panels = func(s *stack.Stack) sandbox.Panels {
		return sandbox.Panels{Administrator: workspace.Suzuki, Tools: tools{s.Vendors}, Approvals: approvals{s}}
	}
}

func rows(s *stack.Stack) *tasks.Store {
	return tasks.New(dynamodb.NewFromConfig(s.AWS), s.TableName)
}

func credentials(s *stack.Stack) vault.Vault {
	return vault.New(rows(s), vault.Envelope{KMS: kms.NewFromConfig(s.AWS), KeyID: s.KeyID})
}

// setup is who prepares a stack: nobody changes settings or connects a provider without a name, and the log names no
// person for what no person did.
func setup() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Bot}
}

// Unbounded lifts the limits on tasks of the sandbox's workspace: in tests and measurements one person asks for more
// than any real person would.
func Unbounded(ctx context.Context, s *stack.Stack) error {
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	x, err := rows(s).Settings(ctx, tenant)
	if err != nil {
		return err
	}
	x.MaxOpenTasks, x.MaxTasksPerHour, x.MaxMessagesPerHour = tenancy.Limit{}, tenancy.Limit{}, 0
	_, err = rows(s).SaveSettings(ctx, tenant, x, setup(), time.Now())
	return err
}

// Connect gives a workspace a consent's tokens of each vendor, sealed, as the pages on
// which people connect will, and says that the app is installed.
func Connect(ctx context.Context, s *stack.Stack, team string) error {
	tenant := aggregate.TenantID(team)
	if s.Sandbox != nil && team == s.Sandbox.TeamID() { // the console can be entered before anybody asks for anything
		own := tenancy.Tenant{ID: tenant, Name: team, Slug: tenancy.DefaultSettings().Slug, TeamID: team,
			Admins: []string{workspace.Suzuki}}
		if _, err := rows(s).Bootstrap(ctx, own, time.Now()); err != nil {
			return err
		}
	}
	if err := nameServer(ctx, s, tenant); err != nil {
		return err
	}
	v := credentials(s)
	for _, provider := range []string{"freee", "google"} {
		c, token := s.Vendors.Client(provider), s.Vendors.Grant(provider)
		// with which people connect it again
		x, err := v.Envelope.SealClient(ctx, tenancy.VendorClient{TenantID: tenant, Provider: provider}, c)
		if err == nil {
			_, err = rows(s).SaveVendorClient(ctx, x, setup(), time.Now())
		}
		if err != nil && !errors.Is(err, aggregate.ErrConflict) { // it is there already
			return fmt.Errorf("register with %s: %w", provider, err)
		}
		if err := v.Connect(ctx, tenant, provider, vault.Of(token, c), vault.About(token), setup()); err != nil {
			return err
		}
	}
	return v.Allow(ctx, tenant, tenancy.SlackProvider, setup())
}

// tools makes the vendors fail.
type tools struct{ vendors *vendors.Vendors }

// List says which tools fail.
func (p tools) List() (out []sandbox.ToolFault) {
	for _, name := range vendors.Tools() {
		out = append(out, sandbox.ToolFault{Tool: name, Failing: p.vendors.Fails(name)})
	}
	return out
}

// Set switches a tool's failure: a definite one, so that trying again is safe.
func (p tools) Set(tool string, failing bool) { p.vendors.Fail(tool, http.StatusBadRequest, failing) }
