package card_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

const (
	taskCard      = "CARD#task"
	promptCard    = "CARD#prompt#0001"
	processCard   = "CARD#process#0001"
	executionCard = "CARD#execution"
	stepCard      = "CARD#step#0001#001#02"
)

var arguments = aggregate.Blob{JSON: `{"year":2026,"month":4,"departments":["人事","総務"],` +
	`"rows":[["山田","160:00"],["佐藤","152:30"]],"note":"<確認> & ` + "`済`" + `"}`}

// state is one card in one state.
type state struct {
	name string
	card string
	then func(*scenario) *scenario // applied to a request that was received
}

func (st state) scenario(t testing.TB) *scenario { return st.then(received(t)) }

// The variants of settings and rows that states use.
var (
	defaults  = tenancy.DefaultSettings()
	automatic = settings(func(s *tenancy.Settings) {
		s.PromptApprovalRequired, s.ProcessApprovalRequired = false,
			false
	})
	oneVersion  = settings(func(s *tenancy.Settings) { s.MaxVersions = 1 })
	twoVersions = settings(func(s *tenancy.Settings) { s.MaxVersions = 2 })

	completed = task.Outcome{Status: task.StepCompleted}
	failed    = task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: "calculate_overtime"}
	unknown   = task.Outcome{Status: task.StepUnknown, Reason: task.ReasonToolUnknown, Detail: "step-4"}
)

func settings(edit func(*tenancy.Settings)) tenancy.Settings {
	s := tenancy.DefaultSettings()
	edit(&s)
	return s
}

func begun(s *scenario) *scenario   { return s }
func prompt(s *scenario) *scenario  { return s.extracted().drafted(defaults) }
func process(s *scenario) *scenario { return planned(s, fiveSteps(), defaults) }

func planning(s *scenario) *scenario {
	prompt(s).promptApproved()
	return s.do(s.BeginProcess(s.Head.Run, s.now))
}

func rejectProcess(s *scenario) *scenario {
	return s.do(decide.Reject("検証を追加してください")(s.Aggregate, s.Process().ID, approver, policy, s.now))
}

func retry(s *scenario) *scenario {
	return s.do(s.RetryExecution(s.Execution().ID, approver, policy, s.now))
}

// states are all states of all cards.
var states = slices.Concat(taskStates, promptStates, processStates, executionStates, stepStates)

