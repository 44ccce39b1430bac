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
	"ringi/shared/explain/refused"
)

// Button is an act that the viewer may try.
type Button struct {
	aggregate.Offer
	Label, Class, Confirm, About string
	Reasons                      bool   // it needs a reason
	No                           string // why this viewer can't use it
}

// ButtonsFor returns a button for each offered act, but none to approve unless the page shows everything (whole), and
// none that decides about a gate under a rule: this release has no form for that. If the settings alone forbid the act
// to this viewer, No has the same sentence as a refused click.
func ButtonsFor(
	words web.Texts, a decide.Subject, offers []aggregate.Offer, whole bool, set tenancy.Settings, s refused.Surface,
	v *web.Viewer,
) []Button {
	var out []Button
	for _, x := range offers {
		if x.Act == aggregate.ActApprove && !whole || onRoute(a, x) {
			continue
		}
		b := Button{
			Offer: x, Label: words.In("act", x.Act), Confirm: words.In("confirm", x.Act),
			About:   words.In("act_about", x.Act),
			Reasons: x.Act == aggregate.ActReject, Class: "button-danger",
		}
		switch x.Act {
		case aggregate.ActApprove, task.ActRetryExecution, task.ActRetryGeneration, task.ActTakeAsRequest,
			conversation.ActReopen, conversation.ActMakeRequest, conversation.ActCheck,
			conversation.ActTakeFiles, conversation.ActFetchAgain:
			b.Class = "button-primary"
		}
		if err := Likely(a, set, v, x.Act); err != nil {
			b.No = s.Why(err, set, a.Origin(), a.Askers()...)
		}
		out = append(out, b)
	}
	return out
}

// onRoute reports whether an offer decides about a gate under a rule.
func onRoute(a decide.Subject, x aggregate.Offer) bool {
	of, has := a.(interface {
		GateWith(id string) *aggregate.Gate
	})
	if !has || x.Act != aggregate.ActApprove && x.Act != aggregate.ActReject {
		return false
	}
	g := of.GateWith(x.ID)
	return g != nil && g.Ruled()
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
	case conversation.ActCancel:
		if slices.Contains(a.Askers(), v.User) { // of their own
			return nil
		}
	}
	return p.Withdraw(by, requester)
}

// likelyAt returns the viewer's rights without asking Slack. It assumes that the viewer is a member of the channel,
// unless that is somebody else's direct message, and, if the settings list groups, of one of them.
func likelyAt(o aggregate.Origin, s tenancy.Settings, v *web.Viewer) (aggregate.Actor, aggregate.Policy) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: o.Team, Member: true}
	p := s.Policy(by.Team)
	if len(s.Approvers.Usergroups) > 0 {
		p.Approvers = append(p.Approvers, v.User)
	}
	if o.ChannelType == "im" && v.User != o.User {
		by.Member = false
	}
	return by, p
}
