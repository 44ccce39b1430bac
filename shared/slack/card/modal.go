package card

import (
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// The ids of dialogs and their fields.
const (
	RejectionCallback         = "rejection_reason_modal"
	ReasonBlock               = "rejection_reason_block"
	ReasonInput               = "rejection_reason_input"
	CancelCallback            = "cancel_task_modal"
	ActionReviewCallback      = "review_action_modal"
	ActionRejectCallback      = "reject_action_modal"
	CloseConversationCallback = "close_session_modal"
)

// modal draws a dialog. Without submit it can only be closed. about is its private_metadata, which the client can
// change: every id in it must match a row.
func modal(callback, title, submit, end, about string, blocks ...slack.Block) slack.ModalViewRequest {
	view := slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: callback, Title: label(title), Close: label(end), PrivateMetadata: about,
		Blocks: slack.Blocks{BlockSet: blocks},
	}
	if submit != "" {
		view.Submit = label(submit)
	}
	return view
}

// metadata encodes strings and numbers as JSON, which can't fail.
func metadata(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// reasonField asks for a rejection's reason of up to most characters; 0 means Slack's own limit.
func reasonField(title, placeholder string, most int) slack.Block {
	return slack.NewInputBlock(ReasonBlock, label(title), nil, &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: ReasonInput, Multiline: true, MaxLength: most,
		Placeholder: label(placeholder),
	})
}

// Rejection is the private_metadata of RejectionModal. It names the rejected gate.
type Rejection struct {
	Type   aggregate.CardType `json:"type"` // prompt, process or step
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`
	Hash   string             `json:"hash"`  // of the shown content; empty for a task
	Stage  int                `json:"stage"` // which the person saw, of a gate under a rule
	Asked  string             `json:"asked"` // what its stamps are on, of a gate under a rule
}

// RejectionModal asks why a person rejects a prompt, a process or a step. For a step it says that the rejection ends
// the task. For a gate under a rule it is rejectionOnRoute.
func RejectionModal(r Rejection, locale string) slack.ModalViewRequest {
	w := wordsOf.In(locale)
	submit, text, placeholder := w.ModalSubmit, w.ModalText, w.ModalPlaceholder
	if r.Type == task.CardStep {
		submit, text, placeholder = w.ModalSubmitStep, w.ModalTextStep, w.ModalPlaceholderStep
	}
	about := fmt.Sprintf(`{"type": %s, "id": %s, "task_id": %s`, metadata(r.Type), metadata(ident(r.ID)), metadata(ident(r.TaskID)))
	if r.Hash != "" {
		about += fmt.Sprintf(`, "hash": %s`, metadata(r.Hash))
	}
	if r.Stage > 0 {
		about += fmt.Sprintf(`, "stage": %d`, r.Stage)
	}
	return modal(RejectionCallback, w.ModalTitle, submit, w.ModalClose, about+"}",
		section(text), reasonField(w.ModalTitle, placeholder, 0))
}

// Cancellation is the private_metadata of the dialog that confirms a cancellation: the task, and where the person
// clicked.
type Cancellation struct {
	TaskID  string `json:"task_id"`
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
}

// cancelModal asks the person to confirm that the task ends. note says why an earlier submission failed. title and note
// may be empty.
func cancelModal(c Cancellation, title, note, locale string) slack.ModalViewRequest {
	w := wordsOf.In(locale)
	blocks := []slack.Block{section(w.CancelText)}
	if title = inline(title, maxHeader); title != "" {
		blocks = append(blocks, section(fill(w.CancelAbout, "title", title)))
	}
	if note != "" {
		blocks = append(blocks, section(note))
	}
	about := metadata(Cancellation{ident(c.TaskID), ident(c.Channel), ident(c.Thread)})
	return modal(CancelCallback, w.CancelTitle, w.CancelYes, w.CancelNo, about, blocks...)
}

// ConversationForm is the private_metadata of a conversation's dialogs. Hash is that of the action which the person
// saw.
type ConversationForm struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Hash    string `json:"hash"`
	Stage   int    `json:"stage,omitempty"` // which the person saw, of an action under a rule
}

// Rejection asks why the person rejects the action whose hash is in r.
func (t Conversation) Rejection(r Review, locale string) slack.ModalViewRequest {
	if view, ok := t.rejectionOnRoute(r, locale); ok {
		return view
	}
	w := conversationWordsOf.In(locale)
	about := metadata(ConversationForm{ident(r.TaskID), ident(r.ID), ident(r.Hash), r.Stage})
	return modal(ActionRejectCallback, w.RejectTitle, w.RejectSubmit, wordsOf.In(locale).ModalClose, about,
		section(w.RejectText), reasonField(w.RejectTitle, w.RejectPlaceholder, aggregate.MaxReason))
}

// Ending asks the person to confirm that the conversation ends.
func (t Conversation) Ending(at Cancellation, _ string, s tenancy.Settings) slack.ModalViewRequest {
	locale := t.locale(s)
	w := conversationWordsOf.In(locale)
	about := metadata(ConversationForm{Session: ident(at.TaskID)})
	blocks := []slack.Block{section(w.EndText)}
	if s := t.Aggregate.Conversation; s != nil {
		lines := []string{w.readers(s)}
		if !s.IsCached {
			lines = append(lines, w.WillGo)
		}
		blocks = append(blocks, contextLine(lines...))
	}
	return modal(CloseConversationCallback, w.EndTitle, w.EndYes, wordsOf.In(locale).CancelNo, about, blocks...)
}
