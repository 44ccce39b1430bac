package card

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Dialogs draws the dialogs and notes of a task or conversation.
type Dialogs interface {
	// Opened reads the contents that a gate asks about if they are too large for its row.
	Opened(ctx context.Context, large Large, gate string) (Dialogs, error)
	// Review draws everything that a gate asks about. ok is false when there is no such gate.
	Review(r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool)
	// Rejection asks for the reason why a person rejects the gate that r names, or returns it to whoever asked.
	Rejection(r Review, locale string) slack.ModalViewRequest
	// Ending asks the person to confirm the cancellation. note says why an earlier submission failed; empty: none did.
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
		return &taskDialogs{a}
	case *call.Aggregate:
		return &callDialogs{a}
	case nil:
		return &taskDialogs{}
	}
	return nil
}

type taskDialogs struct{ a *task.Aggregate }

func (d *taskDialogs) Opened(ctx context.Context, large Large, gate string) (Dialogs, error) {
	a, err := large.Opened(ctx, d.a, gate)
	return &taskDialogs{a}, err
}

func (d *taskDialogs) Review(r Review, s tenancy.Settings) (slack.ModalViewRequest, bool) {
	return ReviewModal(d.a, r, s.Locale)
}

func (d *taskDialogs) Rejection(r Review, locale string) slack.ModalViewRequest {
	return worded(d.rejection(r, locale), r.Words)
}

func (d *taskDialogs) rejection(r Review, locale string) slack.ModalViewRequest {
	view := RejectionModal(Rejection{Type: r.Type, ID: r.ID, TaskID: r.TaskID, Hash: r.Hash, Stage: r.Stage}, locale)
	if d.a == nil {
		return view
	}
	draw := drawing{a: d.a, w: wordsOf.In(locale)}
	v, found := draw.versionOf(r.Type, func(_, id string) bool { return id == r.ID }, 1)
	if found && v.gate.Ruled() {
		return d.rejectionOnRoute(r, draw, &v)
	}
	if found {
		follows := draw.w.ModalAnswer
		if texts := routeWordsOf.In(locale); d.a.Follows(r.ID) == task.FollowsAsker {
			view.Submit, follows = label(texts.SendBack), texts.Refills
			view.Blocks.BlockSet = []slack.Block{section(texts.Reason), reasonField(draw.w.ModalTitle, texts.ReasonEmpty, 0)}
		}
		view.Blocks.BlockSet = append([]slack.Block{draw.about(&v)}, view.Blocks.BlockSet...)
		if r.Type != task.CardStep {
			view.Blocks.BlockSet = append(view.Blocks.BlockSet, contextLine(follows))
		}
	}
	return view
}

func (d *taskDialogs) Ending(at Cancellation, note string, s tenancy.Settings) slack.ModalViewRequest {
	w := wordsOf.In(s.Locale)
	blocks := []slack.Block{section(w.CancelText)}
	if d.a != nil && d.a.Task != nil {
		title := titleOf(d.a, askWordsOf.In(s.Locale), "{text}")
		blocks = append(blocks, section(fill(w.CancelAbout, "title", title)))
	}
	if note != "" {
		blocks = append(blocks, section(note))
	}
	about := metadata(Cancellation{ident(at.TaskID), ident(at.Channel), ident(at.Thread)})
	return modal(CancelCallback, w.CancelTitle, w.CancelYes, w.CancelNo, about, blocks...)
}

func (d *taskDialogs) Refused(err error, s tenancy.Settings) string {
	if d.a == nil {
		return Refused(err, s, aggregate.Origin{})
	}
	return Refused(err, s, d.a.Origin(), d.a.Askers()...)
}

// Opened reads the payload of an action.
func (t Conversation) Opened(ctx context.Context, large Large, gate string) (_ Dialogs, err error) {
	if x := t.Action(gate); x != nil && x.Payload.S3Key != "" {
		t.Payload, err = large.Open(ctx, t.Ref(), x.Payload)
	}
	return t, err
}

