package journeys

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/admin"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/store"
	"ringi/shared/task"
)

// running is the one stack of this package's tests; each leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		s, err := stack.Start(ctx, local())
		if err != nil {
			log.Println("start the stack:", err)
			return 1
		}
		defer s.Close()
		running = s
		return m.Run()
	}())
}

// local is the stack that `go run ./infra/local` starts, on free ports; its sweeper runs only when told.
func local() stack.Options {
	o := stack.Options{
		Model: "demo", ByHand: true, FunctionLog: io.Discard, Artifacts: os.Getenv("RINGI_ARTIFACTS"),
		Sandbox: sandbox.Options{Shortcuts: []sandbox.Shortcut{{CallbackID: "cancel_task"}}},
	}
	admin.Configure(&o)
	return o
}

// start is the running stack with default settings and no fault switched on.
func start(t *testing.T) *stack.Stack {
	t.Helper()
	t.Cleanup(func() {
		settings(t, running, func(x *task.Settings) {
			d := task.DefaultSettings()
			d.Rev, d.Slug = x.Rev, x.Slug
			*x = d
		})
		if err := running.Sandbox.SetToggles(sandbox.Toggles{}); err != nil {
			t.Error(err)
		}
		for _, tool := range vendors.Tools() {
			running.Vendors.Fail(tool, 0, false)
			running.Vendors.Hang(tool, 0)
		}
	})
	return running
}

// settings changes the tenant's settings as the panel does.
func settings(t *testing.T, s *stack.Stack, change func(*task.Settings)) {
	t.Helper()
	ctx := context.Background()
	rows := store.New(dynamodb.NewFromConfig(s.AWS), s.TableName)
	tenant := task.TenantID(s.Sandbox.TeamID())
	x, err := rows.Settings(ctx, tenant)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(x)
	change(&x)
	if after, _ := json.Marshal(x); string(before) == string(after) {
		return
	}
	if _, err := rows.SaveSettings(ctx, tenant, x, task.Actor{Type: task.ActorUser, ID: "U0ADMIN"}, time.Now()); err != nil {
		t.Fatal(err)
	}
}
