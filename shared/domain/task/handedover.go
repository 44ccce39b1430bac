package task

import (
	"strings"

	"ringi/shared/domain/tenancy"
)

const handedOver = "session:"

// HandedOverBy returns the EventID of a request that an agent made in a conversation.
func HandedOverBy(session string) string { return handedOver + session }

// HandedOver reports whether an agent wrote the request, and returns the conversation's id.
func (a *Aggregate) HandedOver() (session string, ok bool) {
	if a.Request == nil {
		return "", false
	}
	return strings.CutPrefix(a.Request.EventID, handedOver)
}

// asksForPolicy reports whether people must approve the policy. They always must if an agent wrote the request, because
// nobody has read the agent's wording yet.
func (a *Aggregate) asksForPolicy(s tenancy.Settings) bool {
	_, handed := a.HandedOver()
	return s.PromptApprovalRequired || handed
}
