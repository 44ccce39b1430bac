package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/decide/decision"
	"ringi/shared/decide/inbox"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/session"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store"
)

// Talks are where decisions about conversations with agents are made.
type Talks interface {
	decision.SessionStore
	inbox.Sessions
	Redraw(ctx context.Context, ref aggregate.Ref) error
}

// Payloads opens those of actions that are too large for a row.
type Payloads interface {
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// talkClick is one act of one person on a session's card, or in its dialog.
type talkClick struct {
	people.Want
	ref      aggregate.Ref
	thread   string
	trigger  string
	reasoned bool   // a reason for rejecting was given
	home     string // workspace of a click on the Home tab, where nothing can be said but in a dialog
}

func (p payload) talkClick(id string) talkClick {
	c := talkClick{
		Want: people.Want{User: p.User.ID, Team: p.User.TeamID, Channel: p.channel()}, ref: session.RefOf(aggregate.TenantID(p.Team.ID), id),
		thread: p.thread(), trigger: p.TriggerID,
	}
	if p.View.CallbackID == card.HomeCallback {
		c.home = p.Team.ID
	}
	return c
}

func (h *Handler) talks() decision.SessionMaker {
	return decision.SessionMaker{Store: h.Talks, People: h.People, Now: h.Now}
}

// talkButton is a click on a card of a session, whose id is the block's.
func (h *Handler) talkButton(ctx context.Context, p payload, a action) (inbound.Response, error) {
	c := p.talkClick(a.BlockID)
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil && c.home == "" {
		return inbound.Response{}, err
	}
	id, hash, _ := strings.Cut(a.Value, "/")
	switch a.ActionID {
	case card.ApproveAction:
		h.tellTalk(ctx, c, h.talks().Decide(ctx, c.Want, c.ref, decision.ApproveAction(id, hash)))
	case card.CancelAction:
		h.tellTalk(ctx, c, h.talks().Decide(ctx, c.Want, c.ref, decision.CancelAction(id)))
	case card.ReopenSession:
		h.tellTalk(ctx, c, h.talks().Decide(ctx, c.Want, c.ref, decision.ReopenSession()))
	case card.RejectAction:
		h.askTalk(ctx, c, card.TalkRejection{Session: c.ref.ID, ID: id, Hash: hash})
	case card.ReviewTalk:
		h.reviewTalk(ctx, c, id)
	default:
		return ignore(ctx, "action")
	}
	return inbound.OK(), nil
}

// tellTalk says to the person why nothing was decided, and has the card drawn anew.
func (h *Handler) tellTalk(ctx context.Context, c talkClick, v decision.SessionVerdict) {
	log := slog.With("session_id", c.ref.ID, "user", c.User)
	if c.home != "" { // it showed a button that is not to be pressed any more
		if err := h.Store.HomeChanged(ctx, c.ref.Tenant, store.Home{Team: c.home, User: c.User, OpenedAt: h.Now()}); err != nil {
			log.WarnContext(ctx, "the Home tab is behind", "err", err)
		}
	}
	if v.Err == nil && !v.Empty {
		log.InfoContext(ctx, "decided")
		v.Measure(h.Now())
		return
	}
	if v.Session != nil {
		defer func() { // after the note, as with a task
			if err := h.Talks.Redraw(ctx, c.ref); err != nil {
				log.WarnContext(ctx, "redraw", "err", err)
			}
		}()
	}
	if v.Err == nil {
		log.InfoContext(ctx, "decided so before")
		return
	}
	v.Log(ctx, log)
	metric.Count(metric.InteractionNoted, 1)
	h.sayTalk(ctx, c, v)
}

// sayTalk shows the person alone why it was refused, where they clicked, or else in the session's thread.
func (h *Handler) sayTalk(ctx context.Context, c talkClick, v decision.SessionVerdict) {
	ctx, cancel := toTell(ctx)
	defer cancel()
	text := refused(card.TalkRefused(v.Err, v.Settings, v.Session.Origin(), v.Session.AskedBy()...), c.reasoned, v.Err, v.Settings.Locale)
	if c.home != "" {
		if err := h.openTalk(ctx, c, *card.Told(text, v.Settings.Locale)); err != nil {
			slog.WarnContext(ctx, "the person was not told", "session_id", c.ref.ID, "user", c.User, "err", err)
		}
		return
	}
	if c.Channel == "" && v.Session != nil {
		c.Channel, c.thread = v.Session.Channel, v.Session.ThreadTS
	}
	if err := h.Slack.Ephemeral(ctx, c.Channel, c.thread, c.User, text); err != nil {
		slog.WarnContext(ctx, "the person was not told", "session_id", c.ref.ID, "user", c.User, "err", err)
	}
}

// askTalk opens the form for the reason, if the person may reject now.
func (h *Handler) askTalk(ctx context.Context, c talkClick, r card.TalkRejection) {
	v := h.talks().Check(ctx, c.Want, c.ref, decision.RejectAction(r.ID, r.Hash, "-")) // any reason: nothing is kept
	if v.Err == nil && !v.Empty {
		v.Err = h.openTalk(ctx, c, card.RejectActionModal(r, v.Settings.Locale))
		if v.Err == nil {
			return
		}
	}
	h.tellTalk(ctx, c, v)
}

// openTalk opens a dialog. If it is not known whether it opened, the person clicks again.
func (h *Handler) openTalk(ctx context.Context, c talkClick, view slack.ModalViewRequest) error {
	err := h.Slack.OpenView(ctx, c.trigger, view)
	var unknown slackapi.Unknown
	if errors.As(err, &unknown) {
		slog.WarnContext(ctx, "whether the dialog opened", "session_id", c.ref.ID, "user", c.User, "err", err)
		return nil
	}
	return err
}

// reviewTalk opens the dialog that shows all of an action. Members who may not approve it may read it.
func (h *Handler) reviewTalk(ctx context.Context, c talkClick, id string) {
	var hash string
	if a, err := h.Talks.Load(ctx, c.ref); err == nil && a.Action(id) != nil {
		hash = a.Action(id).Payload.Hash()
	}
	v := h.talks().Check(ctx, c.Want, c.ref, decision.ApproveAction(id, hash))
	if readsOnly := mayRead(v.Err); v.Err == nil && !v.Empty || readsOnly {
		var view slack.ModalViewRequest
		if view, v.Err = h.talkPage(ctx, c.ref, card.Review{Type: session.CardAction, ID: id, TaskID: c.ref.ID, ReadOnly: readsOnly}); v.Err == nil {
			if v.Err = h.openTalk(ctx, c, view); v.Err == nil {
				return
			}
		}
	}
	h.tellTalk(ctx, c, v)
}

// talkPage draws one page of the dialog.
func (h *Handler) talkPage(ctx context.Context, ref aggregate.Ref, r card.Review) (slack.ModalViewRequest, error) {
	settings, err := h.Talks.Settings(ctx, ref.Tenant)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	a, err := h.Talks.Load(ctx, ref)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	t := card.Talk{Aggregate: a}
	if x := a.Action(r.ID); x != nil && x.Payload.S3Key != "" {
		if t.Payload, err = h.Payloads.Open(ctx, ref, x.Payload); err != nil {
			return slack.ModalViewRequest{}, err
		}
	}
	view, ok := card.TalkReview(t, r, settings)
	if !ok {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	return view, nil
}

// turnedTalk draws another page of an action, also of one that was decided while it was read.
func (h *Handler) turnedTalk(ctx context.Context, p payload, r card.Review, page int) (slack.ModalViewRequest, error) {
	r.Page = page
	c := p.talkClick(r.TaskID)
	v := h.talks().Check(ctx, c.Want, c.ref, decision.ReadSession())
	var err error
	if r.ReadOnly, err = h.onlyReads(ctx, c.Want, v.Session.Origin(), v.Err); err != nil {
		return slack.ModalViewRequest{}, err
	}
	return h.talkPage(ctx, c.ref, r)
}

// submitTalk handles an action's form, a rejection, or the dialog's last page, an approval. What failed and may pass is shown
// in the dialog, which stays open; a refusal is told in the thread.
func (h *Handler) submitTalk(ctx context.Context, p payload) (inbound.Response, error) {
	if p.View.CallbackID == card.TalkRejectCallback {
		var r card.TalkRejection
		if json.Unmarshal([]byte(p.View.PrivateMetadata), &r) != nil {
			return h.malformed(ctx, p)
		}
		c := p.talkClick(r.Session)
		c.reasoned = true
		v := h.talks().Decide(ctx, c.Want, c.ref, decision.RejectAction(r.ID, r.Hash, p.View.State.Values[card.ReasonBlock][card.ReasonInput].Value))
		if text, stays := talkInForm(v); stays {
			return keepOpen(text), nil
		}
		h.tellTalk(ctx, c, v)
		return inbound.OK(), nil
	}
	var r card.Review
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &r); err != nil {
		return inbound.Response{}, inbound.Bad("payload.view.private_metadata must be the JSON object of a review")
	}
	c := p.talkClick(r.TaskID)
	v := h.talks().Decide(ctx, c.Want, c.ref, decision.ApproveAction(r.ID, r.Hash))
	if text, stays := talkInForm(v); stays {
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale))), nil
	}
	h.tellTalk(ctx, c, v)
	return inbound.OK(), nil
}

// talkInForm is what a form has to say and stay open for.
func talkInForm(v decision.SessionVerdict) (text string, stays bool) {
	if class := errorclass.Of(v.Err); v.Err != nil && (!class.Refusal() || class == errorclass.Field || v.Session == nil) {
		metric.Count(metric.InteractionNoted, 1)
		return card.TalkRefused(v.Err, v.Settings, v.Session.Origin(), v.Session.AskedBy()...), true
	}
	return "", false
}
