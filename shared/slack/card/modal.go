package card

import (
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// The ids that the dialog's submission comes back with.
const (
	RejectionCallback = "rejection_reason_modal"
	ReasonBlock       = "rejection_reason_block"
	ReasonInput       = "rejection_reason_input"
)

// Rejection is the dialog's private_metadata: what is being rejected. It comes
// back from outside, so it is a hint that must match a row.
type Rejection struct {
	Type   aggregate.CardType `json:"type"` // prompt, process or step
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`
}

// RejectionModal asks why a prompt, a process or a step is sent back. Rejecting
// a step ends the task, and the dialog says so.
func RejectionModal(kind aggregate.CardType, id, taskID, locale string) slack.ModalViewRequest {
	w := wordsOf(locale)
	submit, text, placeholder := w.ModalSubmit, w.ModalText, w.ModalPlaceholder
	if kind == task.CardStep {
		submit, text, placeholder = w.ModalSubmitStep, w.ModalTextStep, w.ModalPlaceholderStep
	}
	input := &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: ReasonInput, Multiline: true, Placeholder: label(placeholder),
	}
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: RejectionCallback,
		Title: label(w.ModalTitle), Submit: label(submit), Close: label(w.ModalClose),
		PrivateMetadata: fmt.Sprintf(`{"type": %s, "id": %s, "task_id": %s}`,
			quoted(string(kind)), quoted(ident(id)), quoted(ident(taskID))),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			section(text),
			slack.NewInputBlock(ReasonBlock, label(w.ModalTitle), nil, input),
		}},
	}
}

// CancelCallback is what the submission of CancelModal comes back with.
const CancelCallback = "cancel_task_modal"

// Cancellation is that dialog's private_metadata: what is being cancelled, and where
// the person was. It comes back from outside, so it is a hint that must match a row.
type Cancellation struct {
	TaskID  string `json:"task_id"`
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
}

// CancelModal asks whether a task shall really be cancelled. title is the task's, note
// says why the dialog is still open; both may be empty.
func CancelModal(c Cancellation, title, note, locale string) slack.ModalViewRequest {
	w := wordsOf(locale)
	blocks := []slack.Block{section(w.CancelText)}
	if title = inline(title, maxHeader); title != "" {
		blocks = append(blocks, section(fill(w.CancelAbout, "title", title)))
	}
	if note != "" {
		blocks = append(blocks, section(note))
	}
	c = Cancellation{ident(c.TaskID), ident(c.Channel), ident(c.Thread)}
	metadata, _ := json.Marshal(c) // of strings it cannot fail
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CancelCallback,
		Title: label(w.CancelTitle), Submit: label(w.CancelYes), Close: label(w.CancelNo),
		PrivateMetadata: string(metadata), Blocks: slack.Blocks{BlockSet: blocks},
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // of a string it cannot fail
	return string(b)
}
