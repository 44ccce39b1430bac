package faults

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

const (
	runner = "RunActionFunction"
	// planPoints is how many crash points of the process that runs a plan are tried.
	planPoints = 2
	// plan is three commands, each of which leaves a trace in the files.
	plan = "run: echo one >> log.txt\ncommand: sleep 0.5; echo two >> log.txt\ncommand: echo three >> log.txt; cat log.txt"
)

// plans has people approve a plan, and returns it when it is over. Kills are of what comes after the approval.
func (b *harness) plans(t driver.T, kills ...point) (*talk, *conversation.Action) {
	t.Helper()
	k := b.says(t, plan)
	k.until(t, "the plan proposed", func(a *conversation.Aggregate) bool { return a.Current() != nil && k.rests(a) })
	k.anew(kills...)
	return k, k.end(t)
}

// ranOnce checks that no command of the plan ran twice, and that row, files and card say what is known: all has
// succeeded, or nobody knows.
func (k *talk) ranOnce(t driver.T, x *conversation.Action) {
	t.Helper()
	s, d := k.load(t).Conversation, k.dialogue(t)
	log := ""
	if s.WorkspaceVersion != "" {
		of := large.VersionsOf{Tenant: k.ref.Tenant, ID: k.ref.ID}
		tree := expect.Value(large.OpenVersions(k.AWS, k.BucketName).Get(context.Background(), of, s.WorkspaceVersion))(t)
		content, _ := tree.Content("log.txt")
		log = string(content)
	}
	succeeded := len(x.Commands) == 3 && !slices.ContainsFunc(x.Commands,
		func(r conversation.Ran) bool { return !r.Succeeded() })
	switch {
	case k.started() > 1:
		driver.Failf("session %s: the plan was started %d times", k.ref.ID, k.started())
	case x.Status == conversation.ActionSucceeded && succeeded && x.Version == s.WorkspaceVersion &&
		log == "one\ntwo\nthree\n":
		d.Shows("Action #1 done", "three")
	case x.Status == conversation.ActionSucceeded && succeeded && x.NotTaken && log == "": // its claim had ended
		d.Shows("Action #1 done", "three", "did not become the conversation's")
	case x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown && log == "":
		d.Shows("Action #1: outcome unknown")
		if _, faces := d.Faces(); strings.Contains(strings.Join(faces, "\n"), "Command 3: not run") {
			driver.Failf("session %s: the card says that a command has not run, which nobody knows", k.ref.ID)
		}
	default:
		driver.Failf("session %s: the plan is %s (%s %q %q) with %d commands, its files %q say %q",
			k.ref.ID, x.Status, x.Error, x.ErrorDetail, x.Outcome, len(x.Commands), s.WorkspaceVersion, log)
	}
}

// TestACrashInAPlanRunsNoCommandTwice kills the process that runs a plan anywhere, also between its commands: a
// command that may have begun is not begun again, and nobody is told that it has not run.
func TestACrashInAPlanRunsNoCommandTwice(t *testing.T) {
	t.Parallel()
	b := running
	first, x := b.plans(t)
	first.ranOnce(t, x)
	all := first.points()
	expect.Must(t, x.Status == conversation.ActionSucceeded && first.started() == 1, "undisturbed, the plan is %+v", x)
	trials := trialsIn(runner, all, planPoints, otherPoints)
	var never unmet
	ends := map[conversation.ActionStatus]int{}
	sideBySide(t, trials, func(try driver.T, _ int, kills []point) {
		k, x := b.plans(try, kills...)
		k.ranOnce(try, x)
		never.count(t, k.trace, kills)
		never.mu.Lock()
		defer never.mu.Unlock()
		ends[x.Status]++
	})
	never.few(t, len(trials))
	if ends[conversation.ActionFailed] == 0 || ends[conversation.ActionSucceeded] == 0 {
		t.Errorf("no crash was before, or none in the plan: %v", ends)
	}
	t.Logf("%d of %d points: %v; seed %d", len(trials), len(all), ends, seed)
}
