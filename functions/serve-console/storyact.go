package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/people"
	"ringi/shared/words/legible"
)

// decideWithin is how long one decision may take.
const decideWithin = 10 * time.Second

// maxTyped is how much of a form's reason is kept when nothing was decided.
const maxTyped = 10_000

// wanted is what a form asks for. It carries what was shown: a decision on anything else is refused.
type wanted struct {
	task.Action
	reason string
}

func wantedBy(r *http.Request) wanted {
	return wanted{
		Action: task.Action{
			Act: task.Act(r.PostFormValue("act")), ID: r.PostFormValue("id"),
			Kind: aggregate.CardType(r.PostFormValue("kind")), Hash: r.PostFormValue("hash"),
		},
		reason: strings.ReplaceAll(r.PostFormValue("reason"), "\r\n", "\n"),
	}
}

// shown lets an act only go on about what the person was shown.
func (x wanted) shown(act decision.Act) decision.Act {
	return decision.OfKind(x.Kind, func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if a.AskedHash(id) != x.Hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// decision is the same as that of a card's button. ok is false for an act that there is not.
func (x wanted) decision() (act decision.Act, want people.Want, ok bool) {
	want.Surface = aggregate.SurfaceConsole
	switch x.Act {
	case task.ActApprove:
		return x.shown((*task.Aggregate).Approve), want, true
	case task.ActReject:
		reject, known := decision.Rejections()[x.Kind]
		if !known {
			return nil, want, false
		}
		return x.shown(reject.Once(x.reason)), want, true
	case task.ActCancelTask:
		want.Withdraws = true
		return decision.CancelTask(), want, true
	case task.ActRetryExecution, task.ActRetryGeneration, task.ActCancelExecution, task.ActTakeAsRequest:
		act, ok = decision.Buttons()[string(x.Act)]
		want.Withdraws, want.Retries = true, x.Act == task.ActRetryExecution || x.Act == task.ActRetryGeneration
		return act, want, ok
	}
	return nil, want, false
}

// actOnTask decides as a click on the card does.
func (c *Console) actOnTask(w http.ResponseWriter, r *http.Request, v *viewer) error {
	ref, err := refOf(r, v)
	if err != nil {
		return err
	}
	x := wantedBy(r)
	ctx, cancel := context.WithTimeout(r.Context(), decideWithin)
	defer cancel()
	verdict, err := c.decide(ctx, v, ref, x)
	if err != nil {
		return err
	}
	log := slog.With("task_id", ref.ID, "user", v.User, "surface", aggregate.SurfaceConsole)
	if verdict.Err == nil {
		done := string(x.Act)
		if x.Act == task.ActRetryGeneration && verdict.Undecidable {
			done = checkApprovers
		}
		return c.decided(w, r, log, verdict.Outcome, x.ID, done, "/console/tasks/"+ref.ID)
	}
	if errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Request == nil {
		return verdict.Err
	}
	t, err := c.tell(r.Context(), v, ref)
	if err != nil { // whoever may decide may read; anybody else is told nothing of it
		return err
	}
	undecided(ctx, log, verdict.Outcome)
	return c.refusal(w, r, v, t, x, verdict.Err)
}

// checkApprovers names what is done in the place of a new try where nobody may approve what comes next.
const checkApprovers = "check_approvers"

// decided logs and measures what a form decided, and leads back to its page.
func (c *Console) decided(w http.ResponseWriter, r *http.Request, log *slog.Logger, o decision.Outcome, id, act, page string) error {
	log.InfoContext(r.Context(), "decided", "id", id, "act", act, "before", o.Empty)
	if !o.Empty {
		o.Measure(c.Now())
	}
	return c.done(w, r, page, "act_"+act)
}

// undecided logs and counts what a form asked for and did not get.
func undecided(ctx context.Context, log *slog.Logger, o decision.Outcome) {
	o.Log(ctx, log)
	metric.Count(metric.InteractionNoted, 1)
}

func (c *Console) decide(ctx context.Context, v *viewer, ref aggregate.Ref, x wanted) (decision.Verdict, error) {
	maker := decision.Maker{Store: c.Store, People: c.People, Results: c.Results, Now: c.Now}
	click := decision.Click{Ref: ref, ID: x.ID, Want: people.Want{User: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}}
	if x.Act == task.ActTakeAsReason {
		verdict, _, refused := maker.TakeAsReason(ctx, click)
		if refused != nil {
			verdict.Err = refused
		}
		return verdict, nil
	}
	act, want, ok := x.decision()
	if !ok {
		return decision.Verdict{}, errorclass.ErrMalformedForm
	}
	click.Withdraws, click.Retries = want.Withdraws, want.Retries
	if x.Act == task.ActApprove {
		if err := c.whole(ctx, v, ref, x); err != nil {
			return decision.Verdict{}, err
		}
	}
	return maker.Decide(ctx, click, act), nil
}

// whole refuses to approve arguments of which the page could not show everything: it has no button for them.
func (c *Console) whole(ctx context.Context, v *viewer, ref aggregate.Ref, x wanted) error {
	if x.Kind != task.CardStep {
		return nil
	}
	t, err := c.tell(ctx, v, ref)
	if err == nil && t.story.Gate != nil && t.story.Gate.ID == x.ID && !t.story.Gate.Whole {
		err = errorclass.ErrMalformedForm
	}
	return err
}

// refusal shows the page as it is now, why nothing was decided, and what was typed.
func (c *Console) refusal(w http.ResponseWriter, r *http.Request, v *viewer, t telling, x wanted, why error) error {
	status, _, refused := faultWords.In(v.Locale).of(why)
	if refused {
		refuse(r, v, why.Error())
	}
	p := storyPage{Problem: t.surface.Refused(why, t.settings, t.task.Request.Origin(), t.task.Askers()...), Typed: x.reason, wanted: x.Action}
	p.Typed = legible.First(p.Typed, maxTyped)
	return c.showStory(w, r, v, t, p, status)
}

// buttonsFor are the acts that the task offers, in the viewer's words. What the settings alone say that this viewer may
// not is not offered, with the sentence that a click would get.
func buttonsFor(words storyTexts, t telling, v *viewer) []actButton {
	var out []actButton
	for _, x := range t.story.Actions {
		if x.Act == task.ActApprove && (t.story.Gate == nil || !t.story.Gate.Whole) {
			continue
		}
		b := actButton{Action: x, Label: words.Act[x.Act], Confirm: words.Confirm[x.Act], About: words.ActAbout[x.Act], Reasons: x.Act == task.ActReject}
		switch x.Act {
		case task.ActApprove, task.ActRetryExecution, task.ActRetryGeneration, task.ActTakeAsRequest:
			b.Class = "button-primary"
		default:
			b.Class = "button-danger"
		}
		if err := likely(t, v, x.Act); err != nil {
			b.No = t.surface.Why(err, t.settings, t.task.Request.Origin(), t.task.Askers()...)
		}
		out = append(out, b)
	}
	return out
}

// likely is the rule by which a click of this viewer would be refused, as far as it can be known without asking Slack.
func likely(t telling, v *viewer, act task.Act) error {
	by, p := likelyAt(t.task.Request.Origin(), t.settings, v)
	requester := t.task.Head.Requester
	switch act {
	case task.ActApprove:
		return p.Approve(by, requester)
	case task.ActReject, task.ActTakeAsReason:
		return p.Reject(by, requester)
	}
	return p.Withdraw(by, requester)
}

// likelyAt is the viewer as the one who decides about what was asked for there, without asking Slack: they count as a member
// of the channel, and, where groups are listed, of one of them.
func likelyAt(o aggregate.Origin, s tenancy.Settings, v *viewer) (aggregate.Actor, aggregate.Policy) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: o.Team, Member: true}
	p := aggregate.Policy{Team: by.Team, Mode: s.Approvers.Mode, Approvers: s.Approvers.Users, AllowSelf: s.AllowSelfApproval}
	if len(s.Approvers.Usergroups) > 0 {
		p.Approvers = append(p.Approvers[:len(p.Approvers):len(p.Approvers)], v.User)
	}
	if o.ChannelType == "im" && v.User != o.User {
		by.Member = false
	}
	return by, p
}
