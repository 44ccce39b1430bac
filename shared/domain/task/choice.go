package task

import (
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// ChoiceAs is how people chose to treat a message that was written beside a waiting gate.
type ChoiceAs string

const (
	AsReason  ChoiceAs = "reason"  // a reason to reject the waiting version
	AsAnswer  ChoiceAs = "answer"  // the answer to the question that waits
	AsRequest ChoiceAs = "request" // a new request
)

// ThreadGate identifies a gate of another task that waits in the same thread.
type ThreadGate struct {
	TaskID  string             `json:"task_id"`
	Title   string             `json:"title"`
	ID      string             `json:"id"` // the gate's id
	Kind    aggregate.CardType `json:"kind"`
	Version int                `json:"version"`         // version of a prompt or process; for a step gate, the step's number
	Later   int                `json:"later,omitempty"` // the request's newest version when this was asked, see Glance
	// Ruled: a rejection has to say what comes after it, so no message is a reason.
	Ruled    bool `json:"ruled,omitempty"`
	Question int  `json:"question,omitempty"` // number, from 1, of the one that waits for the message's author; 0: none
}

// Choice asks people how to treat a message. Nothing is generated until they decide.
type Choice struct {
	aggregate.Meta
	ID        string          `json:"id"`
	Gate      ThreadGate      `json:"beside"`
	Terms     aggregate.Terms `json:"terms"`
	As        ChoiceAs        `json:"as,omitempty"` // empty: not decided
	DecidedBy string          `json:"decided_by,omitempty"`
	DecidedAt *time.Time      `json:"decided_at,omitempty"`
	Over      bool            `json:"over,omitempty"`      // the time limit passed or the message was withdrawn
	GateOver  bool            `json:"gate_over,omitempty"` // the gate no longer waits; the message can't be a reason
	CreatedAt time.Time       `json:"created_at"`
}

// ChoiceKey is the key of a task's choice; a task has at most one.
const ChoiceKey = "CHOICE"

func (r *Choice) Key() string             { return ChoiceKey }
func (r Choice) At(rev int) aggregate.Row { r.Rev = rev; return &r }

// Threaded reports whether the message is a reply in a thread.
func (r *Request) Threaded() bool { return r.ThreadTS != "" && r.ThreadTS != r.MessageTS }

// Choosing returns the choice if it waits for a person, else nil.
func (a *Aggregate) Choosing() *Choice {
	if a.Choice == nil || a.Choice.As != "" || a.Head.Ended != nil {
		return nil
	}
	return a.Choice
}

// choiceAsRead returns the choice, or an empty row, for a Change that relies on it or on its absence.
func (a *Aggregate) choiceAsRead() aggregate.Row {
	if a.Choice == nil {
		return &Choice{}
	}
	return a.Choice
}

// OpenGateBeside describes the gate in a that waits for people, and returns false if there is none.
func (a *Aggregate) OpenGateBeside() (b ThreadGate, ok bool) {
	open, waits := a.OpenGate()
	if !waits || a.WaitingTerms() == nil {
		return ThreadGate{}, false
	}
	b = ThreadGate{TaskID: a.Head.TaskID, ID: open.ID, Kind: open.Kind, Version: open.Version,
		Later: a.Head.Glance.Version}
	if a.Task != nil {
		b.Title = a.Task.Title
	}
	b.Ruled = a.GateWith(open.ID).Ruled()
	if g, step := a.gateOf(open.ID).(*StepGate); step {
		b.Version = g.Order
	}
	return b, true
}

// QuestionTo returns the number of the question that waits for this person's answer at the gate with this id, counted
// from 1, or 0.
func (a *Aggregate) QuestionTo(user, id string) int {
	g := a.GateWith(id)
	if !g.Ruled() || !slices.ContainsFunc(g.Askers, func(p circulation.Person) bool { return p.User == user }) {
		return 0
	}
	st := circulation.Walk(g.Circulating())
	if st.Open() == nil {
		return 0
	}
	return len(st.Questions)
}

// courtesyForm matches what thanks, acknowledges or greets in both languages and asks for nothing: each word of the
// text and each emoji. A question mark asks.
var courtesyForm = language.Regexp{Text: `(?i)^[\s!.,;'"()。、・…~〜^_-]*(?:(?:` +
	`(?:本当に|ほんとうに|誠に|どうも|いつも|早速)*(?:ありがと[うーぉ]*|有り?難う)(?:ございま(?:す|した))?ね?|どうも|サンクス|` +
	`感謝(?:です|します|いたします|致します)?|助かり(?:ます|ました)|お(?:疲れ|つかれ)(?:様|さま)(?:です|でした)?|` +
	`(?:了解|りょうかい|承知)(?:です|しました|いたしました|致しました)?|かしこまりました|(?:分|わ)かりました|` +
	`(?:\bok|オッケー|オーケー)(?:です)?|(?:宜|よろ)しく(?:お?願い(?:します|いたします|致します|申し上げます))?|` +
	`\b(?:(?:(?:many )?thanks(?: a lot)?|thank you|thx|tysm|ty)(?: (?:so|very) much)?(?: again| all| everyone)?|` +
	`(?:much |really )?appreciated|cheers|okay|okey|got it|understood|noted|roger(?: that)?|` +
	`(?:sounds|looks) good(?: to me)?|lgtm|(?:good|great|nice) (?:job|work)|well done|` +
	`great|nice|perfect|awesome|cool)\b|` +
	`:[\p{L}\p{N}_+'-]+:|[\p{So}\x{1F3FB}-\x{1F3FF}\x{200D}\x{FE0F}])[\s!.,;'"()。、・…ー~〜^_-]*)+$`}

// Courtesy reports whether the message is nothing but a courtesy, such as thanks. Nobody is asked about it beside a
// gate.
func (r *Request) Courtesy() bool {
	return len(r.Forwarded)+len(r.Files)+r.MoreFiles == 0 && courtesyForm.Get().MatchString(legible.Narrow(r.Text))
}

// Ask opens the choice of how to treat the message, or answers a courtesy. It changes nothing if people were already
// asked or the first layer is done. If the requester has another open choice beside the same gate, the commit fails
// with ErrFull.
func (a *Aggregate) Ask(run int, b ThreadGate, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Choice != nil || a.Task != nil {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.progress()
	if a.Request.Courtesy() {
		c.audit(aggregate.System(), AuditRequestAnswered, "task", a.Head.TaskID,
			map[string]any{"reason": ReasonCourtesy, "requester": a.Head.Requester})
		return c.ended(nil, TaskAnswered, aggregate.System(), ReasonCourtesy)
	}
	row := &Choice{Gate: b, Terms: a.terms(true, s, c.Now), CreatedAt: c.Now}
	row.ID = a.rowID(row.Key(), c.Now)
	c.Put(row)
	c.RelyOn(&Task{})
	return c.done()
}

// GiveWay ends a message that nobody decided about because its author wrote a newer one beside a gate that waits in the
// thread. It changes nothing if the message was decided about, accepted or ended meanwhile.
func (a *Aggregate) GiveWay(now time.Time) (aggregate.Change, error) {
	switch {
	case a.Request == nil:
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	case a.Choosing() == nil && !a.Waiting():
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: a.Request.TeamID}
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonNewerMessage})
	return c.ended(nil, TaskCancelled, by, ReasonNewerMessage)
}

