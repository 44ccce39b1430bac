package aggregate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/circulation"
	"ringi/shared/words/language"
)

// Gate is the part of a row that people decide on.
type Gate struct {
	Status  GateStatus `json:"status"`
	Terms   Terms      `json:"terms"`
	AskedAt *time.Time `json:"asked_at,omitempty"` // since when people are asked
	Verdict

	// What circulation.Walk folds. All but Acts are fixed when it opens.
	Askers   []circulation.Person `json:"askers,omitempty"`
	AskedSum string               `json:"asked,omitempty"` // hash of what is asked, see circulation.AskedText
	Route    *circulation.Route   `json:"route,omitempty"`
	Acts     []circulation.Act    `json:"acts,omitempty"`
	Seen     *Seen                `json:"seen,omitempty"`
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
	if !language.Legible(reason) {
		return ""
	}
	return strings.TrimSpace(reason)
}

// CheckReason returns SeenReason for a rejection, and Problem if it is empty or too long.
func CheckReason(reason string) (string, error) {
	reason = SeenReason(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxReason {
		return "", Problem{Field: "rejection_reason", Code: fmt.Sprintf("must have 1 to %d characters, not %d", MaxReason,
			n)}
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
	return []Index{{N: 1, PK: PendingOf(head.Common().TenantID), SK: TimeText(since) + "#" + id}}
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

// GateMoves are the moves of a gate. It begins as generating while a model makes what it asks or people are looked up,
// otherwise as pending_approval.
var GateMoves = Moves[GateStatus]{
	Generating:      {PendingApproval},
	PendingApproval: {Approved, Rejected, Expired, Cancelled},
	Approved:        {},
	Rejected:        {},
	Expired:         {},
	Cancelled:       {},
}

// AskingRow is a row that may wait for a person.
type AskingRow interface {
	Row
	Asks() Question
}

// Question is a gate that waits for people, as lists show it.
type Question struct {
	Key       string // key of the gate's row
	ID        string
	Kind      CardType // type of the card that asks
	Version   int
	Askers    []string `json:"-"` // users whose own request this is; empty: whoever asked for the aggregate
	CreatedAt time.Time
	DecideBy  *time.Time
}

// Asked is a gate as it is looked up by its id; the zero value: there is none.
type Asked struct {
	Kind CardType // type of the card that asks
	Hash string   // of what a person reads before deciding
	Gate *Gate
	Open bool // it waits for a decision
}

// Opening is what a gate opens with: the route of a rule, as it was resolved, or BySettings.
type Opening struct {
	Rule   circulation.Rule // none: its id is empty
	Route  circulation.Route
	Askers []circulation.Person // whose own request it is
	Seen   *Seen                // nil: not known
}

// Refusal is why a tenant's rules refuse what is asked: then nobody is asked.
type Refusal struct {
	Why    Reason
	Rule   circulation.Rule
	Detail string // what the rule says, or the name of the stage that finds nobody
	Lacks  string // of a stage that finds nobody, a code
	Of     string // the account of whom nobody is found above
}

// Details are what an audit entry says of it.
func (r *Refusal) Details() map[string]any {
	about := map[string]any{"reason": r.Why}
	if r.Rule.ID != "" {
		about["rule"] = r.Rule
	}
	if r.Lacks != "" {
		about["lacks"] = r.Lacks
	}
	return about
}

// Seen is what the rules saw of what a gate asks when they chose its route, for display.
type Seen struct {
	Amount     string `json:"amount,omitempty"`     // empty: not known
	Why        string `json:"why,omitempty"`        // why it isn't: a rules.Why
	ByAmount   bool   `json:"by_amount,omitempty"`  // the rule asks for the amount
	Currency   string `json:"currency,omitempty"`   // empty of an amount of nothing
	Department string `json:"department,omitempty"` // of the requester, by the organisation of that day
}

// BySettings is the opening of a gate without a rule, about which people are asked or nobody is.
func BySettings(required bool, askers ...string) Opening {
	return Opening{Route: circulation.BySettings(required), Askers: People(askers...)}
}

// People are users as routes know them.
func People(users ...string) (all []circulation.Person) {
	for _, user := range users {
		all = append(all, circulation.Person{User: user})
	}
	return all
}

// Under returns a gate that is about to wait along the opening's route. sum returns what its stamps are on, and askers
// are users who may not be missing in the opening. It returns ErrOnRoute if one is, or if the route has nobody who
// could settle it.
func (g Gate) Under(o Opening, askers []string, sum func(g *Gate) string) (Gate, error) {
	g.Route, g.Askers, g.Seen = &o.Route, o.Askers, o.Seen
	if o.Rule.ID != "" {
		g.Terms.Rule = &o.Rule
	}
	g.Terms.ApprovalRequired = len(o.Route.Stages) > 0
	for _, user := range askers {
		if !g.IsAsker(user) {
			return g, ErrOnRoute
		}
	}
	g.AskedSum = sum(&g)
	st := circulation.Walk(g.Circulating())
	if len(o.Askers) == 0 || st.Refused != nil {
		return g, ErrOnRoute
	}
	g.dueBy(&st)
	return g, nil
}

// dueBy repeats in the terms until when the present stage is asked, for readers that don't walk.
func (g *Gate) dueBy(st *circulation.State) {
	if s := st.CurrentStage(); s != nil {
		g.Terms.DecideBy = s.DecideBy
	}
}

// Acting is what a hand does on a gate at the stage that is asked, in its own name.
func (g *Gate) Acting(kind circulation.Kind, by Actor, text string) circulation.Act {
	hand, stage := circulation.Person{User: by.ID}, by.Stage
	if stage == 0 && g.Route != nil && len(g.Route.Stages) == 1 { // there is only one
		stage = 1
	}
	return circulation.Act{Kind: kind, Hand: hand, Principal: hand, Stage: stage, Hash: g.AskedSum, Text: text}
}

// CurrentStage returns the stage that is asked, or nil.
func (g *Gate) CurrentStage() *circulation.StageState {
	if g == nil {
		return nil
	}
	st := circulation.Walk(g.Circulating())
	return st.CurrentStage()
}

// asks reports whether somebody is at one of the stages whose stamps the route asks for.
func (g *Gate) asks(user string) bool {
	if g.Route == nil {
		return false
	}
	st := circulation.Walk(g.Circulating())
	return slices.ContainsFunc(st.Stages, func(s circulation.StageState) bool {
		return slices.ContainsFunc(s.People, isUser(user))
	})
}

// Entry returns the action of the entry that records the last act on a gate of this kind: process.stamped.
func (g *Gate) Entry(kind string) Action {
	if g.ApprovedAt != nil {
		return Action(kind + ".approved")
	}
	return Action(kind + "." + g.Acts[len(g.Acts)-1].Kind.Does().Entry)
}

// OpenedDetails returns the details of the entry that records how a gate under a rule opened, with those given.
func (g *Gate) OpenedDetails(details map[string]any) map[string]any {
	details = maps.Clone(details)
	details["asked"], details["route_hash"] = g.AskedSum, circulation.RouteHash(g.Circulating())
	details["rule"] = g.Terms.Rule.Details()
	return details
}

// Sealed returns what an entry says of a gate under a rule once nothing more is done on it: the hashes of how it opened
// and of all acts; nil if it has no route.
func (g *Gate) Sealed() map[string]any {
	if g.Terms.Rule == nil || g.Route == nil {
		return nil
	}
	return map[string]any{"route_hash": circulation.RouteHash(g.Circulating()), "acts_hash": circulation.Hash(g.Acts)}
}

// ActDetails returns the details of the entry that records a gate's last act, with those given. acts_hash is of all
// acts so far, so that the entries seal each act and their order.
func (g *Gate) ActDetails(details map[string]any) map[string]any {
	details = maps.Clone(details)
	if (g.ApprovedAt != nil || g.RejectedAt != nil) && g.AskedAt != nil {
		details["asked_at"] = TimeText(*g.AskedAt)
	}
	if len(g.Acts) == 0 {
		return details
	}
	act := &g.Acts[len(g.Acts)-1]
	if !g.Ruled() { // one act is all there is
		if act.Ends() {
			details["reason"] = act.Text
		}
		return details
	}
	if g.ApprovedAt != nil {
		st := circulation.Walk(g.Circulating())
		details = g.OpenedDetails(details)
		details["stamps"] = len(st.Stamps())
	}
	details["asked"], details["acts_hash"], details["stage"] = g.AskedSum, circulation.Hash(g.Acts), act.Stage
	if act.Principal.User != act.Hand.User {
		details["principal"] = act.Principal.User
	}
	if d := act.Found.Delegation; d != nil {
		details["delegation"] = d.Key
	}
	if act.Text != "" {
		details["reason"] = act.Text
	}
	return details
}

// Again reports whether an act was refused because the same hand did the very same.
func Again(err error) bool {
	refused, ok := err.(*circulation.Refusal)
	return ok && refused.Why == circulation.WhyAgain
}

// Walked returns ErrOnRoute if the gate may not have its status: it waits only with a route that can be walked, is
// approved only where its acts settle it, and rejected only by its last act.
func (g *Gate) Walked() error {
	st, may := circulation.Walk(g.Circulating()), true
	switch g.Status {
	case PendingApproval:
		may = st.Refused == nil
	case Approved:
		may = st.Settled
	case Rejected:
		may = st.Ended() != ""
	}
	if !may {
		return ErrOnRoute
	}
	return nil
}

// Stands reports whether a loaded gate was approved by its acts, and sum, the hash of what is about to be done, is what
// was asked.
func (g *Gate) Stands(sum string) bool {
	return g.Status == Approved && g.AskedSum == sum && g.Walked() == nil
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
	SettingsRev      int        `json:"settings_rev"`
	Locale           string     `json:"locale,omitempty"` // language in which an execution's row says why it failed
	// Rule chose the gate's route; nil: no rule did.
	Rule *circulation.Rule `json:"rule,omitempty"`
}
