package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// The result of each decision in each state:
//
//   - changes it          . is done already    U uncovers a write
//     D decided already     N not found          R nothing to retry
//     S superseded          M something else is next
//     C rows at odds        I in flight          - not due
//     X the execution must be failed
const matrix = `
                     xt bP fP aP rP bQ fQ aQ rQ st cl oG aS rS co fa rt ca cE ex se gu rs pa rG pz lt
received              +  .  .  N  N  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  +  +  +  R  +  M
L1 parked             +  .  .  N  N  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  .  S  .  +  .  M
extracted             .  +  .  N  N  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  +  +  .  R  .  M
prompt generating     .  .  +  N  N  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  +  +  +  R  +  M
prompt parked         .  .  +  N  N  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  .  S  .  +  .  M
prompt waits          .  .  .  +  +  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  .  S  .  R  .  M
prompt rejected       .  +  .  D  .  .  .  N  N  C  C  C  N  N  C  C  N  +  N  -  -  +  +  .  R  .  M
process generating    .  .  .  .  D  .  +  N  N  C  C  C  N  N  C  C  N  +  N  -  -  +  +  +  R  +  M
process parked        .  .  .  .  D  .  +  N  N  C  C  C  N  N  C  C  N  +  N  -  -  .  S  .  +  .  M
process waits         .  .  .  .  D  .  .  +  +  C  C  C  N  N  C  C  N  +  N  -  -  .  S  .  R  .  M
process rejected      .  .  .  .  D  +  .  D  .  C  C  C  N  N  C  C  N  +  N  -  -  +  +  .  R  .  M
execution pending     .  .  .  .  D  .  .  .  D  +  C  C  N  N  M  +  R  +  +  -  -  +  +  .  R  .  M
execution running     .  .  .  .  D  .  .  .  D  .  +  +  N  N  M  +  R  +  +  -  -  +  +  .  R  .  M
read out              .  .  .  .  D  .  .  .  D  .  I  M  N  N  M  I  R  +  +  -  -  I  S  .  R  .  +
read crashed          .  .  .  .  D  .  .  .  D  .  +  M  N  N  M  +  R  +  +  -  -  +  +  .  R  .  +
write out             .  .  .  .  D  .  .  .  D  .  I  M  N  N  M  I  R  +  +  -  -  I  S  .  R  .  +
write crashed         .  .  .  .  D  .  .  .  D  .  X  M  N  N  M  +  R  +  +  -  -  +  +  .  R  .  +
write unknown         .  .  .  .  D  .  .  .  D  .  X  M  N  N  M  +  R  +  +  -  -  +  +  .  R  .  +
write failed          .  .  .  .  D  .  .  .  D  .  X  M  N  N  M  +  R  +  +  -  -  +  +  .  R  .  M
step waits            .  .  .  .  D  .  .  .  D  .  M  .  +  +  M  .  R  +  +  -  -  .  S  .  R  .  M
step approved         .  .  .  .  D  .  .  .  D  .  +  .  .  D  M  +  R  +  +  -  -  +  +  .  R  .  M
time is up            .  .  .  .  D  .  .  .  D  .  X  +  N  N  M  +  R  +  +  -  -  +  +  .  R  .  M
all steps done        .  .  .  .  D  .  .  .  D  .  M  M  N  N  +  +  R  +  +  -  -  +  +  .  R  .  M
completed             S  S  S  .  D  S  S  .  D  S  S  S  N  N  S  S  D  D  D  -  -  S  S  S  D  S  M
failed                S  S  S  .  D  S  S  .  D  S  S  S  N  N  S  S  +  D  D  -  -  S  S  S  D  S  M
failed unknown        S  S  S  .  D  S  S  .  D  S  S  S  N  N  S  S  +  +  +  -  -  S  S  S  D  S  +
tried again           .  .  .  .  D  .  .  .  D  +  C  C  N  N  M  +  R  +  +  -  -  +  +  .  R  .  M
cancelled at once     S  S  S  N  N  S  S  N  N  S  S  S  N  N  S  S  N  .  N  -  -  S  S  S  D  S  M
cancelled at prompt   S  S  S  D  D  S  S  N  N  S  S  S  N  N  S  S  N  .  N  -  -  S  S  S  D  S  M
cancelled over read   S  S  S  .  D  S  S  .  D  S  S  S  N  N  S  S  D  .  .  -  I  S  S  S  D  S  +
cancelled, crashed    S  S  S  .  D  S  S  .  D  S  S  S  N  N  S  S  D  .  .  -  +  S  S  S  D  S  +
prompt expired        S  S  S  D  D  S  S  N  N  S  S  S  N  N  S  S  N  D  N  -  -  S  S  S  D  S  M
rejected for good     S  S  S  D  .  S  S  N  N  S  S  S  N  N  S  S  N  D  N  -  -  S  S  S  D  S  M
step rejected         S  S  S  .  D  S  S  .  D  S  S  S  D  .  S  S  D  D  D  -  -  S  S  S  D  S  M
`

