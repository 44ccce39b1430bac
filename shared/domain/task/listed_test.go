package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// TestHowARequestStandsInEachState prints the status of every state of the matrix and of what becomes of a choice or a
// plain reply, as people are told it, and as lists find it.
func TestHowARequestStandsInEachState(t *testing.T) {
	var got strings.Builder
	for _, state := range slices.Concat(states, restingStates) {
		a := state.reach(t).load()
		listed := "-"
		if a.Task != nil {
			listed = string(a.Task.ListedAs)
		} else if a.Listing != nil {
			listed = string(a.Listing.ListedAs) + ", without a task"
		}
		fmt.Fprintf(&got, "%-24s%-14s%-10s%s\n", state.name, a.Status(), a.WaitsFor(), listed)
	}
	golden := filepath.Join("testdata", "statuses.txt")
	if os.Getenv("UPDATE") != "" {
		expect.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want := string(expect.Value(os.ReadFile(golden))(t))
	expect.Same(t, strings.Split(want, "\n"), strings.Split(got.String(), "\n"))
	for _, s := range Statuses {
		expect.That(t, strings.Contains(want, string(s)), "no state is %s", s)
	}
}

// restingStates are those in which a request rests without a task, and failures that nobody can mend.
var restingStates = []struct {
	name  string
	reach func(testing.TB) *story
}{
	{"asked for a choice", asked},
	{"taken as a reason", told(asked, func(s *story) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.TakeAsReason(a.Choice.ID, person(requester), s.policy, now)
		})
	})},
	{"taken as a request", told(asked, func(s *story) { s.do(asRequest(s, person(requester))) })},
	{"and extracted", told(asked, func(s *story) { s.do(asRequest(s, person(requester)), s.extract) })},
	{"choice expired", told(asked, func(s *story) { s.now = s.now.Add(169 * time.Hour); s.do(s.expire) })},
	{"refused", told(begin, func(s *story) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RefuseWorkspace(a.Head.Run, now) })
	})},
	{"can't be done", told(begin, func(s *story) { s.do(plain(KindUnsupported)) })},
	{"answered", told(begin, func(s *story) { s.do(plain(KindHelp)) })},
	{"a vendor puts it off", told(begin, func(s *story) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.WaitUntil(a.Head.Run, a.Generating(), now.Add(time.Minute), now)
		})
	})},
	{"L1 tried again", told(begin, func(s *story) { s.do(s.park, s.retryGeneration) })},
	{"L1 again and extracted", told(begin, func(s *story) { s.do(s.park, s.retryGeneration, s.extract) })},
	{"prompt tried again", told(begin, func(s *story) { s.do(s.extract, s.park, s.retryGeneration) })},
	{"a stamped value is gone", told(running, func(s *story) {
		s.do(s.claim, s.finish(failed), func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.FailExecution(a.Head.Run, ReasonToolValue, "", now)
		})
	})},
}

func plain(k ExtractKind) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, Extract{Kind: k, Sentence: "…"}, now)
	}
}

// TestAnOrdinaryRequestWritesNoRowForItsStatus: what lists need is in rows that are written anyway.
func TestAnOrdinaryRequestWritesNoRowForItsStatus(t *testing.T) {
	s := allDone(t)
	s.do(s.complete)
	writes := 0
	for i, image := range s.images {
		row, ok := image.rows["TASK"]
		if _, listing := image.rows["LISTING"]; listing {
			t.Error("it has a listing")
		}
		if ok && (i == 0 || s.images[i-1].rows["TASK"] == nil || s.images[i-1].rows["TASK"].Revision() != row.Revision()) {
			writes++
		}
	}
	expect.Is(t, writes, 3) // it was made, it ran, it was done
}

func TestAFilterOfStatusNamesThem(t *testing.T) {
	for _, s := range Statuses {
		expect.NoError(t, (Filter{Status: s}).Check())
		_, partitions, _ := (Filter{Status: s}).In("t")
		expect.That(t, len(partitions) > 0, "%s is read from nowhere", s)
	}
	err := (Filter{Status: "extracted"}).Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "drafting, waits, not_drafted"), "%v", err)
}

func TestTheBeginningOfAMessageHasNoPartOfACharacter(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "abc", "abcdef": "abcde", "稟議": "稟", "a稟議": "a稟", strings.Repeat("é", 9): "éé"} {
		expect.Is(t, beginning(text, 5), want)
	}
}

// The head says whether what a request waits for is under a rule, as the rows of its commit do.
func TestTheHeadNotesThatARequestGoesRound(t *testing.T) {
	noted := func(s *story, want bool, why string) {
		t.Helper()
		a := s.load()
		expect.That(t, a.Head.WaitsOnRoute() == want && a.WaitsOnRoute() == want, "%s: %v in the head, %v by the rows", why, a.Head.WaitsOnRoute(), a.WaitsOnRoute())
	}
	noted(waitingProcess(t), false, "without a rule")
	s := onRoute(t)
	noted(s, true, "opened")
	noted(s.do(s.does(circulation.Stamp, suzuki)), true, "stamped once")
	noted(s.do(s.does(circulation.Stamp, tanaka)), false, "settled")
	s = onRoute(t)
	noted(s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.End(person(requester), s.policy, now)
	}), false, "cancelled")
}
