package aggregate

import "time"

// Use is a row with the cost of model calls. It is put if absent and never rewritten, even if the result was discarded,
// because the money is spent.
type Use struct {
	Usage
	Made      string    `json:"made,omitempty"`       // key of the row that the calls made; empty when they made none
	ChargedTo string    `json:"charged_to,omitempty"` // id of another aggregate that includes these costs in its own
	CreatedAt time.Time `json:"created_at"`
}

// Kept reports whether the request was saved for people to read.
func (u *Use) Kept() bool { return u.Sent != nil && u.Sent.S3Key != "" }

func (u *Use) Key() string  { return "USAGE#" + u.ID }
func (u *Use) Type() string { return "usage" }

// Revision returns 0: the row must be absent when it is put.
func (u *Use) Revision() int { return 0 }

func (u Use) At(int) Row { return &u }

// Used returns the total usage of all calls.
func (s *Shared) Used() Usage {
	var sum Usage
	for _, u := range s.Uses {
		sum = sum.Plus(u.Sum())
	}
	return sum
}