// TakeAsRequest makes the message a new request and starts a run. It returns ErrDecided, ErrNotAllowed or ErrNotFound.
// If the same person chooses it twice, the second time changes nothing.
func (a *Aggregate) TakeAsRequest(
	id string, by aggregate.Actor, p aggregate.Policy, now time.Time,
) (aggregate.Change, error) {
	c, ok, err := a.choose(id, AsRequest, by, p.Withdraw(by, a.Head.Requester), now)
	if !ok {
		return aggregate.Change{}, err
	}
	c.startRun()
	return c.done()
}

// TakeAsReason ends the task because its message becomes the reason of a rejection. The rejection is the other task's
// Change in the same commit. shown is what the message said where the person clicked: what nobody read is nobody's
// reason. It returns the same errors as TakeAsRequest, or ErrEdited.
func (a *Aggregate) TakeAsReason(
	id, shown string, by aggregate.Actor, p aggregate.Policy, now time.Time,
) (aggregate.Change, error) {
	c, ok, err := a.choose(id, AsReason, by, a.read(shown, p.Reject(by)), now)
	if !ok {
		return aggregate.Change{}, err
	}
	return c.ended(nil, TaskAnswered, by, ReasonBecameReason)
}

// read returns refused, or ErrEdited if the message says something else by now than what was shown.
func (a *Aggregate) read(shown string, refused error) error {
	if refused == nil && a.Request.Saying() != shown {
		return ErrEdited
	}
	return refused
}

