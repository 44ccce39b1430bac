package main

import (
	"context"
	"log/slog"

	"ringi/shared/domain/task"
)

// Of how many requests of the asker, and of the whole workspace, one like a new one is looked for.
const ofAsker, ofWorkspace = 50, 100

// alike returns the newest request like one that gets this title, among the newest of its asker and of the workspace;
// nil if there is none, or if they can't be read now.
func (h *Handler) alike(ctx context.Context, a *task.Aggregate, title string) (found *task.Alike) {
	since := task.Filter{From: a.Head.CreatedAt.Add(-task.AlikeFor), To: h.Now()}
	by := since
	by.Requester = a.Head.Requester
	for f, most := range map[task.Filter]int{by: ofAsker, since: ofWorkspace} {
		page, err := h.Store.Tasks(ctx, a.Head.TenantID, f, "", most)
		if err != nil {
			slog.WarnContext(ctx, "no request like it is looked for", "task_id", a.Head.TaskID, "err", err)
			return nil
		}
		for i := range page.Items {
			t := &page.Items[i]
			if t.IsLike(a, title, f.Requester) && (found == nil || t.CreatedAt.After(found.At)) {
				found = &task.Alike{TaskID: t.ID, At: t.CreatedAt}
			}
		}
	}
	return found
}