func TestWhatEachDecisionDoesInEachState(t *testing.T) {
	var got strings.Builder
	got.WriteString("\n" + strings.Split(matrix, "\n")[1] + "\n")
	for _, state := range states {
		line := state.name + strings.Repeat(" ", 22-len(state.name))
		for _, name := range columns {
			s := state.reach(t)
			decide := s.decisions(s.head.Rev)[name]
			line += outcome(s.try(decide)) + "  "
		}
		got.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	expect.Same(t, strings.Split(matrix, "\n"), strings.Split(got.String(), "\n"))
}

var columns = []string{
	"extract", "begin prompt", "finish prompt", "approve prompt", "reject prompt", "begin process", "finish process",
	"approve process", "reject process",
	"start", "claim", "open gate", "approve step", "reject step", "complete", "fail", "retry", "cancel",
	"cancel execution", "expire", "settle",
	"give up", "restart", "park", "retry generation", "pause", "late truth",
}

func outcome(c aggregate.Change, err error) string {
	if stop := (StopError{}); errors.As(err, &stop) {
		return "X"
	}
	if errors.As(err, new(aggregate.ErrDecided)) {
		return "D"
	}
	for letter, known := range map[string]error{
		"N": aggregate.ErrNotFound, "R": ErrNothingToRetry, "S": aggregate.ErrSuperseded, "M": aggregate.ErrMoved,
		"C": aggregate.ErrConflict, "I": aggregate.ErrInFlight, "-": aggregate.ErrNotDue,
	} {
		if errors.Is(err, known) {
			return letter
		}
	}
	switch {
	case err != nil:
		return "?" + err.Error()
	case c.Empty():
		return "."
	case c.Then != nil:
		return "U"
	}
	return "+"
}

var states = []struct {
	name  string
	reach func(testing.TB) *story
}{
	{"received", begin},
	{"L1 parked", told(begin, func(s *story) { s.do(s.park) })},
	{"extracted", told(begin, func(s *story) { // it has cost what it may
		s.do(extracts(Extract{Title: "勤怠集計", Priority: Medium, TaskType: TypeStandard, Last: true}))
	})},
	{"prompt generating", told(begin, func(s *story) { s.do(s.extract) })},
	{"prompt parked", told(begin, func(s *story) { s.do(s.extract, s.park) })},
	{"prompt waits", waitingPrompt},
	{"prompt rejected", told(waitingPrompt, func(s *story) { s.do(s.rejectPrompt) })},
	{"process generating", told(waitingPrompt, func(s *story) { s.do(s.approvePrompt) })},
	{"process parked", told(waitingPrompt, func(s *story) { s.do(s.approvePrompt, s.park) })},
	{"process waits", waitingProcess},
	{"process rejected", told(waitingProcess, func(s *story) { s.do(s.rejectProcess) })},
	{"execution pending", told(waitingProcess, func(s *story) { s.do(s.approveProcess) })},
	{"execution running", running},
	{"read out", told(running, func(s *story) { s.do(s.claim) })},
	{"read crashed", told(running, func(s *story) { s.do(s.claim); s.now = s.now.Add(2 * time.Minute) })},
	{"write out", told(running, func(s *story) { s.do(s.claim, s.finish(done), s.claim) })},
	{"write crashed", told(running, func(s *story) {
		s.do(s.claim, s.finish(done), s.claim)
		s.now = s.now.Add(2 * time.Minute)
	})},
	{"write unknown", told(running, func(s *story) { s.do(s.claim, s.finish(done), s.claim, s.finish(unknown)) })},
	{"write failed", told(running, func(s *story) { s.do(s.claim, s.finish(done), s.claim, s.finish(failed)) })},
	{"step waits", waitingStep},
	{"step approved", told(waitingStep, func(s *story) { s.do(s.approveStep) })},
	{"time is up", told(running, func(s *story) { s.do(s.claim); s.now = s.now.Add(time.Hour); s.do(s.finish(done)) })},
	{"all steps done", allDone},
	{"completed", told(allDone, func(s *story) { s.do(s.complete) })},
	{"failed", told(running, func(s *story) { s.do(s.claim, s.finish(failed), s.fail) })},
	{"failed unknown", told(running, func(s *story) {
		s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail)
	})},
	{"tried again", told(running, func(s *story) {
		s.do(s.claim, s.finish(done), s.claim, s.finish(failed), s.fail, s.retry)
	})},
	{"cancelled at once", told(begin, func(s *story) { s.do(s.cancel) })},
	{"cancelled at prompt", told(waitingPrompt, func(s *story) { s.do(s.cancel) })},
	{"cancelled over read", told(running, func(s *story) { s.do(s.claim, s.cancelExecution) })},
	{"cancelled, crashed", told(running, func(s *story) {
		s.do(s.claim, s.cancelExecution)
		s.now = s.now.Add(2 * time.Minute)
	})},
	{"prompt expired", told(waitingPrompt, func(s *story) { s.now = s.now.Add(169 * time.Hour); s.do(s.expire) })},
	{"rejected for good", told(begin, func(s *story) {
		s.settings.MaxVersions = 1
		s.do(s.extract, s.finishPrompt, s.rejectPrompt)
	})},
	{"step rejected", told(waitingStep, func(s *story) { s.do(s.rejectStep) })},
}

