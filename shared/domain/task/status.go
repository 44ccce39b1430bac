package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// TaskStatus is the status of a task; see TaskMoves.
type TaskStatus string

const (
	TaskExtracted TaskStatus = "extracted"
	TaskRunning   TaskStatus = "running"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
	// TaskAnswered ends a head whose message got a plain reply. No task row exists.
	TaskAnswered TaskStatus = "answered"
	// TaskRefused ends a head whose request was refused, by limits before there is a task, or by rules. No row has it.
	TaskRefused TaskStatus = "refused"
)

// ExecutionStatus is the status of an attempt at a process; see ExecutionMoves.
type ExecutionStatus string

const (
	ExecutionPending   ExecutionStatus = "pending"
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
	ExecutionCancelled ExecutionStatus = "cancelled"
)

// StepStatus is the status of a step's call; see StepMoves. A step without a row has not begun.
type StepStatus string

const (
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	// StepUnknown is a write whose outcome is unknown (結果不明).
	StepUnknown StepStatus = "unknown"
)

// The allowed moves; a change refuses all others.
var (
	TaskMoves = aggregate.Moves[TaskStatus]{
		TaskExtracted: {TaskRunning, TaskCancelled},
		TaskRunning:   {TaskCompleted, TaskFailed, TaskCancelled},
		TaskFailed:    {TaskRunning, TaskCancelled},
		TaskCompleted: {},
		TaskCancelled: {},
	}
	ExecutionMoves = aggregate.Moves[ExecutionStatus]{
		ExecutionPending:   {ExecutionRunning, ExecutionFailed, ExecutionCancelled},
		ExecutionRunning:   {ExecutionCompleted, ExecutionFailed, ExecutionCancelled},
		ExecutionCompleted: {},
		ExecutionFailed:    {},
		ExecutionCancelled: {},
	}
	// running → running: a crashed read is called again. unknown → completed or failed: a late answer arrived.
	StepMoves = aggregate.Moves[StepStatus]{
		StepRunning:   {StepRunning, StepCompleted, StepFailed, StepUnknown},
		StepUnknown:   {StepCompleted, StepFailed},
		StepCompleted: {},
		StepFailed:    {},
	}
)

