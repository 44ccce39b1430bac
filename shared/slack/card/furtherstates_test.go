package card_test

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

var processStates = []state{
	{"process_generating", processCard, planning},
	{"process_held", processCard, func(s *scenario) *scenario { return planning(s).park(task.ReasonNobodyApproves) }},
	{"process_parked", processCard, func(s *scenario) *scenario { return planning(s).park(task.ReasonModelUnknown) }},
	{"process_cancelled_while_generating", processCard, func(s *scenario) *scenario { return planning(s).cancelTask() }},
	{"process_pending", processCard, process},
	{"process_pending_unread", processCard, func(s *scenario) *scenario { return planned(s, unreadSteps(), defaults) }},
	{"process_pending_with_check", processCard, func(s *scenario) *scenario {
		steps := fiveSteps()
		steps[2].RequiresHumanCheck, steps[3].RequiresHumanCheck, steps[4].RequiresHumanCheck = true, true, true
		return planned(s, steps, defaults)
	}},
	{"process_pending_sixty_steps", processCard, func(s *scenario) *scenario {
		return planned(s, manySteps(60, 200), defaults)
	}},
	{"process_pending_automatic", processCard, func(s *scenario) *scenario { return planned(s, fiveSteps(), automatic) }},
	{"process_approved", processCard, func(s *scenario) *scenario { return approved(s, fiveSteps()) }},
	{"process_approved_automatically", processCard, func(s *scenario) *scenario {
		s = planned(s, fiveSteps(), automatic)
		return s.do(s.ApproveUnasked(s.Process().ID, s.now))
	}},
	{"process_rejected_next_generating", processCard, func(s *scenario) *scenario {
		s = rejectProcess(process(s))
		return s.do(s.BeginProcess(s.Head.Run, s.now))
	}},
	{"process_rejected_next_generated", processCard, func(s *scenario) *scenario {
		s = rejectProcess(process(s))
		s.do(s.BeginProcess(s.Head.Run, s.now))
		return s.plans(fiveSteps(), defaults)
	}},
	{"process_rejected_last", processCard, func(s *scenario) *scenario {
		return rejectProcess(planned(s, fiveSteps(), oneVersion))
	}},
	{"process_expired", processCard, func(s *scenario) *scenario { return process(s).expire() }},
	{"process_cancelled", processCard, func(s *scenario) *scenario { return process(s).cancelTask() }},
}

