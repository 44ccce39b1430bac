package card

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// Dialogs draws the dialogs and notes of a subject's gates.
type Dialogs struct {
	of      aggregate.Aggregate // nil: it was not found
	payload json.RawMessage     // of an action, if it is too large for its row
}

// Large reads values that are too large for a row.
type Large interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// DialogsOf returns the dialogs of an aggregate: nil for a kind without gates.
func DialogsOf(a aggregate.Aggregate) *Dialogs {
	if _, asks := a.(explain.Asking); a != nil && !asks {
		return nil
	}
	return &Dialogs{of: a}
}

// Opened reads the contents that a gate asks about if they are too large for its row.
func (d *Dialogs) Opened(ctx context.Context, large Large, gate string) (*Dialogs, error) {
	switch a := d.of.(type) {
	case *task.Aggregate:
		opened, err := large.Opened(ctx, a, gate)
		return &Dialogs{of: opened}, err
	case *conversation.Aggregate:
		if x := a.Action(gate); x != nil && x.Payload.S3Key != "" {
			text, err := large.Open(ctx, a.Ref(), x.Payload)
			return &Dialogs{a, text}, err
		}
	}
	return d, nil
}

// ask returns what is shown of the gate that r names, or of none; then ok is false.
func (d *Dialogs) ask(r Review) (x explain.Ask, ok bool) {
	if a, asks := d.of.(explain.Asking); asks {
		x, ok = explain.AskOf(a, r.ID)
	}
	if !ok {
		x = explain.Ask{Asked: aggregate.Asked{Kind: r.Type, Gate: &aggregate.Gate{}}}
	}
	return x, ok
}

// Refused says why a click decided nothing. If a rule refused it, Refused also says who may decide.
func (d *Dialogs) Refused(err error, s tenancy.Settings) string {
	if a, asks := d.of.(explain.Asking); asks {
		return told(s.Locale, func(on explain.Surface) string { return on.RefusedOn(a, err, s) })
	}
	return told(s.Locale, func(on explain.Surface) string { return on.Refused(err, s, aggregate.Origin{}) })
}

// The ids of dialogs and their fields. The values of a choice are the kinds of what follows.
const (
	RejectionCallback = "rejection_reason_modal"
	ReasonBlock       = "rejection_reason_block"
	ReasonInput       = "rejection_reason_input"
	ThenBlock         = "rejection_then_block"
	ThenInput         = "rejection_then_input"
	CancelCallback    = "cancel_task_modal"
)

// Cancels is what somebody chooses beside circulation's kinds.
const Cancels circulation.Kind = "cancel"

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

