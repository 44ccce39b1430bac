package task

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// The states to which the pipeline's state machine can go next.
const (
	StateResumeTask           = "ResumeTask" // to accept a request, to open a gate, or to look its people up again
	StateExtractTask          = "ExtractTask"
	StateDraftPrompt          = "DraftPrompt"
	StateAwaitContest         = "AwaitContest"
	StateAwaitPromptApproval  = "AwaitPromptApproval"
	StatePlanProcess          = "PlanProcess"
	StateAwaitProcessApproval = "AwaitProcessApproval"
	StateExecuteProcess       = "ExecuteProcess"
	StateAwaitStepApproval    = "AwaitStepApproval"
	StatePause                = "Pause"
	StateFinish               = aggregate.StateFinish
	StateFail                 = "Fail"
	outcomeParked             = "parked"
	outcomeReturned           = "returned" // to whoever asked: what they fill in starts the next run
	fuse                      = time.Hour
	maxWait                   = 5 * time.Minute
)

// NextStates lists all values of Next.State.
var NextStates = []string{
	StateResumeTask, StateExtractTask, StateDraftPrompt, StateAwaitContest, StateAwaitPromptApproval, StatePlanProcess,
	StateAwaitProcessApproval,
	StateExecuteProcess, StateAwaitStepApproval, StatePause, StateFinish, StateFail,
}

// Next returns the state to which a run must go at now.
func (a *Aggregate) Next(now time.Time) aggregate.Next { return a.NextOf("", now) }

// NextOf is Next for an invocation that may hold the lease of the execution's session.
func (a *Aggregate) NextOf(invocation string, now time.Time) aggregate.Next {
	switch h := a.Head; {
	case h.PausedFor == ReasonNoRoom && h.PausedUntil != nil && now.Before(*h.PausedUntil): // no function can be invoked
		return waitState(*h.PausedUntil, now)
	case a.OpenSession() != nil: // it must be told to stop, and its cost charged
		if until, held := a.leased(a.OpenSession(), invocation, now); held {
			return waitState(until, now)
		}
		return aggregate.Next{State: StateExecuteProcess}
	case h.Ended != nil && h.Ended.As == TaskFailed:
		return aggregate.Next{State: StateFail, Outcome: string(h.Ended.As), Reason: h.Ended.Reason}
	case h.Ended != nil:
		return aggregate.Next{State: StateFinish, Outcome: string(h.Ended.As)}
	case h.Parked != nil:
		return aggregate.Next{State: StateFail, Outcome: outcomeParked, Reason: h.Parked.Sentence}
	case h.PausedUntil != nil && now.Before(*h.PausedUntil):
		return waitState(*h.PausedUntil, now)
	}
	if a.LooksAgain() != nil {
		return aggregate.Next{State: StateResumeTask}
	}
	if open, ok := a.OpenGate(); ok {
		state := map[aggregate.CardType]string{CardPrompt: StateAwaitPromptApproval, CardProcess: StateAwaitProcessApproval,
			CardStep: StateAwaitStepApproval}
		return aggregate.Next{State: state[open.Kind], Gate: open.Key, TimeoutSeconds: awaitSeconds(open.Terms, now)}
	}
	if a.Returned() != nil {
		return aggregate.Next{State: StateFinish, Outcome: outcomeReturned}
	}
	if a.Unopened() != nil {
		return aggregate.Next{State: StateResumeTask}
	}
	if p := a.Contesting(); p != nil {
		return awaitContest(p, now)
	}
	switch {
	case a.Task == nil, a.Matter() != nil && a.Unread(): // a form that was filled in again may have other files
		return aggregate.Next{State: StateExtractTask}
	case a.Execution() != nil:
		if s := a.LiveLease(now); s != nil {
			return waitState(s.Claim.LeaseUntil, now)
		}
		if until, held := a.leased(a.Execution(), invocation, now); held {
			return waitState(until, now)
		}
		return aggregate.Next{State: StateExecuteProcess}
	case a.Prompt() == nil || a.Prompt().Status != aggregate.Approved:
		return aggregate.Next{State: StateDraftPrompt}
	}
	return aggregate.Next{State: StatePlanProcess}
}

func awaitSeconds(t aggregate.Terms, now time.Time) int {
	left := time.Minute
	if t.DecideBy != nil {
		left = max(left, t.DecideBy.Sub(now))
	}
	if t.Rule != nil { // a later stage begins its time anew while the run waits
		left = circulation.MostTime
	}
	return int((left + fuse).Seconds())
}

func waitState(until, now time.Time) aggregate.Next {
	wait := min(until.Sub(now), maxWait)
	return aggregate.Next{State: StatePause, WaitSeconds: max(1, int((wait+time.Second-1)/time.Second))}
}

// ViaStamped is how the same rule finds whom it asks about a step.
const ViaStamped = "stamped the steps"

// Settled is how the steps of an attempt were settled under a rule. The same rule asks about one of them by one stamp
// of anybody on its Desk.
type Settled struct {
	Rule   circulation.Rule
	Desk   circulation.Stage // those for whom the steps' last stage was stamped
	Askers []circulation.Person
}

// Settled returns how the steps of an attempt were settled; nil: without a rule.
func (a *Aggregate) Settled(e *Execution) *Settled {
	g := a.ProcessOf(e).gate()
	if g.Terms.Rule == nil || g.Route == nil {
		return nil
	}
	s := &Settled{Rule: *g.Terms.Rule, Askers: slices.Clone(g.Askers)}
	for _, user := range a.Askers() {
		if !g.IsAsker(user) {
			s.Askers = append(s.Askers, circulation.Person{User: user})
		}
	}
	st := circulation.Walk(g.Circulating())
	for i := range st.Stages {
		stage := &st.Stages[i]
		if len(stage.Stamps) == 0 {
			continue
		}
		s.Desk = circulation.Stage{Name: stage.Name, Mode: circulation.ModePeople, Need: 1}
		for _, act := range stage.Stamps {
			p := act.Principal
			p.Via = ViaStamped
			s.Desk.People = append(s.Desk.People, p)
		}
	}
	return s
}

// Opening returns how a step's gate opens under the same rule.
func (s *Settled) Opening() *aggregate.Opening {
	return &aggregate.Opening{Rule: s.Rule, Askers: s.Askers, Route: circulation.Route{
		Form: circulation.Form, Stages: []circulation.Stage{s.Desk},
	}}
}

const (
	CardTask      aggregate.CardType = "task"
	CardPrompt    aggregate.CardType = "prompt"
	CardProcess   aggregate.CardType = "process"
	CardExecution aggregate.CardType = "execution"
	CardOutcome   aggregate.CardType = "outcome" // how the task ended; only the requester sees it
	CardStep      aggregate.CardType = "step"    // a step's gate
)

// CardOf returns the type of the card that asks about the gate of the row with this key.
func CardOf(key string) aggregate.CardType {
	typ, _, _ := strings.Cut(key, "#")
	return map[string]aggregate.CardType{
		"PROMPT": CardPrompt, "PROCESS": CardProcess, "GATE": CardStep,
	}[typ]
}