var executionStates = []state{
	{"execution_cost_limit", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).costLimit()
	}},
	{"execution_pending", executionCard, func(s *scenario) *scenario { return approved(s, fiveSteps()) }},
	{"execution_running", executionCard, func(s *scenario) *scenario { return started(s, fiveSteps()).steps(1).claim(2) }},
	{"execution_running_failed_step", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).claim(3).finish(3, failed)
	}},
	{"execution_waits_for_check", executionCard, func(s *scenario) *scenario { return gated(s, arguments) }},
	{"execution_completed", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3, 4, 5)
		return s.do(s.CompleteExecution(s.Head.Run, "42 名分の勤怠を集計し、シートに書き込みました。", s.now))
	}},
	{"execution_completed_rows_below", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3).claim(4)
		s.finish(4, task.Outcome{Status: task.StepCompleted,
			Result: &aggregate.Blob{JSON: `{"updated_rows":21,"rows_below":21}`}}).steps(5)
		return s.do(s.CompleteExecution(s.Head.Run, "21 行を書き込みました。", s.now))
	}},
	{"execution_failed", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).failedAt(3, failed)
	}},
	{"execution_failed_for_good", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2).failedAt(3, failed)
		for range task.MaxAttempts - 1 {
			s = retry(s)
			s.do(s.StartExecution(s.Head.Run, task.Series{}, s.now)).failedAt(3, failed)
		}
		return s
	}},
	{"execution_failed_before_call", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3)
		return s.do(s.FailExecution(s.Head.Run, task.ReasonToolNotAllowed, "write_rows_to_google_sheet", s.now))
	}},
	{"execution_failed_constraint", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3)
		why := explain.FailedCall("ja", explain.ProblemNotListed, "write_rows_to_google_sheet", "spreadsheet_ids",
			"1aBcD", "1xYz, 2xYz")
		return s.do(s.FailExecution(s.Head.Run, task.ReasonToolConstraint, why, s.now))
	}},
	{"execution_failed_before_start", executionCard, func(s *scenario) *scenario {
		s = approved(s, fiveSteps())
		return s.do(s.FailExecution(s.Head.Run, task.ReasonRunFailed, "", s.now))
	}},
	{"execution_failed_unknown", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown)
	}},
	{"execution_failed_unknown_ended", executionCard, func(s *scenario) *scenario {
		s = started(s, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown)
		return s.do(s.CancelExecution(s.Execution().ID, approver, policy, s.now))
	}},
	{"execution_failed_unknown_settled", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown).finish(4, completed)
	}},
	{"execution_failed_unknown_failed", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).failedAt(4, unknown).finish(4, failed)
	}},
	{"execution_retried", executionCard, func(s *scenario) *scenario {
		s = retry(started(s, fiveSteps()).steps(1, 2).failedAt(3, failed))
		return s.do(s.StartExecution(s.Head.Run, task.Series{}, s.now)).claim(3)
	}},
	{"prompt_approved_execution_cancelled", promptCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).cancelExecution()
	}},
	{"process_approved_execution_cancelled", processCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).cancelExecution()
	}},
	{"execution_cancelled", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2).cancelExecution()
	}},
	{"execution_cancelled_in_flight", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution()
	}},
	{"execution_cancelled_then_completed", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution().finish(4, completed)
	}},
	{"execution_cancelled_then_unknown", executionCard, func(s *scenario) *scenario {
		return started(s, fiveSteps()).steps(1, 2, 3).claim(4).cancelExecution().finish(4, unknown)
	}},
	{"execution_step_rejected", executionCard, func(s *scenario) *scenario {
		s = gated(s, arguments)
		return s.do(decide.Reject("対象月が違います")(s, s.Gates[0].ID, approver, policy, s.now))
	}},
	{"execution_step_expired", executionCard, func(s *scenario) *scenario { return gated(s, arguments).expire() }},
}

