package conversation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
)

// Maker says how the action stands among those that changed files: people saw what they approved of code_generate.
func (x *Action) Maker() files.Maker {
	return files.Maker{Action: x.Number, Seen: x.ActionType == CodeGenerate && x.ApprovedBy == ApprovedByUser}
}

// FirstFiles reports whether no action has changed the conversation's files: it has none, or those of its source.
func (s *Conversation) FirstFiles() bool {
	return s.WorkspaceVersion == "" || s.Source != nil && s.Source.Version == s.WorkspaceVersion && s.FilesBy == 0
}

// Acts of people on files that an action left behind, or that are lost.
const (
	// ActTakeFiles makes the files of a late result the conversation's.
	ActTakeFiles aggregate.Act = "take_files"

	// AuditFilesTaken records that a person chose the files of a late result.
	AuditFilesTaken aggregate.Action = "session.files_taken"
)

// Untaken returns the newest action whose files came too late to become the conversation's, or nil. They are offered
// only while no action is open and none has moved the files since.
func (a *Aggregate) Untaken() *Action {
	if a.Conversation == nil || a.Current() != nil || a.FilesLost() || a.Conversation.wants() {
		return nil
	}
	for _, x := range slices.Backward(a.Actions) {
		if x.takable(a.Conversation) {
			return x
		}
	}
	return nil
}

func (x *Action) takable(s *Conversation) bool {
	return x.NotTaken && x.Version != "" && x.Version != s.WorkspaceVersion && x.Status.Over()
}

// TakeFiles makes the files of a late result the conversation's, in place of those that it has. Nothing but a person's
// choice does that. The agent is told. Everybody who may make requests may do so. It returns ErrInFlight while an
// action is open, and ErrMoved if the files are not offered any more.
func (a *Aggregate) TakeFiles(id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if !x.NotTaken && x.Version != "" && x.Version == a.Conversation.WorkspaceVersion {
		return aggregate.Change{}, nil // somebody took them
	}
	if err := p.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	switch {
	case a.Current() != nil:
		c.Fail(aggregate.ErrInFlight)
	case a.FilesLost():
		c.Fail(ErrFilesLost)
	case c.Conversation.Status == Closed || a.Untaken() != x:
		c.Fail(aggregate.ErrMoved)
	}
	was := c.Conversation.WorkspaceVersion
	c.Conversation.WorkspaceVersion, c.Conversation.FilesBy = x.Version, x.Number
	n := *x
	n.NotTaken = false
	c.Put(&n)
	c.progress()
	c.active()
	m := Message{Sender: FromSystem, ActionID: x.ActionID}
	m.own(fmt.Sprintf(said.In(c.Conversation.Locale).taken, x.Number))
	c.tell(c.say(m))
	c.auditAction(by, AuditFilesTaken, x, map[string]any{"version": x.Version, "was": was})
	return c.done()
}

const (
	// ReasonFilesLost says that an action could not begin because the files on which it works were deleted.
	ReasonFilesLost aggregate.Reason = "files_lost"

	// AuditEmptied records that a person gave up lost files.
	AuditEmptied aggregate.Action = "session.emptied"
)

// ErrFilesLost refuses an action while the conversation's files are lost. Only a person ends that state.
var ErrFilesLost = errors.New("the conversation's files are lost, and nobody has chosen yet how to go on")

// Versions returns the versions of the conversation's files and attachments that must not expire: the current ones, the
// source's, and those on which each action works that is not over.
func (a *Aggregate) Versions() []string {
	var out []string
	add := func(version string) {
		if version != "" && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	if a.Conversation != nil {
		add(a.Conversation.WorkspaceVersion)
		add(a.Conversation.AttachmentsVersion)
		if s := a.Conversation.Source; s != nil {
			add(s.Version)
		}
	}
	if x := a.Untaken(); x != nil {
		add(x.Version)
	}
	for _, x := range a.Actions {
		if !x.Status.Over() {
			add(x.BaseVersion)
			add(x.AttachmentsVersion)
			add(x.Base)
		}
	}
	return out
}

// FilesLost reports whether the conversation's files are lost.
func (a *Aggregate) FilesLost() bool {
	return a.Conversation != nil && a.Conversation.FilesLostAt != nil
}

// lose records that this version of the conversation's files turned out to be deleted, if it is the current one, and
// tells people.
func (c *change) lose(version string) {
	if version == "" || c.Conversation.WorkspaceVersion != version || c.of.FilesLost() {
		return
	}
	c.Conversation.FilesLostAt = &c.Now
	m := Message{Sender: FromSystem}
	m.own(said.In(c.Conversation.Locale).lost)
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
}

// BeginEmpty gives up lost files: the next action works in an empty folder. The agent is told. Everybody who may make
// requests may do so. It returns ErrInFlight while an action is not over.
func (a *Aggregate) BeginEmpty(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Conversation != nil && !a.FilesLost() {
		return aggregate.Change{}, nil
	}
	if err := p.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	if a.Current() != nil {
		c.Fail(aggregate.ErrInFlight)
	}
	was := c.Conversation.WorkspaceVersion
	c.Conversation.WorkspaceVersion, c.Conversation.FilesBy, c.Conversation.FilesLostAt = "", 0, nil
	c.progress()
	c.active()
	m := Message{Sender: FromSystem}
	m.own(said.In(c.Conversation.Locale).emptied)
	told := c.say(m)
	if c.Conversation.Status != Closed {
		c.tell(told)
	}
	c.audit(by, AuditEmptied, "session", c.Conversation.ID, map[string]any{"version": was})
	return c.done()
}
