package main

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/slack-go/slack"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/session"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// askClose opens the dialog that asks whether the conversation shall end in whose thread a message is. It reports false when
// there is none.
func (h *Handler) askClose(ctx context.Context, p payload) bool {
	thread := cmp.Or(p.thread(), p.Message.TS)
	c := p.talkClick(session.ID(p.Team.ID, p.channel(), thread))
	c.thread = thread
	v := h.talks().Check(ctx, c.Want, c.ref, decision.CloseSession())
	if errorclass.Of(v.Err) == errorclass.NotFound {
		return false
	}
	if v.Err == nil && !v.Empty {
		locale := cmp.Or(v.Session.Locale, v.Settings.Locale)
		if v.Err = h.openTalk(ctx, c, card.CloseSessionModal(c.ref.ID, locale)); v.Err == nil {
			return true
		}
	}
	h.tellTalk(ctx, c, v)
	return true
}

// closeTalk is the yes to that dialog.
func (h *Handler) closeTalk(ctx context.Context, p payload) (inbound.Response, error) {
	var r card.TalkRejection
	if json.Unmarshal([]byte(p.View.PrivateMetadata), &r) != nil {
		return h.malformed(ctx, p)
	}
	c := p.talkClick(r.Session)
	v := h.talks().Decide(ctx, c.Want, c.ref, decision.CloseSession())
	if text, stays := talkInForm(v); stays {
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale))), nil
	}
	h.tellTalk(ctx, c, v)
	return inbound.OK(), nil
}
