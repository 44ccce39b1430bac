package driver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
)

// Configure sets up a stack's administration. Every workspace is connected to the stack's own vendors before its first
// call. The administrator is fixed from the start, and the sandbox gets its panels.
func Configure(o *stack.Options) {
	o.PrepareTeam = Connect
	o.Panels = func(s *stack.Stack) sandbox.Panels {
		return sandbox.Panels{Administrator: webapi.Suzuki, Tools: tools{s.Vendors}, Approvals: approvals{s}, Cards: cards{s}}
	}
}

func rows(s *stack.Stack) *store.TaskStore {
	return store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
}

func credentials(s *stack.Stack) vault.Vault {
	return vault.New(rows(s), vault.Envelope{KMS: kms.NewFromConfig(s.AWS), KeyID: s.KeyID})
}

// setup is the actor who prepares a stack. Changing settings or connecting a provider needs an actor, and the audit log
// must not name a person who did neither.
func setup() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Bot}
}

// Unbounded removes the task limits of the sandbox's workspace, because in tests and measurements one person asks for
// more than any real person would.
func SetUnbounded(ctx context.Context, s *stack.Stack) error {
	return change(ctx, s, func(x *tenancy.Settings) {
		x.MaxOpenTasks, x.MaxTasksPerHour, x.MaxMessagesPerHour = tenancy.Limit{}, tenancy.Limit{}, 0
		x.MaxAgentsCostDayUSD, x.MaxSourcesPerDay = 0, 0
	})
}

// Connect connects a workspace to every vendor with sealed tokens, as the console's pages do after consent, and records
// that the app is installed.
func Connect(ctx context.Context, s *stack.Stack, team string) error {
	tenant := aggregate.TenantID(team)
	if s.Sandbox != nil && team == s.Sandbox.TeamID() { // lets people enter the console before the first request
		own := tenancy.Tenant{ID: tenant, Name: team, Slug: tenancy.DefaultSettings().Slug, TeamID: team,
			Admins: []string{webapi.Suzuki}}
		if _, err := rows(s).Bootstrap(ctx, own, time.Now()); err != nil {
			return err
		}
	}
	if err := nameServer(ctx, s, tenant); err != nil {
		return err
	}
	v := credentials(s)
	if s.Sandbox != nil && team == s.Sandbox.TeamID() { // the App is one organization's
		if err := v.ConnectApp(ctx, tenant, vendors.AppID, vendors.Installation, s.Vendors.GitHub.Key(),
			setup()); err != nil {
			return err
		}
	}
	for _, provider := range []string{"freee", "google"} {
		c, token := s.Vendors.Client(provider), s.Vendors.Grant(provider)
		// People need this client when they connect the vendor again.
		x, err := v.Envelope.SealClient(ctx, tenancy.VendorClient{TenantID: tenant, Provider: provider}, c)
		if err == nil {
			_, err = rows(s).SaveVendorClient(ctx, x, setup(), time.Now())
		}
		if err != nil && !errors.Is(err, aggregate.ErrConflict) { // it is already registered
			return fmt.Errorf("register with %s: %w", provider, err)
		}
		if err := v.Connect(ctx, tenant, provider, vault.Of(token, c), vault.About(token), setup()); err != nil {
			return err
		}
	}
	return v.Allow(ctx, tenant, tenancy.SlackProvider, setup())
}

type tools struct{ vendors *vendors.Vendors }

func (p tools) List() (out []sandbox.ToolFault) {
	for _, name := range vendors.Tools() {
		out = append(out, sandbox.ToolFault{Tool: name, Failing: p.vendors.Fails(name)})
	}
	return out
}

// Set makes a tool fail or work again. The failure is a definite refusal, so a retry is safe.
func (p tools) Set(tool string, failing bool) { p.vendors.Fail(tool, http.StatusBadRequest, failing) }