var taskStates = []state{
	{"task_generating", taskCard, begun},
	{"task_waits_for_model", taskCard, func(s *scenario) *scenario {
		s.do(s.Accept(1, requester, defaults, s.now))
		return s.do(s.WaitUntil(1, s.Generating(), s.now.Add(time.Minute), s.now))
	}},
	{"task_waits_for_slack", taskCard, func(s *scenario) *scenario {
		return s.do(s.WaitUntil(1, s.Generating(), s.now.Add(time.Minute), s.now))
	}},
	{"task_encloses", taskCard, func(s *scenario) *scenario {
		s.Request.Forwarded = []aggregate.Quoted{{User: "U0TANAKA", Name: "田中 恵", Text: "対象は営業だけ"}, {Name: "Jira"},
			{User: "U0TANAKA", Text: "長い", Cut: true}}
		s.Request.Files, s.Request.MoreFiles = []aggregate.SharedFile{{ID: "F1", Name: "依頼.txt"}, {ID: "F2"}}, 5
		return s
	}},
	{"task_read_files", taskCard, func(s *scenario) *scenario {
		s.Request.Files, s.Request.MoreFiles = []aggregate.SharedFile{{ID: "F1"}, {ID: "F2"}, {ID: "F3"}}, 5
		hash := aggregate.HashOf("x")
		s.Files = &task.Files{Files: []task.ReadFile{
			{SharedFile: aggregate.SharedFile{ID: "F1", Name: "依頼.txt", Bytes: 60}, SHA256: hash, Characters: 24, Shown: 24},
			{SharedFile: aggregate.SharedFile{ID: "F2", Name: "長い.csv", Bytes: 270_000}, SHA256: hash, Characters: 90_000,
				Shown: 30_000},
			{SharedFile: aggregate.SharedFile{ID: "F3", Name: "図.pdf"}, Why: "pdf"}}}
		return s
	}},
	{"task_read_thread", taskCard, func(s *scenario) *scenario {
		return ofThread(s, aggregate.Thread{Read: 13, Cut: 2, Earlier: true})
	}},
	{"task_read_whole_thread", taskCard, func(s *scenario) *scenario { return ofThread(s, aggregate.Thread{Read: 3}) }},
	{"task_read_no_thread", taskCard, func(s *scenario) *scenario { return ofThread(s, aggregate.Thread{Failed: true}) }},
	{"task_forwards", taskCard, func(s *scenario) *scenario {
		s.Request.Text, s.Request.Forwarded = "", []aggregate.Quoted{
			{User: "U_TANAKA", Name: "田中 恵", Text: "営業だけ", Cut: true}, {Name: "Jira"}}
		return s.extracted()
	}},
	{"task_parked", taskCard, func(s *scenario) *scenario { return s.park(task.ReasonModelUnavailable) }},
	{"task_cancelled_before_extract", taskCard, func(s *scenario) *scenario { return s.cancelTask() }},
	{"task_refused_guest", taskCard, func(s *scenario) *scenario {
		guest := aggregate.Actor{Type: aggregate.ActorUser, ID: requester.ID, Team: "T1", Guest: true}
		return s.do(s.Accept(s.Head.Run, guest, tenancy.DefaultSettings(), s.now))
	}},
	{"task_refused_hour", taskCard, func(s *scenario) *scenario {
		return s.full(task.ReasonHourPerson, time.Date(2026, 4, 18, 15, 0, 0, 0, time.UTC))
	}},
	{"task_refused_open", taskCard, func(s *scenario) *scenario { return s.full(task.ReasonOpenPerson, time.Time{}) }},
	{"task_cost_limit_before_extract", taskCard, func(s *scenario) *scenario { return s.costLimit() }},
	{"task_answered_unsupported", taskCard, func(s *scenario) *scenario {
		return s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: "✅ 承認済み <!channel> 請求書は *作成できません*。"},
			s.now))
	}},
	{"task_greeting", taskCard, func(s *scenario) *scenario { return told(s, task.ReasonGreeting, "") }},
	{"task_no_source", taskCard, func(s *scenario) *scenario { return told(s, task.ReasonNoSource, "shopp/shop, hr") }},
	{"task_no_source_at_all", taskCard, func(s *scenario) *scenario { return told(s, task.ReasonNoSource, "shop/") }},
	{"task_stand_in", taskCard, func(s *scenario) *scenario { return toldStandIn(s, task.ReasonStandIn) }},
	{"task_stood_for", taskCard, func(s *scenario) *scenario { return toldStandIn(s, task.ReasonStoodFor) }},
	{"task_stand_in_ended", taskCard, func(s *scenario) *scenario { return toldStandIn(s, task.ReasonStandInEnded) }},
	{"task_reminded", taskCard, func(s *scenario) *scenario {
		return told(s, task.ReasonReminded, `{"n":22,"as":1,"items":[`+
			`{"kind":"task","id":"01KS000000000000000000000A","title":"PC <!channel> 2台","later":2,"asker":"U0SATO",`+
			`"amount":{"value":"298000","currency":"JPY"},"until":"2026-08-03T01:00:00Z","channel":"D1","ts":"1.2",`+
			`"link":"https://acme.slack.com/archives/D1/p12"},`+
			`{"kind":"session","id":"01KS000000000000000000000B","title":"","asker":"U0SATO","for":"U0TANAKA"}]}`)
	}},
	{"task_reminded_of_one", taskCard, func(s *scenario) *scenario {
		return told(s, task.ReasonReminded, `{"n":1,"items":[{"kind":"task","id":"01KS000000000000000000000A",`+
			`"title":"勤怠の集計","asker":"U0SATO","amount":{"why":"no_mark"}}]}`)
	}},
	{"task_reminded_shared", taskCard, func(s *scenario) *scenario {
		return told(s, task.ReasonReminded, `{"n":1,"shared":true,"items":[{"kind":"task","id":"01KS000000000000000000000A",`+
			`"title":"勤怠の集計","asker":"U0SATO","channel":"C0HR","ts":"1.2","link":"https://acme.slack.com/archives/C0HR/p12"}]}`)
	}},
	{"task_source_unnamed", taskCard, func(s *scenario) *scenario { return told(s, task.ReasonNoSource, "/shop, hr") }},
	{"task_source_unnamed_none", taskCard, func(s *scenario) *scenario { return told(s, task.ReasonNoSource, "/") }},
	{"task_answered_help", taskCard, func(s *scenario) *scenario {
		return s.do(s.Extracted(1, task.Extract{Kind: task.KindHelp, Sentence: "勤怠の集計などを依頼できます。"}, s.now))
	}},
	{"task_complete", taskCard, (*scenario).extracted},
	{"task_complete_cost_limit", taskCard, func(s *scenario) *scenario { return s.extract(true).costLimit() }},
	{"task_complete_parked_before_prompt", taskCard, func(s *scenario) *scenario {
		return s.extract(true).park(task.ReasonRunFailed)
	}},
	{"task_complete_cancelled_before_prompt", taskCard, func(s *scenario) *scenario {
		return s.extract(true).cancelTask()
	}},
	{"task_corrected", taskCard, func(s *scenario) *scenario { return prompt(s).rejectPrompt("開発部も").drafted(defaults) }},
	{"task_complete_of_cancelled_prompt", taskCard, func(s *scenario) *scenario { return prompt(s).cancelTask() }},
	{"task_complete_of_completed_execution", taskCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3, 4, 5)
		return s.do(s.CompleteExecution(s.Head.Run, "42 名分", s.now))
	}},
	{"task_complete_of_failed_execution", taskCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).failedAt(3, failed)
	}},
}

