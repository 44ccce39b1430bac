package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// routeActs adds the buttons that open that form.
func (h *Handler) routeActs(all map[string]press) map[string]press {
	for _, act := range card.RouteActs {
		all[string(act)] = func(ctx context.Context, c click, kind aggregate.CardType, hash string) {
			h.openRouteAct(ctx, c, card.RouteAct{Kind: act,
				Review: card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Hash: hash, Stage: c.Stage}})
		}
	}
	return all
}

func (h *Handler) openRouteAct(ctx context.Context, c click, x card.RouteAct) {
	x.Today = h.Now().In(tenancy.Zone()).Format(time.DateOnly)
	v := h.check(ctx, c, decide.MayAct(x))
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		return card.DialogsOf(v.Subject).RouteAct(x, v.Settings.Locale), nil
	})
}

// routeAct handles that form. What was typed stays until it is saved: the form says why it isn't.
func (h *Handler) routeAct(ctx context.Context, p payload) (inbound.Response, error) {
	x, ok := card.ReadRouteAct(p.View.PrivateMetadata, func(block, input string) string {
		field := p.View.State.Values[block][input]
		return cmp.Or(field.Value, field.Selected.Value, field.User, field.Date, strings.Join(field.Users, " "))
	})
	if !ok {
		return h.malformed(ctx, p)
	}
	c := p.click(x.TaskID, x.ID)
	c.Stage = x.Stage
	v := h.spoken(ctx, c, h.maker().RouteAct(ctx, c.Click, x))
	if v.Err == nil {
		h.tell(ctx, c, v)
		return inbound.OK(), nil
	}
	boot.Count(boot.InteractionNoted, 1)
	v.Log(ctx, slog.With(c.Ref.Kind+"_id", c.Ref.ID, "user", c.User))
	text := v.text()
	if strings.Contains(text, "<") { // people and times, which no field's problem shows
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Unsent(text, x.Typed(), v.Settings.Locale))), nil
	}
	return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{x.FaultBlock(v.Err): text})), nil
}
