package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
	"ringi/shared/store/table"
)

// TestStore runs the compliance suite against the emulator that the local stack uses. Each part has its own table.
func TestStore(t *testing.T) {
	described := expect.Value(template.Read(filepath.Join("..", "..", "template.yaml"), template.Names{},
		map[string]string{"Stage": "dev"}))(t)
	s := &suite{endpoint: process.MotoForTests(t), described: described.Tables[0]}
	for _, part := range []part{
		{"create", testCreate},
		{"load", testLoad},
		{"the data model's columns", testColumns},
		{"commit", testCommit},
		{"head", testHead},
		{"usage", testUsage},
		{"leases", testLeases},
		{"lost answers", testLostAnswers},
		{"commits that are cut off", besides(testCutOff)},
		{"quota", testQuota},
		{"torn reads", testTornReads},
		{"busy table", besides(testBusyTable)},
		{"hindered writes", besides(testHinderedWrites)},
		{"races", testRaces},
		{"rounds", testRounds},
		{"control", testLostRaceIsSeen},
		{"decide", testDecide},
		{"decide on known rows", testDecideOn},
		{"waits", testWaits},
		{"waits at gates that the run has left", testLeftWaits},
		{"cards", testCards},
		{"due", testDue},
		{"many due", testDueMany},
		{"shown", testShown},
		{"web", testWeb},
		{"chain", testChain},
		{"tenants", testTenants},
		{"agents", testAgents},
		{"settings", testSettings},
		{"rules", testRules},
		{"delegations", testDelegations},
		{"keys", testKeys},
		{"calls", testCalls},
		{"delegations beside commits", testDelegationBeside},
		{"delegations and crashes", testDelegationCrash},
		{"integrations", testIntegrations},
		{"renewed integrations", testRenewedIntegrations},
		{"ended integrations", testEndedIntegrations},
		{"tools", testTools},
		{"lists", testLists},
		{"a list for each status", testStatuses},
		{"what a list keeps", testKeptOfLists},
		{"rows at places", testRowsAt},
		{"pending", testPending},
		{"audit log", testAudit},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s.store(t)) })
	}
}

type part struct {
	name string
	run  func(*testing.T, *taskStore)
}

// besides is a part that mostly waits: it runs with others of them, after all that don't.
func besides(run func(*testing.T, *taskStore)) func(*testing.T, *taskStore) {
	return func(t *testing.T, st *taskStore) {
		t.Parallel()
		run(t, st)
	}
}

// parts runs the parts one after the other over the same table.
func (s *taskStore) parts(t *testing.T, parts []part) {
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, s) })
	}
}

type suite struct {
	endpoint  string
	described template.Table
	tables    atomic.Int32
}

// at is the time at which tests begin.
func at() time.Time { return time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC) }

// store returns a store over a new table that is created as template.yaml describes it.
func (s *suite) store(t *testing.T) *taskStore {
	t.Helper()
	st := s.tasksIn(New(s.client(nil), fmt.Sprintf("suite-%d", s.tables.Add(1)), TaskKind()))
	st.t.Now = at
	expect.Value(st.t.DB.CreateTable(t.Context(), s.described.Input(st.t.Name)))(t)
	return st
}

// over returns a store on the same table that uses the given transport.
func (s *taskStore) over(transport http.RoundTripper, options ...func(*dynamodb.Options)) *taskStore {
	other, rows := *s.Store, *s.t
	rows.DB = s.suite.client(transport, options...)
	other.t = &rows
	return s.suite.tasksIn(&other)
}

func (s *suite) client(transport http.RoundTripper, options ...func(*dynamodb.Options)) *dynamodb.Client {
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(s.endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	if transport != nil {
		cfg.HTTPClient = &http.Client{Transport: transport}
	}
	return dynamodb.NewFromConfig(cfg, append([]func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, 5*time.Millisecond) // retries whose waits are short
	}}, options...)...)
}

// oneTry disables the client's retries.
func oneTry(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

const (
	tenant    = "01TENANT"
	requester = "U0REQUESTER"
)

func approver() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: "U0APPROVER", Team: "T0TEAM", Member: true}
}

func policy() aggregate.Policy {
	return aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	expect.Fails(t, err, want)
}

// wantField fails the test unless err is Problem of the field.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	bad := aggregate.Problem{}
	expect.That(t, errors.As(err, &bad) && bad.Field == field, "%v, want Problem of %s", err, field)
}

// request returns the n-th message.
func request(n int) task.Request {
	ts := fmt.Sprintf("%d.%06d", at().Unix()+int64(n/1000), (n%1000)*1000)
	return task.Request{TeamID: "T0TEAM", Text: "今月の勤怠をまとめて", User: requester, Channel: "C0CHANNEL",
		ChannelType: "channel", MessageTS: ts, ThreadTS: ts, Source: task.SourceChannel, EventID: fmt.Sprintf("Ev%d", n)}
}

func received(t *testing.T, n int) (aggregate.Change, aggregate.Ref) {
	t.Helper()
	c, ref, err := task.Receive(tenant, request(n), at().Add(time.Duration(n)*time.Millisecond))
	expect.NoError(t, err)
	return c, ref
}

func created(t *testing.T, s *taskStore, n int) aggregate.Ref {
	t.Helper()
	c, ref := received(t, n)
	expect.NoError(t, s.Create(t.Context(), c))
	return ref
}

func loaded(t *testing.T, s *taskStore, ref aggregate.Ref) *task.Aggregate {
	t.Helper()
	return expect.Value(s.Load(t.Context(), ref))(t)
}

