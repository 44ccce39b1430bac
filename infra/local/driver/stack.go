package driver

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// Options returns the options of `go run ./infra/local`, but with free ports, with the settings that a workspace begins
// with in production, by which requesters approve too (admin.Titles changes that), and with a sweeper that only runs
// when a test calls it. Functions are compiled unless RINGI_ARTIFACTS names a folder of compiled ones. With
// RINGI_DYNAMODB=local the tables are in DynamoDB Local.
func Options() stack.Options {
	o := stack.Options{
		Model: "demo", ByHand: true, FunctionLog: io.Discard, Artifacts: os.Getenv("RINGI_ARTIFACTS"),
		DynamoDBLocal: os.Getenv("RINGI_DYNAMODB") == "local",
	}
	Configure(&o)
	return o
}

func Start(ctx context.Context, o stack.Options) (*stack.Stack, error) {
	s, err := stack.Start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start the local stack: %w", err)
	}
	if err := SetUnbounded(ctx, s); err != nil {
		s.Close()
		return nil, fmt.Errorf("lift the quotas: %w", err)
	}
	return s, nil
}

// Run is called by a TestMain. It starts one stack for all tests of a package, passes it to use, runs the tests and
// returns the exit code.
func Run(m *testing.M, o stack.Options, use func(*stack.Stack)) int {
	if LeftOut() {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	s, err := Start(ctx, o)
	if err != nil {
		log.Println(err)
		return 1
	}
	defer s.Close()
	use(s)
	return m.Run()
}

// LeftOut reports whether go test -short leaves out the tests of this package, and logs that it does.
func LeftOut() bool {
	if !flag.Parsed() {
		flag.Parse()
	}
	if testing.Short() {
		log.Println("left out by -short: these tests need a stack of their own")
	}
	return testing.Short()
}

// Leave restores default settings and switches all faults off when the test ends.
func Leave(t *testing.T, s *stack.Stack) {
	t.Cleanup(func() {
		Settings(t, s, func(x *tenancy.Settings) {
			d := tenancy.DefaultSettings()
			d.Rev, d.Slug, d.MCPServers, d.Sources = x.Rev, x.Slug, x.MCPServers, x.Sources
			d.MaxOpenTasks, d.MaxTasksPerHour, d.MaxMessagesPerHour = tenancy.Limit{}, tenancy.Limit{}, 0
			d.MaxAgentsCostDayUSD = 0
			*x = d
		})
		if err := s.Sandbox.SetToggles(sandbox.Toggles{}); err != nil {
			t.Error(err)
		}
		s.Sandbox.Faults().Clear("")
		for _, tool := range append(vendors.Tools(), vendors.GitHub) {
			s.Vendors.Fail(tool, 0, false)
			s.Vendors.Hang(tool, 0)
		}
	})
}

func Settings(t *testing.T, s *stack.Stack, change func(*tenancy.Settings)) {
	t.Helper()
	ctx := context.Background()
	rows := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	x := expect.Value(rows.Settings(ctx, tenant))(t)
	before, _ := json.Marshal(x)
	change(&x)
	if after, _ := json.Marshal(x); string(before) != string(after) {
		expect.Value(rows.SaveSettings(ctx, tenant, x, aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}, time.Now()))(t)
	}
}
