package journeys

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func TestAFailingToolIsShownAndTriedAgain(t *testing.T) {
	s := start(t)
	s.Vendors.Fail("list_attendance", http.StatusBadRequest, true)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	failed := d.Card("CARD#execution", "❌ 実行失敗")
	for _, want := range []string{"✅ 1. *従業員一覧を取得*", "❌ 2. *勤怠データ取得*", "⬜ 3. *残業時間計算*", "*エラー*"} {
		expect.That(t, strings.Contains(driver.Face(failed), want), "the failed card lacks %q: %s", want, driver.Face(failed))
	}
	calls := s.Vendors.Calls("list_employees")
	s.Vendors.Fail("list_attendance", 0, false)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
	expect.Is(t, s.Vendors.Calls("list_employees"), calls, "a done step was called again: %d calls, then", calls)
	a := d.Load()
	if e := a.Execution(); e.Attempt != 2 || !a.StepOf(e, 1).Reused || len(d.Cards("CARD#execution")) != 1 {
		t.Errorf("attempt %d, first step reused: %v", e.Attempt, a.StepOf(e, 1).Reused)
	}
	want := []string{
		"task.created by system", "prompt.approved by " + webapi.Suzuki, "process.approved by " + webapi.Suzuki,
		"execution.started by system", "execution.failed by system", "execution.retried by " + webapi.Sato,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
}

func TestACancelStopsBeforeTheNextCall(t *testing.T) {
	s := start(t)
	s.Vendors.Hang("list_employees", time.Minute)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "🔄 1. *従業員一覧を取得*")
	calls := s.Vendors.Calls("list_attendance")
	d.Click(webapi.Tanaka, "CARD#execution", "cancel_execution")
	card := d.Card("CARD#execution", "⏹️ <@"+webapi.Tanaka+"> により中止されました")
	expect.That(t, driver.Color(card) == "888888", "the cancelled card is %s", driver.Color(card))
	s.Vendors.Hang("list_employees", 0)
	d.RunsEnd()
	a := d.Until("the call in flight is settled", func(a *task.Aggregate) bool {
		for _, x := range a.Steps {
			if x.Status == task.StepRunning {
				return false
			}
		}
		return true
	})
	if n := s.Vendors.Calls("list_attendance"); n != calls || len(a.Steps) != 1 {
		t.Errorf("after the cancel %d calls began, %d steps have rows", n-calls, len(a.Steps))
	}
	expect.That(t, a.Task.Status == task.TaskCancelled && a.Execution().Status == task.ExecutionCancelled,
		"task %s, execution %s", a.Task.Status, a.Execution().Status)
	audit := d.Audit()
	expect.Is(t, audit[len(audit)-1], "execution.cancelled by "+webapi.Tanaka, "the audit log ends with")
}

func TestAStepThatAsksForAPersonShowsItsArguments(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: human check")
	d.Approve(webapi.Suzuki)
	gate := "CARD#step#0001#001#04"
	card := d.Card(gate, "approve_step")
	if !strings.Contains(driver.Face(card), "🔍 実行前の確認") || !strings.Contains(driver.Face(card), "ringi-demo-sheet") {
		t.Errorf("the gate's card does not show what would be called: %s", driver.Face(card))
	}
	writes := s.Vendors.Calls("write_rows_to_google_sheet")
	d.Click(webapi.Tanaka, gate, "approve_step")
	const second = "CARD#step#0001#001#05"
	d.Card(second, "approve_step")
	n := s.Vendors.Calls("write_rows_to_google_sheet")
	expect.That(t, n == writes+1, "the approved write was called %d times", n-writes)
	d.Reject(webapi.Suzuki, second, "reject_step", "宛先が違います")
	a := d.Until("the task is cancelled", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
	expect.That(t, a.Execution().Status == task.ExecutionCancelled &&
		a.StepOf(a.Execution(), 4).Status == task.StepCompleted, "execution %s", a.Execution().Status)
	d.RunsEnd()
}

// Rows of a tab below the written table stay, and the finished card says so. tabOf returns the tab that the planned
// steps write to.
func tabOf(t *testing.T, d *driver.Request) string {
	t.Helper()
	var to struct {
		Tab string `json:"sheet"`
	}
	for _, step := range d.Load().Process().Steps {
		if step.Tool == "write_rows_to_google_sheet" {
			expect.NoError(t, json.Unmarshal([]byte(step.ToolInput), &to))
		}
	}
	return to.Tab
}

// The data model's order of writes, one line per commit: related rows are written together, each with its audit row.
var writingOrder = []string{
	"slack_messages task",
	"tasks extracted; prompts generating; slack_messages prompt; task.created",
	"prompts pending_approval",
	"prompts approved; processes generating; slack_messages process; prompt.approved",
	"processes pending_approval",
	"processes approved; tasks running; executions pending; slack_messages execution; process.approved",
	"executions running; execution.started",
	"executions completed; tasks completed; execution.completed",
}

// commits returns the tables that each of the task's commits wrote, from the table's stream, without the calls of steps
// and without bookkeeping.
func commits(d *driver.Request) []string {
	d.T.Helper()
	byRev := map[int][]string{}
	seen := map[string]bool{} // a claim rewrites the running execution without changing its status
	last := 0
	for _, r := range stream(d) {
		image := r.Dynamodb.NewImage
		what := described(image, r.EventName)
		rev := last // an audit row has no revision: it follows its task's rows
		if n, ok := image["rev"].(*types.AttributeValueMemberN); ok {
			rev, _ = strconv.Atoi(n.Value)
		}
		if what == "" || seen[what] {
			continue
		}
		seen[what] = true
		last = rev
		byRev[rev] = append(byRev[rev], what)
	}
	var revs []int
	for rev := range byRev {
		revs = append(revs, rev)
	}
	slices.Sort(revs)
	var out []string
	for _, rev := range revs {
		out = append(out, strings.Join(byRev[rev], "; "))
	}
	return out
}

// described names the kind of row that a record wrote; "" for bookkeeping.
func described(image map[string]types.AttributeValue, event types.OperationType) string {
	get := func(name string) string {
		v, _ := image[name].(*types.AttributeValueMemberS)
		if v == nil {
			return ""
		}
		return v.Value
	}
	switch kind := get("type"); kind {
	case "task", "prompt", "execution":
		return kind + "s " + get("status")
	case "process":
		return "processes " + get("status")
	case "card":
		if event == types.OperationTypeInsert {
			return "slack_messages " + get("card_type")
		}
	case "audit":
		return get("action")
	}
	return ""
}

// stream returns the records of this task's rows and audit entries, oldest first.
func stream(d *driver.Request) (out []types.Record) {
	d.T.Helper()
	for _, r := range records(d.T, d.S) {
		pk, _ := r.Dynamodb.Keys["PK"].(*types.AttributeValueMemberS)
		about, _ := r.Dynamodb.NewImage["task_id"].(*types.AttributeValueMemberS)
		mine := strings.HasSuffix(pk.Value, "#"+d.Ref.ID) ||
			strings.HasPrefix(pk.Value, "AUDIT#") && about != nil && about.Value == d.Ref.ID
		if mine && r.Dynamodb.NewImage != nil {
			out = append(out, r)
		}
	}
	return out
}

// records are those of all rows of a stack, oldest first.
func records(t driver.T, s *stack.Stack) (all []types.Record) {
	t.Helper()
	ctx := context.Background()
	table := expect.Value(dynamodb.NewFromConfig(s.AWS).DescribeTable(ctx,
		&dynamodb.DescribeTableInput{TableName: &s.TableName}))(t)
	streams := dynamodbstreams.NewFromConfig(s.AWS)
	about := expect.Value(streams.DescribeStream(ctx,
		&dynamodbstreams.DescribeStreamInput{StreamArn: table.Table.LatestStreamArn}))(t)
	at := expect.Value(streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: table.Table.LatestStreamArn, ShardId: about.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}))(t)
	for next := at.ShardIterator; next != nil; {
		page := expect.Value(streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next}))(t)
		if next = page.NextShardIterator; len(page.Records) == 0 {
			break
		}
		all = append(all, page.Records...)
	}
	return all
}

