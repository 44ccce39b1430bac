package conversation

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/words/language"
)

// Result is the result of an execution.
type Result struct {
	Status      ActionStatus     `json:"status"` // ActionSucceeded or ActionFailed
	Error       aggregate.Reason `json:"error_code,omitempty"`
	ErrorDetail string           `json:"error_detail,omitempty"`
	Detail      []Piece          `json:"-"` // ErrorDetail by who said it, for the agent; nil: not known
	ExitCode    *int             `json:"exit_code,omitempty"`
	Version     string           `json:"version,omitempty"` // the version of the files afterwards; empty: unchanged
	Lines       int              `json:"lines"`
	Dropped     int              `json:"dropped"`
	At          time.Time        `json:"at"` // when its work ended
	Tail        string           `json:"-"`  // end of the output, for the agent, each line after its number
	Gone        bool             `json:"-"`  // the files on which it was to work are lost
	Changed     *FilesChanged    `json:"changed_files,omitempty"`
	Call        *aggregate.Blob  `json:"call_result,omitempty"` // of a tool_call
	Tests       *Tests           `json:"tests,omitempty"`
	Pushed      *Pushed          `json:"-"` // how far a pull request came, for the action's row
}

// FilesChanged sums up what an action changed. The difference itself stands beside the version that it left.
type FilesChanged struct {
	Files   int      `json:"files"`
	Added   int      `json:"added,omitempty"`   // lines of text
	Removed int      `json:"removed,omitempty"` // lines of text
	Names   []string `json:"names"`             // the first few paths
	// Deleted counts those of Files that are deleted, and DeletedNames has the first few of their paths.
	Deleted      int      `json:"deleted,omitempty"`
	DeletedNames []string `json:"deleted_names,omitempty"`
}

// mostNames is how many paths a FilesChanged names.
const mostNames = 5

// SumOf sums up a difference.
func SumOf(changes []files.Change) *FilesChanged {
	out := &FilesChanged{Files: len(changes)}
	for i, c := range changes {
		added, removed := c.Count()
		out.Added, out.Removed = out.Added+added, out.Removed+removed
		if c.Is == nil {
			if out.Deleted++; out.Deleted <= mostNames {
				out.DeletedNames = append(out.DeletedNames, c.Path)
			}
		}
		if i < mostNames {
			out.Names = append(out.Names, c.Path)
		}
	}
	return out
}

const (
	// mostSummary and mostDetail limit the texts of a result in a row, in characters.
	mostSummary = 500
	mostDetail  = 2000
	// mostNotBegun is how often starting a sandbox may fail before the action fails. It equals the state machine's
	// retries, about two minutes in total. A network that was idle for weeks is rebuilt in that time.
	mostNotBegun = 9
)

// executedBy returns the action that the invocation executes. It returns ErrMoved if the invocation lost the claim, or
// the action has ended.
func (a *Aggregate) executedBy(id, invocation string) (*Action, error) {
	x, err := a.decidable(id)
	if err == nil && (x.Status != ActionExecuting || x.Claim == nil || x.Claim.Invocation != invocation) {
		err = aggregate.ErrMoved
	}
	return x, err
}

// Release gives back a claim if nothing has begun, so the action may be claimed again. After mostNotBegun times the
// action fails.
func (a *Aggregate) Release(id, invocation string, now time.Time) (aggregate.Change, error) {
	x, err := a.executedBy(id, invocation)
	if err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case x.NotBegun+1 < mostNotBegun:
	case x.Pushed != nil:
		return a.lost(x, now)
	default:
		return a.end(x, Result{Status: ActionFailed, Error: ReasonNotBegun}, now)
	}
	return a.freed(x, now)
}

// freed gives up the action's claim, so that the next invocation may claim it.
func (a *Aggregate) freed(x *Action, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	n := *x
	n.Claim = nil
	n.NotBegun++
	c.Put(&n)
	return c.done()
}

// FailApproved fails an approved action that turned out not to be executable before the claim: its command does not
// exist, or the files that it writes are refused. This may also happen before a second claim. A pull request whose
// commit was made by then is lost instead: its branch may be there.
func (a *Aggregate) FailApproved(run int, id string, r Result, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if a.Head.Run != run || x.Status != ActionApproved && (x.Status != ActionExecuting || x.Claim != nil) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if x.Pushed != nil && x.Pushed.Commit != "" {
		return a.lost(x, now)
	}
	r.Status = ActionFailed
	return a.end(x, r, now)
}

