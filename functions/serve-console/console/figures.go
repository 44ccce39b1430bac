package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/store"
)

// mostFigured bounds how many entries of an action the figures count.
const mostFigured = 5000

// decisions are the actions by which people decide so.
func decisions(verbs ...aggregate.Action) (all []aggregate.Action) {
	for _, kind := range []aggregate.Action{"prompt.", "process.", "step.", "action."} {
		all = append(all, web.Each(verbs, func(verb aggregate.Action) aggregate.Action { return kind + verb })...)
	}
	return all
}

// figures shows what the log of the last auditDays comes to, and what models cost this month.
func (c *Console) figures(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, waited := v.Texts("audit"), []time.Duration(nil)
	var no []aggregate.Action
	for _, kind := range circulation.Kinds {
		if kind.Ends {
			no = append(no, aggregate.Action(kind.Entry))
		}
	}
	all, from := []web.Number(nil), c.Now().AddDate(0, 0, -auditDays)
	for _, x := range []struct {
		name string
		of   []aggregate.Action
	}{
		{"asked", []aggregate.Action{task.AuditTaskCreated}},
		{"approved", decisions("approved")},
		{"rejected", decisions(no...)},
		{"executed", []aggregate.Action{task.AuditExecutionCompleted}},
		{"failed", []aggregate.Action{task.AuditExecutionFailed}},
	} {
		n := 0
		for _, action := range x.of {
			entries, err := c.logged(r.Context(), v, store.AuditFilter{Action: action, From: from}, mostFigured)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.ActorType == aggregate.ActorSystem && len(x.of) > 1 { // nobody decided
					continue
				}
				var about struct {
					AskedAt time.Time `json:"asked_at"`
				}
				if n++; json.Unmarshal([]byte(e.Details), &about) == nil && !about.AskedAt.IsZero() {
					waited = append(waited, e.Timestamp.Sub(about.AskedAt))
				}
			}
		}
		all = append(all, web.Number{Name: words.In("figures", x.name), Text: web.Count(int64(n))})
	}
	sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
	if err != nil {
		return err
	}
	if slices.Sort(waited); len(waited) > 0 {
		median := explain.Length(v.Locale, waited[len(waited)/2])
		all = append(all, web.Number{Name: words.In("figures", "waited"), Text: median})
	}
	all = append(all, web.Number{Name: words.In("figures", "cost"), Text: "$" + sums.Month.String()})
	return c.Show(w, r, v, web.Document{Here: "figures", Data: all}, "audit/figures")
}
