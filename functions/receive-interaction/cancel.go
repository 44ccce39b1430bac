package main

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/decide/intake"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// askCancel handles 「取り消す・終える」 in the menu of a message: a card, or the request itself. It opens a dialog that asks for
// confirmation, if the person may cancel now. In a conversation's thread, the dialog ends the conversation.
func (h *Handler) askCancel(ctx context.Context, p payload) (inbound.Response, error) {
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
	}
	thread := cmp.Or(p.thread(), p.Message.TS)
	var c click
	var v verdict
	names, err := intake.Names(ctx, h.Store, p.Team.ID, p.channel())
	v.Err = err
	ids := p.tasks(names)
	for _, name := range names {
		ids = append(ids, conversation.ID(p.Team.ID, name, thread))
	}
	for _, id := range ids {
		c = p.click(id, id)
		c.Withdraws = true
		if err != nil {
			break
		}
		if v = h.check(ctx, c, decide.End().Act); explain.ClassOf(v.Err) != explain.NotFound {
			break
		}
	}
	if _, is := v.Of.(*conversation.Aggregate); is {
		c.thread = thread
	}
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		at := card.Cancellation{TaskID: c.Ref.ID, Channel: c.Channel, Thread: c.thread}
		return card.DialogsOf(v.Of).Ending(at, "", v.Settings), nil
	})
	return inbound.OK(), nil
}

// cancel handles that dialog's submission. If nothing was saved, the dialog stays open and says so; otherwise it
// closes.
func (h *Handler) cancel(ctx context.Context, p payload) (inbound.Response, error) {
	m, err := aboutOf[card.Cancellation](p, "cancellation")
	if err != nil {
		return inbound.Response{}, err
	}
	c := p.click(m.TaskID, m.TaskID)
	c.Withdraws = true
	if inbound.CheckID("channel", m.Channel) == nil {
		c.Channel, c.thread = m.Channel, m.Thread
	}
	v := h.decide(ctx, c, decide.End().Act)
	if v.Unsaved() {
		boot.Count(boot.InteractionNoted, 1)
		view := card.DialogsOf(v.Of).Ending(m, v.text(), v.Settings)
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(&view)), nil
	}
	h.tell(ctx, c, v)
	if v.Err == nil && !v.Empty { // the shortcut's message need not be a card that shows the change
		h.sendEphemeral(ctx, c, v, card.Surface(v.Settings.Locale).CancelAccepted())
	}
	return inbound.OK(), nil
}

// closeConversation handles the submission of the dialog that ends a conversation.
func (h *Handler) closeConversation(ctx context.Context, p payload) (inbound.Response, error) {
	var m card.ConversationForm
	if json.Unmarshal([]byte(p.View.PrivateMetadata), &m) != nil {
		return h.malformed(ctx, p)
	}
	c := p.click(m.Session, m.Session)
	c.Withdraws = true
	return h.submitted(ctx, c, h.decide(ctx, c, decide.End().Act)), nil
}