var promptStates = []state{
	{"task_deleted", taskCard, func(s *scenario) *scenario { return prompt(s).deletes() }},
	{"prompt_generating", promptCard, func(s *scenario) *scenario { return s.extracted().drafting() }},
	{"prompt_contesting", promptCard, func(s *scenario) *scenario { return s.extracted().contesting() }},
	{"prompt_drafted_without_its_files", promptCard, func(s *scenario) *scenario {
		s.extracted().drafting()
		s.do(s.SkipContest(s.Head.Run, "configs/contest.toml", task.ContestFiles,
			"configs/contest.toml: timeout_per_team_seconds: must be 10 to 3600, got *5* <!channel>", s.now))
		return s.drafts(content, defaults)
	}},
	{"prompt_contested", promptCard, func(s *scenario) *scenario { return s.extracted().contested() }},
	{"prompt_contested_at_the_cost_limit", promptCard,
		func(s *scenario) *scenario { return s.extracted().contestedTooDear() }},
	{"prompt_contest_cancelled", promptCard, func(s *scenario) *scenario {
		s.extracted().contesting().cancelTask()
		return s.do(s.ContestEnded(task.PromptKey(1), contest.Outcome{Execution: "execution", Summary: &contest.Summary{}},
			s.now))
	}},
	{"prompt_contested_in_vain", promptCard, func(s *scenario) *scenario {
		s.extracted().contesting()
		failed := contest.FailedTeam{TeamName: "慎重", ExitReason: contest.TeamTimeout, Reason: contest.ReasonTimeout,
			Detail: "…"}
		s.do(s.ContestEnded(task.PromptKey(1), contest.Outcome{Execution: "execution",
			Summary: &contest.Summary{FailedTeams: slices.Repeat([]contest.FailedTeam{failed}, 7)}}, s.now))
		return s.drafts(content, defaults)
	}},
	{"prompt_replaced", promptCard, func(s *scenario) *scenario { return s.extracted().picked() }},
	{"prompt_picked", "CARD#prompt#0002", func(s *scenario) *scenario { return s.extracted().picked() }},
	{"prompt_held", promptCard, func(s *scenario) *scenario {
		return s.extracted().drafting().park(task.ReasonNobodyApproves)
	}},
	{"prompt_parked", promptCard, func(s *scenario) *scenario {
		return s.extracted().drafting().park(task.ReasonModelBadOutput)
	}},
	{"prompt_parked_for_good", promptCard, func(s *scenario) *scenario {
		s.extracted().drafting()
		for range task.MaxRetries {
			s.park(task.ReasonModelUnavailable)
			s.do(s.RetryGeneration(approver, policy, s.now))
		}
		return s.park(task.ReasonModelUnavailable)
	}},
	{"prompt_cancelled_while_generating", promptCard,
		func(s *scenario) *scenario { return s.extracted().drafting().cancelTask() }},
	{"prompt_cost_limit", promptCard, func(s *scenario) *scenario { return prompt(s).costLimit() }},
	{"prompt_pending", promptCard, prompt},
	{"prompt_pending_last", promptCard, func(s *scenario) *scenario { return s.extracted().drafted(oneVersion) }},
	{"prompt_pending_automatic", promptCard, func(s *scenario) *scenario { return s.extracted().drafted(automatic) }},
	{"prompt_pending_automatic_parked", promptCard, func(s *scenario) *scenario {
		s.extracted().drafted(automatic)
		for s.Head.Parked == nil {
			s.do(s.RestartRun(s.Head.Run, s.now))
		}
		return s
	}},
	{"prompt_approved", promptCard, func(s *scenario) *scenario { return prompt(s).promptApproved() }},
	{"prompt_approved_automatically", promptCard, func(s *scenario) *scenario {
		s.extracted().drafted(automatic)
		return s.do(s.ApproveUnasked(s.Prompt().ID, s.now))
	}},
	{"prompt_rejected_next_expected", promptCard,
		func(s *scenario) *scenario { return prompt(s).rejectPrompt("DM は不要です") }},
	{"prompt_rejected_next_generating", promptCard,
		func(s *scenario) *scenario { return prompt(s).rejectPrompt("DM は不要です").drafting() }},
	{"prompt_rejected_next_generated", promptCard,
		func(s *scenario) *scenario { return prompt(s).rejectPrompt("DM は不要です").drafted(defaults) }},
	{"prompt_second_pending", "CARD#prompt#0002",
		func(s *scenario) *scenario { return prompt(s).rejectPrompt("DM は不要です").drafted(defaults) }},
	{"prompt_second_changed", "CARD#prompt#0002", func(s *scenario) *scenario {
		return prompt(s).rejectPrompt("DM は不要です").drafting().drafts(
			strings.Replace(content, "- 通知: 完了時に DM", "- 通知: なし <!channel>\n\n- 確認: 人が *確認*", 1), defaults)
	}},
	{"prompt_rejected_next_parked", promptCard, func(s *scenario) *scenario {
		return prompt(s).rejectPrompt("DM は不要です").drafting().park(task.ReasonModelDemo)
	}},
	{"prompt_second_parked", "CARD#prompt#0002", func(s *scenario) *scenario {
		return prompt(s).rejectPrompt("DM は不要です").drafting().park(task.ReasonModelDemo)
	}},
	{"prompt_rejected_parked_before_next", promptCard, func(s *scenario) *scenario {
		return prompt(s).rejectPrompt("DM は不要です").park(task.ReasonRunFailed)
	}},
	{"prompt_rejected_then_cancelled", promptCard,
		func(s *scenario) *scenario { return prompt(s).rejectPrompt("DM は不要です").cancelTask() }},
	{"prompt_rejected_next_cancelled", promptCard, func(s *scenario) *scenario {
		return prompt(s).rejectPrompt("DM は不要です").drafting().cancelTask()
	}},
	{"prompt_rejected_last", "CARD#prompt#0002", func(s *scenario) *scenario {
		return s.extracted().drafted(twoVersions).rejectPrompt("DM は不要です").drafted(twoVersions).rejectPrompt("まだ DM があります")
	}},
	{"prompt_expired", promptCard, func(s *scenario) *scenario { return prompt(s).expire() }},
	{"prompt_cancelled", promptCard, func(s *scenario) *scenario { return prompt(s).cancelTask() }},
}

