package explain_test

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
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// ofTheDomain are the errors of aggregate and task by name.
var ofTheDomain = map[string]struct {
	err     error
	class   explain.Class
	refusal bool
}{
	"ErrNotFound":       {aggregate.ErrNotFound, explain.NotFound, true},
	"ErrNotAllowed":     {aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, explain.NotAllowed, true},
	"ErrOnRoute":        {aggregate.ErrOnRoute, explain.NotAllowed, true},
	"ErrDecided":        {aggregate.ErrDecided{}, explain.Decided, true},
	"ErrNotLatest":      {aggregate.ErrNotLatest{Latest: 2}, explain.NotLatest, true},
	"ErrInFlight":       {aggregate.ErrInFlight, explain.InFlight, true},
	"ErrUncovered":      {aggregate.ErrUncovered, explain.Uncovered, true},
	"ErrField":          {aggregate.ErrField{Field: "slug"}, explain.Field, true},
	"ErrEdited":         {task.ErrEdited, explain.Edited, true},
	"ErrNothingToRetry": {task.ErrNothingToRetry, explain.NothingToRetry, true},
	"ErrMaxAttempts":    {task.ErrMaxAttempts, explain.MaxAttempts, true},
	"ErrMaxRetries":     {task.ErrMaxRetries, explain.MaxRetries, true},
	"ErrTooLarge":       {aggregate.ErrTooLarge{}, explain.Internal, false},
	"ErrFull":           {aggregate.ErrFull{}, explain.Full, false},
	"StopError":         {task.StopError{}, explain.Stopped, false},
	"ErrUnconfirmed":    {aggregate.ErrUnconfirmed, explain.Unconfirmed, false},
	"ErrNumber":         {task.ErrNumber, explain.Conflict, false},
	"ErrNumbersGone":    {task.ErrNumbersGone, explain.Internal, false},
	"ErrExists":         {aggregate.ErrExists, explain.Conflict, false},
	"ErrConflict":       {aggregate.ErrConflict, explain.Conflict, false},
	"ErrMoved":          {aggregate.ErrMoved, explain.Changed, false},
	"ErrSettings":       {aggregate.ErrSettings, explain.Changed, false},
	"ErrNotDue":         {aggregate.ErrNotDue, explain.Changed, false},
	"ErrSuperseded":     {aggregate.ErrSuperseded, explain.Superseded, false},
}

func TestWhyAnActIsRefusedIsNoFailure(t *testing.T) {
	got := explain.ClassOf(fmt.Errorf("stamp: %w", &circulation.Refusal{Why: circulation.WhyTurn}))
	expect.That(t, got == explain.NotAllowed && got.Refusal(), "it is %s", got)
	got = explain.ClassOf(fmt.Errorf("deny: %w", &circulation.Refusal{Why: circulation.WhyText}))
	expect.That(t, got == explain.Field && got.Refusal(), "a reason that won't do is %s", got)
}

func TestEveryErrorOfTheDomainHasAClass(t *testing.T) {
	for name, tt := range ofTheDomain {
		got := explain.ClassOf(fmt.Errorf("decide: %w", tt.err))
		expect.That(t, got == tt.class && got.Refusal() == tt.refusal, "%s is %s, a refusal: %t", name, got, got.Refusal())
	}
	found := 0
	for _, folder := range []string{"../domain/aggregate", "../domain/task"} {
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
		want explain.Class
	}{
		"none":           {nil, explain.None},
		"an unknown one": {errors.New("boom"), explain.Internal},
		"Slack is silent about a person": {fmt.Errorf("%w: %w", explain.ErrUnverified, context.DeadlineExceeded),
			explain.Unverified},
		"another release's form":  {explain.ErrMalformedForm, explain.MalformedForm},
		"an input without a gate": {explain.ErrBadInput, explain.BadInput},
		"a model that is away":    {explain.ErrModelUnavailable, explain.ModelUnavailable},
		"a service that is away":  {explain.ErrUnavailable, explain.Unavailable},
		"no time left":            {context.DeadlineExceeded, explain.Unavailable},
		"cut off":                 {context.Canceled, explain.Unavailable},
		"cut off in the middle of a commit": {fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, context.DeadlineExceeded),
			explain.Unconfirmed},
		"decided, and gone":          {errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), explain.Decided},
		"no connection":              {of(errors.New("reset")), explain.Unavailable},
		"AWS throttles":              {api("ThrottlingException"), explain.Unavailable},
		"AWS says that we are wrong": {api("ValidationException"), explain.Internal},
		"AWS says that we are wrong, retried": {fmt.Errorf("%w: %w", explain.ErrUnavailable, api("ValidationException")),
			explain.Unavailable},
		"a transaction that lost against AWS'": {fmt.Errorf("%w: %w", aggregate.ErrConflict, api("ValidationException")),
			explain.Conflict},
	} {
		expect.Is(t, explain.ClassOf(tt.err), tt.want, "%s", name)
	}
}
