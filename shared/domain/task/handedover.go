package task

import (
	"strings"

	"ringi/shared/domain/tenancy"
)

const handedOver = "session:"

// HandedOverBy is the EventID of a request that an agent made of a conversation.
func HandedOverBy(session string) string { return handedOver + session }

// HandedOver reports whether an agent wrote the request, and the id of the conversation in which it did.
func (a *Aggregate) HandedOver() (session string, ok bool) {
	if a.Request == nil {
		return "", false
	}
	return strings.CutPrefix(a.Request.EventID, handedOver)
}

// asksForPolicy reports whether a policy is stamped under these settings. One whose request an agent wrote always is:
// nobody has read the words that the agent chose before.
func (a *Aggregate) asksForPolicy(s tenancy.Settings) bool {
	_, handed := a.HandedOver()
	return s.PromptApprovalRequired || handed
}
