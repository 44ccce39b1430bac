package stories

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// What people see of stories that nothing disturbs, and how rows are written.

// shows checks texts of a card, and the color of its bar.
func (p *play) shows(key, color string, texts ...string) {
	m := p.Cards(key)[0]
	expect.That(p.T, driver.Color(m) == color, "%s is %s, not %s", key, driver.Color(m), color)
	for _, text := range texts {
		expect.Has(p.T, driver.Face(m), text, "%s", key)
	}
}

func (p *play) logged(entries ...string) {
	expect.Same(p.T, entries, p.Audit())
}

func requestSeen(t *testing.T, p *play) {
	p.shows(driver.ProcessCard, "36a64f", "1. *従業員一覧を取得* — `list_employees`", "2. *勤怠データ取得* — `list_attendance`",
		"3. *残業時間計算* — `calculate_overtime`", "4. *シートに書き込み* — `write_rows_to_google_sheet`",
		"5. *完了通知* — `send_slack_dm`", "✅ 承認: <@"+webapi.Tanaka+">")
	p.shows(driver.ExecutionCard, "36a64f", "✅ 5. *完了通知*")
	p.shows(driver.PromptCard, "36a64f", "✅ 承認: <@"+webapi.Suzuki+">")
	p.logged("task.created by system", "prompt.approved by "+webapi.Suzuki, "process.approved by "+webapi.Tanaka,
		"execution.started by system", "execution.completed by system")
	expect.Same(t, writingOrder, p.commits())
	a := p.Load()
	expect.Is(t, p.notified(a, webapi.Sato), 1, "direct messages to the requester")
	p.RanOnce()
	var to struct {
		Tab string `json:"sheet"`
	}
	expect.NoError(t, json.Unmarshal([]byte(a.Process().Steps[3].ToolInput), &to))
	expect.Is(t, len(p.Vendors.Rows(to.Tab)), 43, "rows: a header and 42 employees")
}

func rejectedSeen(t *testing.T, p *play) {
	const next = "➡️ 新しいバージョン v2 が生成されました"
	p.shows(driver.PromptCard, "e01e5a", next, plantedReason)
	p.shows(driver.ProcessCard, "e01e5a", next)
	p.shows("CARD#prompt#0002", "36a64f", plantedReason)
	a := p.Load()
	expect.Is(t, len(a.Processes[1].Steps), len(a.Processes[0].Steps)+1, "steps of version 2")
	p.logged("task.created by system", "prompt.rejected by "+webapi.Suzuki, "prompt.approved by "+webapi.Suzuki,
		"process.rejected by "+webapi.Tanaka, "process.approved by "+webapi.Tanaka, "execution.started by system",
		"execution.completed by system")
}

func checkedSeen(t *testing.T, p *play) {
	p.shows("CARD#step#0001#001#04", "888888", "🔍 実行前の確認", "ringi-demo-sheet")
	a := p.Load()
	expect.That(t, a.Execution().Status == task.ExecutionCancelled &&
		a.StepOf(a.Execution(), 4).Status == task.StepCompleted && p.made(execute, writeRows) == 1,
		"execution %s, %d writes", a.Execution().Status, p.made(execute, writeRows))
	expect.Is(t, p.notified(a, webapi.Sato), 0, "direct messages that nobody approved")
	p.RunsEnd()
}

func stoppedSeen(t *testing.T, p *play) {
	p.shows(driver.ExecutionCard, "888888", "⏹️ <@"+webapi.Tanaka+"> により中止されました")
	a := p.Load()
	expect.That(t, len(a.Steps) == 1 && a.Task.Status == task.TaskCancelled &&
		a.Execution().Status == task.ExecutionCancelled,
		"%d steps, task %s, execution %s", len(a.Steps), a.Task.Status, a.Execution().Status)
	p.RunsEnd()
}

func withdrawnSeen(t *testing.T, p *play) {
	p.shows(driver.TaskCard, "888888", "⏹️ <@"+webapi.Sato+"> によりキャンセルされました")
	p.shows(driver.ProcessCard, "888888", "キャンセルされました")
	expect.That(t, !p.Shows(driver.ProcessCard, "approve_process"), "the withdrawn card still has its buttons")
	p.logged("task.created by system", "prompt.approved by "+webapi.Tanaka, "task.cancelled by "+webapi.Sato)
	p.RunsEnd()
}

func deletedSeen(t *testing.T, p *play) {
	p.shows(driver.PromptCard, "888888", "キャンセルされました")
	a := p.Load()
	expect.That(t, a.Head.Ended.Reason == task.ReasonDeleted && len(a.Prompts) == 1, "%+v", a.Head.Ended)
}

func triedAgainSeen(t *testing.T, p *play) {
	a := p.Load()
	expect.That(t, a.Execution().Attempt == 2 && a.StepOf(a.Execution(), 1).Reused && p.made(execute, readStaff) == 1,
		"attempt %d, step 1 is called %d times", a.Execution().Attempt, p.made(execute, readStaff))
	p.logged("task.created by system", "prompt.approved by "+webapi.Suzuki, "process.approved by "+webapi.Tanaka,
		"execution.started by system", "execution.failed by system", "execution.retried by "+webapi.Sato,
		"execution.started by system", "execution.completed by system")
}

func questionSeen(t *testing.T, p *play) {
	said, a := p.Cards(driver.TaskCard), p.Load()
	expect.Has(t, expect.JSON(said[0].Attachments), "Ringi には「今月の勤怠をまとめて」")
	expect.That(t, a.Task == nil && len(a.Cards) == 1 &&
		a.Head.Ended.As == task.TaskAnswered, "%+v, %+v", said, a.Head)
	p.logged("request.answered by system")
	p.RunsEnd()
}

