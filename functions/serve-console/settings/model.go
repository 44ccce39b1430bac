package settings

import (
	"context"
	"log/slog"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// lastModel returns the model that the workspace's newest request used, and when. Only the usage has it for certain: a
// deployment may override the model of the settings, and the pages don't see that parameter.
func (c *Pages) lastModel(ctx context.Context, tenant string) (aggregate.Use, error) {
	newest, err := c.Store.Tasks(ctx, tenant, task.Filter{}, "", 1)
	if err != nil || len(newest.Items) == 0 {
		return aggregate.Use{}, err
	}
	a, err := c.Store.Load(ctx, task.RefOf(tenant, newest.Items[0].ID))
	if err != nil {
		return aggregate.Use{}, err
	}
	var last aggregate.Use
	for _, u := range a.Uses {
		if u.Model != "" && u.CreatedAt.After(last.CreatedAt) {
			last = *u
		}
	}
	return last, nil
}

// sayModel adds to the model's setting which model was used last. It adds nothing if that can't be read.
func (c *Pages) sayModel(ctx context.Context, v *web.Viewer, d *settingsData) {
	last, err := c.lastModel(ctx, v.Tenant)
	if err != nil {
		slog.WarnContext(ctx, "which model was used is not shown", "err", err)
		return
	}
	t := settingsTexts{v.Texts("settings")}
	for i := range d.Sections {
		for j := range d.Sections[i].Inputs {
			if in := &d.Sections[i].Inputs[j]; in.Name == "model" {
				in.Bound = t.modelUsed(last.Provider, last.Model, last.CreatedAt)
			}
		}
	}
}

func (t settingsTexts) modelUsed(provider, model string, at time.Time) string {
	if model == "" {
		return t.Say("model_unused")
	}
	name := legible.OneLine(model)
	if provider == aggregate.Demo {
		name = t.Say("model_demo")
	}
	return t.Say("model_used", "model", name, "when", web.Minute(at))
}