func told(from func(testing.TB) *story, then func(*story)) func(testing.TB) *story {
	return func(t testing.TB) *story {
		t.Helper()
		s := from(t)
		then(s)
		return s
	}
}

func allDone(t testing.TB) *story {
	s := running(t)
	return s.do(s.claim, s.finish(done), s.claim, s.finish(done), s.claim, s.finish(done))
}

// asMoved returns a gate without a rule that may have a status, and gives a row that from which it comes.
func asMoved(row Gated, from, to aggregate.GateStatus) aggregate.Gate {
	at := dawn
	g := aggregate.Gate{AskedAt: &at, Terms: aggregate.Terms{ApprovalHours: 1}}
	g, _ = g.Under(aggregate.BySettings(to != aggregate.Approved, requester), nil,
		func(*aggregate.Gate) string { return "sum" })
	if to == aggregate.Rejected {
		act := g.Acting(circulation.SendBack, person(suzuki), "no")
		act, _ = aggregate.Policy{Team: person(suzuki).Team}.Act(&g, act, person(suzuki), at)
		g, _ = g.Acted(act)
	}
	row.gate().Status = from
	return g
}

// The test tries every pair of statuses on every kind of row. Moves that are not listed must be refused and write
// nothing.
func TestAMoveThatIsNotListedIsRefused(t *testing.T) {
	moves := 0
	try := func(kind, from, to string, listed bool, move func(c *change)) {
		moves++
		c := change{of: &Aggregate{}}
		move(&c)
		switch made, err := c.done(); {
		case listed && (err != nil || len(made.Rows) != 1):
			t.Errorf("%s: %s to %s: %v, %d rows", kind, from, to, err, len(made.Rows))
		case !listed && (!errors.Is(err, aggregate.ErrConflict) || !made.Empty()):
			t.Errorf("%s: %s to %s is not refused: %v, %d rows", kind, from, to, err, len(made.Rows))
		}
	}
	for from := range aggregate.GateMoves {
		for to := range aggregate.GateMoves {
			for kind, row := range map[string]Gated{"prompt": &Prompt{}, "process": &Process{}, "step gate": &StepGate{}} {
				gate := asMoved(row, from, to)
				try(kind, string(from), string(to), aggregate.GateMoves.Allows(from, to), func(c *change) {
					c.moveGate(row, to, func(n Gated) { *n.gate() = gate })
				})
			}
		}
	}
	for from := range ExecutionMoves {
		for to := range ExecutionMoves {
			try("execution", string(from), string(to), ExecutionMoves.Allows(from, to), func(c *change) {
				c.moveExecution(&Execution{Status: from}, to, func(*Execution) {})
			})
		}
	}
	for from := range StepMoves {
		for to := range StepMoves {
			try("step", string(from), string(to), StepMoves.Allows(from, to), func(c *change) {
				c.moveStep(&StepResult{Status: from}, to, func(*StepResult) {})
			})
		}
	}
	for from := range TaskMoves {
		for to := range TaskMoves {
			try("task", string(from), string(to), TaskMoves.Allows(from, to),
				func(c *change) { c.moveTask(&Task{Status: from}, to) })
		}
	}
	expect.Is(t, moves, 3*6*6+5*5+4*4+5*5, "moves tried")
}

