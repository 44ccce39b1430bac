package aggregate

import "time"

// Wait is a run that waits at a gate, with the task token that wakes the run.
type Wait struct {
	Gate    string    `json:"gate"` // key of the prompt's, process's or step gate's row
	Token   string    `json:"task_token"`
	Run     int       `json:"run"`
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
}

func (w Wait) Key() string  { return "WAIT#" + w.Gate }
func (w Wait) Type() string { return "wait" }

// Revision returns 0 because no Change writes a Wait.
func (w Wait) Revision() int { return 0 }

func (w Wait) At(int) Row { return &w }
