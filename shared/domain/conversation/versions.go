package conversation

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Seen reports whether people saw what the action writes before they approved it.
func (x *Action) Seen() bool { return x.ActionType == CodeGenerate && x.ApprovedBy == ApprovedByUser }

// ReasonFilesLost says that an action could not begin because the files on which it works were deleted.
const ReasonFilesLost aggregate.Reason = "files_lost"

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
	for _, x := range a.Actions {
		if !x.Status.Over() {
			add(x.AttachmentsVersion)
			add(x.Base)
		}
	}
	return out
}

// lose goes on with an empty folder if this version of the conversation's files, which turned out to be deleted, is the
// current one, and tells people.
func (c *change) lose(version string) {
	if version == "" || c.Conversation.WorkspaceVersion != version {
		return
	}
	c.Conversation.WorkspaceVersion = ""
	m := Message{Sender: FromSystem}
	m.own(said.In(c.Conversation.Locale).lost)
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
}