var conversationStates = []struct {
	name string
	card aggregate.CardType
	in   func(c *onThread)
}{
	{"action_shell", conversation.CardAction, func(c *onThread) {
		c.says("", shell("cd src\nfor f in *.go; do\n\tgofmt -l \"$f\" # `x`\u200b\ndone"))
	}},
	{"action_argv", conversation.CardAction, func(c *onThread) {
		c.says("", proposed(conversation.TestRun,
			conversation.Payload{Argv: []string{"go", "test", "./... ", "-run", "", "a\nb"}, TimeoutSeconds: 300}))
	}},
	{"action_files", conversation.CardAction, func(c *onThread) {
		c.says("", changing(c.t, nil, conversation.Payload{Files: []files.File{
			{Path: "src/main.go", Content: "package main\n"}, {Path: "src/<!here>`.go"}}}))
	}},
	{"action_files_cut", conversation.CardAction, func(c *onThread) { c.says("", writing(c.t, 1, 900, 1)) }},
	{"action_own", conversation.CardAction, func(c *onThread) {
		c.says("はい", nil)
		own := shell("make")
		own.Summary = ""
		c.do(c.Propose(*own, member("U_SATO"), anyMember, c.now))
	}},
	{"action_difference", conversation.CardAction, func(c *onThread) { c.says("", difference(c.t)) }},
	{"action_changed", conversation.CardAction, func(c *onThread) {
		c.asks().executing().ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1",
			Changed: &conversation.FilesChanged{Files: 7, Added: 20, Removed: 3,
				Names: []string{"a.go", "src/<!here>`.go", "c"}, Deleted: 3, DeletedNames: []string{"out/a.o", "out/b.o"}}})
	}},
	{"files_written", conversation.CardAction, func(c *onThread) { c.wrote(2) }},
	{"action_not_taken", conversation.CardAction, func(c *onThread) {
		c.asks().executing()
		c.do(c.Crashed(c.now.Add(time.Hour)))
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, Version: "v1"})
	}},
	{"action_source_deleted", conversation.CardAction, func(c *onThread) {
		c.asks()
		x := c.last()
		x.Status, x.CancelReason, x.CompletedAt = conversation.ActionCancelled, conversation.ReasonDeleted, &c.now
	}},
	{"action_call", conversation.CardAction, func(c *onThread) { c.lists(`{"department":"営業部","status":"all"}`) }},
	{"action_call_returned", conversation.CardAction, func(c *onThread) {
		c.lists(`{"department":null,"status":"active"}`).calling().
			ended(conversation.Result{Status: conversation.ActionSucceeded,
				Call: &aggregate.Blob{S3Key: "talks/x", Bytes: 12345}})
	}},
	{"action_call_cancelled", conversation.CardAction, func(c *onThread) {
		c.lists(`{"department":null,"status":"active"}`).calling().cancels()
	}},
	{"action_long", conversation.CardAction, func(c *onThread) {
		c.says("", shell(strings.Repeat("echo 漢字🎉 & <x>\n", 900)))
	}},
	{"action_approved", conversation.CardAction, func(c *onThread) { c.asks().approved() }},
	{"action_executing", conversation.CardAction, func(c *onThread) { c.asks().executing() }},
	{"action_succeeded", conversation.CardAction, func(c *onThread) {
		code := 0
		c.asks().executing().ended(conversation.Result{Status: conversation.ActionSucceeded,
			Tests: &conversation.Tests{Passed: 12}, ExitCode: &code, Lines: 612, Dropped: 112})
	}},
	{"action_flooded", conversation.CardAction, func(c *onThread) {
		c.says("", shell("seq 10000")).executing()
		for i := range c.Log {
			c.Log[i].Order, c.Log[i].Text = 10_000-len(c.Log)+i, fmt.Sprint(10_000-len(c.Log)+i+1)
		}
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, Lines: 10_000, Dropped: 9500})
	}},
	{"action_failed", conversation.CardAction, func(c *onThread) {
		code := 2
		c.asks().executing().ended(conversation.Result{Status: conversation.ActionFailed,
			Error: conversation.ReasonExit, ErrorDetail: "make: *** [all] <!channel>", ExitCode: &code})
	}},
	{"action_unknown", conversation.CardAction, func(c *onThread) {
		c.asks().executing()
		c.do(c.Crashed(c.now.Add(time.Hour)))
	}},
	{"action_rejected", conversation.CardAction, func(c *onThread) {
		c.asks()
		c.do(decide.Reject("本番は *だめ* です")(c, c.last().ActionID, member("U_SUZUKI"), anyMember, c.now))
	}},
	{"action_expired", conversation.CardAction, func(c *onThread) {
		c.asks()
		c.do(c.Expire(begunAt.Add(25 * time.Hour)))
	}},
	{"action_cancelled", conversation.CardAction, func(c *onThread) { c.asks().executing().cancels() }},
	{"action_withdrawn", conversation.CardAction, func(c *onThread) { c.asks().approved().cancels() }},
	{"action_withdrawn_unapproved", conversation.CardAction, func(c *onThread) { c.asks().cancels() }},
	{"action_ended_before", conversation.CardAction, func(c *onThread) {
		c.asks().executing().cancels()
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, At: c.last().CompletedAt.Add(-5 * time.Second)})
	}},
	{"action_call_late", conversation.CardAction, func(c *onThread) {
		c.lists(`{"department":null,"status":"all"}`).calling().cancels()
		c.ended(conversation.Result{Status: conversation.ActionSucceeded, At: c.last().CompletedAt.Add(3 * time.Second)})
	}},
	{"pull", conversation.CardAction, func(c *onThread) { *c = *pulling(c.t, tenancy.CIRun) }},
	{"pull_without_ci", conversation.CardAction, func(c *onThread) { *c = *pulling(c.t, tenancy.CISkip) }},
	{"pull_done", conversation.CardAction, pulled(func(x *conversation.Action) {
		x.Status, x.Pushed.Number, x.Pushed.There = conversation.ActionSucceeded, 4, true
	})},
	{"pull_branch_alone", conversation.CardAction, pulled(func(x *conversation.Action) {
		x.Status, x.Error, x.Pushed.There = conversation.ActionFailed, conversation.ReasonBranchAlone, true
	})},
	{"pull_lost", conversation.CardAction, pulled(lost)},
	{"pull_looked_for", conversation.CardAction, pulled(func(x *conversation.Action) {
		lost(x)
		x.Pushed.Look = &conversation.Look{By: "U_SATO", At: begunAt}
	})},
	{"pull_unseen", conversation.CardAction, pulled(func(x *conversation.Action) {
		lost(x)
		x.Pushed.Unseen = conversation.ReasonPushUnseen
	})},
	{"pull_withdrawn", conversation.CardAction, pulled(func(x *conversation.Action) {
		x.Status, x.CancelReason, x.CancelledBy = conversation.ActionCancelled, conversation.ReasonWithdrawn, "U_SATO"
		x.StartedAt, x.Pushed.There = x.CompletedAt, true
		x.Late = &conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonBranchAlone}
	})},
	{"action_late", conversation.CardAction, func(c *onThread) {
		c.asks().executing().cancels()
		c.ended(conversation.Result{Status: conversation.ActionSucceeded})
	}},
	{"said", conversation.CardMessage, func(c *onThread) {
		c.says("# 直しました\n\n**2 件** のテスト:\n\n```go\nif a < b && c {\n}\n```\n"+"<!channel> <@U_SATO> と @here に伝えます。", nil)
	}},
	{"said_by_system", conversation.CardMessage, func(c *onThread) {
		c.do(c.Aggregate.Refused(c.Head.Run, c.Waiting(), conversation.Refusal{Reason: conversation.ReasonRunFailed}, c.now))
	}},
	{"said_of_task", conversation.CardMessage, func(c *onThread) {
		offer := conversation.Answer{Request: "<@U_MORI> に知らせる", Named: "@森 に知らせる"}
		c.do(c.Answered(c.Head.Run, c.Waiting(), offer, c.now))
		c.do(c.MakeRequest(c.OpenOffer().ID, member("U_SATO"), anyMember, c.now))
		c.Aggregate.Head.Resting = false
		c.do(c.Answered(c.Head.Run, nil, conversation.Answer{Request: "もう 1 台購入する。"}, c.now))
		c.messages = c.messages[len(c.messages)-1:]
	}},
	{"request", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。\u200b <!channel>\n- 予算: `30 万円`")
	}},
	{"request_long", conversation.CardOffered, func(c *onThread) { c.wants(strings.Repeat("行\n", 2000)) }},
	{"request_made", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.do(c.MakeRequest(c.OpenOffer().ID, member("U_SATO"), anyMember, c.now))
	}},
	{"request_closed", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.do(c.End(member("U_SATO"), anyMember, c.now))
	}},
	{"request_gone", conversation.CardOffered, func(c *onThread) {
		c.wants("ノート PC を 3 台購入する。")
		c.Aggregate.Offered = nil
	}},
	{"session_closed", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
	}},
	{"session_idle", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.CloseIdle(c.now.Add(15 * 24 * time.Hour)))
	}},
	{"session_forgotten", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
		c.now = *c.Head.ForgottenAt
	}},
	{"session_reopened", conversation.CardSession, func(c *onThread) {
		c.says("はい", nil)
		c.do(c.End(member("U_SATO"), anyMember, c.now))
		c.do(c.Reopen(member("U_SATO"), anyMember, c.now))
	}},
}