// Answerable reports whether people may choose that the message is the answer to the question that waits: it is one
// that the answer's form would take.
func (a *Aggregate) Answerable() bool {
	row := a.Choosing()
	return row != nil && row.Gate.Question > 0 && !row.GateOver && legible.Text(a.Request.Text) &&
		utf8.RuneCountInString(a.Request.Text) <= circulation.MaxText
}

// TakeAsAnswer ends the task because its message becomes the answer to a question, which only its author says. The
// answer is the other task's Change in the same commit. It returns the same errors as TakeAsReason.
func (a *Aggregate) TakeAsAnswer(
	id, shown string, by aggregate.Actor, p aggregate.Policy, now time.Time,
) (aggregate.Change, error) {
	refused := p.Request(by)
	if by.ID != a.Head.Requester {
		refused = aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	}
	c, ok, err := a.choose(id, AsAnswer, by, a.read(shown, refused), now)
	if !ok {
		return aggregate.Change{}, err
	}
	return c.ended(nil, TaskAnswered, by, ReasonBecameAnswer)
}

// choose begins the Change of a choice; ok is false if there is nothing to change. refused says why by may not choose.
func (a *Aggregate) choose(id string, as ChoiceAs, by aggregate.Actor, refused error, now time.Time) (
	c *change, ok bool, err error) {
	row := a.Choice
	switch {
	case row == nil || row.ID != id:
		return nil, false, aggregate.ErrNotFound
	case row.As == as && row.DecidedBy == by.ID:
		return nil, false, nil
	case row.As != "" && row.DecidedAt != nil:
		return nil, false, aggregate.ErrDecided{Status: string(row.As), By: row.DecidedBy, At: *row.DecidedAt}
	case a.Head.Ended != nil:
		return nil, false, a.ended()
	}
	if refused != nil {
		return nil, false, refused
	}
	c = a.begin(now)
	c.progress()
	n := *row
	n.As, n.DecidedBy, n.DecidedAt = as, by.ID, &c.Now
	c.Put(&n)
	c.audit(by, AuditRequestChosen, "task", a.Head.TaskID,
		map[string]any{"as": as, "beside": row.Gate.TaskID, "gate": row.Gate.ID})
	return c, true, nil
}

// GateOver records that the gate beside which the message was written no longer waits. People can then still make the
// message a request, but not a reason. other is the gate's task, nil if it is gone. It returns ErrNotDue while the gate
// waits, or if the choice is not open.
func (a *Aggregate) GateOver(other *Aggregate, now time.Time) (aggregate.Change, error) {
	row := a.Choosing()
	if row == nil || row.GateOver {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	if other != nil {
		if open, waits := other.OpenGate(); waits && open.ID == row.Gate.ID {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
	}
	c := a.begin(now)
	n := *row
	n.GateOver = true
	c.Put(&n)
	return c.done()
}

// expireChoice ends a task whose choice was not made in time.
func (a *Aggregate) expireChoice(row *Choice, now time.Time) (aggregate.Change, error) {
	if row.Terms.DecideBy == nil || !now.After(*row.Terms.DecideBy) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.audit(aggregate.System(), AuditTaskExpired, "task", a.Head.TaskID, map[string]any{"hours": row.Terms.ApprovalHours})
	return c.ended(nil, TaskCancelled, aggregate.System(), ReasonExpired)
}

// closeChoice closes an open choice unless c decides it. If no choice was opened and no task exists yet, c relies on
// there being no choice.
func (c *change) closeChoice() {
	switch row := c.choice; {
	case row == nil && c.Head.AcceptedAt == nil:
		c.RelyOn(&Choice{})
	case row != nil && row.As == "" && c.Written(ChoiceKey) == nil:
		n := *row
		n.Over = true
		c.Put(&n)
	}
}

// asked counts a person's open choices beside one gate. Only one is allowed, so that nobody can fill a thread with
// these cards, which are placed before all others.
func (c *change) asked() []aggregate.Count {
	row, ok := c.Written(ChoiceKey).(*Choice)
	if !ok {
		return nil
	}
	n := aggregate.Count{
		Key: "ASKED#" + c.Head.Requester + "#" + row.Gate.ID, Reason: ReasonAsked,
		Keep: latest(c.Now, row.Terms.DecideBy).Add(keptFor),
	}
	switch {
	case row.Revision() == 0:
		n.By, n.Most = 1, 1
	case row.As != "" || row.Over:
		n.By = -1
	default:
		return nil
	}
	return []aggregate.Count{n}
}
