package card

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// The ids of the field that says what comes of a rejection. The values of its options are the kinds of Ways.
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

	Kind circulation.Kind // SendBack or Deny; without a rule empty: sent back

	// Of a gate under a rule.
	Stage int
	Asked string // what the person saw was asked: circulation.Gate.AskedSum
}

// ReadRejection reads a rejection's form from its callback id, its private_metadata and its fields. value returns what
// a field holds. ok is false for another form, and for one that another release drew.
func ReadRejection(callback, about string, value func(block, input string) string) (r Rejected, ok bool) {
	var of Rejection
	var action ConversationForm
	switch callback {
	case RejectionCallback:
		ok = json.Unmarshal([]byte(about), &of) == nil && of.Stage >= 0 &&
			slices.Contains([]aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep, call.Card}, of.Type)
		r = Rejected{Type: of.Type, Of: of.TaskID, ID: of.ID, Hash: of.Hash, Stage: of.Stage, Asked: of.Asked,
			Kind: of.Then}
	case ActionRejectCallback:
		ok = json.Unmarshal([]byte(about), &action) == nil
		r = Rejected{Type: conversation.CardAction, Of: action.Session, ID: action.ID, Hash: action.Hash}
	}
	r.Reason = value(ReasonBlock, ReasonInput)
	if r.Stage == 0 {
		return r, ok && (r.Kind == "" || r.Kind == circulation.SendBack)
	}
	switch {
	case r.Kind != "":
	case r.Type == task.CardProcess:
		r.Kind = circulation.Kind(value(ThenBlock, ThenInput))
	default:
		r.Kind = circulation.Deny
	}
	return r, ok && r.Asked != "" && (r.Kind == circulation.SendBack || r.Kind == circulation.Deny)
}

// RejectionForm is what a form says by which somebody rejects a gate under a rule, in Slack or on a page.
type RejectionForm struct {
	Lead  string // asks for the reason, and says whose stamps end
	Ways  []Way  // what may come of it
	Never string // why it can't be sent back, of a last version
}

// Way is what may come of a rejection: circulation.SendBack or Deny.
type Way struct {
	Kind        circulation.Kind
	Text, About string
}

// RejectionOf returns what the form says of a gate under a rule. called names people.
func RejectionOf(
	g *aggregate.Gate, kind aggregate.CardType, follows task.Follows, locale string, called func(user string) string,
) RejectionForm {
	texts := routeWordsOf.In(locale)
	form, over := RejectionForm{Lead: texts.Reason}, texts.Over
	if kind == task.CardStep {
		form.Lead, over = wordsOf.In(locale).ModalTextStep, ""
	}
	form.Lead += texts.endsStamps(g, called)
	switch follows {
	case task.FollowsNoMore:
		form.Never = fill(texts.NoVersion, "max", g.Terms.MaxVersions)
	case task.FollowsNext:
		form.Ways = append(form.Ways, Way{circulation.SendBack, texts.SendBack, texts.NewVersion})
	case task.FollowsAsker:
		form.Ways = append(form.Ways, Way{circulation.SendBack, texts.SendBack, texts.Refills})
	}
	form.Ways = append(form.Ways, Way{circulation.Deny, texts.Deny, over})
	return form
}

// endsStamps says whose stamps end with a rejection; "": nobody has stamped.
func (w *routeWords) endsStamps(g *aggregate.Gate, called func(user string) string) string {
	if !g.Ruled() {
		return ""
	}
	st := circulation.Walk(g.Circulating())
	acts := st.Stamps()
	if len(acts) == 0 {
		return ""
	}
	return fill(w.EndsStamps, "names", w.hands(acts, called))
}

// rejectionOnRoute is RejectionModal for a gate under a rule. But for a step it asks what comes after.
func (d *taskDialogs) rejectionOnRoute(r Review, draw drawing, v *version) slack.ModalViewRequest {
	w, locale := draw.w, draw.w.Locale
	texts := routeWordsOf.In(locale)
	form := RejectionOf(&v.gate, r.Type, d.a.Follows(r.ID), locale, draw.w.mention)
	about := Rejection{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: r.Hash, Stage: r.Stage,
		Asked: v.gate.AskedSum}
	submit, fields := texts.Send, []slack.Block{reasonField(w.ModalTitle, texts.ReasonEmpty, 0)}
	switch {
	case r.Type != task.CardProcess:
		submit, fields[0] = w.ModalSubmitStep, reasonField(w.ModalTitle, w.ModalPlaceholderStep, 0)
	case len(form.Ways) == 1: // there is nothing to choose
		about.Then, fields[0] = form.Ways[0].Kind, reasonField(w.ModalTitle, texts.DenyEmpty, 0)
		fields = append(fields, contextLine(strings.TrimSpace(form.Never+" "+form.Ways[0].About)))
	default:
		fields = append(fields, form.then(texts))
	}
	return modal(RejectionCallback, texts.Rejection, submit, w.ModalClose, metadata(about),
		append([]slack.Block{draw.about(v), section(form.Lead)}, fields...)...)
}

// then asks what comes of the rejection. What is offered first is chosen.
func (f RejectionForm) then(w *routeWords) slack.Block {
	var options []*slack.OptionBlockObject
	for _, way := range f.Ways {
		options = append(options, slack.NewOptionBlockObject(string(way.Kind), label(way.Text), label(way.About)))
	}
	choice := slack.NewRadioButtonsBlockElement(ThenInput, options...)
	choice.InitialOption = options[0]
	return slack.NewInputBlock(ThenBlock, label(w.Then), nil, choice)
}
