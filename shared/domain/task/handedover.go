package task

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// handedOver is the kind of conversations and a separator.
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
	return s.PromptApprovalRequired || a.Spoken()
}

// Spoken reports whether an agent wrote the request, also if a person asked for it again.
func (a *Aggregate) Spoken() bool {
	_, handed := a.HandedOver()
	return handed || a.Request != nil && a.Request.ByAgent
}

// Asker is an aggregate that hands over tasks. TaskEnded records how one ended. It returns ErrNotDue if it knows, or if
// nobody needs to know any more.
type Asker interface {
	TaskEnded(id string, e Ended, now time.Time) (aggregate.Change, error)
}

// untold reports whether the conversation that handed the task over must still be told how it ended.
func (a *Aggregate) untold() bool {
	_, handed := a.HandedOver()
	return handed && a.Head.Ended != nil && !a.Head.Ended.Told
}

// telling tells the conversation how the task ended. One that is forgotten is not told.
func (a *Aggregate) telling(now time.Time) aggregate.Telling {
	session, _ := a.HandedOver()
	id, ended := a.Head.TaskID, *a.Head.Ended
	return aggregate.Telling{
		Ref:    aggregate.Ref{Tenant: a.Head.TenantID, Kind: strings.TrimSuffix(handedOver, ":"), ID: session},
		Absent: true,
		Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
			asker, ok := x.(Asker)
			if !ok {
				return aggregate.Change{}, fmt.Errorf("%s hands over no tasks", x.Ref())
			}
			return asker.TaskEnded(id, ended, now)
		},
		Told: func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).told(ended.At) },
	}
}

// told records that the conversation was told how the task ended at this time. A task that was tried again and ended
// once more is told of again.
func (a *Aggregate) told(at time.Time) (aggregate.Change, error) {
	if !a.untold() || !a.Head.Ended.At.Equal(at) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	ended := *a.Head.Ended
	ended.Told = true
	c.Head.Ended = &ended
	return c.done()
}
