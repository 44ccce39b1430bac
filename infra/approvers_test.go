package infra_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// No program approves: whatever comes in, nothing but a person's click reaches a stamp.

// letIn says by what a function's package finds out who comes in by its routes.
var letIn = map[string]string{
	"ReceiveEventFunction":       "slackapi.Edge", // Slack, by its signature: messages
	"ReceiveInteractionFunction": "slackapi.Edge", // Slack, by its signature: people's clicks
	"ServeConsoleFunction":       "",              // people's browsers, by a session that began with Slack
	"ServeGateFunction":          "KeyBySecret",   // outside agents, by a key
}

// stampers are the functions and methods of package decide by which a stamp can be made, with all that call them.
func stampers(t *testing.T) (names map[string]bool) {
	t.Helper()
	mentions := map[string]map[string]bool{}
	for path, text := range codeBelow(t, "../shared/decide") {
		if strings.Contains(strings.TrimPrefix(path, "../shared/decide/"), "/") {
			continue
		}
		for _, d := range expect.Value(parser.ParseFile(token.NewFileSet(), path, text, 0))(t).Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || saysOnly(f) {
				continue
			}
			of := map[string]bool{}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.SelectorExpr:
					of[x.Sel.Name] = true
				case *ast.Ident:
					of[x.Name] = true
				}
				return true
			})
			mentions[f.Name.Name] = of
		}
	}
	names = map[string]bool{"Stamp": true}
	for more := true; more; {
		more = false
		for name, of := range mentions {
			if !names[name] && slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(n string) bool { return of[n] }) {
				names[name], more = true, true
			}
		}
	}
	return names
}

// saysOnly reports whether a function gives its caller nothing but true or false, so that no change comes of it.
func saysOnly(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	result, plain := f.Type.Results.List[0].Type.(*ast.Ident)
	return plain && result.Name == "bool"
}

// Of all functions only the two that take people's clicks name what can stamp, and a route leads to each of the two.
func TestOnlyFunctionsThatTakeClicksCanStamp(t *testing.T) {
	names := stampers(t)
	expect.Must(t, names["Approve"] && names["Stamp"], "%v", names)
	can := map[string]bool{}
	for path, text := range codeBelow(t, "../functions") {
		function, rest, _ := strings.Cut(strings.TrimPrefix(path, "../functions/"), "/")
		if strings.HasPrefix(rest, "consoletest/") {
			continue
		}
		ast.Inspect(expect.Value(parser.ParseFile(token.NewFileSet(), path, text, 0))(t), func(n ast.Node) bool {
			if x, is := n.(*ast.SelectorExpr); is {
				from, _ := x.X.(*ast.Ident)
				can[function] = can[function] || from != nil && (from.Name == "decide" && names[x.Sel.Name] ||
					from.Name == "circulation" && x.Sel.Name == "Stamp")
			}
			return true
		})
	}
	maps.DeleteFunc(can, func(_ string, stamps bool) bool { return !stamps })
	expect.Same(t, []string{"receive-interaction", "serve-console"}, slices.Sorted(maps.Keys(can)))
}

// Each route of the API leads to a function of which it is known whom it lets in, and how it knows them.
func TestEachRouteKnowsWhoComesIn(t *testing.T) {
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	for id, f := range s.functions {
		if len(f.Routes) == 0 {
			continue
		}
		checks, known := letIn[id]
		expect.That(t, known, "say how it is known who comes in by %s", id)
		expect.Has(t, source(t, "../functions/"+f.Folder+"/*.go"), checks, "%s: who comes in is not checked", id)
	}
}

// No scope of Slack lets Ringi's bot approve there. No reaction or message of Slack's events counts as a click.
func TestNoScopeApproves(t *testing.T) {
	for _, scope := range readManifest(t).OAuthConfig.Scopes.Bot {
		expect.That(t, !strings.HasPrefix(scope, "reactions:") && !strings.HasPrefix(scope, "workflow"), "%s", scope)
	}
	for _, event := range readManifest(t).Settings.EventSubscriptions.BotEvents {
		expect.That(t, !strings.Contains(event, "reaction") && !strings.Contains(event, "function"), "%s", event)
	}
}