func failedPlanSeen(_ *testing.T, p *play) {
	p.logged("task.created by system", "prompt.approved by "+webapi.Suzuki, "generation.failed by system",
		"generation.retried by "+webapi.Sato, "process.approved by "+webapi.Tanaka,
		"execution.started by system", "execution.completed by system")
}

func expiredSeen(t *testing.T, p *play) {
	p.shows(driver.PromptCard, "888888", "期限切れ")
	expect.That(t, !p.Shows(driver.PromptCard, "approve_prompt"), "the expired card still has its buttons")
	p.logged("task.created by system", "task.expired by system")
	p.RunsEnd()
}

// pulledSeen checks the tree of a pull request as git finds it: the commit's with what people approved, and nothing
// else.
func pulledSeen(t *testing.T, p *play) {
	x, name := p.talk().Actions[1], p.mark+".txt"
	in := func(args ...string) string {
		args = append([]string{"-C", p.shop().Dir(), "-c", "safe.directory=*"}, args...)
		return strings.TrimSpace(string(expect.Value(exec.Command("git", args...).Output())(t)))
	}
	in("fsck", "--strict", "--no-dangling")
	expect.Is(t, in("diff", "--name-status", x.Pushed.Base, x.Pushed.Commit), "A\t"+name)
	expect.Is(t, in("rev-parse", x.Pushed.Commit+"^"), x.Pushed.Base)
	expect.Has(t, in("log", "-1", "--format=%B", x.Pushed.Commit), "[skip ci]")
	for _, act := range x.Gate.Acts {
		expect.Is(t, act.Hash, x.Sum())
	}
}

// contestSeen checks that the policy is the first team's draft, and that the log names the team with its score.
func contestSeen(t *testing.T, p *play) {
	x := p.Load().Prompt()
	expect.Must(t, x.Entry != nil && x.Contest != nil && x.Contest.As == string(contest.SummaryCompleted) &&
		len(x.Contest.Entries) == 3 && x.Contest.Entries[0] == *x.Entry && aggregate.HashOf(x.Content) == x.Entry.Hash,
		"drafted by %+v of %+v", x.Entry, x.Contest)
	for _, e := range p.AuditRows() {
		if e.Action == task.AuditPromptApproved {
			var details struct {
				Team  string
				Score float64
			}
			expect.NoError(t, json.Unmarshal([]byte(e.Details), &details))
			expect.That(t, details.Team == x.Entry.TeamName && details.Score == x.Entry.Points() && details.Score > 0, "%s",
				e.Details)
		}
	}
	_, page := driver.SitDown(t, p.Stack, webapi.Sato).Get("/console/contests/" + x.Contest.ExecutionID)
	expect.Has(t, page, "途中で失敗したため、それまでの最良の案で終了しました。 評価者が続行できませんでした")
	kept := large.Open(p.AWS, boot.Results{ResultsBucket: p.BucketName})
	round, _, err := store.ContestsOf(p.rows(), kept).LoadRoundHistory(t.Context(), p.Ref.Tenant, x.Contest.ExecutionID,
		"careful", 1)
	expect.Must(t, err == nil && round != nil, "the team has no round: %v", err)
	text := string(expect.Value(json.Marshal(round.Submissions))(t))
	expect.Has(t, text, "rooms_house_rules")
	expect.Has(t, text, "使った後はホワイトボードを消してください。", "what a member read by the server's tool")
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
func (p *play) commits() (out []string) {
	byRev := map[int][]string{}
	seen := map[string]bool{} // a claim rewrites the running execution without changing its status
	last := 0
	for _, r := range p.records() {
		what := described(r.Dynamodb.NewImage, r.EventName)
		rev := last // an audit row has no revision: it follows its task's rows
		if n, ok := r.Dynamodb.NewImage["rev"].(*types.AttributeValueMemberN); ok {
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

// records are those of the stream that are of the task's rows and audit entries, oldest first.
func (p *play) records() (all []types.Record) {
	ctx := context.Background()
	table := expect.Value(p.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &p.TableName}))(p.T)
	stream, client := table.Table.LatestStreamArn, dynamodbstreams.NewFromConfig(p.AWS)
	about := expect.Value(client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: stream}))(p.T)
	at := expect.Value(client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: stream,
		ShardId:           about.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon}))(p.T)
	for next := at.ShardIterator; next != nil; {
		page := expect.Value(client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next}))(p.T)
		if next = page.NextShardIterator; len(page.Records) == 0 {
			break
		}
		for _, r := range page.Records {
			pk, _ := r.Dynamodb.Keys["PK"].(*types.AttributeValueMemberS)
			of, _ := r.Dynamodb.NewImage["task_id"].(*types.AttributeValueMemberS)
			own := strings.HasSuffix(pk.Value, "#"+p.Ref.ID) ||
				strings.HasPrefix(pk.Value, "AUDIT#") && of != nil && of.Value == p.Ref.ID
			if own && r.Dynamodb.NewImage != nil {
				all = append(all, r)
			}
		}
	}
	return all
}

// notified counts the direct messages that this task's steps sent to a person.
func (p *play) notified(a *task.Aggregate, user string) (n int) {
	for _, m := range p.S.Sandbox.Messages(webapi.DirectMessage(user), "") {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if key, _ := payload["key"].(string); strings.HasPrefix(key, a.Process().ID) {
			n++
		}
	}
	return n
}
