package task

import (
	"encoding/json"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// Tell creates a task that has already ended and whose only card is a message from Ringi that nobody requested. Its id
// is derived from why and about, a person or a place, so the message is posted only once. detail may be empty.
func Tell(tenant string, r Request, why aggregate.Reason, about, detail string,
	now time.Time) (aggregate.Change, aggregate.Ref) {
	now = now.UTC().Truncate(time.Millisecond)
	r.CreatedAt = now
	id := aggregate.Derive(time.Time{}, "notice", string(why), r.TeamID, about)
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.card(a, CardTask, "TASK")
	c.Head.Ended = &Ended{As: TaskAnswered, At: c.Now, Reason: why, Detail: detail}
	c.of = nil         // no list has it
	out, _ := c.done() // can't fail, because it changes no status
	return out, a.Ref()
}

// TellStandIn tells one person, in their direct messages, of a delegation that was set or, once it has EndedAt, ended.
// The same revision is told once.
func TellStandIn(d tenancy.Delegation, team, user, channel string, now time.Time) (aggregate.Change, aggregate.Ref) {
	why, by := ReasonStandIn, d.SetBy
	switch {
	case d.EndedAt != nil:
		why, by = ReasonStandInEnded, d.EndedBy
	case user == d.Principal.User:
		why = ReasonStoodFor
	}
	r := Request{TeamID: team, User: user, Channel: channel, ChannelType: "im", Source: SourceAgentContainer}
	about := strings.Join([]string{user, d.Key(), d.SetAt.Format(time.RFC3339Nano)}, " ")
	detail := strings.Join([]string{d.Hand.User, d.Principal.User, d.From.String(), d.Until.String(), by}, " ")
	return Tell(d.TenantID, r, why, about, detail, now)
}

// StandInTold is what the detail of a notice of a delegation says. By set or ended it.
type StandInTold struct{ Hand, Principal, From, Until, By string }

// StandInOf reads the detail of a notice of a delegation; false for other reasons and details.
func StandInOf(r aggregate.Reason, detail string) (StandInTold, bool) {
	f := strings.Fields(detail)
	if len(f) != 5 || r != ReasonStandIn && r != ReasonStoodFor && r != ReasonStandInEnded {
		return StandInTold{}, false
	}
	return StandInTold{Hand: f[0], Principal: f[1], From: f[2], Until: f[3], By: f[4]}, true
}

// StoodTold is what a principal is told that was done for them by a delegation that is over.
type StoodTold struct {
	Hand  string      `json:"hand"`
	From  string      `json:"from"`
	Until string      `json:"until"`
	N     int         `json:"n"` // how much was done; Items are the newest
	Items []StoodItem `json:"items"`
}

// StoodItem is one thing that was done for a principal.
type StoodItem struct {
	Kind  string           `json:"kind"` // of aggregate
	ID    string           `json:"id"`
	Title string           `json:"title"`
	Did   circulation.Kind `json:"did"`
	At    time.Time        `json:"at"`
}

// TellStood tells the principal of a delegation that is over, in their direct messages, what was done for them. The same
// delegation is told once.
func TellStood(d tenancy.Delegation, told StoodTold, now time.Time) (aggregate.Change, aggregate.Ref) {
	r := Request{TeamID: d.Team, User: d.Principal.User, Channel: d.Channel, ChannelType: "im", Source: SourceAgentContainer}
	about := strings.Join([]string{r.User, d.Key(), d.SetAt.Format(time.RFC3339Nano)}, " ")
	detail, _ := json.Marshal(told) // can't fail
	return Tell(d.TenantID, r, ReasonStoodList, about, string(detail), now)
}

// ReadStood reads the detail of a notice of TellStood; false for other reasons and details.
func ReadStood(r aggregate.Reason, detail string) (told StoodTold, ok bool) {
	ok = r == ReasonStoodList && json.Unmarshal([]byte(detail), &told) == nil
	return told, ok
}
