package conversation

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Prefixes of the bucket's keys below which a conversation's own objects stand: tenant and id follow.
const (
	TalksPrefix    = "talks/"               // payloads
	PromptsPrefix  = "prompts/"             // what models were sent
	VersionsPrefix = "workspaces/versions/" // its files
	AttachedPrefix = "workspaces/attached/" // versions of what people attached
	ActionsPrefix  = "workspaces/actions/"  // what a running command reads and uploads

	DownloadsPrefix = "workspaces/downloads/" // of files by people; the bucket deletes them after a day
)

// StampedPrefix begins the keys of what people stamped. Such objects live as long as the audit log.
const StampedPrefix = "arguments/"

// Objects lists the prefixes below which everything is deleted when a conversation is forgotten.
var Objects = []string{TalksPrefix, PromptsPrefix, VersionsPrefix, AttachedPrefix, ActionsPrefix, DownloadsPrefix}

const (
	// AuditForgotten records that nothing is left of a conversation but what was stamped.
	AuditForgotten aggregate.Action = "session.forgotten"

	// lastWrite is how long after a conversation began to be forgotten somebody may still write its rows or objects, or
	// draw its cards: longer than any function runs, and than any claim lasts. Who begins later finds no conversation.
	lastWrite = 15 * time.Minute
)

// forgetNow begins to destroy a closed conversation that is not kept, once nobody may see it any more. From then on
// nothing is decided on it. It returns ErrNotDue before that time.
func (a *Aggregate) forgetNow(now time.Time) (aggregate.Change, error) {
	if a.Head.ForgettingAt != nil || !a.Head.Forgotten(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.forgetting(now, func(d *aggregate.Draft, h *Head) { h.ForgettingAt, h.Resting, h.Acting = &d.Now, true, "" })
}

// erasable reports whether the conversation's rows and objects must be deleted at now.
func (a *Aggregate) erasable(now time.Time) bool {
	return a.Head.ForgettingAt != nil && a.Head.ErasedAt == nil && !now.Before(a.Head.ForgettingAt.Add(lastWrite))
}

// undrawn reports whether cards of a conversation that is being forgotten may still have the button to begin anew.
func (a *Aggregate) undrawn() bool {
	return a.Head.ForgettingAt != nil && a.Head.ErasedAt == nil && a.Conversation != nil && len(a.Cards) > 0 &&
		!a.Head.Shown()
}

// erased records that nothing is left but the head and what was stamped. It returns ErrNotDue if that is recorded, or
// nothing may be deleted yet.
func (a *Aggregate) erased(now time.Time) (aggregate.Change, error) {
	if !a.erasable(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.forgetting(now, func(d *aggregate.Draft, h *Head) {
		h.ErasedAt = &d.Now
		d.Record(h, aggregate.System(), AuditForgotten, "session", h.SessionID, nil)
	})
}

// forgetting makes a Change of the head alone, since the other rows may be gone.
func (a *Aggregate) forgetting(now time.Time, fill func(d *aggregate.Draft, h *Head)) (aggregate.Change, error) {
	d, head := &aggregate.Draft{}, a.Head
	d.Now = a.Head.Moment(now)
	head.ChangedAt = d.Now
	fill(d, &head)
	return d.Done(&head)
}

// lasting returns a payload under the key below which it lives as long as the audit log. It is copied there before the
// commit.
func (c *change) lasting(b aggregate.Blob) aggregate.Blob {
	if key, ok := strings.CutPrefix(b.S3Key, TalksPrefix); ok {
		to := StampedPrefix + key
		c.Copies = append(c.Copies, aggregate.Copy{From: b.S3Key, To: to})
		b.S3Key = to
	}
	return b
}

// unheard returns the action that was withdrawn while an invocation executed it, as long as nobody has recorded what
// became of it; nil if there is none.
func (a *Aggregate) unheard() *Action {
	if a.Conversation == nil {
		return nil
	}
	return aggregate.First(a.Actions, (*Action).unheard)
}

func (x *Action) unheard() bool {
	return x.Status == ActionCancelled && x.CancelReason == ReasonWithdrawn && x.Claim != nil && x.Late == nil &&
		(x.Pushed == nil || x.Pushed.Look == nil && x.Pushed.Unseen == "")
}

// EndWithdrawn records what is known of a withdrawn action whose invocation ended without a result: of a pull request a
// run looks what is there, unless the conversation has ended. It returns ErrNotDue if there is no such action, and
// while its invocation may still record the result.
func (a *Aggregate) EndWithdrawn(now time.Time) (aggregate.Change, error) {
	x := a.unheard()
	if x == nil || x.leased(now) || a.Head.Forgotten(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	begun := x.Pushed != nil && x.Pushed.Commit != "" // its branch may be there
	if begun && a.Conversation.Status != Closed {
		c := a.begin(now)
		c.progress()
		n := *x
		n.lookWhatIsThere(x.CancelledBy, c.Now)
		c.Put(&n)
		c.auditAction(aggregate.System(), AuditLooked, x, map[string]any{"branch": x.Pushed.Branch})
		return c.done()
	}
	why, _ := x.cutOff()
	return a.late(x, Result{Status: ActionFailed, Error: why, Lines: x.Lines, Dropped: x.Dropped}, now)
}

// deletedBy returns the message in the inbox by which a person deleted one from which the action came, or nil.
func (x *Action) deletedBy(inbox []*Inbox) *Inbox {
	return aggregate.First(inbox, func(i *Inbox) bool { return i.Deleted && slices.Contains(x.AskedIn, i.Changes) })
}

// takeBack withdraws the action that waits if one of the messages from which it came was deleted. Slack doesn't say who
// deleted a message.
func (a *Aggregate) takeBack(c *change, seen []*Inbox) {
	x := a.Current()
	if x == nil || x.Status != ActionPending || x.deletedBy(seen) == nil {
		return
	}
	c.over(x, ActionCancelled, func(n *Action) {
		n.settle(aggregate.Cancelled)
		n.CancelReason = ReasonDeleted
	})
	c.auditAction(aggregate.System(), AuditCancelled, x, map[string]any{"was": x.Status, "reason": ReasonDeleted})
}

// cutOff returns what is known of an action whose invocation ended without a result.
func (x *Action) cutOff() (why aggregate.Reason, outcome Outcome) {
	switch {
	case x.ActionType == CodeGenerate, x.Pushed != nil && x.Pushed.Commit == "":
		return ReasonInterrupted, ""
	case x.Reads():
		return ReasonReadCutOff, ""
	}
	return ReasonUnknown, OutcomeUnknown
}
