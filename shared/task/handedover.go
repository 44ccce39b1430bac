package task

import "strings"

const handedOver = "session:"

// HandedOverBy is the EventID of a request that an agent made of a conversation.
func HandedOverBy(session string) string { return handedOver + session }

// handedOver reports whether an agent wrote the request. Its policy is stamped whatever the settings say: nobody has read the
// words that the agent chose before.
func (a *Aggregate) handedOver() bool {
	return a.Request != nil && strings.HasPrefix(a.Request.EventID, handedOver)
}
