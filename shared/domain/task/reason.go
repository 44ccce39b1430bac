package task

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

const (
	// Why a task ended.
	ReasonDone         aggregate.Reason = "done"
	ReasonByPerson     aggregate.Reason = "cancelled_by_person"
	ReasonMaxVersions  aggregate.Reason = "max_versions"
	ReasonExpired      aggregate.Reason = "approval_expired"
	ReasonStepRejected aggregate.Reason = "step_rejected"
	ReasonCostLimit    aggregate.Reason = "cost_limit" // also why an execution failed

	// Why there was no task: the head got a plain reply.
	ReasonUnsupported aggregate.Reason = "unsupported"
	ReasonHelp        aggregate.Reason = "help"
	// What is said without a request: to a person who opens the app's messages, and in
	// the thread of a direct message, where replies are no requests.
	ReasonGreeting   aggregate.Reason = "greeting"
	ReasonThreadHint aggregate.Reason = "reply_in_thread"
	// ReasonBecameReason: the message became the reason of a rejection in its thread.
	ReasonBecameReason aggregate.Reason = "became_rejection_reason"

	// Why a request was refused.
	ReasonGuest        aggregate.Reason = "guest"
	ReasonStranger     aggregate.Reason = "stranger"           // of another workspace
	ReasonWorkspace    aggregate.Reason = "unknown_workspace"  // Ringi is not installed there for this deployment
	ReasonOnlyAskers   aggregate.Reason = "only_askers_decide" // and they may not approve their own requests
	ReasonNoApprover   aggregate.Reason = "no_approver"        // the list of approvers has nobody who may
	ReasonNoMember     aggregate.Reason = "no_other_member"    // the channel has nobody else who may
	ReasonGroupMessage aggregate.Reason = "group_message"      // a group direct message, whose members the app may not know
	ReasonOpenPerson   aggregate.Reason = "open_tasks_person"  // the person has as many as may be open
	ReasonOpenTenant   aggregate.Reason = "open_tasks_tenant"
	ReasonHourPerson   aggregate.Reason = "tasks_per_hour_person"
	ReasonHourTenant   aggregate.Reason = "tasks_per_hour_tenant"
	ReasonAsked        aggregate.Reason = "asked_already" // people are asked about the person's message before, beside the same gate

	// Why a generation failed.
	ReasonModelUnavailable aggregate.Reason = "model_unavailable"
	ReasonModelRefused     aggregate.Reason = "model_refused"
	ReasonModelBadOutput   aggregate.Reason = "model_bad_output"
	ReasonModelCutOff      aggregate.Reason = "model_cut_off"     // its answer was too long
	ReasonModelBadRequest  aggregate.Reason = "model_bad_request" // it does not take what we send
	ReasonModelKey         aggregate.Reason = "model_key"         // its key is missing or wrong
	ReasonModelForbidden   aggregate.Reason = "model_forbidden"   // its key may not use it
	ReasonModelNoCredit    aggregate.Reason = "model_no_credit"
	ReasonModelMisplaced   aggregate.Reason = "model_misplaced" // its endpoint may not be called
	ReasonModelUnknown     aggregate.Reason = "model_unknown"
	ReasonModelUnpriced    aggregate.Reason = "model_unpriced" // a limit of costs can't be held with it
	ReasonDayBudget                         = tenancy.ReasonDayBudget
	ReasonMonthBudget      aggregate.Reason = "month_budget"
	ReasonModelDemo        aggregate.Reason = "model_demo_failure"
	ReasonContestFiles     aggregate.Reason = "contest_files"   // of a contest that was to draft: they can't be read, or are wrong
	ReasonTooManyPeople    aggregate.Reason = "too_many_people" // the policy mentions more than MaxMentioned
	ReasonPlanLacks        aggregate.Reason = "plan_lacks"      // something that the request needs can't be done
	ReasonPlanNever        aggregate.Reason = "plan_never"      // no tool does it, or nobody gave a value for it: trying again brings the same
	ReasonPolicyTooLong    aggregate.Reason = "policy_too_long" // the policy can't be shown whole on the card that people approve
	ReasonPlanTooLong      aggregate.Reason = "plan_too_long"   // its steps can't be shown whole on the card that people approve
	ReasonRunFailed        aggregate.Reason = "run_failed"      // anything that is our own fault
	// ReasonNobodyApproves: the settings left nobody who may approve what comes next; also why an execution failed.
	ReasonNobodyApproves aggregate.Reason = "nobody_approves"

	// Why an execution or a step failed.
	ReasonToolFailed      aggregate.Reason = "tool_failed"
	ReasonToolValue       aggregate.Reason = "tool_value" // what was stamped does not exist there: no retry helps
	ReasonToolUnknown     aggregate.Reason = "tool_outcome_unknown"
	ReasonToolNotAllowed  aggregate.Reason = "tool_not_allowed"
	ReasonToolConstraint  aggregate.Reason = "tool_constraint" // an administrator's rule for the tool
	ReasonToolChanged     aggregate.Reason = "tool_changed"
	ReasonBadArguments    aggregate.Reason = "arguments_unresolved"
	ReasonResultExpired   aggregate.Reason = "result_expired"
	ReasonStepsChanged    aggregate.Reason = "steps_changed"
	ReasonTimeout         aggregate.Reason = "execution_timeout"
	ReasonInterruptedRead aggregate.Reason = "call_interrupted"
	ReasonSessionModel    aggregate.Reason = "session_model"  // managed sessions are Anthropic's alone
	ReasonSessionEnded    aggregate.Reason = "session_ended"  // before its steps were done
	ReasonStepsNotDone    aggregate.Reason = "steps_not_done" // the session says that it has finished
)