// Finish records the result of the call that invocation had claimed, even if its run is superseded. It ends an action
// that executes or whose outcome was unknown. For a cancelled action it only saves the result in Late. A late result's
// files stay the action's: the conversation's move with the action that executes alone. Recording it twice changes
// nothing. It returns ErrMoved if another invocation holds the claim.
func (a *Aggregate) Finish(id, invocation string, r Result, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Claim == nil || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	switch {
	case x.Status == ActionExecuting:
		return a.end(x, r, now)
	case x.Status == ActionFailed && x.Outcome == OutcomeUnknown:
		return a.truth(x, r, now)
	case x.Status == ActionCancelled && (x.Late == nil || x.Late.Error == ReasonUnknown):
		return a.late(x, r, now)
	}
	return aggregate.Change{}, nil
}

// end ends an action with a result.
func (a *Aggregate) end(x *Action, r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	c.active()
	c.over(x, r.Status, func(n *Action) {
		r.into(n, c.Conversation.Locale)
		n.NotTaken = !c.takeVersion(x, r)
	})
	as := AuditCompleted
	if r.Status == ActionFailed {
		as = AuditFailed
	}
	c.auditAction(aggregate.System(), as, x, map[string]any{"error": r.Error, "version": r.Version})
	return c.done()
}

// late keeps the result of an action that was cancelled beside its status. The agent is told with the next messages.
func (a *Aggregate) late(x *Action, r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	n := *x
	r = r.bounded()
	if r.At.IsZero() || r.At.After(c.Now) {
		r.At = c.Now
	}
	n.Late, n.Lines, n.Dropped = &r, r.Lines, r.Dropped
	n.steps(r.Pushed)
	if n.Pushed != nil && n.Pushed.Look != nil { // nobody needs to look any more
		n.look(nil, n.Pushed.Unseen)
	}
	c.Put(&n)
	c.say(n.toldLate(r, c.Conversation.Locale)) // nobody waits for an answer to it
	c.auditAction(aggregate.System(), AuditLate, x,
		map[string]any{"status": r.Status, "was": x.Status, "version": r.Version})
	return c.done()
}

// truth records the late result of an action whose outcome was unknown.
func (a *Aggregate) truth(x *Action, r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	is := c.move(x, r.Status, func(n *Action) {
		r.into(n, c.Conversation.Locale)
		n.Outcome, n.NotTaken = "", r.Version != "" && r.Version != x.Base
	})
	m := c.say(is.told(c.Conversation.Locale))
	if c.Conversation.Status != Closed {
		c.tell(m)
	}
	c.auditAction(aggregate.System(), AuditLate, x,
		map[string]any{"status": r.Status, "was": OutcomeUnknown, "version": r.Version})
	return c.done()
}

// takeVersion makes the files that an executing action left the conversation's. It reports false if they can't be
// taken, since the conversation's are not those with which the action began. If these are lost, it has none.
func (c *change) takeVersion(x *Action, r Result) bool {
	switch {
	case r.Version == "" && !r.Gone:
	case c.Conversation.WorkspaceVersion == x.Base:
		c.Conversation.WorkspaceVersion = r.Version
	default:
		return r.Version == "" || r.Version == x.Base
	}
	return true
}

// into writes the result into the action's row.
func (r Result) into(n *Action, locale string) {
	r = r.bounded()
	n.ResultSummary, n.Tests = language.First(r.sum(locale), mostSummary), r.Tests
	n.Error, n.ErrorDetail, n.ExitCode = r.Error, r.ErrorDetail, r.ExitCode
	n.Version, n.Lines, n.Dropped, n.Changed = r.Version, r.Lines, r.Dropped, r.Changed
	n.tail, n.CallResult = r.Tail, r.Call
	n.detail = r.Detail
	n.steps(r.Pushed)
}

func (r Result) bounded() Result {
	r.ErrorDetail = language.First(r.ErrorDetail, mostDetail)
	r.Detail = slices.Clone(r.Detail)
	for i := range r.Detail {
		r.Detail[i].Text = language.First(r.Detail[i].Text, mostDetail)
	}
	return r
}

