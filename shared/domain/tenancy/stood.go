package tenancy

import (
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// StoodList is the prefix of the lists of what was done for people by those who stand in for them.
const StoodList = "STOOD#"

// Stood is an act that a hand did for a principal. It is put in the act's Change, and never changed.
type Stood struct {
	aggregate.Meta
	Delegation  string           `json:"delegation"` // key of its row
	DoneAt      time.Time        `json:"done_at"`
	Kind        string           `json:"kind"` // of aggregate
	ID          string           `json:"id"`
	Gate        string           `json:"gate"` // id
	Stage       int              `json:"stage"`
	Did         circulation.Kind `json:"did"`
	Hand        string           `json:"hand"` // account
	DeleteAfter int64            `json:"delete_after"`
}

// StoodOf returns the list's entry of an act that was done by a delegation with this key, at a time. The list is that of
// the delegation's principal, whom a route may know by another key.
func StoodOf(ref aggregate.Ref, gate string, act *circulation.Act, delegation string, at time.Time) aggregate.Listed {
	x := &Stood{Delegation: delegation, DoneAt: at, Kind: ref.Kind, ID: ref.ID, Gate: gate, Stage: act.Stage, Did: act.Kind,
		Hand: act.Hand.User, DeleteAfter: at.AddDate(0, 0, MaxDelegationDays+delegationKept).Unix()}
	of := strings.Split(delegation, "#")
	return aggregate.Listed{List: StoodList, Of: of[min(1, len(of)-1)], Row: x}
}

// StoodFrom returns where entries of a time begin in their list.
func StoodFrom(at time.Time) string { return aggregate.TimeText(at) }

func (x *Stood) Key() string {
	return strings.Join([]string{aggregate.TimeText(x.DoneAt), x.ID, x.Gate, strconv.Itoa(x.Stage), string(x.Did), x.Hand}, "#")
}

func (*Stood) Type() string { return "stood" }

func (x Stood) At(rev int) aggregate.Row { x.Rev = rev; return &x }
