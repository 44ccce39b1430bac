package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/store"
	"ringi/shared/task"
)

// Load is every row of the task as it is now.
func (d *Desk) Load() *task.Aggregate {
	d.T.Helper()
	a, err := d.Store.Load(context.Background(), d.Ref)
	if err != nil {
		d.T.Fatal(err)
	}
	return a
}

// Until waits for the rows to be so, and for the cards to show it.
func (d *Desk) Until(what string, holds func(*task.Aggregate) bool) *task.Aggregate {
	d.T.Helper()
	var a *task.Aggregate
	if d.wait(func() bool {
		a = d.Load()
		return holds(a) && a.Head.ShownRev >= a.Head.Rev
	}) {
		return a
	}
	d.T.Fatalf("not within %s: %s\n%s", d.Patience, what, d.Summary())
	return nil
}

// Audit is the task's audit log, oldest first, as "action by actor".
func (d *Desk) Audit() []string {
	d.T.Helper()
	page, err := d.Store.Audit(context.Background(), d.Ref.Tenant, store.AuditFilter{Resource: d.Ref.Task}, "", 100)
	if err != nil {
		d.T.Fatal(err)
	}
	var out []string
	for _, x := range slices.Backward(page.Items) {
		by := x.ActorID
		if x.ActorType == aggregate.ActorSystem {
			by = "system"
		}
		out = append(out, string(x.Action)+" by "+by)
	}
	return out
}

// Summary is the rows in short, for a failed test.
func (d *Desk) Summary() string {
	a, err := d.Store.Load(context.Background(), d.Ref)
	if err != nil {
		return err.Error()
	}
	var out []string
	out = append(out, fmt.Sprintf("head rev=%d shown=%d run=%d restarts=%d parked=%+v ended=%+v next=%s", a.Head.Rev, a.Head.ShownRev, a.Head.Run, a.Head.Restarts, a.Head.Parked, a.Head.Ended, a.Next(time.Now()).State))
	for key, r := range a.Rows() {
		b, _ := json.Marshal(r)
		out = append(out, fmt.Sprintf("%s %.400s", key, b))
	}
	slices.Sort(out)
	for _, f := range d.S.Template.Functions {
		for _, line := range d.S.Lambda.Logs(f.ID) {
			if strings.Contains(line, d.Ref.Task) && (strings.Contains(line, `"ERROR"`) || strings.Contains(line, `"WARN"`)) {
				out = append(out, f.ID+": "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}