// toldStandIn is a message to a person who requested nothing.
func toldStandIn(s *scenario, why aggregate.Reason) *scenario {
	return told(s, why, "U0TANAKA U0SUZUKI 2026-08-01 2026-08-31 U0ADMIN")
}

func told(s *scenario, why aggregate.Reason, detail string) *scenario {
	c, ref := task.Tell("01TENANT", *s.Request, why, requester.ID, detail, s.now)
	s.Aggregate = &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1,
		Requester: requester.ID}, TaskID: ref.ID}}
	return s.do(c, nil)
}

var stepStates = []state{
	{"step_pending", stepCard, func(s *scenario) *scenario { return gated(s, arguments) }},
	{"step_pending_arguments_elsewhere", stepCard, func(s *scenario) *scenario {
		return gated(s, aggregate.Blob{S3Key: "k", Bytes: 123456})
	}},
	{"step_approved", stepCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		return s.do(decide.Approve(s, s.Gates[0].ID, approver, policy, s.now))
	}},
	{"step_rejected", stepCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		return s.do(decide.Reject("対象月が違います")(s, s.Gates[0].ID, approver, policy, s.now))
	}},
	{"step_expired", stepCard, func(s *scenario) *scenario { return gated(s, arguments).expire() }},
	{"step_cancelled", stepCard, func(s *scenario) *scenario { return gated(s, arguments).cancelExecution() }},
}
