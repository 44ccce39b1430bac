package task

import "encoding/json"

// Misfit says why something that an asker typed can't be taken. A Field of -1 stands for the step as a whole, and an
// Order of 0 for all steps.
type Misfit struct {
	Order int       `json:"order,omitempty"`
	Field int       `json:"field"` // the number of one of the step's explain.Inputs
	Why   MisfitWhy `json:"why"`
	Limit string    `json:"limit,omitempty"` // of MisfitLimit what the tool says, of MisfitForm an example
}

// MisfitWhy is a code for which forms have a sentence.
type MisfitWhy string

const (
	MisfitNumber  MisfitWhy = "number"  // it must be a number
	MisfitBool    MisfitWhy = "bool"    // it must be true or false
	MisfitEmpty   MisfitWhy = "empty"   // something must be typed
	MisfitShort   MisfitWhy = "short"   // it has less than Limit characters
	MisfitChoice  MisfitWhy = "choice"  // it is none of Limit
	MisfitLong    MisfitWhy = "long"    // it has more than Limit characters
	MisfitLeast   MisfitWhy = "least"   // it is less than Limit
	MisfitMost    MisfitWhy = "most"    // it is more than Limit
	MisfitLimit   MisfitWhy = "limit"   // it is not what the tool takes
	MisfitForm    MisfitWhy = "form"    // it is not written as the value before, which Limit has
	MisfitTool    MisfitWhy = "tool"    // the tenant doesn't allow the tool any more
	MisfitTooLong MisfitWhy = "toolong" // the steps have become too long
	MisfitPolicy  MisfitWhy = "policy"  // the policy is empty or longer than a card shows: see MaxPolicy
)

// MaxStepsBytes is the limit of all steps of a plan as JSON, in bytes; an item in DynamoDB holds 400 KB.
const MaxStepsBytes = 200_000

// StepsBytes returns how many bytes steps have as JSON.
func StepsBytes(steps []Step) int {
	b, err := json.Marshal(steps)
	if err != nil { // invalid JSON among their arguments
		return MaxStepsBytes + 1
	}
	return len(b)
}