// atOnce counts, of n calls at the same time, those that succeed and those that are refused with an error.
func atOnce(t expect.T, n int, call func(i int) error, refused error) (won, lost int) {
	t.Helper()
	errs := make([]error, n)
	expect.AtOnce(len(errs), func(i int) { errs[i] = call(i) })
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case errors.Is(err, refused):
			lost++
		default:
			t.Errorf("%v", err)
		}
	}
	return won, lost
}

func headOf(t *testing.T, s *taskStore, ref aggregate.Ref) task.Head {
	t.Helper()
	return expect.Value(s.Head(t.Context(), ref))(t)
}

type decision = task.Decision

func decided(t *testing.T, s *taskStore, ref aggregate.Ref, decisions ...decision) *task.Aggregate {
	t.Helper()
	var a *task.Aggregate
	for i, d := range decisions {
		var err error
		if a, err = s.Decide(t.Context(), ref, d); err != nil {
			t.Fatalf("decision %d: %v", i+1, err)
		}
	}
	return a
}

func extract(a *task.Aggregate) (aggregate.Change, error) {
	return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}, at())
}

// extractLast extracts a task that has cost what it may, so no policy begins.
func extractLast(a *task.Aggregate) (aggregate.Change, error) {
	return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard,
		Last: true}, at())
}

func beginPrompt(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, at()) }

func finishPrompt(a *task.Aggregate) (aggregate.Change, error) {
	return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, tenancy.DefaultSettings(), at())
}

// does acts on the gate with this id at the stage that is asked.
func does(a *task.Aggregate, kind circulation.Kind, id, text string, by aggregate.Actor, at time.Time) (
	aggregate.Change, error) {
	return a.Act(id, a.Asked(id).Gate.Acting(kind, by, text), by, policy(), at)
}

func approvePrompt(a *task.Aggregate) (aggregate.Change, error) {
	return does(a, circulation.Stamp, a.Prompt().ID, "", approver(), at())
}

func rejectPrompt(a *task.Aggregate) (aggregate.Change, error) {
	return does(a, circulation.SendBack, a.Prompt().ID, "もっと詳しく", approver(), at())
}

func beginProcess(a *task.Aggregate) (aggregate.Change, error) {
	return a.BeginProcess(a.Head.Run, at())
}

// finishProcess plans n steps, of which the last one writes.
func finishProcess(n int) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		var steps []task.Step
		for i := 1; i <= n; i++ {
			steps = append(steps, task.Step{StepID: fmt.Sprintf("step-%d", i), Order: i, Tool: "list_employees",
				ToolInput: `{"department":null}`, Access: aggregate.Read, Description: "従業員一覧を取得する", ExpectedOutput: "従業員のリスト",
				ToolVersion: "1"})
		}
		steps[n-1].Tool, steps[n-1].Access = "send_slack_dm", aggregate.Write
		return a.FinishProcess(a.Head.Run, steps, "", tenancy.DefaultSettings(), at())
	}
}

func approveProcess(a *task.Aggregate) (aggregate.Change, error) {
	return does(a, circulation.Stamp, a.Process().ID, "", approver(), at())
}

func start(a *task.Aggregate) (aggregate.Change, error) {
	return a.StartExecution(a.Head.Run, task.Series{}, at())
}

func cancel(a *task.Aggregate) (aggregate.Change, error) { return a.End(approver(), policy(), at()) }

func claim(order int) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		step := a.NextStep(a.Execution())
		return a.ClaimStep(a.Head.Run, task.Call{Order: order, Arguments: aggregate.Blob{JSON: "{}", Bytes: 2},
			Tool:  task.ToolRef{Name: step.Tool},
			Claim: aggregate.Claim{Invocation: "invocation", LeaseUntil: at().Add(75 * time.Second)}}, at())
	}
}

func finishStep(order int) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		e := a.Execution()
		result := aggregate.Blob{JSON: `{"count":42}`, Bytes: 12}
		return a.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, order), "invocation",
			task.Outcome{Status: task.StepCompleted, Result: &result}, at())
	}
}

// waitingPrompt makes a task whose prompt waits for a decision.
func waitingPrompt(t *testing.T, s *taskStore, n int) aggregate.Ref {
	t.Helper()
	ref := created(t, s, n)
	decided(t, s, ref, extract, beginPrompt, finishPrompt)
	return ref
}

// running makes a task that executes the given number of steps.
func running(t *testing.T, s *taskStore, n, steps int) aggregate.Ref {
	t.Helper()
	ref := waitingPrompt(t, s, n)
	decided(t, s, ref, approvePrompt, beginProcess, finishProcess(steps), approveProcess, start)
	return ref
}

// raw reads an item as it is stored.
func raw(t *testing.T, s *taskStore, pk, sk string) table.Item {
	t.Helper()
	out := expect.Value(s.t.DB.GetItem(context.Background(),
		&dynamodb.GetItemInput{TableName: &s.t.Name, Key: table.Key(pk, sk), ConsistentRead: aws.Bool(true)}))(t)
	return out.Item
}

func rows(t *testing.T, s *taskStore, pk string) []table.Item {
	t.Helper()
	e := table.NewExpression()
	out, err := s.t.DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{TableName: &s.t.Name,
		KeyConditionExpression: table.All(e.Is("PK", "=", pk))}))
	expect.NoError(t, err)
	return out.Items
}

// taskStore is the TaskStore and the suite that created its table.
type taskStore struct {
	*TaskStore
	seal.Rows
	suite *suite
}

// tasksIn returns a store's tasks and the packages of the other rows in its table.
func (s *suite) tasksIn(of *Store) *taskStore { return &taskStore{TasksOf(of), seal.RowsIn(of.t), s} }
