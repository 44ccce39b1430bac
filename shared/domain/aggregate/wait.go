package aggregate

import "time"

// Wait is a run that waits at a gate, with the task token that wakes the run.
type Wait struct {
	Gate    string    `json:"gate"` // key of the prompt's, process's or step gate's row
	Token   string    `json:"task_token"`
	Run     int       `json:"run"`
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
	// DeleteAfter is when no run that waits can be open any more.
	DeleteAfter int64 `json:"delete_after,omitempty"`
}

// Left reports whether the run has certainly left the gate: it made a commit in a state that it entered later. A run
// may have left it anyway.
func (w *Wait) Left(h *Head) bool {
	return w.Run == h.Run && h.Entered != nil && w.Entered.Before(*h.Entered)
}

func (w Wait) Key() string  { return "WAIT#" + w.Gate }
func (w Wait) Type() string { return "wait" }

// Revision returns 0 because no Change writes a Wait.
func (w Wait) Revision() int { return 0 }

func (w Wait) At(int) Row { return &w }
