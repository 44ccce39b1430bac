package subject

import (
	"cmp"
	"errors"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// Button is an act that the viewer may try.
type Button struct {
	aggregate.Offer
	Label, Class, Confirm, About string
	Reason, Hint                 string // label of the reason, and about it; empty: it needs none
	No                           string // why this viewer can't use it

	// Of a gate under a rule.
	Stage int    // that the page shows
	Lead  string // what a rejection does
	Ways  []Way  // the buttons by which a reason is sent; none: there is one, by Label
	Never string // why it can't be sent back
	Whom  *Whom  // asks for whom the viewer acts; nil: for one person only
}

// Whom is the field in which somebody who stands in for several people says for whom they act.
type Whom struct {
	Label   string
	Choices []web.Choice
}

// Way is one of the buttons of a form.
type Way struct {
	Act                          aggregate.Act
	Label, Class, Confirm, About string
}

// Asking is a page that asks a viewer about a subject.
type Asking struct {
	Words    web.Texts
	Of       decide.Subject
	Settings tenancy.Settings
	Surface  explain.Surface
	Viewer   *web.Viewer
}

// Buttons returns a button for each offered act, but none to approve unless the page shows everything (whole), and of a
// gate under a rule those of its turn. If the settings alone forbid the act to this viewer, No has the same sentence as
// a refused click.
func (x Asking) Buttons(t *Turn, offers []aggregate.Offer, whole bool) (out []Button) {
	for _, o := range offers {
		gate := o.Act == aggregate.ActApprove || o.Act == aggregate.ActReject
		switch {
		case gate && t != nil:
			out = append(out, x.along(t, o, whole)...)
		case o.Act != aggregate.ActApprove || whole:
			out = append(out, x.button(o))
		}
	}
	return out
}

func (x Asking) button(o aggregate.Offer) Button {
	words := x.Words
	b := Button{
		Offer: o, Label: words.In("act", o.Act), Confirm: words.In("confirm", o.Act), About: words.In("act_about", o.Act),
		Class: "button-danger",
	}
	if o.Act == aggregate.ActReject {
		b.Reason, b.Hint = words.Say("reason"), words.Say("reason_hint")
	}
	switch o.Act {
	case aggregate.ActApprove, task.ActRetryExecution, task.ActRetryGeneration, task.ActTakeAsRequest, task.ActRedraft,
		conversation.ActReopen, conversation.ActMakeRequest, conversation.ActCheck,
		conversation.ActTakeFiles, conversation.ActFetchAgain:
		b.Class = "button-primary"
	}
	if err := LikelyOf(x.Of, x.Settings, x.Viewer, o); err != nil {
		b.No = x.Surface.Why(err, x.Settings, x.Of.Origin(), x.Of.Askers()...)
	}
	return b
}

// Who says who may decide, or whose turn it is.
func (x Asking) Who(t *Turn) string {
	if t != nil {
		return t.Who
	}
	return x.Surface.WhoDecides(x.Settings, x.Of.Origin(), x.Of.Askers()...)
}

// LikelyOf is Likely for an offer, which names what would be cancelled.
func LikelyOf(a decide.Subject, set tenancy.Settings, v *web.Viewer, x aggregate.Offer) error {
	switch x.Act {
	case conversation.ActCancel, conversation.ActClose, task.ActCancelTask, task.ActCancelExecution:
		by, p := likelyAt(a.Origin(), set, v)
		return a.MayWithdraw(x.ID, by, p)
	}
	return Likely(a, set, v, x.Act)
}

// Likely returns the error that a click by this viewer would get, as far as that is known without asking Slack.
func Likely(a decide.Subject, set tenancy.Settings, v *web.Viewer, act aggregate.Act) (err error) {
	by, p := likelyAt(a.Origin(), set, v)
	requester := a.Root().Common().Requester
	switch act {
	case aggregate.ActApprove:
		for _, asker := range a.Askers() {
			err = errors.Join(err, p.Approve(by, asker))
		}
		return err
	case task.ActRedraft:
		if by.ID != requester {
			return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
		}
		return nil
	case aggregate.ActReject, task.ActTakeAsReason:
		return p.Reject(by, requester)
	case conversation.ActReopen, conversation.ActBeginEmpty, conversation.ActTakeFiles, conversation.ActFetchAgain:
		return p.Request(by)
	case conversation.ActMakeRequest:
		if t, is := a.(*conversation.Aggregate); is && t.OpenOffer() != nil {
			requester = t.OpenOffer().User
		}
		return cmp.Or(p.Request(by), p.Withdraw(by, requester))
	case conversation.ActCheck:
		if t, is := a.(*conversation.Aggregate); is && slices.ContainsFunc(t.Actions, func(x *conversation.Action) bool {
			return t.Unsure(x.ActionID) != nil && slices.Contains(t.AskersOf(x), v.User)
		}) {
			return nil
		}
	}
	return p.Withdraw(by, requester)
}

// likelyAt returns the viewer's rights without asking Slack. It assumes that the viewer is a member of the channel,
// unless that is somebody else's direct message, and, if the settings list groups, of one of them.
func likelyAt(o aggregate.Origin, s tenancy.Settings, v *web.Viewer) (aggregate.Actor, aggregate.Policy) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: o.Team, Member: true, Admin: v.Admin}
	p := s.Policy(by.Team)
	if len(s.Approvers.Usergroups) > 0 {
		p.Approvers = append(p.Approvers, v.User)
	}
	if o.ChannelType == "im" && v.User != o.User {
		by.Member = false
	}
	return by, p
}
