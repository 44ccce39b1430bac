package card_test

import (
	"testing"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/failure"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

const (
	taskCard      = "CARD#task"
	promptCard    = "CARD#prompt#0001"
	processCard   = "CARD#process#0001"
	executionCard = "CARD#execution"
	stepCard      = "CARD#step#0001#001#02"
)

var arguments = aggregate.Blob{JSON: `{"year":2026,"month":4,"departments":["人事","総務"],"rows":[["山田","160:00"],["佐藤","152:30"]],"note":"<確認> & ` + "`済`" + `"}`}

// state is one card in one state.
type state struct {
	name  string
	card  string
	story func(t testing.TB) *story
}

// states are all that a card can be in.
func states() []state {
	set := tenancy.DefaultSettings()
	auto := set
	auto.PromptApprovalRequired, auto.ProcessApprovalRequired = false, false
	two := set
	two.MaxVersions = 2
	base := func(t testing.TB) *story { return received(t).extracted() }
	prompt := func(t testing.TB) *story { return base(t).drafted(set) }
	planning := func(t testing.TB) *story {
		s := prompt(t).promptApproved()
		return s.do(s.BeginProcess(s.Head.Run, s.now))
	}
	process := func(t testing.TB) *story { return planned(t, fiveSteps(), set) }
	rejectProcess := func(s *story) *story {
		return s.do(s.RejectProcess(s.Process().ID, "検証を追加してください", approver, policy, s.now))
	}
	failed := task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: "calculate_overtime"}
	unknown := task.Outcome{Status: task.StepUnknown, Reason: task.ReasonToolUnknown, Detail: "step-4"}
	retry := func(s *story) *story { return s.do(s.RetryExecution(s.Execution().ID, approver, policy, s.now)) }
	ok := task.Outcome{Status: task.StepCompleted}
	system := aggregate.System()

	return []state{
		{"task_generating", taskCard, received},
		{"task_waits_for_model", taskCard, func(t testing.TB) *story {
			s := received(t)
			s = s.do(s.Accept(1, requester, tenancy.DefaultSettings(), s.now))
			return s.do(s.Pause(1, s.Generating(), s.now.Add(time.Minute), s.now))
		}},
		{"task_waits_for_slack", taskCard, func(t testing.TB) *story {
			s := received(t)
			return s.do(s.Pause(1, s.Generating(), s.now.Add(time.Minute), s.now))
		}},
		{"task_parked", taskCard, func(t testing.TB) *story { return received(t).park(task.ReasonModelUnavailable) }},
		{"task_cancelled_before_extract", taskCard, func(t testing.TB) *story { return received(t).cancelTask() }},
		{"task_refused_guest", taskCard, func(t testing.TB) *story {
			return received(t).refused(aggregate.Actor{Type: aggregate.ActorUser, ID: requester.ID, Team: "T1", Guest: true})
		}},
		{"task_refused_hour", taskCard, func(t testing.TB) *story {
			return received(t).full(task.ReasonHourPerson, time.Date(2026, 4, 18, 15, 0, 0, 0, time.UTC))
		}},
		{"task_refused_open", taskCard, func(t testing.TB) *story { return received(t).full(task.ReasonOpenTenant, time.Time{}) }},
		{"task_refused_asked", taskCard, func(t testing.TB) *story { return received(t).full(task.ReasonAsked, time.Time{}) }},
		{"task_cost_limit_before_extract", taskCard, func(t testing.TB) *story { return received(t).costLimit() }},
		{"task_answered_unsupported", taskCard, func(t testing.TB) *story {
			s := received(t)
			return s.do(s.Extracted(1, task.Extract{Kind: task.KindUnsupported, Sentence: "✅ 承認済み <!channel> 請求書は *作成できません*。"}, s.now))
		}},
		{"task_greeting", taskCard, func(t testing.TB) *story { return told(t, task.ReasonGreeting) }},
		{"task_thread_hint", taskCard, func(t testing.TB) *story { return told(t, task.ReasonThreadHint) }},
		{"task_choosing", taskCard, func(t testing.TB) *story { return beside(received(t), task.CardPrompt) }},
		{"task_choosing_gate_over", taskCard, func(t testing.TB) *story {
			s := beside(received(t), task.CardPrompt)
			return s.do(s.GateOver(nil, s.now))
		}},
		{"task_choosing_beside_step", taskCard, func(t testing.TB) *story { return beside(received(t), task.CardStep) }},
		{"task_choice_expired", taskCard, func(t testing.TB) *story { return beside(received(t), task.CardProcess).expire() }},
		{"task_became_reason", taskCard, func(t testing.TB) *story {
			s := beside(received(t), task.CardProcess)
			return s.do(s.TakeAsReason(s.Choice.ID, approver, policy, s.now))
		}},
		{"task_became_request", taskCard, func(t testing.TB) *story {
			s := beside(received(t), task.CardProcess)
			return s.do(s.TakeAsRequest(s.Choice.ID, requester, policy, s.now))
		}},
		{"task_answered_help", taskCard, func(t testing.TB) *story {
			s := received(t)
			return s.do(s.Extracted(1, task.Extract{Kind: task.KindHelp, Sentence: "勤怠の集計などを依頼できます。"}, s.now))
		}},
		{"task_complete", taskCard, base},
		{"task_complete_cost_limit", taskCard, func(t testing.TB) *story { return base(t).costLimit() }},
		{"task_complete_parked_before_prompt", taskCard, func(t testing.TB) *story { return base(t).park(task.ReasonRunFailed) }},
		{"task_complete_cancelled_before_prompt", taskCard, func(t testing.TB) *story { return base(t).cancelTask() }},
		{"task_complete_of_cancelled_prompt", taskCard, func(t testing.TB) *story { return prompt(t).cancelTask() }},
		{"task_complete_of_completed_execution", taskCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
			return s.do(s.CompleteExecution(s.Head.Run, "42 名分", s.now))
		}},
		{"task_complete_of_failed_execution", taskCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2).failedAt(3, failed)
		}},

		{"prompt_generating", promptCard, func(t testing.TB) *story { return base(t).drafting() }},
		{"prompt_parked", promptCard, func(t testing.TB) *story { return base(t).drafting().park(task.ReasonModelBadOutput) }},
		{"prompt_parked_for_good", promptCard, func(t testing.TB) *story {
			s := base(t).drafting()
			for range task.MaxRetries {
				s.park(task.ReasonModelUnavailable)
				s.do(s.RetryGeneration(approver, policy, s.now))
			}
			return s.park(task.ReasonModelUnavailable)
		}},
		{"prompt_cancelled_while_generating", promptCard, func(t testing.TB) *story { return base(t).drafting().cancelTask() }},
		{"prompt_cost_limit", promptCard, func(t testing.TB) *story { return prompt(t).costLimit() }},
		{"prompt_pending", promptCard, prompt},
		{"prompt_pending_automatic", promptCard, func(t testing.TB) *story { return base(t).drafted(auto) }},
		{"prompt_pending_automatic_parked", promptCard, func(t testing.TB) *story {
			s := base(t).drafted(auto)
			for s.Head.Parked == nil {
				s.do(s.RestartRun(s.Head.Run, s.now))
			}
			return s
		}},
		{"prompt_approved", promptCard, func(t testing.TB) *story { return prompt(t).promptApproved() }},
		{"prompt_approved_automatically", promptCard, func(t testing.TB) *story {
			s := base(t).drafted(auto)
			return s.do(s.ApprovePrompt(s.Prompt().ID, system, policy, s.now))
		}},
		{"prompt_approved_parked_before_process", promptCard, func(t testing.TB) *story {
			return prompt(t).promptApproved().park(task.ReasonModelRefused)
		}},
		{"prompt_approved_cancelled_before_process", promptCard, func(t testing.TB) *story { return prompt(t).promptApproved().cancelTask() }},
		{"prompt_rejected_next_expected", promptCard, func(t testing.TB) *story { return prompt(t).rejectPrompt("DM は不要です") }},
		{"prompt_rejected_next_generating", promptCard, func(t testing.TB) *story { return prompt(t).rejectPrompt("DM は不要です").drafting() }},
		{"prompt_rejected_next_generated", promptCard, func(t testing.TB) *story { return prompt(t).rejectPrompt("DM は不要です").drafted(set) }},
		{"prompt_second_pending", "CARD#prompt#0002", func(t testing.TB) *story { return prompt(t).rejectPrompt("DM は不要です").drafted(set) }},
		{"prompt_rejected_next_parked", promptCard, func(t testing.TB) *story {
			return prompt(t).rejectPrompt("DM は不要です").drafting().park(task.ReasonModelDemo)
		}},
		{"prompt_second_parked", "CARD#prompt#0002", func(t testing.TB) *story {
			return prompt(t).rejectPrompt("DM は不要です").drafting().park(task.ReasonModelDemo)
		}},
		{"prompt_rejected_parked_before_next", promptCard, func(t testing.TB) *story {
			return prompt(t).rejectPrompt("DM は不要です").park(task.ReasonRunFailed)
		}},
		{"prompt_rejected_then_cancelled", promptCard, func(t testing.TB) *story { return prompt(t).rejectPrompt("DM は不要です").cancelTask() }},
		{"prompt_rejected_next_cancelled", promptCard, func(t testing.TB) *story {
			return prompt(t).rejectPrompt("DM は不要です").drafting().cancelTask()
		}},
		{"prompt_rejected_last", "CARD#prompt#0002", func(t testing.TB) *story {
			return base(t).drafted(two).rejectPrompt("DM は不要です").drafted(two).rejectPrompt("まだ DM があります")
		}},
		{"prompt_expired", promptCard, func(t testing.TB) *story { return prompt(t).expire() }},
		{"prompt_cancelled", promptCard, func(t testing.TB) *story { return prompt(t).cancelTask() }},

		{"process_generating", processCard, planning},
		{"process_parked", processCard, func(t testing.TB) *story { return planning(t).park(task.ReasonModelUnknown) }},
		{"process_cancelled_while_generating", processCard, func(t testing.TB) *story { return planning(t).cancelTask() }},
		{"process_pending", processCard, process},
		{"process_pending_with_check", processCard, func(t testing.TB) *story {
			steps := fiveSteps()
			steps[3].RequiresHumanCheck = true
			return planned(t, steps, set)
		}},
		{"process_pending_sixty_steps", processCard, func(t testing.TB) *story { return planned(t, manySteps(60, 200), set) }},
		{"process_pending_automatic", processCard, func(t testing.TB) *story { return planned(t, fiveSteps(), auto) }},
		{"process_approved", processCard, func(t testing.TB) *story { return approved(t, fiveSteps()) }},
		{"process_approved_automatically", processCard, func(t testing.TB) *story {
			s := planned(t, fiveSteps(), auto)
			return s.do(s.ApproveProcess(s.Process().ID, system, policy, s.now))
		}},
		{"process_rejected_next_generating", processCard, func(t testing.TB) *story {
			s := rejectProcess(process(t))
			return s.do(s.BeginProcess(s.Head.Run, s.now))
		}},
		{"process_rejected_next_generated", processCard, func(t testing.TB) *story {
			s := rejectProcess(process(t))
			s.do(s.BeginProcess(s.Head.Run, s.now))
			return s.do(s.FinishProcess(s.Head.Run, fiveSteps(), "", set, s.now))
		}},
		{"process_rejected_last", processCard, func(t testing.TB) *story {
			one := set
			one.MaxVersions = 1
			return rejectProcess(planned(t, fiveSteps(), one))
		}},
		{"process_expired", processCard, func(t testing.TB) *story { return process(t).expire() }},
		{"process_cancelled", processCard, func(t testing.TB) *story { return process(t).cancelTask() }},

		{"execution_cost_limit", executionCard, func(t testing.TB) *story { return started(t, fiveSteps()).steps(1, 2).costLimit() }},
		{"execution_pending", executionCard, func(t testing.TB) *story { return approved(t, fiveSteps()) }},
		{"execution_running", executionCard, func(t testing.TB) *story { return started(t, fiveSteps()).steps(1).claim(2) }},
		{"execution_running_failed_step", executionCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2).claim(3).finish(3, failed)
		}},
		{"execution_waits_for_check", executionCard, func(t testing.TB) *story { return gated(t, arguments) }},
		{"execution_running_sixty_steps", executionCard, func(t testing.TB) *story { return started(t, manySteps(60, 200)).steps(1, 2).claim(3) }},
		{"execution_completed", executionCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
			return s.do(s.CompleteExecution(s.Head.Run, "42 名分の勤怠を集計し、シートに書き込みました。", s.now))
		}},
		{"execution_completed_rows_below", executionCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2, 3).claim(4)
			s.finish(4, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: `{"updated_rows":21,"rows_below":21}`}}).steps(5)
			return s.do(s.CompleteExecution(s.Head.Run, "21 行を書き込みました。", s.now))
		}},
		{"execution_failed", executionCard, func(t testing.TB) *story { return started(t, fiveSteps()).steps(1, 2).failedAt(3, failed) }},
		{"execution_failed_for_good", executionCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2).failedAt(3, failed)
			for range task.MaxAttempts - 1 {
				s = retry(s)
				s = s.do(s.StartExecution(s.Head.Run, s.now)).failedAt(3, failed)
			}
			return s
		}},
		{"execution_failed_before_call", executionCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2, 3)
			return s.do(s.FailExecution(s.Head.Run, task.ReasonToolNotAllowed, "write_rows_to_google_sheet", s.now))
		}},
		{"execution_failed_constraint", executionCard, func(t testing.TB) *story {
			s := started(t, fiveSteps()).steps(1, 2, 3)
			why := failure.Sentence("ja", failure.ProblemNotListed, "write_rows_to_google_sheet", "spreadsheet_ids", "1aBcD", "1xYz, 2xYz")
			return s.do(s.FailExecution(s.Head.Run, task.ReasonToolConstraint, why, s.now))
		}},
		{"execution_failed_before_start", executionCard, func(t testing.TB) *story {
			s := approved(t, fiveSteps())
			return s.do(s.FailExecution(s.Head.Run, task.ReasonRunFailed, "", s.now))
		}},
		{"execution_failed_unknown", executionCard, func(t testing.TB) *story { return started(t, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown) }},
		{"execution_failed_unknown_settled", executionCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown).finish(4, ok)
		}},
		{"execution_retried", executionCard, func(t testing.TB) *story {
			s := retry(started(t, fiveSteps()).steps(1, 2).failedAt(3, failed))
			return s.do(s.StartExecution(s.Head.Run, s.now)).claim(3)
		}},
		{"execution_cancelled", executionCard, func(t testing.TB) *story { return started(t, fiveSteps()).steps(1, 2).cancelExecution() }},
		{"execution_cancelled_in_flight", executionCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution()
		}},
		{"execution_cancelled_then_completed", executionCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution().finish(4, ok)
		}},
		{"execution_cancelled_then_unknown", executionCard, func(t testing.TB) *story {
			return started(t, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution().finish(4, unknown)
		}},
		{"execution_step_rejected", executionCard, func(t testing.TB) *story {
			s := gated(t, arguments)
			return s.do(s.RejectStep(s.Gates[0].ID, "対象月が違います", approver, policy, s.now))
		}},
		{"execution_step_expired", executionCard, func(t testing.TB) *story { return gated(t, arguments).expire() }},

		{"step_pending", stepCard, func(t testing.TB) *story { return gated(t, arguments) }},
		{"step_pending_arguments_elsewhere", stepCard, func(t testing.TB) *story {
			return gated(t, aggregate.Blob{S3Key: "k", Bytes: 123456, Preview: `{"rows":[["山田","160:00"],["佐藤"`})
		}},
		{"step_approved", stepCard, func(t testing.TB) *story {
			s := gated(t, arguments)
			return s.do(s.ApproveStep(s.Gates[0].ID, approver, policy, s.now))
		}},
		{"step_rejected", stepCard, func(t testing.TB) *story {
			s := gated(t, arguments)
			return s.do(s.RejectStep(s.Gates[0].ID, "対象月が違います", approver, policy, s.now))
		}},
		{"step_expired", stepCard, func(t testing.TB) *story { return gated(t, arguments).expire() }},
		{"step_cancelled", stepCard, func(t testing.TB) *story { return gated(t, arguments).cancelExecution() }},
	}
}

// beside is a message in a thread whose gate of that kind waits.
func beside(s *story, kind aggregate.CardType) *story {
	b := task.Beside{TaskID: "01OTHER", Title: "先月の残業確認", ID: "01GATE", Kind: kind, Version: 2}
	return s.do(s.Ask(1, b, tenancy.DefaultSettings(), s.now))
}

// told is what is said to a person who asked for nothing.
func told(t testing.TB, why aggregate.Reason) *story {
	t.Helper()
	s := received(t)
	c, ref := task.Tell("01TENANT", *s.Request, why, requester.ID, s.now)
	s.Aggregate = &task.Aggregate{Head: task.Head{TenantID: ref.Tenant, TaskID: ref.Task, Run: 1, Requester: requester.ID}}
	return s.do(c, nil)
}