// The ids of dialogs and their fields.
const (
	RejectionCallback         = "rejection_reason_modal"
	ReasonBlock               = "rejection_reason_block"
	ReasonInput               = "rejection_reason_input"
	CancelCallback            = "cancel_task_modal"
	ActionRejectCallback      = "reject_action_modal"
	CloseConversationCallback = "close_session_modal"
)

// modal draws a dialog. Without submit it can only be closed. about is its private_metadata, which the client can
// change: every id in it must match a row.
func modal(callback, title, submit, end, about string, blocks ...slack.Block) slack.ModalViewRequest {
	view := slack.ModalViewRequest{Type: slack.VTModal, CallbackID: callback, Title: label(title), Close: label(end),
		PrivateMetadata: about, Blocks: slack.Blocks{BlockSet: blocks}}
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

// Rejection is the private_metadata of RejectionModal.
type Rejection struct {
	Type   aggregate.CardType `json:"type"` // prompt, process or step
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`
	Hash   string             `json:"hash"`           // of the shown content
	Stage  int                `json:"stage"`          // which the person saw, of a gate under a rule
	Asked  string             `json:"asked"`          // what its stamps are on, of a gate under a rule
	Then   circulation.Kind   `json:"then,omitempty"` // what comes of it, of a form that doesn't ask; see ReadRejection
}

// RejectionModal asks why a person rejects a prompt, a process or a step; of a step it says that this ends the task.
func RejectionModal(r Rejection, locale string) slack.ModalViewRequest {
	w := wordsOf.In(locale)
	submit, text, placeholder := w.ModalSubmit, w.ModalText, w.ModalPlaceholder
	if r.Type == task.CardStep {
		submit, text, placeholder = w.ModalSubmitStep, w.ModalTextStep, w.ModalPlaceholderStep
	}
	about := fmt.Sprintf(`{"type": %s, "id": %s, "task_id": %s`,
		metadata(r.Type), metadata(ident(r.ID)), metadata(ident(r.TaskID)))
	if r.Hash != "" {
		about += fmt.Sprintf(`, "hash": %s`, metadata(r.Hash))
	}
	if r.Stage > 0 {
		about += fmt.Sprintf(`, "stage": %d`, r.Stage)
	}
	return modal(RejectionCallback, w.ModalTitle, submit, w.ModalClose, about+"}",
		section(text), reasonField(w.ModalTitle, placeholder, 0))
}

// Cancellation is the private_metadata of the dialog that confirms a cancellation: the task, and where the click was.
type Cancellation struct {
	TaskID  string `json:"task_id"`
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
}

// ConversationForm is the private_metadata of a conversation's dialogs.
type ConversationForm struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Hash    string `json:"hash"` // of the action that the person saw
}

// Rejection asks why the person rejects the action whose hash is in r.
func (Conversation) Rejection(r Review, locale string) slack.ModalViewRequest {
	w, draw := conversationWordsOf.In(locale), wordsOf.In(locale)
	about := metadata(ConversationForm{ident(r.TaskID), ident(r.ID), ident(r.Hash)})
	return modal(ActionRejectCallback, draw.ModalTitle, w.RejectSubmit, draw.ModalClose, about,
		section(w.RejectText), reasonField(draw.ModalTitle, w.RejectPlaceholder, aggregate.MaxReason))
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

// The action ids of a Review's buttons.
const (
	ReviewAction   = "review_" // followed by the kind; opens the dialog
	ReviewCallback = "review_modal"
)

// Review is the private_metadata of a dialog that shows all of a gate's content. The client can change it, so its ids
// must match a row. Its hash says which content the person read.
type Review struct {
	Type   aggregate.CardType `json:"type"` // prompt, process or step
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`
	Hash   string             `json:"hash"`
	Stage  int                `json:"stage,omitempty"` // which the person saw, of a gate under a rule

	ReadOnly bool   `json:"read_only,omitempty"` // without the button, for people who may not approve
	Words    string `json:"-"`                   // of a rejection's reason
	Console  string `json:"-"`                   // the console's address, for what is longer than a dialog
}

// The most that a dialog holds. Slack allows 100 blocks and doesn't document a limit of characters.
const (
	maxDialogBlocks = 80
	maxDialog       = 24000
)

const maxTyped = 2500 // characters of what somebody typed, in a dialog

const everything = 1 << 20 // sections, which no text reaches

// ReviewModal draws all of a gate's content. It can be submitted only while the gate waits and all of its content is
// shown. ok is false when there is no such gate.
func ReviewModal(a *task.Aggregate, r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	d := drawing{a: a, w: wordsOf.In(locale)}
	v, ok := d.versionOf(r.Type, func(_, other string) bool { return r.ID == other }, everything)
	if !ok {
		return view, false
	}
	title := v.words.Header
	if r.Type != task.CardStep {
		title = fmt.Sprintf("%s v%d", title, v.version)
	}
	r.Hash = a.AskedHash(ident(r.ID))
	on := d.route(a.GateWith(r.ID), a.IsOpen(r.ID))
	v.body.cut = v.body.cut || v.sum.Unreadable() != ""
	return d.reviewed(title, v.body, r, on, a.Ref()), true
}

// Review draws the dialog that shows all of an action.
func (t Conversation) Review(r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool) {
	x := t.Action(r.ID)
	if x == nil {
		return view, false
	}
	d := drawingOf(t, s, s.Locale, time.Time{}) // the dialog is in its reader's language
	whole := d.body(x, everything)
	p, _ := d.read(x)
	whole.cut = whole.cut || Unapprovable(p, d.w.Locale) != ""
	r.Type, r.Hash = conversation.CardAction, t.AskedHash(x.ActionID)
	title, on := d.title(d.texts.Header, x), d.routeOf(x)
	return d.reviewed(title, whole, r, on, t.Ref()), true
}

// reviewed draws a dialog with the whole content. Of what is longer than a dialog it has the beginning, and says that
// all of it, with the button, is on its page in the console.
func (d drawing) reviewed(title string, whole body, r Review, on routed, of aggregate.Ref) slack.ModalViewRequest {
	w, submit, said := d.w, "", d.w.ReviewReads
	r.ID, r.TaskID = ident(r.ID), ident(r.TaskID)
	shown := withinDialog(whole.blocks)
	blocks := append(append([]slack.Block{header(title)}, shown...), divider())
	blocks = append(blocks, on.inDialog()...)
	switch {
	case !on.open:
		said = w.ReviewOver
	case len(shown) < len(whole.blocks):
		said = w.ReviewLong + opens(Page(r.Console, of), askWordsOf.In(w.Locale))
	case !r.ReadOnly && !whole.cut:
		submit, said = w.ReviewApprove, w.ReviewEnd
	}
	return modal(ReviewCallback, w.ReviewTitle, submit, w.ReviewClose, metadata(r), append(blocks, contextLine(said))...)
}

// withinDialog returns as many blocks as a dialog holds.
func withinDialog(blocks []slack.Block) []slack.Block {
	used := 0
	for i, b := range blocks {
		if used += characters(b); used > maxDialog || i == maxDialogBlocks {
			return blocks[:i:i]
		}
	}
	return blocks
}

// Unsent says in a dialog why what somebody typed wasn't saved, and shows it, so that they can copy it.
func Unsent(text, typed, locale string) *slack.ModalViewRequest {
	view := Told(text, locale)
	if typed = inline(typed, maxTyped); typed != "" {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, section(fill(wordsOf.In(locale).Quoted, "text", typed)))
	}
	return view
}

// Told is a dialog with one text and no button but the one that closes it.
func Told(text, locale string) *slack.ModalViewRequest {
	w := wordsOf.In(locale)
	return new(modal("", w.ReviewTitle, "", w.ReviewClose, "", section(cut(text, maxSection))))
}
