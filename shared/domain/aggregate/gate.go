package aggregate

import (
	"cmp"
	"slices"
	"time"
)

// Gate is the part of a row that people decide on: its status, the terms, the route, the stamps and the verdict.
type Gate struct {
	Status GateStatus `json:"status"`
	Terms  Terms      `json:"terms"`
	Route  []Stage    `json:"route,omitempty"` // fixed when the gate opens; empty: one stage, of whoever the policy allows when they click
	Stamps []Stamp    `json:"stamps,omitempty"`
	Verdict
}

// Stage is one part of a route. Stages are settled one after another, the desks of a stage in any order.
type Stage struct {
	Desks []Desk `json:"desks"`
}

// Desk is who is asked at a stage.
type Desk struct {
	Name   string   `json:"name"`
	People []string `json:"people"`         // Slack user ids
	Need   int      `json:"need,omitempty"` // how many of them; 0: all
	Mode   DeskMode `json:"mode"`
}

// DeskMode says whether the gate waits for a desk's stamps.
type DeskMode string

const (
	DeskStamp DeskMode = "stamp"
	DeskRead  DeskMode = "read" // sees the gate; nothing waits for its stamps
)

// Stamp is one person's approval of one version.
type Stamp struct {
	By         string     `json:"by"`
	OnBehalfOf string     `json:"on_behalf_of,omitempty"`
	At         time.Time  `json:"at"`
	Stage      int        `json:"stage,omitempty"`
	Desk       int        `json:"desk,omitempty"`
	Surface    Surface    `json:"surface"`
	Hash       string     `json:"hash"` // of what was stamped
	Withdrawn  *time.Time `json:"withdrawn,omitempty"`
}

// Surface is where a person decides.
type Surface string

const (
	SurfaceSlack   Surface = "slack"
	SurfaceConsole Surface = "console"
)

// Settled reports whether a route has the stamps that it needs; nothing else decides that. It is false unless each
// stage has a desk that is waited for and each of those its stamps: a stage of readers, a desk without people and one
// of an unknown mode settle nothing, nor do people outside of the desk. A person counts once at a desk.
func Settled(route []Stage, stamps []Stamp) bool {
	if len(route) == 0 {
		return len(stampedAt(stamps, 0, 0)) > 0
	}
	for i, stage := range route {
		waited := false
		for j, desk := range stage.Desks {
			switch desk.Mode {
			case DeskRead:
			case DeskStamp:
				if !desk.settledBy(stampedAt(stamps, i, j)) {
					return false
				}
				waited = true
			default:
				return false
			}
		}
		if !waited {
			return false
		}
	}
	return true
}

// stampedAt are the people whose stamps stand at a desk.
func stampedAt(stamps []Stamp, stage, desk int) map[string]bool {
	people := map[string]bool{}
	for _, s := range stamps {
		if who := cmp.Or(s.OnBehalfOf, s.By); who != "" && s.Withdrawn == nil && s.Stage == stage && s.Desk == desk {
			people[who] = true
		}
	}
	return people
}

// settledBy reports whether these people are as many of the desk's own as it needs.
func (d Desk) settledBy(people map[string]bool) bool {
	asked, given := map[string]bool{}, 0
	for _, who := range d.People {
		if !asked[who] && people[who] {
			given++
		}
		asked[who] = true
	}
	need := cmp.Or(d.Need, len(asked))
	return need > 0 && given >= need
}

// Approved returns the gate with a person's stamp on the content with this hash, and with the verdict if that settles
// it. The system approves without a stamp.
func (g Gate) Approved(by Actor, hash string, at time.Time) (n Gate, settled bool) {
	if by.Type != ActorSystem {
		g.Stamps = append(slices.Clone(g.Stamps), Stamp{By: by.ID, At: at, Surface: cmp.Or(by.Surface, SurfaceSlack), Hash: hash})
		if !Settled(g.Route, g.Stamps) {
			return g, false
		}
	}
	g.ApprovedBy, g.ApprovedAt = by.ID, &at
	return g, true
}

// Reject records that a person rejected what the gate asks about.
func (g *Gate) Reject(by Actor, reason string, at time.Time) {
	g.RejectedBy, g.RejectedAt, g.RejectionReason = by.ID, &at, reason
}

// Decided is the ErrDecided of a gate that somebody approved or rejected; nil for any other.
func (g *Gate) Decided() error {
	switch {
	case g.Status == Approved && g.ApprovedAt != nil:
		return ErrDecided{Status: string(g.Status), By: g.ApprovedBy, At: *g.ApprovedAt}
	case g.Status == Rejected && g.RejectedAt != nil:
		return ErrDecided{Status: string(g.Status), By: g.RejectedBy, At: *g.RejectedAt}
	}
	return nil
}

// WaitingIndexes puts the gate into the list of what waits for people. A gate that needs no person is not listed.
func (g *Gate) WaitingIndexes(head Root, since time.Time, id string) []Index {
	if g.Status != PendingApproval || !g.Terms.ApprovalRequired {
		return nil
	}
	return []Index{PendingIndex(head.Common().TenantID, since, id)}
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

// Question is an entry in a list of what waits for people.
type Question struct {
	Key       string // of its row
	ID        string
	Kind      CardType // which card asks
	Version   int
	StepID    string   // of a step's gate
	Askers    []string `json:"-"` // whose own request it is; none: of whoever asked for the aggregate
	OfAuthor  bool     `json:"-"` // whoever asked decides, no approver
	CreatedAt time.Time
	DecideBy  *time.Time
}
