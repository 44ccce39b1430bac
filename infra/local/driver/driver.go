// Package driver acts like the people who use a running stack, and reads what they see: requests, cards, clicks and
// forms. It also reads the rows and runs behind them.
package driver

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// defaultTimeout bounds one wait on a busy machine: a message of the card queue whose receiver dies there comes again
// after a minute. After defaultQuietTime without the expected change, a request calls WhenQuiet. poll is the interval
// between two checks.
const defaultTimeout, defaultQuietTime, poll = 150 * time.Second, 6 * time.Second, 40 * time.Millisecond

// T is a *testing.T, or the substitute that Try gives to a program.
type T interface {
	expect.T
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var _ T = (*testing.T)(nil)

// Request is one person's request to Ringi and its thread.
type Request struct {
	Thread
	Store *store.TaskStore
	Ref   aggregate.Ref
	Asked time.Time // when the message was posted
}

// Ask mentions Ringi in #人事 and waits for the first card.
func Ask(t T, s *stack.Stack, user, text string) *Request {
	t.Helper()
	return AskIn(t, s, user, webapi.HR, "<@"+webapi.Bot+"> "+text)
}

// AskIn posts the text unchanged in a channel or direct message, and waits for the first card.
func AskIn(t T, s *stack.Stack, user, channel, text string) *Request {
	t.Helper()
	r := Say(t, s, user, channel, text)
	r.Card(TaskCard, "")
	return r
}

// Say is AskIn without the wait for a card.
func Say(t T, s *stack.Stack, user, channel, text string) *Request {
	t.Helper()
	asked := time.Now()
	r := At(t, s, channel, expect.Value(s.Sandbox.Say(user, channel, text))(t))
	r.Asked = asked
	return r
}

// At returns the request for a message that was already posted.
func At(t T, s *stack.Stack, channel, ts string) *Request {
	t.Helper()
	team := s.Sandbox.TeamID()
	id := expect.Value(task.ID(team, channel, ts))(t)
	return &Request{Thread: In(t, s, channel, ts), Ref: task.RefOf(aggregate.TenantID(team), id), Store: rows(s)}
}

// attempt implements T without a test.
type attempt struct{ ctx context.Context }

// failure is the panic value with which a failed attempt ends.
type failure struct{ error }

// Try runs test code in a program and returns the failure as an error. Waits in that code end when ctx does.
func Try(ctx context.Context, do func(T)) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	do(attempt{ctx})
	return nil
}

// Failf makes the surrounding Try return this error.
func Failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func (attempt) Helper()                           {}
func (a attempt) Context() context.Context        { return a.ctx }
func (attempt) Logf(string, ...any)               {}
func (attempt) Errorf(format string, args ...any) { Failf(format, args...) }
func (a attempt) Fatal(args ...any)               { a.Fatalf("%s", fmt.Sprint(args...)) }

func (a attempt) Fatalf(format string, args ...any) {
	if err := a.ctx.Err(); err != nil {
		Failf("%w: "+format, append([]any{err}, args...)...)
	}
	Failf(format, args...)
}

// Options returns the options of `go run ./infra/local`, but with free ports, with the settings that a workspace begins
// with in production, by which requesters approve too (driver.SetTitles changes that), and with a sweeper that only
// runs when a test calls it.
func Options() stack.Options {
	return stack.Options{Model: "demo", ByHand: true, FunctionLog: io.Discard, Sandbox: sandbox.Options{Language: "ja"},
		PrepareTeam: Connect}
}

func Start(ctx context.Context, o stack.Options) (*stack.Stack, error) {
	s, err := stack.Start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start the local stack: %w", err)
	}
	unbounded := func(x *tenancy.Settings) { x.MaxOpenTasks, x.MaxTasksPerHour = 0, 0 }
	if err := change(ctx, s, unbounded); err != nil { // in tests one person asks for more than any real person would
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
			d.Rev, d.MCPServers, d.Sources = x.Rev, x.MCPServers, x.Sources
			d.MaxOpenTasks, d.MaxTasksPerHour = 0, 0
			*x = d
		})
		s.Sandbox.SetToggles(sandbox.Toggles{})
		s.Sandbox.Faults.Clear("")
		for _, tool := range append(vendors.Tools(), vendors.GitHub) {
			s.Vendors.Fail(tool, 0, false)
			s.Vendors.Hang(tool, 0)
		}
	})
}

