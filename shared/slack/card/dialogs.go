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

// Dialogs draws the dialogs and notes of a task or conversation.
type Dialogs interface {
	// Opened reads the contents that a gate asks about if they are too large for its row.
	Opened(ctx context.Context, large Large, gate string) (Dialogs, error)
	// Review draws the page r.Page of everything that a gate asks about. ok is false when there is no such gate.
	Review(r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool)
	// Rejection asks for the reason why a person rejects the gate that r names.
	Rejection(r Review, locale string) slack.ModalViewRequest
	// Ending asks the person to confirm the cancellation. note says why an earlier submission failed; it is empty at
	// first.
	Ending(at Cancellation, note string, s tenancy.Settings) slack.ModalViewRequest
	// Refused says why a click decided nothing. If a rule refused it, Refused also says who may decide.
	Refused(err error, s tenancy.Settings) string
}

// Large reads values that are too large for a row.
type Large interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// DialogsOf returns the dialogs of an aggregate: nil for a kind without gates, and a task's dialogs if a is nil.
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

func (d taskDialogs) Rejection(r Review, locale string) slack.ModalViewRequest {
	if view, ok := d.rejectionOnRoute(r, locale); ok {
		return view
	}
	return RejectionModal(Rejection{Type: r.Type, ID: r.ID, TaskID: r.TaskID, Stage: r.Stage}, locale)
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

// Opened reads the payload of an action.
func (t Conversation) Opened(ctx context.Context, large Large, gate string) (_ Dialogs, err error) {
	if x := t.Action(gate); x != nil && x.Payload.S3Key != "" {
		t.Payload, err = large.Open(ctx, t.Ref(), x.Payload)
	}
	return t, err
}
