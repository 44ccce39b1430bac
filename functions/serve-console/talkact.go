package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/session"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/people"
	"ringi/shared/words/legible"
)

// talkAct is what a person may do in a session.
type talkAct string

const (
	approveAction talkAct = "approve"
	rejectAction  talkAct = "reject"
	cancelAction  talkAct = "cancel_action"
	closeSession  talkAct = "close_session"
	reopenSession talkAct = "reopen_session"
)

// talkWanted is what a form asks for. It carries what was shown: a decision on anything else is refused.
type talkWanted struct {
	act              talkAct
	id, hash, reason string
}

func talkWantedBy(r *http.Request) talkWanted {
	return talkWanted{
		act: talkAct(r.PostFormValue("act")), id: r.PostFormValue("id"), hash: r.PostFormValue("hash"),
		reason: strings.ReplaceAll(r.PostFormValue("reason"), "\r\n", "\n"),
	}
}

// decision is the same as that of a card's button.
func (x talkWanted) decision() (act decision.SessionAct, ok bool) {
	switch x.act {
	case approveAction:
		return decision.ApproveAction(x.id, x.hash), true
	case rejectAction:
		return decision.RejectAction(x.id, x.hash, x.reason), true
	case cancelAction:
		return decision.CancelAction(x.id), true
	case closeSession:
		return decision.CloseSession(), true
	case reopenSession:
		return decision.ReopenSession(), true
	}
	return act, false
}

// actOnSession decides as a click in Slack does. Whoever may not read the session finds none, whatever they want of it: some
// acts are any member's, and what was decided before is no refusal.
func (c *Console) actOnSession(w http.ResponseWriter, r *http.Request, v *viewer) error {
	a, err := c.sessionRead(r.Context(), r, v)
	if err != nil {
		return err
	}
	ref, x := a.Ref(), talkWantedBy(r)
	act, ok := x.decision()
	if !ok {
		return errorclass.ErrMalformedForm
	}
	ctx, cancel := context.WithTimeout(r.Context(), decideWithin)
	defer cancel()
	if x.act == approveAction {
		if err := c.shownWhole(ctx, ref, x.id); err != nil {
			return err
		}
	}
	maker := decision.SessionMaker{Store: c.Sessions, People: c.People, Now: c.Now}
	verdict := maker.Decide(ctx, people.Want{User: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}, ref, act)
	log := slog.With("session_id", ref.ID, "user", v.User, "surface", aggregate.SurfaceConsole)
	if verdict.Err == nil {
		return c.decided(w, r, log, verdict.Outcome, x.id, string(x.act), "/console/sessions/"+ref.ID)
	}
	if errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Session == nil {
		return verdict.Err
	}
	t, err := c.tellTalk(r.Context(), v, ref, nil)
	if err != nil { // whoever may decide may read; anybody else is told nothing of it
		return err
	}
	undecided(ctx, log, verdict.Outcome)
	return c.talkRefused(w, r, v, t, x, verdict.Err)
}

// shownWhole refuses to approve an action of which the page could not show everything: it has no button for it.
func (c *Console) shownWhole(ctx context.Context, ref aggregate.Ref, id string) error {
	a, err := c.Sessions.Load(ctx, ref)
	if err != nil {
		return err
	}
	if x := a.Action(id); x != nil && x.Status == session.ActionPending {
		if _, err := c.payload(ctx, ref, x); err != nil {
			slog.WarnContext(ctx, "an action can't be approved that can't be shown", "session_id", ref.ID, "err", err)
			return errorclass.ErrMalformedForm
		}
	}
	return nil
}

// talkRefused shows the page as it is now, why nothing was decided, and what was typed.
func (c *Console) talkRefused(w http.ResponseWriter, r *http.Request, v *viewer, t talk, x talkWanted, why error) error {
	status, _, refused := faultWords.In(v.Locale).of(why)
	if refused {
		refuse(r, v, why.Error())
	}
	p := talkPage{Problem: t.refused(why, v.Locale), Typed: legible.First(x.reason, maxTyped), wanted: x}
	return c.showTalk(w, r, v, t, p, status)
}

// refused says why an act was not done: who was faster, or which rule says no.
func (t *talk) refused(why error, locale string) string {
	words := talkWords.In(locale)
	if was, ok := errors.AsType[aggregate.ErrDecided](why); ok {
		return words.decided(was, t.person(was.By), t.surface.Marks.Time(was.At))
	}
	if errors.Is(why, aggregate.ErrInFlight) {
		return words.Busy
	}
	return t.surface.Refused(why, t.settings, t.is.Session.Origin(), t.askers()...)
}

// askers are the people whose own request it is what waits.
func (t *talk) askers() []string {
	if x := t.is.Current(); x != nil {
		return t.is.AskersOf(x)
	}
	return t.is.Askers()
}

// talkButton is an act that the viewer may try.
type talkButton struct {
	Act                          talkAct
	ID, Hash                     string
	Label, Class, Confirm, About string
	Reasons                      bool   // it needs a reason
	No                           string // why it is not offered to this viewer
}

// talkButtons are the acts that a session offers by now. What the settings alone say that this viewer may not is not
// offered, with the sentence that a click would get.
func talkButtons(words talkTexts, t talk, v *viewer) (out []talkButton) {
	x, s := t.is.Current(), t.is.Session
	add := func(act talkAct, of *session.Action, err error) {
		b := talkButton{Act: act, Label: words.Act[act], Confirm: words.Confirm[act], About: words.ActAbout[act], Reasons: act == rejectAction, Class: "button-danger"}
		if act == approveAction || act == reopenSession {
			b.Class = "button-primary"
		}
		if of != nil {
			b.ID, b.Hash = of.ActionID, of.Payload.Hash()
		}
		if err != nil {
			b.No = t.surface.Why(err, t.settings, s.Origin(), t.askers()...)
		}
		out = append(out, b)
	}
	by, p := likelyAt(s.Origin(), t.settings, v)
	withdraws := p.Withdraw(by, s.Opener)
	if x != nil && slices.Contains(x.Askers, v.User) {
		withdraws = nil // of their own
	}
	switch {
	case s.Status == session.Closed:
		add(reopenSession, nil, p.Request(by))
		return out
	case x != nil && x.Status == session.ActionPending:
		if _, all := t.asked[x.ActionID]; all {
			var err error
			for _, asker := range x.Askers {
				err = errors.Join(err, p.Approve(by, asker))
			}
			add(approveAction, x, err)
		}
		add(rejectAction, x, p.Reject(by, s.Opener))
		add(cancelAction, x, withdraws)
	case x != nil:
		add(cancelAction, x, withdraws)
		return out // it is cancelled before the session can be closed
	}
	add(closeSession, nil, withdraws)
	return out
}
