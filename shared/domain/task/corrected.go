package task

import (
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Correction is the latest change of the request's message by its author, in Slack. While nothing is drafted the new
// text becomes the request's; later it waits until its author has it drafted anew, and counts for nothing before.
type Correction struct {
	aggregate.Meta
	Text    string    `json:"text"`
	Edited  string    `json:"edited"` // Slack's time of the change, by which late deliveries are known
	Deleted bool      `json:"deleted,omitempty"`
	Late    bool      `json:"late,omitempty"` // after the decision: it doesn't count
	Anew    bool      `json:"anew,omitempty"` // drafting anew has begun; the first layer is next
	Taken   bool      `json:"taken,omitempty"`
	SeenAt  time.Time `json:"seen_at"`
}

// CorrectionKey is the key of a task's correction; a task has at most one.
const CorrectionKey = "CORRECTION"

func (r *Correction) Key() string             { return CorrectionKey }
func (r Correction) At(rev int) aggregate.Row { r.Rev = rev; return &r }

// Corrected returns the change of the message that the drafts don't have, or nil.
func (a *Aggregate) Corrected() *Correction {
	if r := a.Correction; r != nil && a.Request != nil && !r.Taken && (r.Deleted || r.Text != a.Request.Text) {
		return r
	}
	return nil
}

// anew reports whether the first layer reads a corrected request.
func (a *Aggregate) anew() bool {
	return a.Correction != nil && a.Correction.Anew && a.Head.Ended == nil
}

// unread reports whether the first layer has the present request still to read.
func (a *Aggregate) unread() bool { return a.Task == nil || a.anew() }

// drafting reports whether the newest policy is drafted or waits again though steps were planned by an earlier one.
func (a *Aggregate) drafting() bool {
	p := a.Prompt()
	return p != nil && p.Status != aggregate.Approved && a.Process() != nil && a.Execution() == nil
}

// redrafted reports whether a gate closed because its request is drafted anew.
func (a *Aggregate) redrafted(row Gated) bool {
	_, policy := row.(*Prompt)
	_, steps := row.(*Process)
	return a.Correction != nil && a.Correction.Taken && a.Head.Ended == nil && (policy || steps)
}

// Redraftable reports whether the author may have the corrected request drafted anew now: a policy or steps wait, and
// further versions are left.
func (a *Aggregate) Redraftable() bool {
	c := a.Corrected()
	open, waits := a.OpenGate()
	if c == nil || c.Late || c.Deleted || !waits || strings.TrimSpace(c.Text) == "" || a.Execution() != nil {
		return false
	}
	most := open.Terms.MaxVersions
	return a.Prompt().Version < most && (a.Process() == nil || a.Process().Version < most)
}

// Correct records that the requester edited the message, or deleted it. edited is Slack's time of that. What was edited
// before anything was drafted is drafted; a deletion ends what no execution has begun. An older change, and one that
// leaves the text as it is, changes nothing. It returns ErrNotAllowed if somebody else wrote the message.
func (a *Aggregate) Correct(text, edited string, deleted bool, by aggregate.Actor, now time.Time) (aggregate.Change, error) {
	was := a.Correction
	switch {
	case a.Request == nil:
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	case by.ID != a.Head.Requester:
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	case was != nil && (was.Deleted || !deleted && was.Edited >= edited):
		return aggregate.Change{}, nil
	case was == nil && !deleted && text == a.Request.Text, was != nil && !deleted && text == was.Text:
		return aggregate.Change{}, nil
	}
	row := &Correction{Text: text, Edited: edited, Deleted: deleted}
	if was != nil {
		row.Meta = was.Meta
		row.Anew = was.Anew
	}
	row.Late = a.Head.Ended != nil || a.Execution() != nil
	if deleted && !row.Late {
		return a.takeBack(row, by, now)
	}
	c := a.begin(now)
	row.SeenAt = c.Now
	if !row.Late && a.unread() {
		r := *a.Request
		r.Text = text
		c.Put(&r)
		row.Taken = true
		c.progress()
		if a.Choosing() == nil {
			c.startRun() // what the earlier text is read for now comes too late
		}
	}
	c.Put(row)
	a.relyOnStage(c)
	c.audit(by, AuditRequestEdited, "task", a.Head.TaskID, map[string]any{"counts": row.Taken, "deleted": deleted,
		"text_hash": aggregate.HashOf(text)})
	return c.done()
}

// takeBack ends a task whose message its author deleted.
func (a *Aggregate) takeBack(row *Correction, by aggregate.Actor, now time.Time) (aggregate.Change, error) {
	c := a.withdraw(by, aggregate.Cancelled, now)
	row.SeenAt = c.Now
	c.Put(row)
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDeleted})
	return c.ended(a.Task, TaskCancelled, by, ReasonDeleted)
}

// Redraft has a corrected request drafted anew: the text is the request's from now on, and the gate that waits closes
// with its stamps. Only the requester may. It returns ErrNothingToRetry if there is nothing to draft anew; a second
// click changes nothing.
func (a *Aggregate) Redraft(by aggregate.Actor, _ aggregate.Policy, now time.Time) (aggregate.Change, error) {
	switch {
	case by.ID != a.Head.Requester:
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	case a.Head.Ended != nil:
		return aggregate.Change{}, a.ended()
	case a.Correction != nil && a.Correction.Taken:
		return aggregate.Change{}, nil
	case !a.Redraftable():
		return aggregate.Change{}, ErrNothingToRetry
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.progress()
	c.startRun()
	r, row := *a.Request, *a.Correction
	r.Text, row.Taken, row.Anew = row.Text, true, true
	c.Put(&r)
	c.Put(&row)
	open, _ := a.OpenGate()
	c.audit(by, AuditRequestRedrafted, "task", a.Head.TaskID, map[string]any{"gate": open.ID, "version": open.Version,
		"text_hash": aggregate.HashOf(row.Text)})
	return c.done()
}

// extractedAnew replaces what the first layer read of a request by what it reads of the corrected one, and begins the
// next version of the policy; see Extracted.
func (a *Aggregate) extractedAnew(e Extract, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	row := *a.Correction
	row.Anew = false
	c.Put(&row)
	if e.Kind.plain() {
		c.Put(&Answer{Kind: e.Kind, Sentence: e.Sentence, CreatedAt: c.Now})
		c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": e.Kind.reason()})
		return c.ended(a.Task, TaskCancelled, aggregate.System(), e.Kind.reason())
	}
	t := *a.Task
	t.Title, t.Description, t.Priority, t.TaskType, t.UpdatedAt = e.Title, e.Description, e.Priority, e.TaskType, c.Now
	t.RouteAskers = Others(a.Head.Requester, append(t.RouteAskers, e.Shown...)...)
	c.Put(&t)
	if !e.Last {
		c.beginPrompt(a.Prompt().Version + 1)
	}
	c.Made = &t
	return c.done()
}
