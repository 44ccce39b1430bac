package card

import (
	"context"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/note"
	"ringi/shared/domain/tenancy"
)

// noteDialogs has a note's dialogs. Its card shows everything, so there is nothing to review.
type noteDialogs struct{ *note.Aggregate }

func (d noteDialogs) Opened(context.Context, Large, string) (Dialogs, error) { return d, nil }

func (noteDialogs) Review(Review, tenancy.Settings) (slack.ModalViewRequest, bool) {
	return slack.ModalViewRequest{}, false
}

func (noteDialogs) Rejection(r Review, locale string) slack.ModalViewRequest {
	return RejectionModal(Rejection{Type: r.Type, ID: r.ID, TaskID: r.TaskID, Hash: r.Hash}, locale)
}

func (d noteDialogs) Ending(at Cancellation, reason string, s tenancy.Settings) slack.ModalViewRequest {
	return cancelModal(at, d.Note.Text, reason, s.Locale)
}

func (d noteDialogs) Refused(err error, s tenancy.Settings) string {
	if d.Note == nil {
		return Refused(err, s, aggregate.Origin{})
	}
	return Refused(err, s, d.Origin(), d.Askers()...)
}

// NoteCard shows a note, with buttons while it waits.
func NoteCard(a *note.Aggregate, locale string) Message {
	w, id := wordsOf(locale), a.Head.NoteID
	text := map[aggregate.GateStatus]string{
		aggregate.PendingApproval: "keep? ", aggregate.Approved: "to be kept: ", aggregate.Rejected: "not kept: ",
		aggregate.Cancelled: "withdrawn: ",
	}[a.Note.Status]
	if a.Note.KeptAt != nil {
		text = "kept: "
	}
	blocks := []slack.Block{section(escape(text + a.Note.Text))}
	if a.IsOpen(id) {
		value := id + "/" + a.AskedHash(id)
		blocks = append(blocks, slack.NewActionBlock(id,
			button(w.Approve, "approve_note", value, slack.StylePrimary), button(w.Reject, "reject_note", value, slack.StyleDanger)))
	}
	return Message{Text: text + a.Note.Text, Attachments: []slack.Attachment{{Color: "#2196f3", Blocks: slack.Blocks{BlockSet: blocks}}}}
}
