package task

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
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
                     ext bgP fiP apP reP bgQ fiQ apQ reQ sta cla opG apS reS com fai ret can caE exp set giv res par reG pau late
received              +   .   .   N   N   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   +   +   +   R   +   M
L1 parked             +   .   .   N   N   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   .   S   .   +   .   M
extracted             .   +   .   N   N   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   +   +   .   R   .   M
prompt generating     .   .   +   N   N   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   +   +   +   R   +   M
prompt parked         .   .   +   N   N   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   .   S   .   +   .   M
prompt waits          .   .   .   +   +   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   .   S   .   R   .   M
prompt rejected       .   +   .   D   .   .   .   N   N   C   C   C   N   N   C   C   N   +   N   -   -   +   +   .   R   .   M
process generating    .   .   .   .   D   .   +   N   N   C   C   C   N   N   C   C   N   +   N   -   -   +   +   +   R   +   M
process parked        .   .   .   .   D   .   +   N   N   C   C   C   N   N   C   C   N   +   N   -   -   .   S   .   +   .   M
process waits         .   .   .   .   D   .   .   +   +   C   C   C   N   N   C   C   N   +   N   -   -   .   S   .   R   .   M
process rejected      .   .   .   .   D   +   .   D   .   C   C   C   N   N   C   C   N   +   N   -   -   +   +   .   R   .   M
execution pending     .   .   .   .   D   .   .   .   D   +   C   C   N   N   M   +   R   +   +   -   -   +   +   .   R   .   M
execution running     .   .   .   .   D   .   .   .   D   .   +   +   N   N   M   +   R   +   +   -   -   +   +   .   R   .   M
read out              .   .   .   .   D   .   .   .   D   .   I   M   N   N   M   I   R   +   +   -   -   I   S   .   R   .   +
read crashed          .   .   .   .   D   .   .   .   D   .   +   M   N   N   M   +   R   +   +   -   -   +   +   .   R   .   +
write out             .   .   .   .   D   .   .   .   D   .   I   M   N   N   M   I   R   +   +   -   -   I   S   .   R   .   +
write crashed         .   .   .   .   D   .   .   .   D   .   X   M   N   N   M   +   R   +   +   -   -   +   +   .   R   .   +
write unknown         .   .   .   .   D   .   .   .   D   .   X   M   N   N   M   +   R   +   +   -   -   +   +   .   R   .   +
write failed          .   .   .   .   D   .   .   .   D   .   X   M   N   N   M   +   R   +   +   -   -   +   +   .   R   .   M
step waits            .   .   .   .   D   .   .   .   D   .   M   .   +   +   M   .   R   +   +   -   -   .   S   .   R   .   M
step approved         .   .   .   .   D   .   .   .   D   .   +   .   .   D   M   +   R   +   +   -   -   +   +   .   R   .   M
time is up            .   .   .   .   D   .   .   .   D   .   X   +   N   N   M   +   R   +   +   -   -   +   +   .   R   .   M
all steps done        .   .   .   .   D   .   .   .   D   .   M   M   N   N   +   +   R   +   +   -   -   +   +   .   R   .   M
completed             S   S   S   .   D   S   S   .   D   S   S   S   N   N   S   S   D   D   D   -   -   S   S   S   D   S   M
failed                S   S   S   .   D   S   S   .   D   S   S   S   N   N   S   S   +   D   D   -   -   S   S   S   D   S   M
failed unknown        S   S   S   .   D   S   S   .   D   S   S   S   N   N   S   S   +   D   D   -   -   S   S   S   D   S   +
tried again           .   .   .   .   D   .   .   .   D   +   C   C   N   N   M   +   R   +   +   -   -   +   +   .   R   .   M
cancelled at once     S   S   S   N   N   S   S   N   N   S   S   S   N   N   S   S   N   .   N   -   -   S   S   S   D   S   M
cancelled at prompt   S   S   S   D   D   S   S   N   N   S   S   S   N   N   S   S   N   .   N   -   -   S   S   S   D   S   M
cancelled over read   S   S   S   .   D   S   S   .   D   S   S   S   N   N   S   S   D   .   .   -   I   S   S   S   D   S   +
cancelled, crashed    S   S   S   .   D   S   S   .   D   S   S   S   N   N   S   S   D   .   .   -   +   S   S   S   D   S   +
prompt expired        S   S   S   D   D   S   S   N   N   S   S   S   N   N   S   S   N   D   N   -   -   S   S   S   D   S   M
rejected for good     S   S   S   D   .   S   S   N   N   S   S   S   N   N   S   S   N   D   N   -   -   S   S   S   D   S   M
step rejected         S   S   S   .   D   S   S   .   D   S   S   S   D   .   S   S   D   D   D   -   -   S   S   S   D   S   M
`

func TestWhatEachDecisionDoesInEachState(t *testing.T) {
	var got strings.Builder
	got.WriteString("\n" + strings.Split(matrix, "\n")[1] + "\n")
	for _, state := range states {
		line := state.name + strings.Repeat(" ", 22-len(state.name))
		for _, name := range columns {
			s := state.reach(t)
			decide := s.decisions(s.head.Rev)[name]
			line += outcome(s.try(decide)) + "   "
		}
		got.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	expect.Same(t, strings.Split(matrix, "\n"), strings.Split(got.String(), "\n"))
}

var columns = []string{
	"extract", "begin prompt", "finish prompt", "approve prompt", "reject prompt", "begin process", "finish process", "approve process", "reject process",
	"start", "claim", "open gate", "approve step", "reject step", "complete", "fail", "retry", "cancel", "cancel execution", "expire", "settle",
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
		"N": aggregate.ErrNotFound, "R": ErrNothingToRetry, "S": aggregate.ErrSuperseded, "M": aggregate.ErrMoved, "C": aggregate.ErrConflict, "I": aggregate.ErrInFlight, "-": aggregate.ErrNotDue,
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
	{"extracted", told(begin, func(s *story) { s.do(s.extractLast) })},
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
