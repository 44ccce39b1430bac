package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ApproveRead stamps the action with this id for somebody who read all of what had this hash. It returns ErrMoved when
// the action has another content, and otherwise what Approve returns.
func (a *Aggregate) ApproveRead(id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if x := a.Action(id); x != nil && x.Payload.Hash() != hash {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.Approve(id, hash, by, p, now)
}

// Asks is the action that waits for people's approval, if one does.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	x := a.Pending()
	if x == nil || !x.Gate.Terms.ApprovalRequired {
		return q, false
	}
	return x.Asks(), true
}

// AskedBy is the type of the card that asks about the action with this id, empty when there is no such action.
func (a *Aggregate) AskedBy(id string) aggregate.CardType {
	if a.Action(id) == nil {
		return ""
	}
	return CardAction
}

// AskedHash fingerprints what the action with this id would do, empty when there is no such action.
func (a *Aggregate) AskedHash(id string) string {
	if x := a.Action(id); x != nil {
		return x.Payload.Hash()
	}
	return ""
}

// AskedAt is since when the action with this id has waited for a decision, zero when it does not wait.
func (a *Aggregate) AskedAt(id string) time.Time {
	if x := a.Action(id); x != nil && x.Status == ActionPending {
		return x.CreatedAt
	}
	return time.Time{}
}

// IsOpen reports whether the action with this id waits for a person.
func (a *Aggregate) IsOpen(id string) bool { return a.Pending() != nil && a.Pending().ActionID == id }

// VerdictOn is what was decided about the action with this id.
func (a *Aggregate) VerdictOn(id string) aggregate.Verdict {
	if x := a.Action(id); x != nil {
		return x.Gate.Verdict
	}
	return aggregate.Verdict{}
}

// Readable returns aggregate.ErrNotFound for a conversation that is forgotten, and aggregate.ErrConflict for a torn
// read.
func (a *Aggregate) Readable(now time.Time) error {
	switch {
	case a.Head.Forgotten(now):
		return aggregate.ErrNotFound
	case a.Session == nil:
		return aggregate.ErrConflict
	}
	return nil
}

// Origin is where the conversation was opened, and by whom.
func (a *Aggregate) Origin() aggregate.Origin { return a.Session.Origin() }

// Beginning is the message at the head of the conversation's thread, and that thread.
func (a *Aggregate) Beginning() (message, thread string) {
	return a.Session.ThreadTS, a.Session.ThreadTS
}

// Askers are the people whose own request it is what waits: those of the action that is not over, or else LastAskers.
func (a *Aggregate) Askers() []string {
	if x := a.Current(); x != nil {
		return a.AskersOf(x)
	}
	return a.LastAskers()
}

// LastAskers are the people whose messages the agent answered last, or who opened the session.
func (a *Aggregate) LastAskers() []string {
	if a.Session == nil || len(a.Session.Askers) == 0 {
		return []string{a.Head.Requester}
	}
	return a.Session.Askers
}

// What a person may do in a conversation beside approving and rejecting.
const (
	ActCancel aggregate.Act = "cancel_action"
	ActClose  aggregate.Act = "close_session"
	ActReopen aggregate.Act = "reopen_session"
)

// Offers are what people may do in the conversation as it stands, whoever they are. Who may is decided at the click.
func (a *Aggregate) Offers() []aggregate.Offer {
	x := a.Current()
	switch {
	case a.Session.Status == Closed:
		return []aggregate.Offer{{Act: ActReopen}}
	case x == nil:
		return []aggregate.Offer{{Act: ActClose}}
	}
	of := func(act aggregate.Act) aggregate.Offer {
		return aggregate.Offer{Act: act, ID: x.ActionID, Kind: CardAction, Hash: x.Payload.Hash()}
	}
	if x.Status != ActionPending {
		return []aggregate.Offer{of(ActCancel)} // it is cancelled before the conversation can be closed
	}
	return []aggregate.Offer{of(aggregate.ActApprove), of(aggregate.ActReject), of(ActCancel), {Act: ActClose}}
}
