package races

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// reference is the simplest possible model of a task: what has happened so far, in words. Each method reports whether
// the attempt is allowed.
type reference struct {
	Task, Ended        string
	Prompts, Processes []string // by version
	Executions         []string // by attempt
	Parked             bool
	Audit              []string
}

const most = 2 // versions of a policy, or of steps

func newest(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func (r *reference) note(entries ...string) { r.Audit = append(r.Audit, entries...) }

func (r *reference) extract() bool {
	if r.Ended != "" || r.Task != "" {
		return false
	}
	r.Task, r.Prompts = "extracted", append(r.Prompts, "generating")
	r.note("task.created by ")
	return true
}

// draft writes the next policy or the next steps.
func (r *reference) draft(list *[]string, ready bool) bool {
	if r.Ended != "" || !ready || newest(*list) != "generating" && newest(*list) != "rejected" {
		return false
	}
	if newest(*list) == "rejected" {
		*list = append(*list, "generating")
	}
	(*list)[len(*list)-1] = "pending_approval"
	return true
}

func (r *reference) approve(list []string, what, by string) bool {
	if newest(list) != "pending_approval" {
		return false
	}
	list[len(list)-1] = "approved"
	r.note(what + ".approved by " + by)
	return true
}

func (r *reference) reject(list []string, what, by string) bool {
	if newest(list) != "pending_approval" {
		return false
	}
	list[len(list)-1] = "rejected"
	r.note(what + ".rejected by " + by)
	if len(list) == most {
		r.end("cancelled")
		r.note("task.cancelled by ")
	}
	return true
}

// run carries out the newest attempt.
func (r *reference) run(well bool) bool {
	if r.Ended != "" || newest(r.Executions) != "pending" {
		return false
	}
	as := map[bool]string{true: "completed", false: "failed"}[well]
	r.Executions[len(r.Executions)-1] = as
	r.note("execution.started by ", "execution."+as+" by ")
	r.end(as)
	return true
}

func (r *reference) retry(by string) bool {
	if newest(r.Executions) != "failed" {
		return false
	}
	r.Executions = append(r.Executions, "pending")
	r.Ended, r.Task = "", "running"
	r.note("execution.retried by " + by)
	return true
}

func (r *reference) cancel(by string) bool {
	if r.Ended != "" {
		return false
	}
	r.close("cancelled")
	if newest(r.Executions) == "pending" {
		r.Executions[len(r.Executions)-1] = "cancelled"
		r.note("execution.cancelled by " + by)
	}
	r.note("task.cancelled by " + by)
	r.end("cancelled")
	return true
}

// expire runs the sweeper a week later.
func (r *reference) expire() bool {
	if r.Ended != "" || newest(r.Prompts) != "pending_approval" && newest(r.Processes) != "pending_approval" {
		return false
	}
	r.close("expired")
	r.note("task.expired by ")
	r.end("cancelled")
	return true
}

func (r *reference) close(as string) {
	for _, list := range [][]string{r.Prompts, r.Processes} {
		if newest(list) == "pending_approval" {
			list[len(list)-1] = as
		}
	}
}

func (r *reference) end(as string) {
	r.Ended, r.Parked = as, false
	if r.Task != "" {
		r.Task = as
	}
}

// seen converts the real task to a reference.
func seen(t fataler, s *scenario) *reference {
	a := s.load(t)
	r := &reference{Audit: audit(t, s)}
	if a.Task != nil {
		r.Task = string(a.Task.Status)
	}
	if a.Head.Ended != nil {
		r.Ended = string(a.Head.Ended.As)
	}
	for _, p := range a.Prompts {
		r.Prompts = append(r.Prompts, string(p.Status))
	}
	for _, p := range a.Processes {
		r.Processes = append(r.Processes, string(p.Status))
	}
	for _, e := range a.Executions {
		r.Executions = append(r.Executions, string(e.Status))
	}
	r.Parked = a.Head.Parked != nil
	return r
}

// TestTheStoreDoesWhatTheReferenceDoes tries random acts in random order.
func TestTheStoreDoesWhatTheReferenceDoes(t *testing.T) {
	checks := "35"
	if expect.Long() {
		checks = "300"
	}
	expect.NoError(t, flag.Set("rapid.checks", checks))
	server := storetest.Start(t)
	st, _ := server.Store(t)
	began, granted, tries := time.Now(), map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		s, r := begin(rt, st), &reference{Audit: []string{}}
		s.settings.MaxVersions = most
		for i := range rapid.IntRange(10, 30).Draw(rt, "tries") {
			name := r.forward()
			if rapid.IntRange(0, 4).Draw(rt, "otherwise") < 2 {
				name = rapid.SampledFrom(attempts).Draw(rt, "try")
			}
			by := rapid.SampledFrom([]string{"U_SATO", "U_SUZUKI"}).Draw(rt, "by")
			want := try(r, name, by)
			got, err := grant(s, name, person(by))
			tries++
			if got {
				granted[name]++
			}
			expect.Must(rt, got == want, "try %d, %s by %s: granted %v (%v), the reference says %v", i+1, name, by, got,
				err, want)
			expect.Must(rt, err == nil || expected(err), "try %d, %s: %v", i+1, name, err)
			diff := cmp.Diff(r, seen(rt, s))
			expect.Must(rt, diff == "", "after try %d, %s by %s (-reference +store)\n%s", i+1, name, by, diff)
		}
	})
	t.Logf("%d tries, granted %v, in %s", tries, granted, time.Since(began).Round(time.Millisecond))
	expect.That(t, len(granted) >= len(attempts)-3 || t.Failed(),
		"too many tries were never granted: the test proves little")
}

