package task

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// asMoved returns a gate without a rule that may have a status, and gives a row that from which it comes.
func asMoved(row Gated, from, to aggregate.GateStatus) aggregate.Gate {
	at := dawn
	g := aggregate.Gate{AskedAt: &at, Terms: aggregate.Terms{ApprovalHours: 1}}
	g, _ = g.Under(aggregate.BySettings(to != aggregate.Approved, requester), nil,
		func(*aggregate.Gate) string { return "sum" })
	if to == aggregate.Rejected {
		act := g.Acting(circulation.SendBack, person(suzuki), "no")
		act, _ = aggregate.Policy{Team: person(suzuki).Team}.Act(&g, act, person(suzuki), at)
		g, _ = g.Acted(act)
	}
	row.gate().Status = from
	return g
}

// The test tries every pair of statuses on every kind of row. Moves that are not listed must be refused and write
// nothing.
func TestAMoveThatIsNotListedIsRefused(t *testing.T) {
	moves := 0
	try := func(kind, from, to string, listed bool, move func(c *change)) {
		moves++
		c := change{of: &Aggregate{}}
		move(&c)
		switch made, err := c.done(); {
		case listed && (err != nil || len(made.Rows) != 1):
			t.Errorf("%s: %s to %s: %v, %d rows", kind, from, to, err, len(made.Rows))
		case !listed && (!errors.Is(err, aggregate.ErrConflict) || !made.Empty()):
			t.Errorf("%s: %s to %s is not refused: %v, %d rows", kind, from, to, err, len(made.Rows))
		}
	}
	for from := range aggregate.GateMoves {
		for to := range aggregate.GateMoves {
			for kind, row := range map[string]Gated{"prompt": &Prompt{}, "process": &Process{}, "step gate": &StepGate{}} {
				gate := asMoved(row, from, to)
				try(kind, string(from), string(to), aggregate.GateMoves.Allows(from, to), func(c *change) {
					opened := gate
					opened.Acts = nil
					c.Head.Opens(row.Key(), &opened)
					if to == aggregate.Approved {
						_ = c.Head.Settle(row.Key(), &gate)
					}
					c.moveGate(row, to, func(n Gated) { *n.gate() = gate })
				})
			}
		}
	}
	for from := range ExecutionMoves {
		for to := range ExecutionMoves {
			try("execution", string(from), string(to), ExecutionMoves.Allows(from, to), func(c *change) {
				c.moveExecution(&Execution{Status: from}, to, func(*Execution) {})
			})
		}
	}
	for from := range StepMoves {
		for to := range StepMoves {
			try("step", string(from), string(to), StepMoves.Allows(from, to), func(c *change) {
				c.moveStep(&StepResult{Status: from}, to, func(*StepResult) {})
			})
		}
	}
	for from := range TaskMoves {
		for to := range TaskMoves {
			try("task", string(from), string(to), TaskMoves.Allows(from, to),
				func(c *change) { c.moveTask(&Task{Status: from}, to) })
		}
	}
	want := 3*6*6 + 5*5 + 4*4 + 5*5
	expect.Is(t, moves, want, "moves tried")
}

// beginnings are the statuses with which rows are created.
var beginnings = map[string][]string{
	"Task": {"TaskExtracted"}, "Gate": {"Generating", "PendingApproval"},
	"Execution": {"ExecutionPending"}, "StepResult": {"StepRunning"},
}

// Only change's methods move… may change a status, so that nothing bypasses the tables.
func TestStatusesAreWrittenInOnePlace(t *testing.T) {
	files := expect.Value(os.ReadDir("."))(t)
	seen := 0
	for _, f := range files {
		name := f.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file := expect.Value(parser.ParseFile(fset, name, nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return !strings.HasPrefix(n.Name.Name, "move")
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Status" {
						t.Errorf("%s writes a status", fset.Position(n.Pos()))
					}
				}
			case *ast.CompositeLit:
				kind, ok := n.Type.(*ast.Ident)
				if s, of := n.Type.(*ast.SelectorExpr); of {
					kind, ok = s.Sel, true
				}
				if !ok || beginnings[kind.Name] == nil {
					return true
				}
				if status := field(n, "Status"); status != "" {
					seen++
					expect.That(t, slices.Contains(beginnings[kind.Name], status), "%s: a %s begins as %s", fset.Position(n.Pos()),
						kind.Name, status)
				}
			}
			return true
		})
	}
	expect.That(t, seen == 9,
		"%d places make rows with a status, want 9: a task, a version of a prompt and of a process, one "+
			"that is picked, an attempt's gate, a step's, a step, and an execution with its "+
			"retry", seen)
}

// field returns the name of a field's value in a literal.
func field(lit *ast.CompositeLit, name string) string {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, _ := kv.Key.(*ast.Ident)
		if key == nil || key.Name != name {
			continue
		}
		switch value := kv.Value.(type) {
		case *ast.Ident:
			return value.Name
		case *ast.SelectorExpr:
			return value.Sel.Name
		}
	}
	return ""
}

// The moves of seed 000 chapter 3, with the ends that the design adds. All other pairs are forbidden.
const allowedMoves = `
task       extracted         running cancelled
task       running           completed failed cancelled
task       completed
task       failed            running
task       cancelled
gate       generating        pending_approval
gate       pending_approval  approved rejected expired cancelled
gate       approved
gate       rejected
gate       expired
gate       cancelled
execution  pending           running failed cancelled
execution  running           completed failed cancelled
execution  completed
execution  failed
execution  cancelled
step       running           running completed failed unknown
step       completed
step       failed
step       unknown           completed failed
`

func TestStateMachinesAllowWhatTheDataModelListsAndNothingElse(t *testing.T) {
	machines := map[string]func(from, to string) bool{
		"task":      allows(TaskMoves),
		"gate":      allows(aggregate.GateMoves),
		"execution": allows(ExecutionMoves),
		"step":      allows(StepMoves),
	}
	listed := map[string]map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(allowedMoves)) {
		f := strings.Fields(line)
		if listed[f[0]] == nil {
			listed[f[0]] = map[string][]string{}
		}
		listed[f[0]][f[1]] = f[2:]
	}
	for name, allowed := range machines {
		froms := []string{"", "no such status"}
		for from := range listed[name] {
			froms = append(froms, from)
		}
		for _, from := range froms {
			for _, to := range froms {
				got, want := allowed(from, to), slices.Contains(listed[name][from], to)
				expect.Is(t, got, want, "%s: %q to %q is allowed", name, from, to)
			}
		}
	}
	for name, size := range map[string]int{"task": len(TaskMoves), "gate": len(aggregate.GateMoves),
		"execution": len(ExecutionMoves), "step": len(StepMoves)} {
		expect.That(t, len(listed[name]) == size, "%s has %d statuses, %d are listed here", name, size, len(listed[name]))
	}
}

func allows[S ~string](m aggregate.Moves[S]) func(from, to string) bool {
	return func(from, to string) bool { return m.Allows(S(from), S(to)) }
}
