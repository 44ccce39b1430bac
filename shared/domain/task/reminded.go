package task

import (
	"encoding/json"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
)

// Reminded is of what somebody is reminded: N items that wait for them, of which Items are the first that are due. As
// says in how many of all they stand in for somebody. Shared says that they are the members of a channel.
type Reminded struct {
	N      int            `json:"n"`
	As     int            `json:"as,omitempty"`
	Shared bool           `json:"shared,omitempty"`
	Items  []RemindedItem `json:"items"`
}

// RemindedItem is one thing that waits for somebody, as it was when they were reminded.
type RemindedItem struct {
	Kind   string       `json:"kind"` // of aggregate
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Later  int          `json:"later,omitempty"` // the request's newest version, see Glance
	Asker  string       `json:"asker"`
	Amount rules.Amount `json:"amount,omitzero"` // the zero value: there are no steps yet
	Until  *time.Time   `json:"until,omitempty"`
	For    string       `json:"for,omitempty"` // whom they stand in for
	// Channel, TS and Thread are of the message that asks, the person's own if they have one; empty if they can't open it.
	// Link is its address, which is known when the reminder is posted.
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Link    string `json:"link,omitempty"`
}

// Remind tells somebody in their direct messages what waits for them, once a day; the members of a channel, there.
func Remind(tenant, team, user string, day organisation.Date, told Reminded,
	now time.Time) (aggregate.Change, aggregate.Ref) {
	r := Request{TeamID: team, User: user, ChannelType: "im", Source: SourceAgentContainer}
	if told.Shared {
		r.User, r.Channel, r.ChannelType = "", user, "channel"
	}
	detail, _ := json.Marshal(told) // can't fail
	return Tell(tenant, r, ReasonReminded, user+" "+day.String(), string(detail), now)
}

// ReadReminded reads the detail of a notice of Remind; false for other reasons and details.
func ReadReminded(r aggregate.Reason, detail string) (told Reminded, ok bool) {
	ok = r == ReasonReminded && json.Unmarshal([]byte(detail), &told) == nil
	return told, ok
}

// Reminded returns of what the task reminds somebody; false for other tasks.
func (a *Aggregate) Reminded() (told Reminded, ok bool) {
	if a.Head.Ended == nil {
		return told, false
	}
	return ReadReminded(a.Head.Ended.Reason, a.Head.Ended.Detail)
}

// Linked returns a task that reminds somebody with the addresses of the messages that ask; any other as it is.
func (a *Aggregate) Linked(link func(channel, ts, thread string) string) *Aggregate {
	told, ok := a.Reminded()
	if !ok {
		return a
	}
	for i := range told.Items {
		x := &told.Items[i]
		x.Link = link(x.Channel, x.TS, x.Thread)
	}
	detail, _ := json.Marshal(told) // can't fail
	linked, ended := *a, *a.Head.Ended
	ended.Detail = string(detail)
	linked.Head.Ended = &ended
	return &linked
}
