package task

// Reason is why something ended or stopped, as a code; cards say it in the tenant's language.
type Reason string

const (
	// Why a task ended.
	ReasonDone         Reason = "done"
	ReasonByPerson     Reason = "cancelled_by_person"
	ReasonMaxVersions  Reason = "max_versions"
	ReasonExpired      Reason = "approval_expired"
	ReasonStepRejected Reason = "step_rejected"
	ReasonCostLimit    Reason = "cost_limit" // also why an execution failed

	// Why there was no task: the head got a plain reply.
	ReasonUnsupported Reason = "unsupported"
	ReasonHelp        Reason = "help"
	// What is said without a request: to a person who opens the app's messages, and in
	// the thread of a direct message, where replies are no requests.
	ReasonGreeting   Reason = "greeting"
	ReasonThreadHint Reason = "reply_in_thread"
	// ReasonBecameReason: the message became the reason of a rejection in its thread.
	ReasonBecameReason Reason = "became_rejection_reason"

	// Why a request was refused.
	ReasonGuest      Reason = "guest"
	ReasonStranger   Reason = "stranger"          // of another workspace
	ReasonWorkspace  Reason = "unknown_workspace" // Ringi is not installed there for this deployment
	ReasonOpenPerson Reason = "open_tasks_person" // the person has as many as may be open
	ReasonOpenTenant Reason = "open_tasks_tenant"
	ReasonHourPerson Reason = "tasks_per_hour_person"
	ReasonHourTenant Reason = "tasks_per_hour_tenant"
	ReasonAsked      Reason = "asked_already" // people are asked about the person's message before, beside the same gate

	// Why a generation failed.
	ReasonModelUnavailable Reason = "model_unavailable"
	ReasonModelRefused     Reason = "model_refused"
	ReasonModelBadOutput   Reason = "model_bad_output"
	ReasonModelCutOff      Reason = "model_cut_off"     // its answer was too long
	ReasonModelBadRequest  Reason = "model_bad_request" // it does not take what we send
	ReasonModelKey         Reason = "model_key"         // its key is missing or wrong
	ReasonModelForbidden   Reason = "model_forbidden"   // its key may not use it
	ReasonModelNoCredit    Reason = "model_no_credit"
	ReasonModelMisplaced   Reason = "model_misplaced" // its endpoint may not be called
	ReasonModelUnknown     Reason = "model_unknown"
	ReasonModelUnpriced    Reason = "model_unpriced" // a limit of costs can't be held with it
	ReasonModelDemo        Reason = "model_demo_failure"
	ReasonTooManyPeople    Reason = "too_many_people" // the policy mentions more than MaxMentioned
	ReasonPlanLacks        Reason = "plan_lacks"      // something that the request needs can't be done
	ReasonRunFailed        Reason = "run_failed"      // anything that is our own fault

	// Why an execution or a step failed.
	ReasonToolFailed      Reason = "tool_failed"
	ReasonToolValue       Reason = "tool_value" // what was stamped does not exist there: no retry helps
	ReasonToolUnknown     Reason = "tool_outcome_unknown"
	ReasonToolNotAllowed  Reason = "tool_not_allowed"
	ReasonToolConstraint  Reason = "tool_constraint" // an administrator's rule for the tool
	ReasonToolChanged     Reason = "tool_changed"
	ReasonBadArguments    Reason = "arguments_unresolved"
	ReasonResultExpired   Reason = "result_expired"
	ReasonStepsChanged    Reason = "steps_changed"
	ReasonTimeout         Reason = "execution_timeout"
	ReasonInterruptedRead Reason = "call_interrupted"
	ReasonSessionModel    Reason = "session_model"  // managed sessions are Anthropic's alone
	ReasonSessionEnded    Reason = "session_ended"  // before its steps were done
	ReasonStepsNotDone    Reason = "steps_not_done" // the session says that it has finished
)

// Reasons are all of them, for those who must have a sentence for each.
var Reasons = []Reason{
	ReasonDone, ReasonByPerson, ReasonMaxVersions, ReasonExpired, ReasonStepRejected, ReasonCostLimit,
	ReasonUnsupported, ReasonHelp, ReasonBecameReason, ReasonGreeting, ReasonThreadHint,
	ReasonGuest, ReasonStranger, ReasonWorkspace, ReasonOpenPerson, ReasonOpenTenant, ReasonHourPerson, ReasonHourTenant, ReasonAsked,
	ReasonModelUnavailable, ReasonModelRefused, ReasonModelBadOutput, ReasonModelCutOff, ReasonModelBadRequest,
	ReasonModelKey, ReasonModelForbidden, ReasonModelNoCredit, ReasonModelMisplaced, ReasonModelUnknown, ReasonModelUnpriced, ReasonModelDemo, ReasonTooManyPeople, ReasonPlanLacks, ReasonRunFailed,
	ReasonToolFailed, ReasonToolValue, ReasonToolUnknown, ReasonToolNotAllowed, ReasonToolConstraint, ReasonToolChanged, ReasonBadArguments, ReasonResultExpired,
	ReasonStepsChanged, ReasonTimeout, ReasonInterruptedRead,
	ReasonSessionModel, ReasonSessionEnded, ReasonStepsNotDone,
}

// Layer is a stage of the pipeline.
type Layer string

const (
	L1 Layer = "L1" // message → task
	L2 Layer = "L2" // task → prompt
	L3 Layer = "L3" // prompt → process
	L4 Layer = "L4" // process → execution
)