// Settings changes the settings of the sandbox's workspace for a test.
func Settings(t *testing.T, s *stack.Stack, apply func(*tenancy.Settings)) {
	t.Helper()
	expect.NoError(t, change(context.Background(), s, apply))
}

// ListEmployees lets an agent read the list of employees for these people.
func ListEmployees(x *tenancy.Settings, id string, people ...string) {
	all, err := tool.Builtin()
	if err != nil {
		panic(err)
	}
	s, _ := all.Lookup("list_employees")
	x.ListedReads = append(x.ListedReads,
		tenancy.ListedRead{Agent: id, Tool: s.Name, Version: s.Version(), People: people})
}

// UsualSettings is Connect and SetTitles. Members of contests and agents may read by a tool each, and orders can be
// placed.
func UsualSettings(ctx context.Context, s *stack.Stack, team string) error {
	tenant := aggregate.TenantID(team)
	if err := Connect(ctx, s, team); err != nil {
		return err
	}
	if err := LetRead(ctx, s, tenant); err != nil {
		return err
	}
	err := change(ctx, s, func(x *tenancy.Settings) {
		SetTitles(x)
		for _, id := range []string{"claude", "codex"} {
			ListEmployees(x, id, webapi.Sato, webapi.Suzuki, webapi.Tanaka, webapi.Alex)
		}
	})
	if err != nil {
		return err
	}
	return ConnectOrdering(ctx, s, tenant)
}

// SetTitles lets the sandbox's people do what their titles say: the two approvers decide, and nobody on their own
// request.
func SetTitles(x *tenancy.Settings) {
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki, webapi.Tanaka}}
	x.AllowSelfApproval = false
}

// change changes the settings of the sandbox's workspace, unless they are so already. If somebody else changes them at
// the same time, it tries again.
func change(ctx context.Context, s *stack.Stack, apply func(*tenancy.Settings)) error {
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	for {
		x, err := rows(s).Settings(ctx, tenant)
		if err != nil {
			return err
		}
		before, _ := json.Marshal(x)
		apply(&x)
		if after, _ := json.Marshal(x); string(before) == string(after) {
			return nil
		}
		if _, err = rows(s).SaveSettings(ctx, tenant, x, setup(), time.Now()); !errors.Is(err, aggregate.ErrConflict) {
			return err
		}
	}
}

// FormFile is a file of a form.
type FormFile struct {
	Name string `json:"name"`
	Body []byte `json:"body"`
}

// AskWithFiles asks for a decision of a title by the form, with files, and with cards in #人事. Like a person, it fills
// in another form if told that nothing was kept in time.
func AskWithFiles(t T, s *stack.Stack, user, title string, files ...FormFile) *Request {
	t.Helper()
	given := make([]any, len(files))
	for i, f := range files {
		given[i] = map[string]any{"name": f.Name, "body": f.Body}
	}
	fields := map[string]any{"matter": "支出", "title": title, "amount": "120万", "description": "入れ替えの時期のため。", "file": given,
		"request_channel": webapi.HR}
	asked := time.Now()
	var wrong map[string]string
	for tries := 1; ; tries++ {
		expect.NoError(t, s.Sandbox.Global(user, "ringi_matter"))
		views := s.Sandbox.Views(user)
		expect.Must(t, len(views) == 1, "%d forms are open", len(views))
		var err error
		wrong, err = s.Sandbox.Submit(user, views[0].ID, fields)
		expect.NoError(t, err)
		again := slices.ContainsFunc([]card.AskNote{card.NoteFailed, card.NoteSlow}, func(n card.AskNote) bool {
			return slices.Contains(slices.Collect(maps.Values(wrong)), n.Told("ja")) // at whichever field
		})
		if !again || tries == 5 {
			break
		}
		expect.NoError(t, s.Sandbox.CloseView(user, views[0].ID))
	}
	expect.Must(t, len(wrong) == 0, "%v", wrong)
	all := expect.Value(s.Sandbox.Workspace.History(webapi.HR, webapi.Range{}))(t)
	at := slices.IndexFunc(all, func(m webapi.Message) bool {
		return m.User == webapi.Bot && strings.Contains(m.Text, title)
	})
	expect.Must(t, at >= 0, "no message asks for the decision")
	r := At(t, s, webapi.HR, all[at].TS)
	r.Asked = asked
	return r
}
