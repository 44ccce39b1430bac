package main

import (
	"context"
	"fmt"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// registering returns a request for decisions that give it a number if they take it on or refuse it, where the tenant
// has a register. For any other tenant nothing is read.
func (h *Handler) registering(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (*task.Aggregate, error) {
	if !s.Register {
		return a, nil
	}
	department, err := h.department(ctx, a)
	if err != nil {
		return nil, err
	}
	return a.Registering(&task.Register{Settings: s, Department: department}), nil
}

// department returns what the department is called to which whoever asks belongs today, or "" if no organisation says.
func (h *Handler) department(ctx context.Context, a *task.Aggregate) (string, error) {
	if h.Organisation == nil {
		return "", nil
	}
	standing, err := h.Organisation(ctx, a.Head.TenantID)
	if err != nil {
		return "", fmt.Errorf("read the organisation: %w", err)
	}
	d := decide.Of(standing.Organisation, nil)
	today := organisation.DateOf(h.Now().In(tenancy.Zone())).String()
	return d.Department(d.Person(a.Head.Requester), today), nil
}

// numbering has do decide and commit. If that gives the request a number, it is the next of its series.
func (h *Handler) numbering(ctx context.Context, a *task.Aggregate,
	do func(into *task.Register) (*task.Aggregate, error)) (*task.Aggregate, error) {
	if a.Into == nil || !a.Waiting() {
		return do(nil)
	}
	read := func(ctx context.Context) (task.Series, error) {
		return h.Store.RequestSeries(ctx, a.Head.TenantID, a.Into.Settings.FiscalYear(h.Now()))
	}
	first, err := read(ctx)
	if err != nil {
		return nil, err
	}
	return pipeline.Numbering(ctx, first, read, func(of task.Series) (*task.Aggregate, error) {
		into := *a.Into
		into.Of = of
		return do(&into)
	})
}
