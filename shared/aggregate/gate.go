package aggregate

import (
	"slices"
	"time"
)

func (v *Verdict) Reject(by Actor, reason string, at time.Time) {
	v.RejectedBy, v.RejectedAt, v.RejectionReason = by.ID, &at, reason
}

// Terms are the settings a gate was opened under; they never change while it waits.
type Terms struct {
	ApprovalRequired bool       `json:"approval_required"`
	DecideBy         *time.Time `json:"decide_by,omitempty"`
	Executor         string     `json:"executor"`
	L4TimeoutSeconds int        `json:"l4_timeout_seconds"`
	AutoApproveTools bool       `json:"auto_approve_tools"`
	MaxVersions      int        `json:"max_versions"`
	ApprovalHours    int        `json:"approval_timeout_hours"`
	SettingsRev      int        `json:"settings_rev"`
	Locale           string     `json:"locale,omitempty"` // in which an execution's row says why it failed
}

// Verdict is how a gate was decided. Expired and cancelled gates carry none: the head says who and why.
type Verdict struct {
	ApprovedBy      string     `json:"approved_by,omitempty"` // empty with approved_at set: the system
	ApprovedAt      *time.Time `json:"approved_at,omitempty"`
	RejectedBy      string     `json:"rejected_by,omitempty"`
	RejectedAt      *time.Time `json:"rejected_at,omitempty"`
	RejectionReason string     `json:"rejection_reason,omitempty"`
}

// GateStatus is where a prompt, a process or a step gate stands; see GateMoves.
type GateStatus string

const (
	Generating      GateStatus = "generating"
	PendingApproval GateStatus = "pending_approval"
	Approved        GateStatus = "approved"
	Rejected        GateStatus = "rejected"
	Expired         GateStatus = "expired"
	Cancelled       GateStatus = "cancelled"
)

// Moves lists, for each status, the ones that may follow it.
type Moves[S ~string] map[S][]S

// Allows reports whether to may follow from.
func (m Moves[S]) Allows(from, to S) bool { return slices.Contains(m[from], to) }

// GateMoves are a gate's. One that asks about what a model makes begins as generating, any other as pending_approval.
var GateMoves = Moves[GateStatus]{
	Generating:      {PendingApproval},
	PendingApproval: {Approved, Rejected, Expired, Cancelled},
	Approved:        {},
	Rejected:        {},
	Expired:         {},
	Cancelled:       {},
}

// Asking is a row that may wait for a person.
type Asking interface {
	Row
	Asks() Question
}

// Question is what a person is asked, as lists of what waits have it.
type Question struct {
	Key       string // of its row
	ID        string
	Kind      CardType // which card asks
	Version   int
	StepID    string // of a step's gate
	CreatedAt time.Time
	DecideBy  *time.Time
}
