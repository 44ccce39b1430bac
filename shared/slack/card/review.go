package card

import (
	"fmt"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// The action ids of a Review's buttons.
const (
	ReviewAction   = "review_" // followed by the kind; opens the dialog
	ReviewTurn     = "turn_"   // followed by a direction; its value is the page's number
	ReviewCallback = "review_modal"
)

// Review is the private_metadata of a dialog that shows all of a gate's content, page by page. The client can change
// it, so its ids must match a row. Its hash says which content the person read on the last page.
type Review struct {
	Type   aggregate.CardType `json:"type"` // prompt, process or step
	ID     string             `json:"id"`
	TaskID string             `json:"task_id"`
	Page   int                `json:"page"` // from 0
	Hash   string             `json:"hash"`
	Stage  int                `json:"stage,omitempty"` // which the person saw, of a gate under a rule
	// ReadOnly leaves the button out, for people who may not approve.
	ReadOnly bool `json:"read_only,omitempty"`
	// Reader is who reads, of whom the client says nothing: a stamp of theirs that may be taken back has a button.
	Reader string `json:"-"`
	// AsWhom are those for whom the reader may act, if they stand in for several.
	AsWhom []circulation.Person `json:"-"`
}

// The most that a page of a dialog holds. Slack allows 100 blocks and doesn't document a limit of characters.
const (
	maxPageBlocks = 80
	maxPage       = 10000
)

// everything is a limit of sections that no text reaches.
const everything = 1 << 20

// ReviewModal draws the page r.Page, or the last page if there are fewer. Only the last page can be submitted, and only
// while the gate waits and all of its content could be shown. ok is false when there is no such gate.
func ReviewModal(a *task.Aggregate, r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	d := drawing{a: a, w: wordsOf.In(locale)}
	title, whole, ok := d.asked(r.Type, r.ID, everything)
	if !ok {
		return view, false
	}
	r.Hash = a.AskedHash(ident(r.ID))
	open := a.IsOpen(r.ID)
	return d.reviewed(title, whole, r, d.route(a.GateWith(r.ID), open), open, ReviewCallback), true
}

// Review draws a page of the dialog that shows all of an action.
func (t Conversation) Review(r Review, s tenancy.Settings) (view slack.ModalViewRequest, ok bool) {
	x := t.Action(r.ID)
	if x == nil {
		return view, false
	}
	d := drawingOf(t, s, s.Locale, time.Time{}) // the dialog is in its reader's language
	whole := d.body(x, everything)
	whole.cut = whole.cut || d.unapprovable(x) != ""
	r.Hash = t.AskedHash(x.ActionID)
	open := x.Status == conversation.ActionPending && x.Gate.Status == aggregate.PendingApproval
	r.Type = conversation.CardAction
	return d.reviewed(fill(d.texts.Header, "n", x.Number), whole, r, d.routeOf(x), open, ActionReviewCallback), true
}

// reviewed draws the page r.Page of a gate's content. open reports whether the gate still waits.
func (d drawing) reviewed(
	title string, whole body, r Review, on routed, open bool, callback string,
) slack.ModalViewRequest {
	w, all := d.w, paginated(whole.blocks)
	r.Page = max(0, min(r.Page, len(all)-1))
	r.ID, r.TaskID = ident(r.ID), ident(r.TaskID)
	last, value := r.Page == len(all)-1, r.ID
	if r.Type == conversation.CardAction {
		value += "/" + r.Hash
	}
	blocks := append([]slack.Block{header(title)}, all[r.Page]...)
	blocks = append(blocks, divider(), contextLine(fill(w.ReviewPage, "page", r.Page+1, "pages", len(all))))
	blocks = append(append(blocks, on.inDialog()...), on.dialogButtons(r, value, d.turns(r.Page, last))...)
	submit := ""
	switch {
	case !open:
		blocks = append(blocks, contextLine(w.ReviewOver))
	case r.ReadOnly || whole.cut:
		blocks = append(blocks, contextLine(w.ReviewReads))
	case last:
		submit = w.ReviewApprove
		blocks = append(blocks, contextLine(w.ReviewLast))
	default:
		blocks = append(blocks, contextLine(w.ReviewOn))
	}
	return modal(callback, w.ReviewTitle, submit, w.ReviewClose, metadata(r), blocks...)
}

// Told is a dialog with one text and no button but the one that closes it.
func Told(text, locale string) *slack.ModalViewRequest {
	w := wordsOf.In(locale)
	return new(modal("", w.ReviewTitle, "", w.ReviewClose, "", section(cut(text, maxSection))))
}

// turns returns the buttons to the previous and the next page.
func (d drawing) turns(page int, last bool) []slack.BlockElement {
	var out []slack.BlockElement
	if page > 0 {
		out = append(out, button(d.w.ReviewBefore, ReviewTurn+"back", fmt.Sprint(page-1), ""))
	}
	if !last {
		out = append(out, button(d.w.ReviewNext, ReviewTurn+"on", fmt.Sprint(page+1), slack.StylePrimary))
	}
	return out
}

// asked draws the content of the gate with this id, in up to most sections.
func (d drawing) asked(kind aggregate.CardType, id string, most int) (title string, b body, ok bool) {
	v, ok := d.versionOf(kind, func(_, other string) bool { return id == other }, most)
	if title = v.words.Header; kind != task.CardStep {
		title = fmt.Sprintf("%s v%d", title, v.version)
	}
	return title, v.body, ok
}

// Whole reports whether a gate's card shows all of its content, so that people may approve with a click on the card. It
// is false for a gate that doesn't exist.
func Whole(a *task.Aggregate, kind aggregate.CardType, id, locale string) bool {
	_, b, _ := drawing{a: a, w: wordsOf.In(locale)}.asked(kind, id, maxPages)
	return !b.bounded().cut
}

// paginated distributes blocks over pages in their order.
func paginated(blocks []slack.Block) [][]slack.Block {
	var out [][]slack.Block
	var page []slack.Block
	used, lines := 0, 0
	for _, b := range blocks {
		n, high := characters(b), blockHeight(b)
		if len(page) > 0 && (len(page) == maxPageBlocks || used+n > maxPage || lines+high > maxBodyLines) {
			out, page, used, lines = append(out, page), nil, 0, 0
		}
		page, used, lines = append(page, b), used+n, lines+high
	}
	return append(out, page)
}
