package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// verdict is the outcome of a click, with its texts for Slack. The settings' locale is the person's language, in which
// they read dialogs and notes.
type verdict struct{ decide.Verdict }

func (h *Handler) maker() decide.Maker {
	return decide.Maker{Store: h.Rows, People: h.People, Results: h.Results, Now: h.Now}
}

// decide makes a decision with decide.Maker.
func (h *Handler) decide(ctx context.Context, c click, act decide.Act) verdict {
	return h.spoken(ctx, c, h.maker().Decide(ctx, c.Click, act))
}

func (h *Handler) check(ctx context.Context, c click, act decide.Act) verdict {
	return h.spoken(ctx, c, h.maker().Check(ctx, c.Click, act))
}

// spoken returns a verdict in the language of the person who clicked. If Slack has just been silent about them, it is
// not asked again.
func (h *Handler) spoken(ctx context.Context, c click, v decide.Verdict) verdict {
	if explain.ClassOf(v.Err) != explain.Unverified {
		v.Settings.Locale = h.People.Spoken(ctx, c.team, c.User, v.Settings.Locale)
	}
	return verdict{v}
}

// toldWithin is the least time for telling a person the outcome, even after the answer's deadline: otherwise they would
// take an unsaved decision for saved.
const toldWithin = 500 * time.Millisecond

// toTell returns ctx, extended to at least toldWithin.
func toTell(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < toldWithin {
		return context.WithTimeout(context.WithoutCancel(ctx), toldWithin)
	}
	return ctx, func() {}
}

// tell tells the person why nothing was decided. It also has the card redrawn, which showed a button that no longer
// works. Both are best effort: the answer to Slack comes next.
func (h *Handler) tell(ctx context.Context, c click, v verdict) {
	log := slog.With(c.Ref.Kind+"_id", c.Ref.ID, "user", c.User)
	if v.Err == nil && !v.Empty {
		log.InfoContext(ctx, "decided", "id", c.ID)
		return
	}
	if v.Subject != nil {
		defer func() { // last, since a slow table would leave no time for the note
			if err := h.Rows.Redraw(ctx, c.Ref); err != nil {
				log.WarnContext(ctx, "redraw", "err", err)
			}
		}()
	}
	if v.Err == nil {
		log.InfoContext(ctx, "decided so before", "id", c.ID)
		a, is := v.Task()
		if is && c.Withdraws && !c.Retries && a.Head.Ended != nil { // a cancelled task's card may be far up in the thread
			h.sendEphemeral(ctx, c, v, card.Surface(v.Settings.Locale).CancelledBefore(a.Head.Ended.By, a.Head.Ended.At))
		}
		return
	}
	v.Log(ctx, log)
	text := v.text()
	if c.reasoned && !errors.Is(v.Err, aggregate.ErrNotFound) {
		text += "\n" + card.Surface(v.Settings.Locale).ReasonNotTaken()
	}
	h.sendEphemeral(ctx, c, v, text)
}

// sendEphemeral shows text to one person, where they clicked or else where the subject began.
func (h *Handler) sendEphemeral(ctx context.Context, c click, v verdict, text string) {
	ctx, cancel := toTell(ctx)
	defer cancel()
	if err := h.inThread(ctx, c, v, text); err != nil {
		slog.WarnContext(ctx, "the person was not told", c.Ref.Kind+"_id", c.Ref.ID, "user", c.User, "err", err)
	}
}

// inThread shows text to one person where they clicked, or else where the subject began. People on a gate's route, or
// at its home, who can't see that place get it in their direct messages.
func (h *Handler) inThread(ctx context.Context, c click, v verdict, text string) error {
	elsewhere := c.channel == "" && v.Subject != nil
	if elsewhere {
		c.channel = v.Subject.Origin().Channel
		_, c.thread = v.Subject.Beginning()
	}
	err := h.Slack.Ephemeral(ctx, c.channel, c.thread, c.User, text)
	refused, is := errors.AsType[slackapi.Refused](err)
	asked := v.OnRoute(c.ID, c.User, h.Now())
	if is && refused.Permanent && elsewhere && asked {
		return h.Slack.Direct(ctx, c.User, text)
	}
	return err
}

