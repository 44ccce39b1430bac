package errorclass_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/expect"
)

// ofTheDomain are the errors of aggregate and task by name.
var ofTheDomain = map[string]struct {
	err     error
	class   errorclass.Class
	refusal bool
}{
	"ErrNotFound":       {aggregate.ErrNotFound, errorclass.NotFound, true},
	"ErrNotAllowed":     {aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, errorclass.NotAllowed, true},
	"ErrOnRoute":        {aggregate.ErrOnRoute, errorclass.NotAllowed, true},
	"ErrDecided":        {aggregate.ErrDecided{}, errorclass.Decided, true},
	"ErrNotLatest":      {aggregate.ErrNotLatest{Latest: 2}, errorclass.NotLatest, true},
	"ErrInFlight":       {aggregate.ErrInFlight, errorclass.InFlight, true},
	"ErrUncovered":      {aggregate.ErrUncovered, errorclass.Uncovered, true},
	"ErrField":          {aggregate.ErrField{Field: "slug"}, errorclass.Field, true},
	"ErrEdited":         {task.ErrEdited, errorclass.Edited, true},
	"ErrNothingToRetry": {task.ErrNothingToRetry, errorclass.NothingToRetry, true},
	"ErrMaxAttempts":    {task.ErrMaxAttempts, errorclass.MaxAttempts, true},
	"ErrMaxRetries":     {task.ErrMaxRetries, errorclass.MaxRetries, true},
	"ErrTooLarge":       {aggregate.ErrTooLarge{}, errorclass.Internal, false},
	"ErrFull":           {aggregate.ErrFull{}, errorclass.Full, false},
	"StopError":         {task.StopError{}, errorclass.Stopped, false},
	"ErrUnconfirmed":    {aggregate.ErrUnconfirmed, errorclass.Unconfirmed, false},
	"ErrNumber":         {task.ErrNumber, errorclass.Conflict, false},
	"ErrNumbersGone":    {task.ErrNumbersGone, errorclass.Internal, false},
	"ErrExists":         {aggregate.ErrExists, errorclass.Conflict, false},
	"ErrConflict":       {aggregate.ErrConflict, errorclass.Conflict, false},
	"ErrMoved":          {aggregate.ErrMoved, errorclass.Changed, false},
	"ErrSettings":       {aggregate.ErrSettings, errorclass.Changed, false},
	"ErrNotDue":         {aggregate.ErrNotDue, errorclass.Changed, false},
	"ErrSuperseded":     {aggregate.ErrSuperseded, errorclass.Superseded, false},
}

func TestWhyAnActIsRefusedIsNoFailure(t *testing.T) {
	got := errorclass.Of(fmt.Errorf("stamp: %w", &circulation.Refusal{Why: circulation.WhyTurn}))
	expect.That(t, got == errorclass.NotAllowed && got.Refusal(), "it is %s", got)
	got = errorclass.Of(fmt.Errorf("deny: %w", &circulation.Refusal{Why: circulation.WhyText}))
	expect.That(t, got == errorclass.Field && got.Refusal(), "a reason that won't do is %s", got)
}

func TestEveryErrorOfTheDomainHasAClass(t *testing.T) {
	for name, tt := range ofTheDomain {
		got := errorclass.Of(fmt.Errorf("decide: %w", tt.err))
		expect.That(t, got == tt.class && got.Refusal() == tt.refusal, "%s is %s, a refusal: %t", name, got, got.Refusal())
	}
	found := 0
	for _, folder := range []string{"../../domain/aggregate", "../../domain/task"} {
		for _, name := range errorsIn(t, folder) {
			found++
			_, ok := ofTheDomain[name]
			expect.That(t, ok, "%s of %s is in no class", name, folder)
		}
	}
	expect.Is(t, found, len(ofTheDomain), "the domain has errors, the table")
}

// errorsIn returns the error values and types that a package exports.
func errorsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	expect.Must(t, err == nil && len(files) != 0, "%s: %v", folder, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b := expect.Value(os.ReadFile(name))(t)
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, b, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if receiver, ok := errorMethod(n); ok {
					names = append(names, receiver)
				}
				return false
			case *ast.ValueSpec:
				for _, v := range n.Names {
					if strings.HasPrefix(v.Name, "Err") {
						names = append(names, v.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

// errorMethod returns the type of which a function is the Error method.
func errorMethod(f *ast.FuncDecl) (string, bool) {
	if f.Name.Name != "Error" || f.Recv == nil {
		return "", false
	}
	of, ok := f.Recv.List[0].Type.(*ast.Ident)
	return of.Name, ok
}

func TestOtherErrors(t *testing.T) {
	of := func(err error) error { return &smithy.OperationError{ServiceID: "DynamoDB", Err: err} }
	api := func(code string) error { return of(&smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient}) }
	for name, tt := range map[string]struct {
		err  error
		want errorclass.Class
	}{
		"none":                                 {nil, errorclass.None},
		"an unknown one":                       {errors.New("boom"), errorclass.Internal},
		"Slack is silent about a person":       {fmt.Errorf("%w: %w", errorclass.ErrUnverified, context.DeadlineExceeded), errorclass.Unverified},
		"another release's form":               {errorclass.ErrMalformedForm, errorclass.MalformedForm},
		"an input without a gate":              {errorclass.ErrBadInput, errorclass.BadInput},
		"a model that is away":                 {errorclass.ErrModelUnavailable, errorclass.ModelUnavailable},
		"a service that is away":               {errorclass.ErrUnavailable, errorclass.Unavailable},
		"no time left":                         {context.DeadlineExceeded, errorclass.Unavailable},
		"cut off":                              {context.Canceled, errorclass.Unavailable},
		"cut off in the middle of a commit":    {fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, context.DeadlineExceeded), errorclass.Unconfirmed},
		"decided, and gone":                    {errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), errorclass.Decided},
		"no connection":                        {of(errors.New("reset")), errorclass.Unavailable},
		"AWS throttles":                        {api("ThrottlingException"), errorclass.Unavailable},
		"AWS says that we are wrong":           {api("ValidationException"), errorclass.Internal},
		"AWS says that we are wrong, retried":  {fmt.Errorf("%w: %w", errorclass.ErrUnavailable, api("ValidationException")), errorclass.Unavailable},
		"a transaction that lost against AWS'": {fmt.Errorf("%w: %w", aggregate.ErrConflict, api("ValidationException")), errorclass.Conflict},
	} {
		expect.Is(t, errorclass.Of(tt.err), tt.want, "%s", name)
	}
}
