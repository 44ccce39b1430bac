package task

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// check asserts the design's invariants after each commit.
func (w *world) check(before, after *Aggregate, c aggregate.Change) {
	w.moves(before, after)
	w.decidedOnce(before, after)
	w.recorded(before, after, c)
	w.fenced(before, after)
	w.approvedIsWhatRuns(before, after)
	w.calledOnce(before, after)
	w.timeOnlyExpires(before, after)
	w.coherent(after)
	w.nobodyWaitsInVain(after)
	w.oneSession(before, after)
	w.paidOnce(after)
	w.placeIsHeld(after)
	w.require(w.spent == after.Spent(), "days sum up to %s, the task to %s", w.spent, after.Spent())
}

// placeIsHeld checks that an open task counts once as open for its requester, that other tasks don't, and that the
// hourly count stays.
func (w *world) placeIsHeld(after *Aggregate) {
	want := map[bool]int{true: 1}[after.Head.holds()]
	for key, n := range w.counts {
		open := strings.HasPrefix(key, "OPEN#")
		w.require(open && n == want || !open && n == 1, "%s is %d", key, n)
	}
	w.require(len(w.counts) == 2 || after.Head.AcceptedAt == nil && len(w.counts) == 0, "counted %v", w.counts)
}

func (w *world) require(ok bool, format string, args ...any) {
	w.t.Helper()
	expect.Must(w.t, ok, w.kind+": "+format, args...)
}

// moves checks that every status change is allowed and that rows begin with a valid status.
func (w *world) moves(before, after *Aggregate) {
	old := before.Rows()
	for key, r := range after.Rows() {
		switch r := r.(type) {
		case *Task:
			was := before.Task // without a status, the row is for lists alone
			w.require(was == nil && (r.Status == "" || r.Status == TaskExtracted) || was != nil &&
				(was.Status == r.Status || TaskMoves.Allows(was.Status, r.Status)), "task became %s", r.Status)
		case *Prompt, *Process, *StepGate:
			now, _, _ := gateOf(r)
			was, _, _ := gateOf(old[key])
			_, step := r.(*StepGate)
			prompt, _ := r.(*Prompt)
			begins := !step && now == aggregate.Generating || (step || prompt != nil && prompt.Author != "") &&
				now == aggregate.PendingApproval
			w.require(was == "" && begins || was == now || aggregate.GateMoves.Allows(was, now), "%s: %q became %s", key, was,
				now)
		case *Execution:
			was, _ := old[key].(*Execution)
			w.require(was == nil && r.Status == ExecutionPending || was != nil &&
				(was.Status == r.Status || ExecutionMoves.Allows(was.Status, r.Status)), "%s became %s", key, r.Status)
		case *StepResult:
			was, _ := old[key].(*StepResult)
			begun := r.Status == StepRunning || r.Reused && r.Status == StepCompleted
			w.require(was == nil && begun || was != nil && (was.Status == r.Status || StepMoves.Allows(was.Status, r.Status)),
				"%s became %s", key, r.Status)
		}
	}
	w.require(len(after.Rows()) >= len(old), "a row is gone")
	w.require(after.Head.ChangedAt.After(before.Head.ChangedAt) || w.headless, "time did not go on")
}

// decidedOnce checks that a verdict and its content never change. (Invariant 2.)
func (w *world) decidedOnce(before, after *Aggregate) {
	rows := after.Rows()
	for key, r := range before.Rows() {
		if _, v, _ := gateOf(r); v.ApprovedAt != nil || v.RejectedAt != nil {
			w.require(reflect.DeepEqual(r, rows[key]), "%s was decided, and changed", key)
		}
	}
	if e := before.Head.Ended; e != nil && e.As != TaskFailed {
		w.require(after.Head.Ended == e && (after.Head.Run == before.Head.Run || before.OpenSession() != nil),
			"a task that ended began again")
	}
}

var verdicts = map[string]map[aggregate.GateStatus]aggregate.Action{
	"PROM": {aggregate.Approved: AuditPromptApproved, aggregate.Rejected: AuditPromptRejected},
	"PROC": {aggregate.Approved: AuditProcessApproved, aggregate.Rejected: AuditProcessRejected},
	"GATE": {aggregate.Approved: "step.approved", aggregate.Rejected: "step.rejected"},
}

