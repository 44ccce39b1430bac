package conversation

import (
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

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
