package task

import (
	"time"

	"ringi/shared/aggregate"
)

// AskedHash fingerprints what the gate with this id asks about: a policy's text, steps,
// or a step's arguments. It is empty when there is no such gate.
func (a *Aggregate) AskedHash(id string) string {
	for _, p := range a.Prompts {
		if p.ID == id {
			return aggregate.HashOf(p.Content)
		}
	}
	for _, p := range a.Processes {
		if p.ID == id {
			return Hash(p.Steps)
		}
	}
	for _, g := range a.Gates {
		if g.ID == id {
			return g.ArgumentsHash
		}
	}
	return ""
}

// Undecided reports whether the gate with this id waits for a person.
func (a *Aggregate) Undecided(id string) bool {
	if a.Head.Ended != nil {
		return false
	}
	for _, p := range a.Prompts {
		if p.ID == id {
			return p.Status == aggregate.PendingApproval
		}
	}
	for _, p := range a.Processes {
		if p.ID == id {
			return p.Status == aggregate.PendingApproval
		}
	}
	for _, g := range a.Gates {
		if g.ID == id {
			return g.Status == aggregate.PendingApproval
		}
	}
	return false
}

// ApproveRead stamps the gate with this id for somebody who read all of what had this
// hash. It returns ErrMoved when the gate asks about something else, and otherwise what
// ApprovePrompt, ApproveProcess or ApproveStep return.
func (a *Aggregate) ApproveRead(kind aggregate.CardType, id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	approve := map[aggregate.CardType]func(string, aggregate.Actor, aggregate.Policy, time.Time) (Change, error){
		CardPrompt: a.ApprovePrompt, CardProcess: a.ApproveProcess, CardStep: a.ApproveStep,
	}[kind]
	asked := a.AskedHash(id)
	switch {
	case approve == nil || asked == "":
		return Change{}, aggregate.ErrNotFound
	case asked != hash:
		return Change{}, aggregate.ErrMoved
	}
	return approve(id, by, p, now)
}