// recorded checks that each change of state has its audit entry in the same commit, and no other. (Invariant 3.)
func (w *world) recorded(before, after *Aggregate, c aggregate.Change) {
	got := map[aggregate.Action]int{}
	for _, entry := range c.Audit {
		got[entry.Action]++
		w.require(entry.TenantID == after.Head.TenantID && entry.AggregateID == after.Head.TaskID &&
			entry.Timestamp.Equal(c.Now) && entry.ResourceID != "", "audit entry %+v belongs elsewhere", entry)
		arrived := w.kind == "person: confirm execution" && strings.Contains(string(entry.Details), `"status":"completed"`)
		person := strings.HasPrefix(w.kind, "person") && (entry.Action != AuditExecutionLate || arrived) &&
			!(entry.Action == AuditTaskCancelled && after.Head.Ended.Reason == ReasonMaxVersions)
		w.require(person == (entry.ActorType == aggregate.ActorUser) && person == (entry.ActorID != ""),
			"%s is recorded as of %s %q", entry.Action, entry.ActorType, entry.ActorID)
	}
	want := w.toRecord(before, after)
	w.require(maps.Equal(want, got), "recorded %v, want %v", got, want)
}

// toRecord counts the audit entries that a change of state must have.
func (w *world) toRecord(before, after *Aggregate) map[aggregate.Action]int {
	want := map[aggregate.Action]int{}
	old := before.Rows()
	for key, r := range after.Rows() {
		if old[key] == r {
			continue
		}
		switch r := r.(type) {
		case *Task:
			if before.Task == nil && r.Status != "" {
				want[AuditTaskCreated]++
			}
		case *Prompt, *Process, *StepGate:
			was, _, _ := gateOf(old[key])
			if p, ok := r.(*Prompt); ok && was == "" && p.Author != "" {
				want[AuditPromptPicked]++
			} else if p, ok := r.(*Prompt); ok && was == "" && p.EditedBy != "" {
				want[AuditPromptEdited]++
			} else if now, _, _ := gateOf(r); was != now {
				want[verdicts[r.Key()[:4]][now]]++
			}
		case *StepResult:
			was, _ := old[key].(*StepResult)
			of := aggregate.Find(before.Executions, ExecutionKey(r.ProcessVersion, r.Attempt))
			if was != nil && was.Status != r.Status && of.over() && r.Access == aggregate.Write {
				want[AuditExecutionLate]++
			}
		case *Execution:
			was, _ := old[key].(*Execution)
			switch {
			case was == nil && r.Attempt > 1:
				want[AuditExecutionRetried]++
			case r.Managed() && was != nil && was.SessionID != r.SessionID:
				want[AuditExecutionStarted]++
			case r.Managed() && r.Status == ExecutionRunning: // recorded together with its session
			case was != nil && was.Status != r.Status:
				want[map[ExecutionStatus]aggregate.Action{ExecutionRunning: AuditExecutionStarted,
					ExecutionCompleted: AuditExecutionCompleted, ExecutionFailed: AuditExecutionFailed,
					ExecutionCancelled: AuditExecutionCancelled}[r.Status]]++
			}
		}
	}
	parked := func(a *Aggregate) bool { return a.Head.Parked != nil }
	if !parked(before) && parked(after) {
		want[AuditGenerationFailed]++
	}
	if w.kind == "person: retry generation" {
		want[AuditGenerationRetried]++
	}
	if e := after.Head.Ended; before.Head.Ended == nil && e != nil {
		switch {
		case e.Reason == ReasonExpired:
			want[AuditTaskExpired]++
		case e.Reason == ReasonNobodyLeft:
			want[AuditTaskRefused]++
		case e.Reason == ReasonMaxVersions || e.Reason == ReasonByPerson && w.kind == "person: cancel":
			want[AuditTaskCancelled]++
		}
	} else if e != nil && e.As == TaskCancelled && before.Head.Ended.As == TaskFailed { // nobody will know an outcome
		want[AuditTaskCancelled]++
	}
	delete(want, "")
	return want
}

// gateOf returns a gate's status, verdict and terms, and "" for any other row.
func gateOf(r aggregate.Row) (aggregate.GateStatus, aggregate.Verdict, aggregate.Terms) {
	switch r := r.(type) {
	case *Prompt:
		return r.Status, r.Verdict, r.Terms
	case *Process:
		return r.Status, r.Verdict, r.Terms
	case *StepGate:
		return r.Status, r.Verdict, r.Terms
	}
	return "", aggregate.Verdict{}, aggregate.Terms{}
}

// fenced checks that only the head's run commits, that no run commits after the end, and that a failure is recorded
// only for its own generation. (Invariants 6 and 8.)
func (w *world) fenced(before, after *Aggregate) {
	if w.headless {
		w.charged(before, after)
		return
	}
	if strings.HasPrefix(w.kind, "run: ") {
		w.require(before.Head.Run == w.run, "run %d committed, the head's is %d", w.run, before.Head.Run)
		w.require(before.Head.Ended == nil, "run %d committed to a task that had ended", w.run)
	}
	if w.kind == "run: park" || w.kind == "run: pause" {
		w.require(before.Generating() == w.failed, "%v failed, generating is %v", w.failed, before.Generating())
	}
	w.require(after.Head.Run >= before.Head.Run, "the run went back")
}

