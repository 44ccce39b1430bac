package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/decide/intake"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// askProposal handles 「操作を提案」 in the menu of a message. In the thread of a conversation it opens a dialog, with the
// message's text as content unless Ringi wrote that, if the person may propose an action there now. Whoever's words
// fill the dialog in asks, too, however they are edited.
func (h *Handler) askProposal(ctx context.Context, p payload) (inbound.Response, error) {
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
	}
	thread := cmp.Or(p.thread(), p.Message.TS, p.MessageTS)
	var id string
	var c click
	var v verdict
	names, err := intake.Names(ctx, h.Store, p.Team.ID, p.channel())
	v.Err = err
	for _, name := range names {
		id = conversation.ID(p.Team.ID, name, thread)
		c = p.click(id, id)
		c.thread = thread
		if err != nil {
			break
		}
		if v = h.check(ctx, c, decide.MayPropose); explain.ClassOf(v.Err) != explain.NotFound {
			break
		}
	}
	v.Empty = false // nothing was to be decided
	if explain.ClassOf(v.Err) == explain.NotFound {
		c.thread = p.thread()
		h.sendEphemeral(ctx, c, v, card.ProposeNote(v.Settings.Locale))
		return inbound.OK(), nil
	}
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		if p.own() {
			return card.ProposalModal(id, "", nil, v.Settings.Locale), nil
		}
		return card.ProposalModal(id, p.Message.shown(), p.of().From(), v.Settings.Locale), nil
	})
	return inbound.OK(), nil
}

// propose handles the submission of that dialog. What is wrong stands at its field, and the dialog stays open, as it
// does when nothing was saved.
func (h *Handler) propose(ctx context.Context, p payload) (inbound.Response, error) {
	var m card.ProposalForm
	err := json.Unmarshal([]byte(p.View.PrivateMetadata), &m)
	for _, id := range m.Authors {
		err = cmp.Or(err, inbound.CheckID("id", id))
	}
	if err != nil || !conversation.ValidID(m.Session) {
		return h.notProposed(explain.ErrMalformedForm, h.People.Language(ctx, p.Team.ID, p.User.ID, "")), nil
	}
	typed := func(f conversation.OwnField) string {
		x := p.View.State.Values[string(f)][string(f)]
		return cmp.Or(x.Value, x.Selected.Value)
	}
	c := p.click(m.Session, m.Session)
	v := h.spoken(ctx, c, h.maker().Propose(ctx, c.Click, p.View.ID, conversation.Own{
		Type: conversation.ActionType(typed(conversation.OwnType)), Path: typed(conversation.OwnPath),
		Content: typed(conversation.OwnContent), Seconds: typed(conversation.OwnSeconds),
		Summary: typed(conversation.OwnSummary), Authors: m.Authors,
	}))
	var wrong decide.ErrTyped
	switch {
	case errors.As(v.Err, &wrong):
		at := map[string]string{}
		for _, f := range slices.Backward(wrong.Faults) { // the first one of a field stays
			at[string(f.Field)] = f.Sentence(v.Settings.Locale)
		}
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(at)), nil
	case v.Err != nil && v.Of == nil:
		return h.notProposed(v.Err, v.Settings.Locale), nil
	case v.Err != nil:
		boot.Count(boot.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
			string(conversation.OwnContent): v.text()})), nil
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}

func (h *Handler) notProposed(err error, locale string) inbound.Response {
	boot.Count(boot.InteractionOdd, 1)
	return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
		string(conversation.OwnContent): card.Note(locale, err)}))
}
