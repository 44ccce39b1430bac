package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Pushed is how far an action that opens a pull request has come. Each step stands in the row before the next is made,
// so that whoever goes on with it knows what to look for. All steps can be made again and are there once.
type Pushed struct {
	Repository string `json:"repository"` // owner/name
	Base       string `json:"base"`       // the commit on which it is made
	Branch     string `json:"branch"`
	Commit     string `json:"commit,omitempty"` // made; nobody sees it without the branch
	There      bool   `json:"there,omitempty"`  // the branch leads to the commit
	Number     int    `json:"number,omitempty"` // of the pull request
	// Look says that a person asked to look what of it is there, and Unseen why the last look came to nothing.
	Look   *Look            `json:"look,omitempty"`
	Unseen aggregate.Reason `json:"unseen,omitempty"`
}

// Look is a person's wish to know what became of an action.
type Look struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// URL is the address of the pull request on GitHub, of the branch, or "" before either is there.
func (p Pushed) URL() string {
	at := "https://github.com/" + p.Repository
	switch {
	case p.Number > 0:
		return fmt.Sprintf("%s/pull/%d", at, p.Number)
	case p.There:
		return at + "/tree/" + p.Branch
	}
	return ""
}

// Reasons why a pull request was not opened.
const (
	ReasonBranchAlone  aggregate.Reason = "branch_without_pull_request"
	ReasonBranchTaken  aggregate.Reason = "branch_taken"
	ReasonPushRefused  aggregate.Reason = "push_refused"   // GitHub refused it, or what it would change
	ReasonPushOther    aggregate.Reason = "push_tree"      // GitHub made another tree than was approved
	ReasonPushSource   aggregate.Reason = "push_source"    // the settings don't list the source as it was
	ReasonPushNotThere aggregate.Reason = "push_not_there" // a look found nothing
	ReasonPushUnseen   aggregate.Reason = "push_unseen"    // a look could not be made
)

// AuditLooked records that a person asked to look what became of an action.
const AuditLooked aggregate.Action = "action.looked"

// onCommit reports whether the conversation's files are still those of the commit on which a pull request is made.
func (s *Conversation) onCommit(p *Pushed) bool {
	return p == nil || s.Source != nil && s.Source.State == SourceThere && s.Source.Commit == p.Base &&
		s.Source.Repository == p.Repository
}

// Step records how far the push has come that the invocation makes. It returns ErrMoved if the action was withdrawn, or
// another invocation goes on with it, and ErrConflict for a step that contradicts an earlier one.
func (a *Aggregate) Step(id, invocation string, to Pushed, now time.Time) (aggregate.Change, error) {
	x, err := a.executedBy(id, invocation)
	if err != nil {
		return aggregate.Change{}, err
	}
	next, err := x.pushed(to)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	n := *x
	n.Pushed = next
	c.Put(&n)
	return c.done()
}

// pushed returns the row's Pushed with further steps.
func (x *Action) pushed(to Pushed) (*Pushed, error) {
	if x.Pushed == nil {
		return nil, fmt.Errorf("action %s opens no pull request: %w", x.ActionID, aggregate.ErrConflict)
	}
	next := *x.Pushed
	if next.Commit != "" && next.Commit != to.Commit || next.Number > 0 && next.Number != to.Number {
		return nil, fmt.Errorf("action %s has made another step: %w", x.ActionID, aggregate.ErrConflict)
	}
	next.Commit, next.There, next.Number = to.Commit, next.There || to.There, to.Number
	return &next, nil
}

// steps adds the steps of a result to the action's row.
func (x *Action) steps(to *Pushed) {
	if to == nil {
		return
	}
	if next, err := x.pushed(*to); err == nil {
		x.Pushed = next
	}
}

// Unsure returns the action with this id if nobody knows what of its pull request is there.
func (a *Aggregate) Unsure(id string) *Action {
	if x := a.Action(id); x != nil && x.Pushed != nil && x.Outcome == OutcomeUnknown {
		return x
	}
	return nil
}

// Check has a run look what of an unsure pull request is there. Whoever may withdraw the action may ask for that. It
// returns ErrDecided if its result is known.
func (a *Aggregate) Check(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if a.Unsure(id) == nil || a.Conversation == nil || a.Conversation.Status == Closed {
		return aggregate.Change{}, x.Decided()
	}
	if err := a.mayWithdraw(x, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if x.Pushed.Look != nil {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.progress()
	c.active()
	n := *x
	n.look(&Look{By: by.ID, At: c.Now}, "")
	c.Put(&n)
	c.auditAction(by, AuditLooked, x, map[string]any{"branch": x.Pushed.Branch})
	return c.done()
}

// Looking returns the action of which a run is to look what is there, or nil.
func (a *Aggregate) Looking() *Action {
	return aggregate.First(a.Actions, func(x *Action) bool {
		withdrawn := x.Status == ActionCancelled && x.Late == nil
		return x.Pushed != nil && x.Pushed.Look != nil && (x.Outcome == OutcomeUnknown || withdrawn)
	})
}

// lookWhatIsThere has a run look what is there of a push that is withdrawn: no invocation is left that knows whether
// its branch was made.
func (n *Action) lookWhatIsThere(by string, now time.Time) {
	if n.Pushed != nil && n.Pushed.Commit != "" {
		n.look(&Look{By: by, At: now}, "")
	}
}

func (n *Action) look(wanted *Look, unseen aggregate.Reason) {
	pushed := *n.Pushed
	pushed.Look, pushed.Unseen, n.Pushed = wanted, unseen, &pushed
}

// Found records what a look found: the result of an action whose outcome was unknown, or of one that was withdrawn.
func (a *Aggregate) Found(run int, id string, r Result, now time.Time) (aggregate.Change, error) {
	x, err := a.looked(run, id, "")
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Status == ActionCancelled {
		return a.late(x, r, now)
	}
	return a.truth(x, r, now)
}

// NotFound records that a look could not be made. People may ask again.
func (a *Aggregate) NotFound(run int, id string, now time.Time) (aggregate.Change, error) {
	x, err := a.looked(run, id, ReasonPushUnseen)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	c.Put(x)
	c.rest()
	return c.done()
}

// looked returns the action's row after the look that the run was to make.
func (a *Aggregate) looked(run int, id string, unseen aggregate.Reason) (*Action, error) {
	x := a.Looking()
	if a.Head.Run != run || x == nil || x.ActionID != id {
		return nil, aggregate.ErrMoved
	}
	is := *x
	is.look(nil, unseen)
	is.Pushed.There = is.Pushed.There && unseen != "" // a look adds what it finds
	return &is, nil
}