// charged checks that calls without a result are charged and change nothing else.
func (w *world) charged(before, after *Aggregate) {
	w.require(reflect.DeepEqual(before.Head, after.Head), "more than the sum changed: %+v, then %+v", before.Head,
		after.Head)
	w.require(maps.Equal(before.Rows(), after.Rows()), "a charge wrote rows")
	w.require(reflect.DeepEqual(before.justDecided(), after.justDecided()), "a charge made a decision old")
}

// paidOnce checks that the total contains each recorded generation once.
func (w *world) paidOnce(after *Aggregate) {
	var sum aggregate.Usage
	for id := range w.paid {
		if !w.unbilled[id] {
			sum = sum.Plus(w.usage(id))
		}
	}
	w.require(after.Spent() == sum.Cost, "the sum is %s, paid was %s", after.Spent(), sum.Cost)
}

// approvedIsWhatRuns checks that a call begins only if the newest prompt and process are stamped and unchanged, and if
// a person has approved its step where necessary. (Invariants 1 and 8.)
func (w *world) approvedIsWhatRuns(before, after *Aggregate) {
	if p := after.Process(); p != nil && p.Status == aggregate.Approved && w.stamped[p.ID] == nil {
		w.stamped[p.ID] = slices.Clone(p.Steps)
	}
	for _, s := range after.Steps {
		was := before.StepOf(&Execution{ProcessVersion: s.ProcessVersion, Attempt: s.Attempt}, s.Order)
		if s.Status != StepRunning || was == s {
			continue
		}
		prompt, process, e := before.Prompt(), before.Process(), after.Execution()
		w.require(w.run == before.Head.Run, "%s begins for run %d, the head's is %d", s.Key(), w.run, before.Head.Run)
		w.require(before.Head.Ended == nil && before.Head.Parked == nil, "%s begins in a task that is over", s.Key())
		w.require(e.Status == ExecutionRunning && e.Attempt == s.Attempt && e.ProcessVersion == s.ProcessVersion,
			"%s begins in an execution that is %s", s.Key(), e.Status)
		w.require(prompt.Status == aggregate.Approved && process.Status == aggregate.Approved && process.ID == e.ProcessID,
			"%s begins without stamps", s.Key())
		w.require(reflect.DeepEqual(w.stamped[process.ID], process.Steps), "%s is not what was stamped", s.Key())
		step := process.Steps[s.Order-1]
		w.require(s.Tool == step.Tool && s.StepID == step.StepID && s.Access == step.Access, "%s calls %s, stamped was %s",
			s.Key(), s.Tool, step.Tool)
		if NeedsGate(step, e.Terms, false) {
			g := before.GateOf(e, s.Order)
			w.require(g != nil && g.Status == aggregate.Approved && g.ApprovedBy != "" && g.Arguments == s.Arguments,
				"%s begins without a look at its arguments", s.Key())
		}
		for _, earlier := range after.StepsOf(e) {
			w.require(earlier.Order >= s.Order || earlier.Status == StepCompleted, "%s begins before %s is done", s.Key(),
				earlier.Key())
		}
	}
}

// calledOnce checks that a write is called once per request by a person, and that nobody can request it again before
// the previous outcome is known. (Invariant 7.)
func (w *world) calledOnce(before, after *Aggregate) {
	for key, n := range w.calls {
		w.require(n <= 1 || w.rows[key].(*StepResult).Access == aggregate.Read, "%s was called %d times", key, n)
	}
	old := before.Rows()
	for _, s := range after.Steps {
		for _, done := range before.Steps {
			began := old[s.Key()] == nil && s.Status == StepRunning
			twice := done.Status == StepCompleted && done.ProcessVersion == s.ProcessVersion && done.Order == s.Order
			w.require(!began || !twice, "%s is called, and %s says that it was done", s.Key(), done.Key())
		}
	}
	e, was := after.Execution(), before.Execution()
	if e != nil && e.Status == ExecutionFailed {
		w.told[e.Attempt] = e.Error == ReasonToolUnknown
	}
	if was == nil || e.Attempt == was.Attempt {
		return
	}
	for _, s := range before.StepsOf(was) {
		w.require(s.Status != StepRunning, "%s is tried again while it may be under way", s.Key())
		w.require(s.Status != StepUnknown || w.told[was.Attempt],
			"%s is tried again, and nobody was told that its outcome is unknown", s.Key())
		if s.Status == StepCompleted {
			again := after.StepOf(e, s.Order)
			w.require(again != nil && again.Reused && reflect.DeepEqual(again.Result, s.Result),
				"%s was done, and is not carried over", s.Key())
		}
	}
}

