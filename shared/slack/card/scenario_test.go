package card_test

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// scenario brings a task through its states by the domain's own decisions, so that cards are tested on real rows.
type scenario struct {
	testing.TB
	*task.Aggregate
	now time.Time
}

var (
	requester = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0REQUESTER", Team: "T1", Member: true}
	approver  = aggregate.Actor{Type: aggregate.ActorUser, ID: "U12345", Team: "T1", Member: true}
	policy    = aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}
)

const content = "勤怠データを集計し、Google Sheet に書き込みます。\n- 対象: 今月\n- 通知: 完了時に DM"

// fiveSteps are the steps of the card specification, with the arguments of their calls.
func fiveSteps() []task.Step {
	return []task.Step{
		{StepID: "step-1", Order: 1, Title: "従業員一覧を取得", Tool: "list_employees", Access: aggregate.Read, ToolVersion: "v1",
			ToolInput: `{"department":"営業部","status":"active"}`},
		{StepID: "step-2", Order: 2, Title: "勤怠データ取得", Tool: "list_attendance", Access: aggregate.Read, ToolVersion: "v1",
			ToolInput: `{"year":2026,"month":4,"employees":{"$ref":"step-1.result.employees"}}`},
		{StepID: "step-3", Order: 3, Title: "残業時間計算", Tool: "calculate_overtime", Access: aggregate.Read, ToolVersion: "v1",
			ToolInput: `{"mode":"calculate","records":{"$ref":"step-2.result.records"}}`},
		{StepID: "step-4", Order: 4, Title: "Sheet 書き込み", Tool: "write_rows_to_google_sheet", Access: aggregate.Write,
			ToolVersion: "v1", ToolInput: `{"spreadsheet_id":"ringi-demo-sheet","sheet":"勤怠 2026-04",` +
				`"columns":[{"key":"num","title":"社員番号"}],"rows":{"$ref":"step-3.result.rows"}}`},
		{StepID: "step-5", Order: 5, Title: "完了通知", Tool: "send_slack_dm", Access: aggregate.Write, ToolVersion: "v1",
			ToolInput: `{"recipient":"U0REQUESTER","text":"勤怠集計が完了しました。",` +
				`"details":[{"label":"45 時間超","value":{"$ref":"step-3.result.over_45h"}}]}`},
	}
}

// unreadSteps are fiveSteps of which the last two have arguments that nobody can read.
func unreadSteps() []task.Step {
	steps := fiveSteps()
	steps[3].ToolInput, steps[4].ToolInput = "", `["U0REQUESTER"]`
	return steps
}

func received(t testing.TB) *scenario {
	t.Helper()
	s := &scenario{TB: t, now: time.Date(2026, 4, 18, 14, 33, 12, 0, time.UTC)}
	c, ref, err := task.Receive("01TENANT", task.Request{TeamID: "T1", Text: "今月の勤怠をまとめて", User: requester.ID,
		Channel: "C0HR", ChannelType: "channel", MessageTS: "1776522792.000100", ThreadTS: "1776522792.000100",
		Source: task.SourceChannel}, s.now)
	expect.NoError(t, err)
	s.Aggregate = &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1,
		Requester: requester.ID}, TaskID: ref.ID}}
	return s.do(c, nil)
}

// do commits a decision. Each commit takes a second.
func (s *scenario) do(c aggregate.Change, err error) *scenario {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	if !c.Empty() {
		s.Aggregate = s.Apply(c)
		s.now = s.now.Add(time.Second)
	}
	return s
}

// deletes deletes the request's message.
func (s *scenario) deletes() *scenario { return s.do(s.Deleted(requester.ID, s.now)) }

func (s *scenario) extracted() *scenario { return s.extract(false) }

// extract reads the request; that of the last result has cost what it may, so no policy begins.
func (s *scenario) extract(last bool) *scenario {
	s.now = s.now.Add(time.Second) // a model was called
	return s.do(s.Extracted(1, task.Extract{Title: "今月の勤怠集計", Description: "今月の勤怠を従業員ごとにまとめます。", Priority: task.Medium,
		TaskType: task.TypeStandard, Last: last}, s.now))
}

func (s *scenario) drafting() *scenario { return s.do(s.BeginPrompt(s.Head.Run, s.now)) }

