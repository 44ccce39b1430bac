package aggregate

// Act is something that a person may do on an aggregate.
type Act string

// The acts that every kind with gates offers.
const (
	ActApprove Act = "approve"
	ActReject  Act = "reject" // with a reason

	// Only of gates under a rule, which ActReject sends back.
	ActDeny     Act = "deny" // with a reason
	ActTakeBack Act = "take_back"
)

// Offer is an act together with the row that it applies to.
type Offer struct {
	Act  Act
	ID   string   // id of the gate, choice, execution or aggregate; may be empty for the aggregate
	Kind CardType // card type of the gate
	Hash string   // hash of what a gate shows
}
