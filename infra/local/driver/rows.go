package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func (r *Request) Load() *task.Aggregate {
	r.T.Helper()
	return expect.Value(r.Store.Load(context.Background(), r.Ref))(r.T)
}

// Until waits until the rows satisfy the condition and the cards show the newest revision. All tests of a stack share
// Slack's rate limit, and a card that only shows progress is skipped while the limit is exhausted. Until therefore runs
// the sweeper when a revision stays undrawn.
func (r *Request) Until(what string, holds func(*task.Aggregate) bool) *task.Aggregate {
	r.T.Helper()
	var a *task.Aggregate
	late := time.Now().Add(defaultQuietTime)
	if r.wait(func() bool {
		a = r.Load()
		if !holds(a) || a.Head.ShownRev >= a.Head.Rev {
			late = time.Now().Add(defaultQuietTime)
			return holds(a)
		}
		if r.WhenQuiet == nil && time.Now().After(late) {
			r.T.Logf("the cards show revision %d of %d", a.Head.ShownRev, a.Head.Rev)
			r.Sweep()
			late = time.Now().Add(defaultQuietTime)
		}
		return false
	}) {
		return a
	}
	r.T.Fatalf("not within %s: %s\n%s", r.Timeout, what, r.Summary())
	return nil
}

// AuditRows returns the task's audit log, oldest first.
func (r *Request) AuditRows() []aggregate.AuditEntry {
	r.T.Helper()
	page := expect.Value(r.Store.Audit(context.Background(), r.Ref.Tenant, store.AuditFilter{Resource: r.Ref.ID}, "", 100))(r.T)
	slices.Reverse(page.Items)
	return page.Items
}

// Audit returns the task's audit log, oldest first, as "action by actor".
func (r *Request) Audit() []string {
	r.T.Helper()
	var out []string
	for _, x := range r.AuditRows() {
		by := x.ActorID
		if x.ActorType == aggregate.ActorSystem {
			by = "system"
		}
		out = append(out, string(x.Action)+" by "+by)
	}
	return out
}

// Summary describes the rows briefly for the message of a failed test.
func (r *Request) Summary() string {
	a, err := r.Store.Load(context.Background(), r.Ref)
	if err != nil {
		return err.Error()
	}
	head, _ := json.Marshal(a.Head)
	out := []string{fmt.Sprintf("task %s next %s head %s", r.Ref.ID, a.Next(time.Now()).State, head)}
	for key, row := range a.Rows() {
		b, _ := json.Marshal(row)
		out = append(out, fmt.Sprintf("%s %.400s", key, b))
	}
	slices.Sort(out)
	for _, f := range r.S.Template.Functions {
		for _, line := range r.S.Lambda.Logs(f.ID) {
			if strings.Contains(line, r.Ref.ID) && (strings.Contains(line, `"ERROR"`) || strings.Contains(line, `"WARN"`)) {
				out = append(out, f.ID+": "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}
