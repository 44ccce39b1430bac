package card

import (
	"context"
	"encoding/json"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Dialogs are what Slack shows about a subject beside its cards.
type Dialogs interface {
	// Opened adds what a gate asks about, where that is too large for its row.
	Opened(ctx context.Context, large Large, gate string) (Dialogs, error)
	// Review draws the page r.Page of all that a gate asks about. ok is false when there is no such gate.
	Review(r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool)
	// Rejection asks why the gate that r names is sent back.
	Rejection(r Review, locale string) slack.ModalViewRequest
	// Ending asks whether the subject shall really end; note says why the dialog is still open, empty at first.
	Ending(at Cancellation, note string, s tenancy.Settings) slack.ModalViewRequest
	// Refused says why a click decided nothing and, when a rule refused, who may decide.
	Refused(err error, s tenancy.Settings) string
}

// Large opens what is too large for a row.
type Large interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// DialogsOf are those of a subject: nil for a kind that asks nobody, and those of a task where no subject was found.
func DialogsOf(a aggregate.Aggregate) Dialogs {
	switch a := a.(type) {
	case *conversation.Aggregate:
		return Conversation{Aggregate: a}
	case *task.Aggregate:
		return taskDialogs{a}
	case nil:
		return taskDialogs{}
	}
	return nil
}

type taskDialogs struct{ *task.Aggregate }

func (d taskDialogs) Opened(ctx context.Context, large Large, gate string) (Dialogs, error) {
	a, err := large.Opened(ctx, d.Aggregate, gate)
	return taskDialogs{a}, err
}

func (d taskDialogs) Review(r Review, s tenancy.Settings) (slack.ModalViewRequest, bool) {
	return ReviewModal(d.Aggregate, r, s.Locale)
}

func (taskDialogs) Rejection(r Review, locale string) slack.ModalViewRequest {
	return RejectionModal(Rejection{r.Type, r.ID, r.TaskID, ""}, locale)
}

func (d taskDialogs) Ending(at Cancellation, note string, s tenancy.Settings) slack.ModalViewRequest {
	title := ""
	if d.Aggregate != nil && d.Task != nil {
		title = d.Task.Title
	}
	return cancelModal(at, title, note, s.Locale)
}

func (d taskDialogs) Refused(err error, s tenancy.Settings) string {
	if d.Aggregate == nil {
		return Refused(err, s, aggregate.Origin{})
	}
	return Refused(err, s, d.Origin(), d.Askers()...)
}

// Opened adds the payload of an action.
func (t Conversation) Opened(ctx context.Context, large Large, gate string) (_ Dialogs, err error) {
	if x := t.Action(gate); x != nil && x.Payload.S3Key != "" {
		t.Payload, err = large.Open(ctx, t.Ref(), x.Payload)
	}
	return t, err
}
