package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/circulation"
	"ringi/shared/words/legible"
)

// Gate is the part of a row that people decide on.
type Gate struct {
	Status  GateStatus `json:"status"`
	Terms   Terms      `json:"terms"`
	AskedAt *time.Time `json:"asked_at,omitempty"` // since when people are asked
	Verdict

	// What circulation.Walk folds. All but Acts are fixed when it opens.
	Askers []circulation.Person `json:"askers,omitempty"`
	Asked  string               `json:"asked,omitempty"` // hash of what is asked, under a rule circulation.Sum
	Route  *circulation.Route   `json:"route,omitempty"`
	Home   string               `json:"home,omitempty"` // see circulation.Gate
	Acts   []circulation.Act    `json:"acts,omitempty"`
	Seen   *Seen                `json:"seen,omitempty"`
}

// Stamp is one person's approval of one version, as people see it.
type Stamp struct {
	By         string
	OnBehalfOf string // of a stand-in: whose stamp it is
	At         time.Time
	Surface    Surface
	Hash       string // of what was stamped
}

// Surface says where a person decides.
type Surface string

const (
	SurfaceSlack   Surface = "slack"
	SurfaceConsole Surface = "console"
)

// MaxReason is the maximum length of a rejection's reason in characters.
const MaxReason = 1000

// SeenReason trims a reason. One in which nobody can see a character is empty.
func SeenReason(reason string) string {
	if !legible.Text(reason) {
		return ""
	}
	return strings.TrimSpace(reason)
}

// CheckReason returns SeenReason for a rejection, and ErrField if it is empty or too long.
func CheckReason(reason string) (string, error) {
	reason = SeenReason(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxReason {
		return "", ErrField{Field: "rejection_reason", Limit: fmt.Sprintf("must have 1 to %d characters, not %d", MaxReason, n)}
	}
	return reason, nil
}

// Decided returns ErrDecided if the gate was approved or rejected, else nil.
func (g *Gate) Decided() error {
	switch {
	case g.Status == Approved && g.ApprovedAt != nil:
		return ErrDecided{Status: string(g.Status), By: g.ApprovedBy, At: *g.ApprovedAt}
	case g.Status == Rejected && g.RejectedAt != nil:
		return ErrDecided{Status: string(g.Status), By: g.RejectedBy, At: *g.RejectedAt}
	}
	return nil
}

// WaitingIndexes returns the index entry that lists the gate as waiting for people, or none if it needs no person.
func (g *Gate) WaitingIndexes(head Root, since time.Time, id string) []Index {
	if g.Status != PendingApproval || !g.Terms.ApprovalRequired {
		return nil
	}
	return []Index{PendingIndex(head.Common().TenantID, since, id)}
}

// Terms are the settings under which a gate was opened. They never change while it waits, but for DecideBy of a gate
// under a rule, which is that of the present stage.
type Terms struct {
	ApprovalRequired bool       `json:"approval_required"`
	DecideBy         *time.Time `json:"decide_by,omitempty"`
	Executor         string     `json:"executor"`
	L4TimeoutSeconds int        `json:"l4_timeout_seconds"`
	AutoApproveTools bool       `json:"auto_approve_tools"`
	MaxVersions      int        `json:"max_versions"`
	ApprovalHours    int        `json:"approval_timeout_hours"`
	ApprovalDays     int        `json:"approval_days,omitempty"` // see Gate.GoodUntil
	SettingsRev      int        `json:"settings_rev"`
	Locale           string     `json:"locale,omitempty"` // language in which an execution's row says why it failed
	// Rule chose the gate's route; nil: no rule did.
	Rule *circulation.Rule `json:"rule,omitempty"`
}

// Verdict says how a gate was decided. It is empty for expired and cancelled gates: the head says more about those.
type Verdict struct {
	ApprovedBy      string     `json:"approved_by,omitempty"` // empty while approved_at is set: the system approved
	ApprovedAt      *time.Time `json:"approved_at,omitempty"`
	RejectedBy      string     `json:"rejected_by,omitempty"`
	RejectedAt      *time.Time `json:"rejected_at,omitempty"`
	RejectionReason string     `json:"rejection_reason,omitempty"`
}

// GateStatus is the status of a prompt, a process or a step gate; see GateMoves.
type GateStatus string

const (
	Generating      GateStatus = "generating"
	PendingApproval GateStatus = "pending_approval"
	Approved        GateStatus = "approved"
	Rejected        GateStatus = "rejected"
	Expired         GateStatus = "expired"
	Cancelled       GateStatus = "cancelled"
)

// Moves lists the statuses that may follow each status.
type Moves[S ~string] map[S][]S

// Allows reports whether to may follow from.
func (m Moves[S]) Allows(from, to S) bool { return slices.Contains(m[from], to) }

// GateMoves are the moves of a gate. A gate on a model's output begins as generating, any other as pending_approval.
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

// Question is a gate that waits for people, as lists show it.
type Question struct {
	Key       string // key of the gate's row
	ID        string
	Kind      CardType // type of the card that asks
	Version   int
	StepID    string   // set for a step's gate
	Askers    []string `json:"-"` // users whose own request this is; empty: whoever asked for the aggregate
	OfAuthor  bool     `json:"-"` // the requester decides, not an approver
	CreatedAt time.Time
	DecideBy  *time.Time
}
