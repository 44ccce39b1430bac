package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
)

// askCancel handles 「取り消す・終える」 in the menu of a message: a card, or the request itself; in the thread of a
// conversation with an agent it ends that. It opens a dialog that asks for confirmation, if the person may cancel now.
func (h *Handler) askCancel(ctx context.Context, p payload) (inbound.Response, error) {
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
	}
	c, v := p.click("", ""), verdict{decision.Verdict{Outcome: decision.Outcome{Err: aggregate.ErrNotFound}}}
	for _, id := range p.tasks() {
		c.Ref.ID, c.ID, c.Withdraws = id, id, true
		if v = h.check(ctx, c, decision.CancelTask()); errorclass.Of(v.Err) != errorclass.NotFound {
			break
		}
	}
	if errorclass.Of(v.Err) == errorclass.NotFound && h.askClose(ctx, p) {
		return inbound.OK(), nil
	}
	if v.Err == nil && !v.Empty {
		about := card.Cancellation{TaskID: c.Ref.ID, Channel: c.Channel, Thread: c.thread}
		err := h.Slack.OpenView(ctx, p.TriggerID, card.CancelModal(about, v.Title, "", v.Settings.Locale))
		var unknown slackapi.Unknown
		if err == nil || errors.As(err, &unknown) { // if the dialog did not open, the person tries again
			slog.InfoContext(ctx, "asked whether to cancel", "task_id", c.Ref.ID, "user", c.User, "err", err)
			return inbound.OK(), nil
		}
		v.Err = err
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}

// cancel handles that dialog's submission. If nothing was saved the dialog stays open and says so;
// otherwise it closes.
func (h *Handler) cancel(ctx context.Context, p payload) (inbound.Response, error) {
	var m card.Cancellation
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &m); err != nil {
		return inbound.Response{}, inbound.Bad("payload.view.private_metadata must be the JSON object of a cancellation")
	}
	c := p.click(m.TaskID, m.TaskID)
	c.Withdraws = true
	if inbound.CheckID("channel", m.Channel) == nil {
		c.Channel, c.thread = m.Channel, m.Thread
	}
	v := h.decide(ctx, c, decision.CancelTask())
	if v.Unsaved() {
		metric.Count(metric.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(new(card.CancelModal(m, v.Title, v.text(), v.Settings.Locale)))), nil
	}
	h.tell(ctx, c, v)
	if v.Err == nil && !v.Empty { // the shortcut's message need not be a card that shows the change
		h.sendEphemeral(ctx, c, v, card.CancelAccepted(v.Settings.Locale))
	}
	return inbound.OK(), nil
}