const (
	// Reasons why a task ended.
	ReasonDone         aggregate.Reason = "done"
	ReasonByPerson     aggregate.Reason = "cancelled_by_person"
	ReasonDeleted      aggregate.Reason = "message_deleted" // before the steps began; Slack doesn't say by whom
	ReasonMaxVersions  aggregate.Reason = "max_versions"
	ReasonExpired      aggregate.Reason = "approval_expired"
	ReasonStepRejected aggregate.Reason = "step_rejected"
	ReasonDenied       aggregate.Reason = "denied"      // on a route, so that no other version is made
	ReasonAskerLeft    aggregate.Reason = "asker_left"  // whoever asked, whose account the detail has
	ReasonNobodyLeft   aggregate.Reason = "nobody_left" // who may approve what waits
	// ReasonNobodyChecks: nobody who stamped the steps' last stage could be asked about a step.
	ReasonNobodyChecks aggregate.Reason = "nobody_checks_step"
	ReasonCostLimit    aggregate.Reason = "cost_limit" // also used for a failed execution

	// Reasons for a plain reply instead of a task.
	ReasonUnsupported aggregate.Reason = "unsupported"
	ReasonHelp        aggregate.Reason = "help"
	// ReasonGreeting: somebody opens the app for the first time.
	ReasonGreeting aggregate.Reason = "greeting"
	// ReasonNoSource: a message to an agent names a source that its author can't use there. The detail has the name,
	// "/", and those that they can.
	ReasonNoSource aggregate.Reason = "source_unknown"
	// Of delegations: to the hand, to the principal, and to both when one is ended early. The detail is StandInTold's.
	ReasonStandIn      aggregate.Reason = "stand_in"
	ReasonStoodFor     aggregate.Reason = "stood_for"
	ReasonStandInEnded aggregate.Reason = "stand_in_ended"
	// ReasonReminded: somebody is told what waits for them, see Reminded.
	ReasonReminded aggregate.Reason = "reminded"

	// Reasons why a request was refused.
	ReasonGuest        aggregate.Reason = "guest"
	ReasonStranger     aggregate.Reason = "stranger"           // from another workspace
	ReasonWorkspace    aggregate.Reason = "unknown_workspace"  // Ringi is not installed there
	ReasonOnlyAskers   aggregate.Reason = "only_askers_decide" // only the askers could approve, and they may not
	ReasonNoApprover   aggregate.Reason = "no_approver"        // nobody on the list of approvers may approve
	ReasonNoMember     aggregate.Reason = "no_other_member"    // nobody else in the channel may approve
	ReasonGroupMessage aggregate.Reason = "group_message"      // the app can't list a group direct message's members
	ReasonOpenPerson   aggregate.Reason = "open_tasks_person"  // the person's quota of open tasks is used up
	ReasonHourPerson   aggregate.Reason = "tasks_per_hour_person"
	ReasonRuleRefuses  aggregate.Reason = "rule_refuses" // the detail has the rule's name and what it says, on two lines
	// ReasonNoRoute: a stage of the rule's route finds nobody; the detail has its name, and on further lines a code, an
	// account above whom nobody is found, and the rule's name.
	ReasonNoRoute aggregate.Reason = "no_route"
	// ReasonNoDepartment: a rule asks for it, and the organisation doesn't say; the detail has its name.
	ReasonNoDepartment aggregate.Reason = "no_department"
	// ReasonNoRow: the requester has no row in the organisation. ReasonNoRowOther: who filled in or picked a version has
	// none; the detail has their account.
	ReasonNoRow      aggregate.Reason = "no_row"
	ReasonNoRowOther aggregate.Reason = "no_row_other"
	// ReasonNoRecipient: somebody who would get a message isn't of the workspace; the detail has their account or address.
	ReasonNoRecipient aggregate.Reason = "no_recipient"
	// ReasonUnknownPost: a rule names a post or department that the organisation has on no day, or asks a manager whom
	// it doesn't tell; the detail has the name of the stage, or of the rule, and what it names; of a manager it is as
	// ReasonNoRoute's.
	ReasonUnknownPost aggregate.Reason = "unknown_post"
	// While an execution runs the first two are these, with the same details.
	ReasonStepRefused aggregate.Reason = "rule_refuses_step"
	ReasonStepNoRoute aggregate.Reason = "no_route_step"

	// Reasons why a generation failed.
	ReasonModelUnavailable aggregate.Reason = "model_unavailable"
	ReasonModelRefused     aggregate.Reason = "model_refused"
	ReasonModelBadOutput   aggregate.Reason = "model_bad_output"
	ReasonModelCutOff      aggregate.Reason = "model_cut_off" // the answer was too long
	// ReasonModelBrokenOff: the answer is not whole; the detail is the vendor's reason.
	ReasonModelBrokenOff  aggregate.Reason = "model_broken_off"
	ReasonModelBadRequest aggregate.Reason = "model_bad_request" // the model rejects our kind of request
	ReasonModelTooLong    aggregate.Reason = "model_too_long"    // the model takes less at once
	ReasonModelKey        aggregate.Reason = "model_key"         // the API key is missing or wrong
	ReasonModelForbidden  aggregate.Reason = "model_forbidden"   // the API key may not use this model
	ReasonModelNoCredit   aggregate.Reason = "model_no_credit"
	ReasonModelMisplaced  aggregate.Reason = "model_misplaced" // the model's endpoint may not be called
	ReasonModelUnknown    aggregate.Reason = "model_unknown"
	ReasonModelUnpriced   aggregate.Reason = "model_unpriced" // the price is unknown, so a cost limit can't be kept
	ReasonDayBudget                        = tenancy.ReasonDayBudget
	ReasonModelDemo       aggregate.Reason = "model_demo_failure"
	ReasonContestFiles    aggregate.Reason = "contest_files"   // the contest's files can't be read or are invalid
	ReasonTooManyPeople   aggregate.Reason = "too_many_people" // the policy mentions more than MaxMentioned
	ReasonPlanLacks       aggregate.Reason = "plan_lacks"      // something that the request needs is not possible
	ReasonPlanNever       aggregate.Reason = "plan_never"      // no tool can do it or a value is missing: not retried
	ReasonPolicyTooLong   aggregate.Reason = "policy_too_long" // the policy does not fit on its card
	ReasonPlanTooLong     aggregate.Reason = "plan_too_long"   // the steps do not fit on their card
	ReasonRunFailed       aggregate.Reason = "run_failed"      // a fault of our own
	// ReasonNobodyApproves: under the settings nobody may approve the next version. Also used for a failed execution.
	ReasonNobodyApproves aggregate.Reason = "nobody_approves"

	// Reasons why an execution or a step failed.
	ReasonToolFailed      aggregate.Reason = "tool_failed"
	ReasonToolValue       aggregate.Reason = "tool_value" // a stamped value does not exist; retries can't help
	ReasonToolUnknown     aggregate.Reason = "tool_outcome_unknown"
	ReasonToolNotAllowed  aggregate.Reason = "tool_not_allowed"
	ReasonToolConstraint  aggregate.Reason = "tool_constraint" // refused by an administrator's constraint
	ReasonToolChanged     aggregate.Reason = "tool_changed"
	ReasonBadArguments    aggregate.Reason = "arguments_unresolved"
	ReasonResultExpired   aggregate.Reason = "result_expired"
	ReasonStepsChanged    aggregate.Reason = "steps_changed"
	ReasonTimeout         aggregate.Reason = "execution_timeout"
	ReasonApprovalAged    aggregate.Reason = "approval_aged" // the detail has the days for which it was good
	ReasonInterruptedRead aggregate.Reason = "call_interrupted"
	ReasonSessionModel    aggregate.Reason = "session_model"  // managed sessions need a model of Anthropic's
	ReasonSessionEnded    aggregate.Reason = "session_ended"  // before all steps were done
	ReasonStepsNotDone    aggregate.Reason = "steps_not_done" // although the session reports that it has finished
)

