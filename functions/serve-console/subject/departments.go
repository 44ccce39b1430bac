package subject

import (
	"cmp"
	"context"
	"log/slog"
	"sync"

	"ringi/functions/serve-console/web"
)

// Departments returns what names a department by its code, as it is called today. It reads the organisation when it is
// first asked; what it doesn't find keeps its code.
func (c *Acts) Departments(ctx context.Context, v *web.Viewer) func(code string) string {
	read := sync.OnceValue(func() map[string]string {
		names := map[string]string{}
		is, err := c.Organisations.Standing(ctx, v.Tenant)
		if err != nil {
			slog.WarnContext(ctx, "departments are shown by their codes", "tenant", v.Tenant, "err", err)
		}
		if err == nil && is.Organisation != nil {
			for _, d := range is.Organisation.Chart(c.Today()).Departments() {
				names[d.Code] = d.Name
			}
		}
		return names
	})
	return func(code string) string { return cmp.Or(read()[code], code) }
}
