package aggregate

import "time"

// Use is the row of what calls of a model came to. It is put if it is absent and never written again, whatever
// became of what was called for: money that was spent stays spent.
type Use struct {
	Usage
	Made      string    `json:"made,omitempty"`       // key of the row that the calls made; empty when it came to nothing
	ChargedTo string    `json:"charged_to,omitempty"` // id of another aggregate whose own usage has it in its sum
	CreatedAt time.Time `json:"created_at"`
}

// Kept reports whether what was sent was kept, for people to look at.
func (u *Use) Kept() bool { return u.Sent != nil && u.Sent.S3Key != "" }

func (u *Use) Key() string  { return "USAGE#" + u.ID }
func (u *Use) Type() string { return "usage" }

// Revision is 0: the row must be absent.
func (u *Use) Revision() int { return 0 }

func (u Use) At(int) Row { return &u }

// Used is what all calls together came to.
func (s *Shared) Used() Usage {
	var sum Usage
	for _, u := range s.Uses {
		sum = sum.Plus(u.Sum())
	}
	return sum
}