// timeOnlyExpires checks that gates for people are stamped only by people, and that nothing expires early. (Invariant
// 9.)
func (w *world) timeOnlyExpires(before, after *Aggregate) {
	old := before.Rows()
	for key, r := range after.Rows() {
		was, _, t := gateOf(old[key])
		now, v, _ := gateOf(r)
		if was != aggregate.PendingApproval || now == was {
			continue
		}
		w.require(now != aggregate.Approved || v.ApprovedBy != "" || !t.ApprovalRequired, "%s is approved by nobody", key)
		w.require(now != aggregate.Expired || strings.HasPrefix(w.kind, "sweeper") && w.now.After(*t.DecideBy),
			"%s expired, to be decided by %v", key, t.DecideBy)
	}
}

// nobodyWaitsInVain checks that a task that is not over and waits for no person has a run to open or a due time, and
// that runs are woken when their gate is decided. (Invariant 6.)
func (w *world) nobodyWaitsInVain(a *Aggregate) {
	e := a.Effects(w.now)
	open, waits := a.OpenGate()
	looks := a.LooksAgain() != nil // people may decide, and a run looks people up
	asks := waits && open.Terms.ApprovalRequired && !looks
	paused := a.Head.PausedUntil != nil && w.now.Before(*a.Head.PausedUntil)
	s := a.OpenSession()
	leased := func(e *Execution) bool { _, held := a.leased(e, "", w.now); return held }
	idle := a.Contesting() != nil || a.Head.Ended != nil && !a.closing(w.now) || a.Head.Ended == nil && s != nil &&
		leased(s) || a.Head.Parked != nil || a.Returned() != nil && !looks || asks || paused ||
		!looks && (a.LiveLease(w.now) != nil || leased(a.Execution()))
	w.require(idle == (e.Run == nil), "a run to open: %v, and idle: %v", e.Run, idle)
	w.require(e.Run == nil || e.Run.Run == a.Head.Run, "the run to open is %v", e.Run)
	for _, wait := range a.Waits {
		woken := slices.Contains(e.Wake, wait)
		contested := !waits && a.Contesting() != nil && wait.Gate == a.Contesting().Key()
		w.require(woken == !((contested || waits && !looks && wait.Gate == open.Key) && wait.Run == a.Head.Run),
			"%+v woken: %v", wait, woken)
	}
	out := slices.ContainsFunc(a.Steps, func(s *StepResult) bool { return s.Status == StepRunning })
	a.Head.ShownRev = a.Head.Rev
	due := a.DueAt(w.now)
	w.require((due != nil) == (out || !w.contestsAreOver(a) || s != nil || a.Head.Ended == nil && a.Head.Parked == nil &&
		(a.Returned() == nil || looks)),
		"due at %v", due)
	w.require(due == nil || !asks || !due.After(later(*open.Terms.DecideBy, w.now.Add(5*time.Minute))),
		"due at %v, to be decided by %v", due, open.Terms.DecideBy)
}

// oneSession checks that an execution keeps its session. If the execution ends first, a run must go there and stop it
// as soon as there is capacity.
func (w *world) oneSession(before, after *Aggregate) {
	for _, e := range before.Executions {
		n := aggregate.Find(after.Executions, e.Key())
		w.require(e.SessionID == "" || n.SessionID == e.SessionID, "%s had session %s, has %s", e.Key(), e.SessionID,
			n.SessionID)
		w.require(!n.SessionClosed || e.SessionClosed || e.over(), "the session of %s is closed while it goes on", e.Key())
	}
	if e := after.OpenSession(); e != nil {
		next := after.Next(w.now)
		_, leased := after.leased(e, "", w.now)
		noRoom := after.Head.PausedFor == ReasonNoRoom && w.now.Before(*after.Head.PausedUntil) // no function can be invoked
		w.require(next.State == StateExecuteProcess || next.State == StatePause && (leased || noRoom),
			"nobody tells session %s to stop", e.SessionID)
		w.require(after.DueAt(w.now) != nil, "the task rests, and session %s is open", e.SessionID)
	}
	for i, e := range after.Executions {
		w.require(i == 0 || e.SessionID == "" || after.Executions[i-1].SessionID == "" || after.Executions[i-1].SessionClosed,
			"%s has a session, and the one before is open", e.Key())
	}
}