// All in the console: a tool is allowed and listed for contests, a member calls it, and the draft has the result.
func TestAMemberReadsByAToolThatAnAdministratorLists(t *testing.T) {
	s := start(t)
	desk := driver.SitDown(t, s, webapi.Suzuki)
	decide(t, desk, "allow", url.Values{"effect": {"read"}})
	defer decide(t, desk, "forbid", nil)
	decide(t, desk, "contests", nil)

	const said = "使った後はホワイトボードを消してください。"
	id, found := searched(t, s)
	expect.That(t, found.Status == contest.Success && strings.Contains(found.Content, said) &&
		found.ErrorMessage == nil, "%s, %q: %v", found.Status, found.Content, found.ErrorMessage)
	calls := 0
	for _, m := range found.AllMessages {
		for _, p := range m.Parts {
			if p.ToolName == "rooms_house_rules" {
				calls++
			}
		}
	}
	text := string(expect.Value(json.Marshal(found.AllMessages))(t))
	if calls != 2 || !strings.Contains(text, said) { // its call and result
		t.Errorf("%d parts are of the tool: %s", calls, text)
	}
	_, board := desk.Get("/console/contests?team=careful")
	says(t, "the board", board, []string{"/console/contests/" + id})
}

// decide sends one act about the tool from its server's page.
func decide(t *testing.T, desk driver.Desk, act string, form url.Values) {
	t.Helper()
	const path = "/console/tools/servers/" + vendors.RoomsServer
	_, page := desk.Get(path)
	hash := regexp.MustCompile(`name="tool" value="` + regexp.QuoteMeta(vendors.HouseRules) +
		`"><input type="hidden" name="hash" value="([0-9a-f]{64})"`).FindStringSubmatch(page)
	expect.Must(t, hash != nil, "the page doesn't show %s: %s", vendors.HouseRules, page)
	if form == nil {
		form = url.Values{}
	}
	form.Set("act", act)
	form.Set("tool", vendors.HouseRules)
	form.Set("hash", hash[1])
	status, page := desk.Post(path, form)
	expect.Must(t, status == http.StatusSeeOther, "%s is answered %d: %s", act, status, page)
}

// searched has teams draft a policy in one round, and returns what the searching member submitted.
func searched(t *testing.T, s *stack.Stack) (execution string, m contest.MemberSubmission) {
	t.Helper()
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled, x.DraftContest.MaxRounds = true, 2 })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: refuse swift demo: refuse solo")
	d.Card("CARD#prompt#0001", "approve_prompt")
	execution = d.Load().Prompt().Contest.ExecutionID
	rows := store.ContestsOf(store.OpenAll(s.AWS, boot.Table{TableName: s.TableName}),
		large.Open(s.AWS, boot.Results{ResultsBucket: s.BucketName}))
	record, _, err := rows.LoadRoundHistory(t.Context(), d.Ref.Tenant, execution, "careful", 1)
	expect.NoError(t, err)
	expect.Must(t, record != nil, "the team has no round: %+v", d.Load().Prompt().Contest)
	for _, m := range record.Submissions {
		if m.AgentType == contest.WebSearch {
			return execution, m
		}
	}
	t.Fatalf("nobody searched: %+v", record)
	return "", m
}
