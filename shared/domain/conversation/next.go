package conversation

import (
	"cmp"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// The states of a run.
const (
	StateAnswer = "AnswerMessage"
	StateAct    = "RunAction"
	StateCall   = "CallTool"
	StateFetch  = "FetchSource"
)

// OutcomeResting is the outcome of a run that has nothing left to do.
const OutcomeResting = "resting"

// Next returns the state to which a run must go at now. The run ends if an action waits for a person or is executed by
// another invocation.
func (a *Aggregate) Next(now time.Time) aggregate.Next {
	rest := aggregate.Next{State: aggregate.StateFinish, Outcome: OutcomeResting}
	if a.Conversation == nil || a.Conversation.Status == Closed {
		return rest
	}
	if x := a.Current(); x != nil && x.Status != ActionPending {
		if x.leased(now) {
			return rest
		}
		if x.ActionType == ToolCall {
			return aggregate.Next{State: StateCall}
		}
		return aggregate.Next{State: StateAct}
	}
	if a.Looking() != nil {
		return aggregate.Next{State: StateCall}
	}
	waits := len(a.Inbox) > 0
	if waits && a.Conversation.wants() {
		return aggregate.Next{State: StateFetch}
	}
	if waits {
		return aggregate.Next{State: StateAnswer}
	}
	return rest
}

// work reports whether a run has something to do at now.
func (a *Aggregate) work(now time.Time) bool { return a.Next(now).State != aggregate.StateFinish }

func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	var out aggregate.Effects
	if a.Head.Forgotten(now) {
		if a.erasable(now) {
			out.Erased = func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).erased(now) }
		} else {
			out.Cards = a.undrawn()
		}
		return out
	}
	switch {
	case a.waitsInVain() != nil:
		out.Begin = func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).TurnAway(now) }
	case !a.work(now), a.Head.Resting && a.paused(now):
	case a.Head.Resting:
		out.Begin = func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).StartRun(now) }
	default:
		out.Run = aggregate.RunOf(a.Ref(), a.Head.Run)
	}
	for _, o := range a.Offered {
		if !o.making() {
			continue
		}
		if made, err := o.made(a); err == nil {
			out.Make = append(out.Make, made)
		}
	}
	out.Wake = a.Waits // a conversation's run never waits for a token
	out.Cards, _ = aggregate.Drawing(a, !a.Head.Shown(), a.Pending() != nil, now)
	return out
}