// Reasons lists all reasons, for texts that need a sentence for each.
var Reasons = []aggregate.Reason{
	ReasonDone, ReasonByPerson, ReasonDeleted,
	ReasonMaxVersions, ReasonExpired, ReasonStepRejected, ReasonDenied,
	ReasonAskerLeft, ReasonNobodyLeft, ReasonNobodyChecks, ReasonCostLimit,
	ReasonUnsupported, ReasonHelp, ReasonGreeting,
	ReasonNoSource,
	ReasonStandIn, ReasonStoodFor, ReasonStandInEnded,
	ReasonReminded,
	ReasonGuest, ReasonStranger, ReasonWorkspace, ReasonOnlyAskers, ReasonNoApprover, ReasonNoMember,
	ReasonGroupMessage, ReasonOpenPerson, ReasonHourPerson,
	ReasonRuleRefuses, ReasonNoRoute, ReasonNoDepartment, ReasonNoRow, ReasonNoRowOther,
	ReasonUnknownPost, ReasonStepRefused, ReasonStepNoRoute, ReasonNoRecipient,
	ReasonModelUnavailable, ReasonModelRefused, ReasonModelBadOutput, ReasonModelCutOff, ReasonModelBrokenOff,
	ReasonModelBadRequest, ReasonModelTooLong,
	ReasonModelKey, ReasonModelForbidden, ReasonModelNoCredit, ReasonModelMisplaced, ReasonModelUnknown,
	ReasonModelUnpriced, ReasonDayBudget, ReasonModelDemo, ReasonContestFiles,
	ReasonTooManyPeople, ReasonPlanLacks, ReasonPlanNever, ReasonPolicyTooLong, ReasonPlanTooLong,
	ReasonRunFailed, ReasonNobodyApproves,
	ReasonToolFailed, ReasonToolValue, ReasonToolUnknown, ReasonToolNotAllowed, ReasonToolConstraint,
	ReasonToolChanged, ReasonBadArguments, ReasonResultExpired,
	ReasonStepsChanged, ReasonTimeout, ReasonApprovalAged, ReasonInterruptedRead,
	ReasonSessionModel, ReasonSessionEnded, ReasonStepsNotDone,
}

// ForOperator reports whether a run that ends for r concerns the operator of the deployment: a fault of our own, or a
// model that nobody can use. Other reasons concern only the people who see the card.
func ForOperator(r aggregate.Reason) bool {
	switch r {
	case ReasonRunFailed, ReasonInterruptedRead, ReasonModelUnavailable, ReasonModelBadRequest, ReasonModelKey,
		ReasonModelForbidden, ReasonModelNoCredit, ReasonModelMisplaced, ReasonContestFiles:
		return true
	}
	return false
}

// Layer is one of the pipeline's four stages.
type Layer string

const (
	L1 Layer = "L1" // message → task
	L2 Layer = "L2" // task → prompt
	L3 Layer = "L3" // prompt → process
	L4 Layer = "L4" // process → execution
)

// ReasonNoRoom says that a run pauses because the account's limit of concurrent Lambda invocations was reached.
const ReasonNoRoom aggregate.Reason = "no_room"

// PauseRun records that a run's functions could not be invoked because of ReasonNoRoom. The next run begins at until
// and does not count as a restart. It returns ErrSuperseded if the head names another run. It also does so if there is
// nothing to run until a decision or a contest's end, which start the next run themselves.
func (a *Aggregate) PauseRun(run int, until, now time.Time) (aggregate.Change, error) {
	if a.Head.Ended != nil {
		return a.reclose(run, now)
	}
	if a.working(run) != nil || !a.work(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.pause(until, now)
	c.Head.Run++
	tried := a.TryingSince().Add(latest(until, &c.Now).Sub(latest(a.Head.ChangedAt,
		a.Head.PausedUntil))).UTC().Truncate(time.Millisecond)
	c.Head.TryingFrom = &tried
	c.Head.PausedFor = ReasonNoRoom
	return c.done()
}
