package card

import (
	"encoding/json"
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// The ids of the field that says what comes of a rejection on a route. The values of its options are
// circulation.SendBack and circulation.Deny.
const (
	ThenBlock = "rejection_then_block"
	ThenInput = "rejection_then_input"
)

// Rejected is what a rejection's form came back with. Its ids are not to be trusted; see modal.
type Rejected struct {
	Type   aggregate.CardType // prompt, process, step or action
	Of     string             // id of the task or conversation
	ID     string             // of the gate
	Hash   string             // of the shown content; empty for a task
	Reason string

	// Of a gate under a rule.
	Stage int
	Asked string           // what the person saw was asked: circulation.Gate.Asked
	Kind  circulation.Kind // SendBack or Deny
}

// ReadRejection reads a rejection's form from its callback id, its private_metadata and its fields. value returns what
// a field holds: a text, or the value of an option. ok is false for another form, and for one that another release
// drew.
func ReadRejection(callback, about string, value func(block, input string) string) (r Rejected, ok bool) {
	var of Rejection
	var action ConversationForm
	switch callback {
	case RejectionCallback:
		ok = json.Unmarshal([]byte(about), &of) == nil && of.Stage >= 0 &&
			slices.Contains([]aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep}, of.Type)
		r = Rejected{Type: of.Type, Of: of.TaskID, ID: of.ID, Hash: of.Hash, Stage: of.Stage, Asked: of.Asked}
	case ActionRejectCallback:
		ok = json.Unmarshal([]byte(about), &action) == nil && action.Stage >= 0
		r = Rejected{Type: conversation.CardAction, Of: action.Session, ID: action.ID, Hash: action.Hash}
		if r.Stage = action.Stage; r.Stage > 0 {
			r.Asked = action.Hash
		}
	}
	r.Reason = value(ReasonBlock, ReasonInput)
	if r.Stage == 0 {
		return r, ok
	}
	if r.Kind = circulation.Deny; mayFollow(r.Type) {
		r.Kind = circulation.Kind(value(ThenBlock, ThenInput))
	}
	return r, ok && r.Asked != "" && (r.Kind == circulation.SendBack || r.Kind == circulation.Deny)
}

// mayFollow reports whether something may follow a rejection on a route: of steps another version, of an action a turn
// of the agent. A step's gate only ends.
func mayFollow(kind aggregate.CardType) bool {
	return kind == task.CardProcess || kind == conversation.CardAction
}

// rejectionOnRoute is RejectionModal for a gate under a rule. It says whose stamps end and, but for a step, asks what
// comes after. ok is false for a gate without a rule.
func (d taskDialogs) rejectionOnRoute(r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	if d.Aggregate == nil {
		return view, false
	}
	draw := drawing{a: d.Aggregate, w: wordsOf.In(locale)}
	v, found := draw.versionOf(r.Type, func(_, id string) bool { return id == r.ID }, 1)
	if !found || !v.gate.Ruled() {
		return view, false
	}
	w, route := draw.w, draw.route(&v.gate, true)
	about := metadata(Rejection{
		Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Stage: r.Stage, Asked: v.gate.Asked,
	})
	if !mayFollow(r.Type) {
		return modal(RejectionCallback, route.texts.Rejection, w.ModalSubmitStep, w.ModalClose, about,
			section(w.ModalTextStep+route.endsStamps()), reasonField(w.ModalTitle, w.ModalPlaceholderStep, 0)), true
	}
	most := 0
	if v.last {
		most = v.terms.MaxVersions
	}
	return modal(RejectionCallback, route.texts.Rejection, route.texts.Send, w.ModalClose, about,
		section(route.texts.Reason+route.endsStamps()), reasonField(w.ModalTitle, w.ModalPlaceholder, 0),
		route.then(route.texts.NewVersion, route.texts.Over, most)), true
}

// rejectionOnRoute is Rejection for an action under a rule, ok is false for one without.
func (t Conversation) rejectionOnRoute(r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	x := t.Action(r.ID)
	if x == nil || !x.Gate.Ruled() {
		return view, false
	}
	w, route := conversationWordsOf.In(locale), drawing{w: wordsOf.In(locale)}.route(&x.Gate, true)
	about := metadata(ConversationForm{ident(r.TaskID), ident(r.ID), ident(r.Hash), r.Stage})
	return modal(ActionRejectCallback, route.texts.Rejection, route.texts.Send, route.w.ModalClose, about,
		section(w.RejectText+route.endsStamps()), reasonField(w.RejectTitle, w.RejectPlaceholder, aggregate.MaxReason),
		route.then(route.texts.NewTurn, route.texts.NoTurn, 0)), true
}

// endsStamps says whose stamps end with the gate, if there are any.
func (r routed) endsStamps() string {
	acts := r.st.Stamps()
	if len(acts) == 0 {
		return ""
	}
	var hands []string
	for _, act := range acts {
		if !slices.Contains(hands, act.Hand.User) {
			hands = append(hands, act.Hand.User)
		}
	}
	return fill(r.texts.EndsStamps, "n", len(hands), "names", r.hands(acts))
}

// then asks what comes of the rejection. If most isn't 0, no more versions than that may be made, and it can only end.
func (r routed) then(again, over string, most int) slack.Block {
	option := func(kind circulation.Kind, text, about string) *slack.OptionBlockObject {
		return slack.NewOptionBlockObject(string(kind), label(text), label(about))
	}
	options := []*slack.OptionBlockObject{option(circulation.SendBack, r.texts.SendBack, again),
		option(circulation.Deny, r.texts.Deny, over)}
	var hint *slack.TextBlockObject
	if most > 0 {
		options, hint = options[1:], label(fill(r.texts.NoVersion, "max", most))
	}
	choice := slack.NewRadioButtonsBlockElement(ThenInput, options...)
	choice.InitialOption = options[0]
	return slack.NewInputBlock(ThenBlock, label(r.texts.Then), hint, choice)
}