// openView opens a dialog. If it is unknown whether it opened, the person clicks again.
func (h *Handler) openView(ctx context.Context, c click, view slack.ModalViewRequest) error {
	err := h.Slack.OpenView(ctx, c.trigger, view)
	if errors.As(err, new(slackapi.Unknown)) {
		slog.WarnContext(ctx, "whether the dialog opened", c.Ref.Kind+"_id", c.Ref.ID, "user", c.User, "err", err)
		return nil
	}
	return err
}

func (v verdict) text() string { return card.DialogsOf(v.Subject).Refused(v.Err, v.Settings) }

// inForm returns the text for a form that stays open: a reason was refused, nothing was saved, or no thread could show
// the text.
func (v verdict) inForm() (text string, ok bool) {
	if class := explain.ClassOf(v.Err); v.Err != nil && (!class.Refusal() || class == explain.Field || v.Subject == nil) {
		return v.text(), true
	}
	return "", false
}

// submitted answers a dialog without a field. After a temporary failure the dialog stays open and says so. The thread
// shows a refusal.
func (h *Handler) submitted(ctx context.Context, c click, v verdict) slackapi.Response {
	if text, ok := v.inForm(); ok {
		return slackapi.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale)))
	}
	h.tell(ctx, c, v)
	return slackapi.OK()
}

// askCancel handles 「キャンセル・終了」 in the menu of a message: a card, or the request itself. It opens a dialog that asks for
// confirmation, if the person may cancel now. In a conversation's thread, the dialog ends the conversation.
func (h *Handler) askCancel(ctx context.Context, p payload) (slackapi.Response, error) {
	if err := slackapi.CheckID("payload.channel.id", p.channel()); err != nil {
		return slackapi.Response{}, err
	}
	thread := cmp.Or(p.thread(), p.Message.TS)
	var c click
	var v verdict
	for _, id := range append(p.tasks(), conversation.ID(p.Team.ID, p.channel(), thread)) {
		c = p.click(id, id)
		c.Withdraws = true
		if v = h.check(ctx, c, decide.End().Act); explain.ClassOf(v.Err) != explain.NotFound {
			break
		}
	}
	if _, is := v.Subject.(*conversation.Aggregate); is {
		c.thread = thread
	}
	h.askEnding(ctx, c, v)
	return slackapi.OK(), nil
}

// cancel handles that dialog's submission. If nothing was saved, the dialog stays open and says so; otherwise it
// closes.
func (h *Handler) cancel(ctx context.Context, p payload) (slackapi.Response, error) {
	m, err := aboutOf[card.Cancellation](p, "cancellation")
	if err != nil {
		return slackapi.Response{}, err
	}
	c := p.click(m.TaskID, m.TaskID)
	c.Withdraws = true
	if slackapi.CheckID("channel", m.Channel) == nil {
		c.channel, c.thread = m.Channel, m.Thread
	}
	v := h.decide(ctx, c, decide.End().Act)
	if v.Unsaved() {
		view := card.DialogsOf(v.Subject).Ending(m, v.text(), v.Settings)
		return slackapi.JSON(200, slack.NewUpdateViewSubmissionResponse(&view)), nil
	}
	h.tell(ctx, c, v)
	_, talk := v.Subject.(*conversation.Aggregate)
	if v.Err == nil && !v.Empty && !talk { // the shortcut's message need not be a card that shows the change
		h.sendEphemeral(ctx, c, v, card.Surface(v.Settings.Locale).CancelAccepted())
	}
	return slackapi.OK(), nil
}

// atField answers a form so that it stays open and shows a sentence at one of its fields.
func atField(block, text string) slackapi.Response {
	return slackapi.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{block: text}))
}