var attempts = []string{
	"extract", "draft", "approve prompt", "reject prompt", "plan", "approve process", "reject process", "run", "fail",
	"retry", "cancel", "expire",
}

// forward returns the act that leads on from here.
func (r *reference) forward() string {
	switch {
	case r.Task == "":
		return "extract"
	case newest(r.Executions) == "failed":
		return "retry"
	case len(r.Executions) > 1:
		return "run"
	case len(r.Executions) > 0:
		return "fail"
	case newest(r.Processes) == "pending_approval":
		return "approve process"
	case newest(r.Prompts) == "approved":
		return "plan"
	case newest(r.Prompts) == "pending_approval":
		return "approve prompt"
	}
	return "draft"
}

func try(r *reference, name, by string) bool {
	switch name {
	case "extract":
		return r.extract()
	case "draft":
		return r.draft(&r.Prompts, r.Task == "extracted")
	case "plan":
		return r.draft(&r.Processes, newest(r.Prompts) == "approved")
	case "approve prompt":
		if !r.approve(r.Prompts, "prompt", by) {
			return false
		}
		r.Processes = append(r.Processes, "generating")
		return true
	case "approve process":
		if !r.approve(r.Processes, "process", by) {
			return false
		}
		r.Task, r.Executions = "running", append(r.Executions, "pending")
		return true
	case "reject prompt":
		return r.reject(r.Prompts, "prompt", by)
	case "reject process":
		return r.reject(r.Processes, "process", by)
	case "run", "fail":
		return r.run(name == "run")
	case "retry":
		return r.retry(by)
	case "cancel":
		return r.cancel(by)
	case "expire":
		return r.expire()
	}
	panic("no such try: " + name)
}

// grant tries an act on the real task; of several decisions it stops at the first that changes nothing.
func grant(s *scenario, name string, by aggregate.Actor) (changed bool, err error) {
	s.now = s.now.Add(time.Second)
	several := func(decisions ...decision) (bool, error) {
		for i, d := range decisions {
			ok, err := s.try(d)
			switch {
			case i == 0 && !ok:
				return false, err
			case !ok:
				return true, fmt.Errorf("decision %d of %s did nothing: %w", i+1, name, err)
			}
		}
		return true, nil
	}
	switch name {
	case "extract":
		return s.try(s.extract)
	case "draft":
		if _, err := s.try(s.beginPrompt); err != nil {
			return false, err
		}
		return s.try(s.finishPrompt)
	case "plan":
		if _, err := s.try(s.beginProcess); err != nil {
			return false, err
		}
		return s.try(s.finishProcess)
	case "approve prompt":
		return s.try(s.approvePrompt(by))
	case "approve process":
		return s.try(s.approveProcess(by))
	case "reject prompt":
		return s.try(s.rejectPrompt(by))
	case "reject process":
		return s.try(s.rejectProcess(by))
	case "run":
		return several(s.start, s.claim, s.finish(task.StepCompleted), s.claim, s.finish(task.StepCompleted), s.complete)
	case "fail":
		return several(s.start, s.claim, s.finish(task.StepFailed), s.fail)
	case "retry":
		return s.try(s.retry(by))
	case "cancel":
		return s.try(s.cancel(by))
	case "expire":
		late := s.now.Add(8 * 24 * time.Hour) // the clock goes on from before: stamps grow old as well
		return s.try(func(a *task.Aggregate) (aggregate.Change, error) { return a.Expire(late) })
	}
	panic("no such try: " + name)
}