// Crashed fails an action whose claim expired without a result. A command may have done anything, so its outcome is
// unknown and it is never repeated. Writing files certainly had no effect, because the workspace changes only with the
// result, and a tool that only reads never has one. A pull request, whose steps are there once however often they are
// made, is gone on with. It returns ErrNotDue if there is no such action, and ErrInFlight while the claim is live.
func (a *Aggregate) Crashed(now time.Time) (aggregate.Change, error) {
	x := a.Current()
	switch {
	case x == nil || x.Status != ActionExecuting || x.Claim == nil:
		return aggregate.Change{}, aggregate.ErrNotDue
	case x.leased(now):
		return aggregate.Change{}, aggregate.ErrInFlight
	case x.Pushed != nil && x.NotBegun+1 < mostNotBegun:
		return a.freed(x, now)
	}
	return a.lost(x, now)
}

func (a *Aggregate) lost(x *Action, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	why, outcome := x.cutOff()
	c.progress()
	c.over(x, ActionFailed, func(n *Action) { n.Outcome, n.Error = outcome, why })
	c.auditAction(aggregate.System(), AuditFailed, x, map[string]any{"error": why, "outcome": outcome})
	return c.done()
}

const (
	// mostKept is how many ended actions stay in the conversation's partition.
	mostKept = 20
	// mostLeave is how many of them are archived at once. The copies of their cards are removed too, and a transaction
	// is limited to 100 rows.
	mostLeave = 2
	// truthWithin is how long the result of an action with unknown outcome may still arrive. run-action ends within 13
	// minutes.
	truthWithin = time.Hour
)

// stays reports whether the action has not ended or its outcome may still become known.
func (x *Action) stays(now time.Time) bool {
	return !x.Status.Over() || x.unheard() || x.Pushed != nil && x.Pushed.Look != nil ||
		x.Outcome != "" && (x.CompletedAt == nil || now.Before(x.CompletedAt.Add(truthWithin)))
}

// archive moves the oldest ended actions to a list of their own. An action stays while its unknown outcome may still
// become known.
func (c *change) archive() {
	n := 0
	for _, x := range c.of.Actions {
		if !x.stays(c.Now) && c.Written(x.Key()) == nil {
			n++
		}
	}
	least := max(mostKept, n-mostLeave)
	for _, x := range c.of.Actions {
		if n <= least {
			return
		}
		if x.stays(c.Now) || c.Written(x.Key()) != nil {
			continue
		}
		old := *x
		if old.ApprovedBy == "" {
			old.DeleteAfter = c.Conversation.keep(c.Now)
		}
		c.Beside = append(c.Beside, aggregate.Listed{List: ActionsList, Of: c.Conversation.ID, Row: &old})
		c.Remove(x)
		if card := c.of.Card("CARD#" + string(CardAction) + "#" + ActionKey(x.Number)[len("ACTION#"):]); card != nil {
			c.Remove(card)
		}
		for _, card := range c.of.Copies {
			if card.About() == x.Key() {
				c.Remove(card)
			}
		}
		n--
	}
}

// Lost fails an action whose call ended without a result. It is called by the invocation that made the call.
func (a *Aggregate) Lost(id, invocation string, now time.Time) (aggregate.Change, error) {
	x, err := a.executedBy(id, invocation)
	if err != nil {
		return aggregate.Change{}, err
	}
	return a.lost(x, now)
}

// ReasonStopped says that a person stopped the agent before it answered.
const ReasonStopped aggregate.Reason = "stopped"

// Stop ends the conversation's current work: it cancels an action that is approved or executes, or answers
// waiting messages with a fixed sentence. Whoever may withdraw an action may stop it. Without current work
// nothing changes.
func (a *Aggregate) Stop(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Conversation == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if x := a.Current(); x != nil && x.Status != ActionPending {
		return a.Cancel(x.ActionID, by, p, now)
	}
	if err := a.mayWithdraw(nil, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.Status == Closed || a.Head.Resting || len(a.Inbox) == 0 {
		return aggregate.Change{}, nil
	}
	return a.Refused(a.Head.Run, a.Waiting(), Refusal{Reason: ReasonStopped,
		Text: wordsOf.In(a.Conversation.Locale).Stopped}, now)
}
