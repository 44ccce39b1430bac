package aggregate

// Act is something that a person may do on an aggregate.
type Act string

// The acts of every kind that asks people.
const (
	ActApprove Act = "approve"
	ActReject  Act = "reject" // with a reason
)

// Offer is an act with what it is on.
type Offer struct {
	Act  Act
	ID   string   // of the gate, the choice, the execution, or the aggregate itself, which may be left out
	Kind CardType // of a gate
	Hash string   // of what a gate asks about
}