// Rejection is the private_metadata of the dialogs that ❌ and ⋯ open, written as the specification spells it.
type Rejection struct {
	Type   aggregate.CardType `json:"type"` // of the gate's card
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`         // or that of the conversation or call
	Hash   string             `json:"hash,omitempty"`  // of the shown content
	Stage  int                `json:"stage,omitempty"` // which the person saw, of a gate under a rule
	Asked  string             `json:"asked,omitempty"` // what its stamps are on, of a gate under a rule
	Then   circulation.Kind   `json:"then,omitempty"`  // what comes of it, unless the person chooses
}

func (r Rejection) metadata() string {
	about := fmt.Sprintf(`{"type": %s, "id": %s, "task_id": %s`, metadata(r.Type), metadata(ident(r.ID)),
		metadata(ident(r.TaskID)))
	add := func(name string, v any, is bool) {
		if is {
			about += fmt.Sprintf(`, "%s": %s`, name, metadata(v))
		}
	}
	add("hash", ident(r.Hash), r.Hash != "")
	add("stage", r.Stage, r.Stage > 0)
	add("asked", ident(r.Asked), r.Asked != "")
	add("then", r.Then, r.Then != "")
	return about + "}"
}

// of is what a dialog about the gate of x carries, if then comes of it.
func (r Review) of(x explain.Ask, then circulation.Kind) Rejection {
	about := Rejection{Type: r.Type, ID: r.ID, TaskID: r.TaskID, Hash: r.Hash, Stage: r.Stage, Then: then}
	switch {
	case r.Stage > 0:
		about.Asked = x.Gate.AskedSum
	case then == circulation.SendBack: // all that there is
		about.Then = ""
	}
	return about
}

// reasonField asks for a rejection's reason.
func reasonField(called, example, typed string, optional bool) slack.Block {
	field := &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: ReasonInput, Multiline: true,
		Placeholder: label(example), InitialValue: typed}
	block := slack.NewInputBlock(ReasonBlock, label(called), nil, field)
	block.Optional = optional
	return block
}

// Rejection asks for the reason why a person rejects the gate that r names, and says what follows.
func (d *Dialogs) Rejection(r Review, locale string) slack.ModalViewRequest {
	x, _ := d.ask(r)
	return r.rejects(x, x.Ways(locale)[0], locale)
}

func (r Review) rejects(x explain.Ask, way explain.Way, locale string) slack.ModalViewRequest {
	w := wordsOf.In(locale)
	why, lost := w.surface().WhyNot(x)
	return modal(RejectionCallback, w.ModalTitle, way.Submit, w.ModalClose, r.of(x, way.Kind).metadata(),
		section(why+way.Follows+lost), reasonField(w.ModalTitle, way.Example, r.Words, false))
}

// More asks what else a person does with what waits: deny it, or cancel it, as far as they may.
func (d *Dialogs) More(r Review, deny, cancel bool, locale string) slack.ModalViewRequest {
	x, _ := d.ask(r)
	w, c, ways := wordsOf.In(locale), explain.Cancels(locale, r.Type), x.Ways(locale)[1:]
	switch {
	case !deny || len(ways) == 0:
		return modal(RejectionCallback, c.Title, c.Yes, c.No, r.of(x, Cancels).metadata(),
			append(d.about(locale), section(c.Text))...)
	case !cancel && len(ways) == 1:
		return r.rejects(x, ways[0], locale)
	}
	_, lost := w.surface().WhyNot(x)
	var options []*slack.OptionBlockObject
	for _, way := range ways {
		options = append(options, slack.NewOptionBlockObject(string(way.Kind), label(way.Submit), label(way.Follows)))
	}
	if cancel {
		options = append(options, slack.NewOptionBlockObject(string(Cancels), label(c.Yes), label(c.Text)))
	}
	choice := slack.NewRadioButtonsBlockElement(ThenInput, options...)
	blocks := append(append(d.about(locale), sectionOf([]string{lost})...),
		slack.NewInputBlock(ThenBlock, label(w.MoreWhat), nil, choice), reasonField(w.MoreWhy, ways[0].Example, "", true))
	return modal(RejectionCallback, w.MoreForm, w.MoreSubmit, c.No, r.of(x, "").metadata(), blocks...)
}

// Rejected is what such a dialog came back with. Its ids are not to be trusted; see modal.
type Rejected struct {
	Rejection
	Reason string
}

// ReadRejection reads a dialog from its private_metadata and its fields. value returns what a field holds. ok is false
// for one that another release drew.
func ReadRejection(about string, value func(block, input string) string) (r Rejected, ok bool) {
	ok = json.Unmarshal([]byte(about), &r.Rejection) == nil && r.Stage >= 0 && slices.Contains([]aggregate.CardType{
		task.CardPrompt, task.CardProcess, task.CardStep, conversation.CardAction, call.Card}, r.Type)
	r.Reason = value(ReasonBlock, ReasonInput)
	switch {
	case r.Then == "" && r.Stage > 0:
		r.Then = circulation.Kind(value(ThenBlock, ThenInput))
	case r.Then == "":
		r.Then = circulation.SendBack
	}
	ruled := r.Stage > 0 && r.Asked != "" && r.Then.Does().Ends
	return r, ok && (ruled || r.Then == Cancels || r.Stage == 0 && r.Then == circulation.SendBack)
}

// Cancellation is the private_metadata of the dialog that confirms a cancellation: the task, and where the click was.
type Cancellation struct {
	TaskID  string `json:"task_id"`
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
}

// Ending asks the person to confirm that a request is cancelled, or a conversation ends. note says why an earlier
// submission failed; empty: none did.
func (d *Dialogs) Ending(at Cancellation, note string, s tenancy.Settings) slack.ModalViewRequest {
	about := metadata(Cancellation{ident(at.TaskID), ident(at.Channel), ident(at.Thread)})
	if a, is := d.of.(*conversation.Aggregate); is {
		locale := Conversation{Aggregate: a}.locale(s)
		w := conversationWordsOf.In(locale)
		text := w.EndText
		if s := a.Conversation; s != nil && !s.IsCached {
			text = w.WillGo
		}
		return modal(CancelCallback, w.EndTitle, w.EndYes, wordsOf.In(locale).CancelNo, about,
			append(sectioned(text), sectionOf([]string{note})...)...)
	}
	kind := task.CardTask
	if _, is := d.of.(*call.Aggregate); is {
		kind = call.Card
	}
	c := explain.Cancels(s.Locale, kind)
	blocks := append(d.about(s.Locale), section(c.Text))
	return modal(CancelCallback, c.Title, c.Yes, c.No, about, append(blocks, sectionOf([]string{note})...)...)
}

// about names the request that a dialog would end, what it moves, and what tells it from others of that name.
func (d *Dialogs) about(locale string) []slack.Block {
	a, is := d.of.(*task.Aggregate)
	if !is {
		return nil
	}
	w, draw := askWordsOf.In(locale), drawing{w: wordsOf.In(locale)}
	title := []string{nameOf(a, w, "{text}")}
	if paid := worth(a, w, false); paid != "" {
		title = append([]string{paid + title[0]}, draw.apart(draw.sumOf(a).Lead)...)
	}
	return sectioned(fill(draw.w.CancelAbout, "title", strings.Join(title, " · ")))
}

// The action ids of a gate's further buttons, each followed by the kind.
const (
	ReviewAction   = "review_" // opens the dialog with all that it asks
	MoreAction     = "more_"   // opens the dialog with what else people may do
	ReviewCallback = "review_modal"
)

// Review is the private_metadata of a dialog that shows all of a gate's content. The client can change it, so its ids
// must match a row. Its hash says which content the person read.
type Review struct {
	Type   aggregate.CardType `json:"type"` // of the gate's card
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

// Review draws all that a gate asks about. It can be submitted only while the gate waits and all of its content is
// shown. ok is false when there is no such gate.
func (d *Dialogs) Review(r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	x, ok := d.ask(r)
	if !ok {
		return view, false
	}
	r.Type, r.Hash = x.Kind, x.Hash
	switch a := d.of.(type) {
	case *task.Aggregate:
		draw := drawing{a: a, w: wordsOf.In(locale)}
		v, _ := draw.versionOf(r.Type, func(_, other string) bool { return r.ID == other }, everything)
		title := v.words.Header
		if r.Type != task.CardStep {
			title = fmt.Sprintf("%s v%d", title, v.version)
		}
		v.body.cut = v.body.cut || v.sum.Unreadable() != ""
		return draw.reviewed(title, v.body, r, draw.route(x.Gate, x.Open, x.Origin), a.Ref()), true
	case *conversation.Aggregate:
		draw := drawingOf(Conversation{Aggregate: a, Payload: d.payload}, tenancy.Settings{}, time.Time{}, locale)
		act := a.Action(r.ID)
		whole := draw.actionBody(act, everything)
		p, _ := draw.read(act)
		whole.cut = whole.cut || explain.Unapprovable(p, locale) != ""
		return draw.reviewed(draw.title(draw.talk.Header, act), whole, r, draw.routeOfAction(act), a.Ref()), true
	case *call.Aggregate:
		draw := drawCall(a, Around{}, tenancy.Settings{}, locale, time.Time{})
		return draw.reviewed(draw.calls.Header, draw.callContent(everything), r, draw.routeOfCall(), a.Ref()), true
	}
	return view, false
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
	case !on.Open:
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