// Reasons are all of them, for those who must have a sentence for each.
var Reasons = []aggregate.Reason{
	ReasonDone, ReasonByPerson, ReasonMaxVersions, ReasonExpired, ReasonStepRejected, ReasonCostLimit,
	ReasonUnsupported, ReasonHelp, ReasonBecameReason, ReasonGreeting, ReasonThreadHint,
	ReasonGuest, ReasonStranger, ReasonWorkspace, ReasonOnlyAskers, ReasonNoApprover, ReasonNoMember, ReasonGroupMessage, ReasonOpenPerson, ReasonOpenTenant, ReasonHourPerson, ReasonHourTenant, ReasonAsked,
	ReasonModelUnavailable, ReasonModelRefused, ReasonModelBadOutput, ReasonModelCutOff, ReasonModelBadRequest,
	ReasonModelKey, ReasonModelForbidden, ReasonModelNoCredit, ReasonModelMisplaced, ReasonModelUnknown, ReasonModelUnpriced, ReasonDayBudget, ReasonMonthBudget, ReasonModelDemo, ReasonContestFiles, ReasonTooManyPeople, ReasonPlanLacks, ReasonPlanNever, ReasonPolicyTooLong, ReasonPlanTooLong, ReasonRunFailed, ReasonNobodyApproves,
	ReasonToolFailed, ReasonToolValue, ReasonToolUnknown, ReasonToolNotAllowed, ReasonToolConstraint, ReasonToolChanged, ReasonBadArguments, ReasonResultExpired,
	ReasonStepsChanged, ReasonTimeout, ReasonInterruptedRead,
	ReasonSessionModel, ReasonSessionEnded, ReasonStepsNotDone,
}

// ForOperator reports whether a run that ends for r wants whoever runs the deployment: our own fault, or a model that
// nobody can use. What a vendor's tool, a limit or a request brings about is for the people whose card says it.
func ForOperator(r aggregate.Reason) bool {
	switch r {
	case ReasonRunFailed, ReasonInterruptedRead, ReasonModelUnavailable, ReasonModelBadRequest, ReasonModelKey, ReasonModelForbidden,
		ReasonModelNoCredit, ReasonModelMisplaced, ReasonContestFiles:
		return true
	}
	return false
}

// Layer is a stage of the pipeline.
type Layer string

const (
	L1 Layer = "L1" // message → task
	L2 Layer = "L2" // task → prompt
	L3 Layer = "L3" // prompt → process
	L4 Layer = "L4" // process → execution
)