// PauseRun ends a run because Lambda had no capacity for its functions. The next run begins at until and does not count
// as a restart. It returns ErrSuperseded if the head names another run or there is nothing to run.
func (a *Aggregate) PauseRun(run int, until, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.runs(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	until = until.UTC().Truncate(time.Millisecond)
	c.Head.Resting, c.Head.PausedUntil = true, &until
	return c.done()
}

// paused reports whether no run may be opened at now.
func (a *Aggregate) paused(now time.Time) bool {
	return a.Head.PausedUntil != nil && now.Before(*a.Head.PausedUntil)
}

// StartRun opens the next run of a resting conversation. It returns ErrNotDue if there is nothing to do, runs are
// paused or a run is open.
func (a *Aggregate) StartRun(now time.Time) (aggregate.Change, error) {
	if !a.Head.Resting || !a.work(now) || a.paused(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Head.Resting, c.Head.PausedUntil = false, nil
	c.Head.Run++
	return c.done()
}

func (a *Aggregate) DueAt(now time.Time) *time.Time {
	var due *time.Time
	by := func(t time.Time) { due = aggregate.Sooner(due, t) }
	switch {
	case a.Head.ErasedAt != nil:
		return nil
	case a.Head.ForgettingAt != nil:
		by(a.Head.ForgettingAt.Add(lastWrite))
		if a.undrawn() {
			by(now.Add(5 * time.Minute))
		}
		return due
	case a.Head.Forgotten(now):
		return a.Head.ForgottenAt
	case a.Conversation == nil:
		return nil
	case a.Head.ForgottenAt != nil:
		by(*a.Head.ForgottenAt)
	}
	soon := now.Add(5 * time.Minute)
	if _, drawn := aggregate.Drawing(a, !a.Head.Shown(), a.Pending() != nil, now); drawn != nil {
		by(*drawn)
	}
	if slices.ContainsFunc(a.Offered, (*Offered).making) || a.waitsInVain() != nil {
		by(soon)
	}
	if x := a.unheard(); x != nil {
		by(x.Claim.LeaseUntil)
	}
	if a.Conversation.Status == Closed {
		return due
	}
	switch {
	case !a.work(now):
	case a.Head.Resting && a.paused(now):
		by(*a.Head.PausedUntil)
	default:
		by(soon)
	}
	if at := a.actionDueAt(now); at != nil {
		by(*at)
	}
	if at := a.idleAt(); at != nil {
		by(*at)
	}
	return due
}

// actionDueAt returns when the open action is due, nil if there is none or nothing is.
func (a *Aggregate) actionDueAt(now time.Time) *time.Time {
	switch x := a.Current(); {
	case x == nil:
	case x.leased(now):
		return &x.Claim.LeaseUntil
	case x.Status == ActionPending:
		return x.Gate.Terms.DecideBy
	}
	return nil
}

func (a *Aggregate) Overdue(now time.Time) []aggregate.Overdue {
	return []aggregate.Overdue{
		{Decide: aggregate.At(now, (*Aggregate).forgetNow)},
		{Decide: aggregate.At(now, (*Aggregate).Expire)},
		{Decide: aggregate.At(now, (*Aggregate).Crashed)},
		{Decide: aggregate.At(now, (*Aggregate).EndWithdrawn)},
		{Decide: aggregate.At(now, (*Aggregate).CloseIdle)},
		aggregate.Restarting(now, (*Aggregate).runs),
	}
}

// runs reports whether a run has something to do.
func (a *Aggregate) runs(now time.Time) bool { return !a.Head.Resting && a.work(now) }

// MaxRestarts is how many consecutive runs may die before GiveUp.
const MaxRestarts = 3

// RestartRun supersedes a run that died. After MaxRestarts it gives up: the messages get a fixed sentence, or the
// action fails. It returns ErrSuperseded if the head names another run or there is nothing to run.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.runs(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if a.Head.Restarts >= MaxRestarts {
		return a.GiveUp(run, now)
	}
	c := a.begin(now)
	c.Head.Run++
	c.Head.Restarts++
	return c.done()
}

// GiveUp ends the work of a run: the current action fails, the source that was tried is given up, or the messages get a
// fixed sentence.
func (a *Aggregate) GiveUp(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.runs(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if x := a.Current(); x != nil && x.Status == ActionApproved {
		return a.end(x, Result{Status: ActionFailed, Error: ReasonRunFailed}, now)
	}
	if x := a.Current(); x != nil && x.Status == ActionExecuting {
		switch {
		case x.Pushed != nil && !x.leased(now):
			return a.lost(x, now)
		case x.Claim == nil:
			return a.end(x, Result{Status: ActionFailed, Error: ReasonRunFailed}, now)
		}
		return a.Crashed(now)
	}
	if x := a.Looking(); x != nil {
		return a.NotFound(run, x.ActionID, now)
	}
	if a.Conversation.wants() && a.Conversation.Source.Tries > 0 {
		return a.FailSource(run, ReasonSourceUnfetched, now)
	}
	why := cmp.Or(a.Conversation.TriedError, ReasonRunFailed) // the more specific one
	text, known := Unanswered(a.Conversation.Locale, why)
	if !known {
		text, _ = Unanswered(a.Conversation.Locale, ReasonRunFailed)
	}
	return a.Refused(run, a.Waiting(), Refusal{Reason: why, Text: text, Failed: true}, now)
}
