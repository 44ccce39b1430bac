package main

import (
	"context"
	"errors"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/circulation"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// asWhom returns for whom somebody may act, if an act was refused because they stand in for several, else nil.
func asWhom(err error) []circulation.Person {
	if refused, is := errors.AsType[*circulation.Refusal](err); is && refused.Why == circulation.WhyWhom {
		return refused.People
	}
	return nil
}

// askWhom opens the form in which somebody who stands in for several people says for whom they stamp.
func (h *Handler) askWhom(ctx context.Context, c click, v verdict, r card.Review, of []circulation.Person) {
	v.Err, v.Empty = nil, false
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		return card.AsWhom(r, of, v.Settings.Locale), nil
	})
}

// approveAs approves for whom the person chose in that form.
func (h *Handler) approveAs(ctx context.Context, p payload) (inbound.Response, error) {
	r, ok := card.ReadAsWhom(p.View.PrivateMetadata)
	if !ok {
		return h.malformed(ctx, p)
	}
	c := p.click(r.TaskID, r.ID)
	c.Stage, c.As = r.Stage, p.View.State.Values[card.AsWhomBlock][card.AsWhomInput].Selected.Value
	if r.Hash == "" {
		c.Card = r.Type
	}
	return h.submitted(ctx, c, h.decide(ctx, c, decide.Pressed(r.Type, r.Hash, decide.Approve))), nil
}
