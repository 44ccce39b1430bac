package card

import (
	"encoding/json"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// The dialogs of an action come back with these.
const (
	ActionReviewCallback      = "review_action_modal"
	ActionRejectCallback      = "reject_action_modal"
	CloseConversationCallback = "close_session_modal"
)

// ConversationForm is the private_metadata of the dialog that asks why an action is rejected; a hint, as Rejection is. Hash is of
// what the person saw.
type ConversationForm struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Hash    string `json:"hash"`
}

// RejectActionModal asks why an action is rejected.
func RejectActionModal(r ConversationForm, locale string) slack.ModalViewRequest {
	w := conversationWordsOf(locale)
	input := &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: ReasonInput, Multiline: true, MaxLength: conversation.MaxReason, Placeholder: label(w.RejectPlaceholder),
	}
	metadata, _ := json.Marshal(ConversationForm{ident(r.Session), ident(r.ID), ident(r.Hash)}) // of strings it cannot fail
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: ActionRejectCallback, Title: label(w.RejectTitle), Submit: label(w.RejectSubmit), Close: label(wordsOf(locale).ModalClose),
		PrivateMetadata: string(metadata),
		Blocks:          slack.Blocks{BlockSet: []slack.Block{section(w.RejectText), slack.NewInputBlock(ReasonBlock, label(w.RejectTitle), nil, input)}},
	}
}

// ActionReviewModal is a page of the dialog that shows all of an action, as Review is of a gate.
func ActionReviewModal(t Conversation, r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool) {
	x := t.Action(r.ID)
	if x == nil {
		return view, false
	}
	d := conversationDrawing{drawing: drawing{a: &task.Aggregate{}, settings: s, w: wordsOf(s.Locale)}, t: t, texts: conversationWordsOf(s.Locale)}
	whole := d.body(x, everything)
	r.Hash = x.Payload.Hash()
	open := x.Status == conversation.ActionPending && x.Gate.Status == aggregate.PendingApproval
	return d.reviewed(fill(d.texts.Header, "n", x.Number), whole, r, open, ActionReviewCallback), true
}

// CloseConversationModal asks whether a conversation shall really end.
func CloseConversationModal(id, locale string) slack.ModalViewRequest {
	w := conversationWordsOf(locale)
	metadata, _ := json.Marshal(ConversationForm{Session: ident(id)}) // of strings it cannot fail
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CloseConversationCallback, Title: label(w.EndTitle), Submit: label(w.EndYes), Close: label(wordsOf(locale).CancelNo),
		PrivateMetadata: string(metadata), Blocks: slack.Blocks{BlockSet: []slack.Block{section(w.EndText)}},
	}
}