// The moves of seed 000 chapter 3, with the ends that the design adds. All other pairs are forbidden.
const allowedMoves = `
task       extracted         running cancelled
task       running           completed failed cancelled
task       completed
task       failed            running cancelled
task       cancelled
gate       generating        pending_approval
gate       pending_approval  approved rejected expired cancelled
gate       approved
gate       rejected
gate       expired
gate       cancelled
execution  pending           running failed cancelled
execution  running           completed failed cancelled
execution  completed
execution  failed
execution  cancelled
step       running           running completed failed unknown
step       completed
step       failed
step       unknown           completed failed
`

func TestStateMachinesAllowWhatTheDataModelListsAndNothingElse(t *testing.T) {
	machines := map[string]func(from, to string) bool{
		"task":      allows(TaskMoves),
		"gate":      allows(aggregate.GateMoves),
		"execution": allows(ExecutionMoves),
		"step":      allows(StepMoves),
	}
	listed := map[string]map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(allowedMoves)) {
		f := strings.Fields(line)
		if listed[f[0]] == nil {
			listed[f[0]] = map[string][]string{}
		}
		listed[f[0]][f[1]] = f[2:]
	}
	for name, allowed := range machines {
		froms := []string{"", "no such status"}
		for from := range listed[name] {
			froms = append(froms, from)
		}
		for _, from := range froms {
			for _, to := range froms {
				got, want := allowed(from, to), slices.Contains(listed[name][from], to)
				expect.Is(t, got, want, "%s: %q to %q is allowed", name, from, to)
			}
		}
	}
	for name, size := range map[string]int{"task": len(TaskMoves), "gate": len(aggregate.GateMoves),
		"execution": len(ExecutionMoves), "step": len(StepMoves)} {
		expect.That(t, len(listed[name]) == size, "%s has %d statuses, %d are listed here", name, size, len(listed[name]))
	}
}

func allows[S ~string](m aggregate.Moves[S]) func(from, to string) bool {
	return func(from, to string) bool { return m.Allows(S(from), S(to)) }
}
