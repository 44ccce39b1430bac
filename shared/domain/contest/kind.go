package contest

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

const kindName = "contest"

// Kind describes contests to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: kindName, Prefix: "CONTEST#",
	New: func() aggregate.Aggregate { return &Aggregate{} }, Begin: beginOrdered,
	Rows: map[string]func() aggregate.Row{
		"head":              func() aggregate.Row { return &Head{} },
		"contest":           func() aggregate.Row { return &Contest{} },
		"execution_summary": func() aggregate.Row { return &Summary{} },
	},
}

// TeamKind describes a team's work in a contest. Each team has its own aggregate, so that teams never conflict with
// each other. It has no run: the contest's run does the work.
var TeamKind = aggregate.Kind{
	Name: "team", Prefix: "TEAM#", Lists: []string{TurnsList}, Still: true,
	New: func() aggregate.Aggregate { return &Work{} },
	Rows: map[string]func() aggregate.Row{
		"head":          func() aggregate.Row { return &TeamHead{} },
		"team":          func() aggregate.Row { return &Team{} },
		"round_history": func() aggregate.Row { return &Round{} },
		"leader_board":  func() aggregate.Row { return &Board{} },
	},
}

// All returns the index partition of a tenant's contests.
func All(tenant string) string { return "TENANT#" + tenant + "#CONTESTS" }

// Indexes lists the contest among the tenant's.
func (c *Contest) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 1, PK: All(c.TenantID), SK: aggregate.TimeText(c.CreatedAt) + "#" + c.ExecutionID}}
}

// Aggregate is every row of one contest; see aggregate.Aggregate.
type Aggregate struct {
	aggregate.Shared
	Head    Head
	Contest *Contest
	Summary *Summary // nil until the contest is closed
}

func (a *Aggregate) Ref() aggregate.Ref   { return Ref(a.Head.TenantID, a.Head.ExecutionID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Contest:
		a.Contest = r
	case *Summary:
		a.Summary = r
	default:
		a.Shared.Add(r)
	}
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	n := *a
	return aggregate.Committed(&n, c)
}

// Work is every row of one team's work in a contest.
type Work struct {
	aggregate.Shared
	Head   TeamHead
	Team   *Team
	Rounds []*Round // sorted by number
	Board  []*Board // sorted by number
}

func (w *Work) Ref() aggregate.Ref {
	return aggregate.Ref{Tenant: w.Head.TenantID, Kind: TeamKind.Name, ID: w.Head.WorkID}
}

func (w *Work) Root() aggregate.Root { return &w.Head }

func (w *Work) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *TeamHead:
		w.Head = *r
	case *Team:
		w.Team = r
	case *Round:
		w.Rounds = aggregate.Insert(w.Rounds, r)
	case *Board:
		w.Board = aggregate.Insert(w.Board, r)
	default:
		w.Shared.Add(r)
	}
}

func (w *Work) After(c aggregate.Change) aggregate.Aggregate {
	n := *w
	n.Rounds, n.Board, n.Uses = slices.Clone(w.Rounds), slices.Clone(w.Board), slices.Clone(w.Uses)
	return aggregate.Committed(&n, c)
}

// Best returns the board's row of the team's best round, or nil.
func (w *Work) Best() *Board {
	for _, b := range w.Board {
		if b.IsBest {
			return b
		}
	}
	return nil
}
