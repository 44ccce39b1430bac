package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// openMatter shows the form that asks for a decision, by the shortcut or the Home tab's button. If it does not open,
// the person tries again.
func (h *Handler) openMatter(ctx context.Context, p payload) (inbound.Response, error) {
	s, err := h.Store.Settings(ctx, aggregate.TenantID(p.Team.ID))
	if err == nil {
		person := h.People.Language(ctx, p.Team.ID, p.User.ID, s.Locale)
		err = h.Slack.OpenView(ctx, p.TriggerID, card.MatterModal(person, s))
	}
	slog.InfoContext(ctx, "asked for a decision", "user", p.User.ID, "err", err)
	return inbound.OK(), nil
}

// filledMatter handles that form's submission. What is wrong stands at its field, and the form stays open.
func (h *Handler) filledMatter(ctx context.Context, p payload) (inbound.Response, error) {
	said, cancel := clock.Sparing(ctx, decide.KeepWithin)
	defer cancel()
	s, err := h.Store.Settings(ctx, aggregate.TenantID(p.Team.ID))
	person := h.People.Spoken(said, p.Team.ID, p.User.ID, s.Locale)
	problem := func(block string, n card.AskNote) (inbound.Response, error) {
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{block: n.Told(person, "")})), nil
	}
	if err != nil {
		slog.ErrorContext(ctx, "not kept", "user", p.User.ID, "err", err)
		return problem(card.MatterDescription, card.NoteFailed)
	}
	m, faults := card.ReadMatter(person, s, func(field string) string {
		x := p.View.State.Values[field][card.MatterInput]
		var several []string
		for _, o := range x.Several {
			several = append(several, o.Value)
		}
		return inbound.Unescaped(cmp.Or(x.Value, x.Selected.Value, task.Chosen(several)))
	})
	files, err := p.shared(card.MatterFiles)
	if err != nil {
		return inbound.Response{}, err
	}
	wrong := func(int) bool { return false } // what they are is seen once they are fetched
	if fault := card.MatterFilesFault(person, files, task.MaxFilesBytes, wrong); fault != "" && faults == nil {
		faults = map[string]string{card.MatterFiles: fault}
	}
	for field, fault := range faults { // Slack takes none of what the form has only since it was opened
		if _, shown := p.View.State.Values[field]; !shown {
			delete(faults, field)
			faults[card.MatterKind] = fault
		}
	}
	if faults != nil {
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(faults)), nil
	}
	w := decide.Wanted{Text: card.MatterText(s.Locale, m), Like: task.Request{Matter: &m, Files: files}}
	return h.requestAt(ctx, said, p, w, s.Locale, card.MatterDescription, problem)
}