func (s *scenario) drafted(set tenancy.Settings) *scenario {
	return s.drafting().drafts(content, set)
}

// drafts ends the making of a policy, plans that of steps.
func (s *scenario) drafts(content string, set tenancy.Settings) *scenario {
	return s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: content}, set, s.now))
}

func (s *scenario) plans(steps []task.Step, set tenancy.Settings) *scenario {
	s.do(s.FinishProcess(s.Head.Run, steps, "", set, s.now))
	if s.Unopened() == nil || s.UnderRules(set) {
		return s
	}
	return s.do(s.Open(s.Head.Run, s.Process().Key(), nil, set, s.now)) // others get messages
}

// plansAgain makes anew the steps that were sent back along a route, and brings them to it.
func (s *scenario) plansAgain(steps []task.Step) *scenario {
	g := s.Process().Gate
	s.do(s.BeginProcess(s.Head.Run, s.now)).plans(steps, defaults)
	s.Processes[0].Gate = g
	routed(&s.Process().Gate, s.now, threeStages()...)
	return s
}

const otherContent = "勤怠データを集計し、DM だけで知らせます。"

// contesting leaves the policy to a contest.
func (s *scenario) contesting() *scenario {
	s.drafting()
	return s.do(s.AskContest(s.Head.Run, task.Contest{ExecutionID: "execution", Until: s.now.Add(time.Minute)}, s.now))
}

// contested brings the task to the end of a contest in which two of three teams have a draft.
func (s *scenario) contested() *scenario { return s.contestedFor(aggregate.Usage{}, defaults) }

// contestedTooDear is contested for a task with a limit of 3 dollars.
func (s *scenario) contestedTooDear() *scenario {
	set := defaults
	set.MaxCostUSD = 3
	return s.contestedFor(aggregate.Usage{ID: "execution", Calls: 1, Cost: aggregate.USD(3.5)}, set)
}

func (s *scenario) contestedFor(used aggregate.Usage, set tenancy.Settings) *scenario {
	return s.contesting().summedUp(used, set)
}

func (s *scenario) summedUp(used aggregate.Usage, set tenancy.Settings) *scenario {
	s.do(s.ContestEnded(task.PromptKey(1), contest.Outcome{Execution: "execution", Usage: used, Summary: &contest.Summary{
		FailedTeams: []contest.FailedTeam{{TeamID: "c", TeamName: "無言 *c*", ExitReason: contest.PartialFailure,
			Reason: contest.ReasonLeader, Detail: "リーダーが最後まで進めませんでした: AI モデルが回答を断りました。"}}, Places: []contest.Place{
			{TeamID: "a", TeamName: "慎重 <b>", RoundNumber: 2, Score: 0.9125, Hash: aggregate.HashOf(content),
				ExitReason: contest.BudgetExhausted},
			{TeamID: "b", TeamName: "迅速", RoundNumber: 1, Score: 0.8, Hash: aggregate.HashOf(otherContent)},
		}}}, s.now))
	return s.do(s.FinishContest(s.Head.Run, "a", content, set, s.now))
}

// picked replaces the waiting draft by the other team's.
func (s *scenario) picked() *scenario {
	return s.do(s.PickDraft(s.contested().Prompt().ID, "b", otherContent, card.PickReason("ja", "迅速"), approver, policy,
		s.now))
}

func (s *scenario) rejectPrompt(reason string) *scenario {
	return s.do(decide.Reject(reason)(s, s.Prompt().ID, approver, policy, s.now))
}

// giveBack gives a policy or steps back to the requester.
func (s *scenario) giveBack() *scenario {
	open, _ := s.OpenGate()
	return s.do(decide.Reject("宛先を経理に直してください")(s, open.ID, approver, policy, s.now))
}

func (s *scenario) promptApproved() *scenario {
	s.now = s.now.Add(time.Second)
	return s.do(decide.Approve(s, s.Prompt().ID, approver, policy, s.now))
}

// planned brings the task to a process that waits for approval.
func planned(t testing.TB, steps []task.Step, set tenancy.Settings) *scenario {
	s := received(t).extracted().drafted(tenancy.DefaultSettings()).promptApproved()
	return s.do(s.BeginProcess(s.Head.Run, s.now)).plans(steps, set)
}

// approved brings the task to an execution that has not begun; started, to a running one.
func approved(t testing.TB, steps []task.Step) *scenario {
	s := planned(t, steps, tenancy.DefaultSettings())
	return s.do(decide.Approve(s, s.Process().ID, approver, policy, s.now))
}

func started(t testing.TB, steps []task.Step) *scenario {
	s := approved(t, steps)
	return s.do(s.StartExecution(s.Head.Run, task.Series{}, s.now))
}

func (s *scenario) claim(order int) *scenario {
	s.Helper()
	return s.do(s.ClaimStep(s.Head.Run, task.Call{Order: order, Arguments: aggregate.Blob{JSON: "{}"},
		ArgumentsHash: "h", Claim: aggregate.Claim{Invocation: "i", LeaseUntil: s.now.Add(75 * time.Second)}}, s.now))
}

func (s *scenario) finish(order int, o task.Outcome) *scenario {
	e := s.Execution()
	return s.do(s.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, order), "i", o, s.now))
}

func (s *scenario) steps(orders ...int) *scenario {
	for _, o := range orders {
		s.claim(o).finish(o, task.Outcome{Status: task.StepCompleted})
	}
	return s
}

func (s *scenario) failedAt(order int, o task.Outcome) *scenario {
	s.claim(order).finish(order, o)
	return s.do(s.FailExecution(s.Head.Run, o.Reason, o.Detail, s.now))
}

func (s *scenario) cancelExecution() *scenario {
	return s.do(s.CancelExecution(s.Execution().ID, approver, policy, s.now))
}

func (s *scenario) cancelTask() *scenario { return s.do(s.End(requester, policy, s.now)) }

// park fails runs until the task is parked. After a decision one more run is tried first.
func (s *scenario) park(why aggregate.Reason) *scenario {
	for s.Head.Parked == nil {
		s.do(s.GiveUp(s.Head.Run, why, s.now))
	}
	return s
}

func (s *scenario) full(why aggregate.Reason, until time.Time) *scenario {
	return s.do(s.RefuseFull(s.Head.Run, aggregate.ErrFull{Count: aggregate.Count{Most: 60, Reason: why, Until: until}},
		s.now))
}

func (s *scenario) expire() *scenario {
	s.now = s.now.Add(200 * time.Hour)
	return s.do(s.Expire(s.now))
}

// gated brings the task to the gate of its second step.
func gated(t testing.TB, args aggregate.Blob) *scenario {
	steps := fiveSteps()
	steps[1].RequiresHumanCheck = true
	s := started(t, steps).steps(1)
	return s.do(s.OpenStepGate(s.Head.Run, 2, args, "h", nil, s.now))
}

func (s *scenario) card(key string) *aggregate.Card {
	s.Helper()
	c := s.Card(key)
	if c == nil {
		s.Fatalf("no card %s among %d", key, len(s.Cards))
	}
	return c
}

// manySteps returns n steps with names of width characters.
func manySteps(n, width int) []task.Step {
	steps := make([]task.Step, n)
	for i := range steps {
		name := []rune(fmt.Sprintf("ステップ %d ", i+1))
		for len(name) < width {
			name = append(name, '長')
		}
		steps[i] = task.Step{StepID: fmt.Sprintf("step-%d", i+1), Order: i + 1, Title: string(name),
			Tool: "write_rows_to_google_sheet", Access: aggregate.Write, ToolVersion: "v1",
			ToolInput: `{"spreadsheet_id":"1aBcD","sheet":"勤怠"}`}
	}
	return steps
}

// costLimit stops a task that has a limit of 3 dollars.
func (s *scenario) costLimit() *scenario {
	bill := task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(3.5)}, s.now,
		func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil })
	s.do(bill(s.Aggregate))
	return s.do(s.StopForCost(s.Head.Run, aggregate.USD(3), s.now))
}

// render draws a card under the default settings, in a language.
func render(a *task.Aggregate, c *aggregate.Card, locale string, now time.Time) card.Message {
	set := tenancy.DefaultSettings()
	set.Locale = locale
	return card.Render(a, c, set, card.Around{}, now)
}

// ofThread makes a task of a request of which the first layer was shown so much of its thread.
func ofThread(s *scenario, of aggregate.Thread) *scenario {
	s.extracted()
	s.Request.Thread = &of
	return s
}
