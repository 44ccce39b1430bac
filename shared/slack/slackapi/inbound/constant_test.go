package inbound

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Signatures are made in one place, and what it makes meets a caller's only in
// hmac.Equal: any other comparison would tell by its time how much of a guess is right.
func TestSignaturesAreComparedInConstantTime(t *testing.T) {
	files := expect.Value(filepath.Glob("*.go"))(t)
	equal := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		made := map[ast.Node]bool{} // calls of Sign that stand in hmac.Equal
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Equal" {
				if of, ok := s.X.(*ast.Ident); !ok || of.Name != "hmac" {
					t.Errorf("%s: %s.Equal is not hmac's", name, s.X)
				}
				equal++
				ast.Inspect(call, func(n ast.Node) bool { made[n] = true; return true })
			}
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "Sign" && !made[call] {
				t.Errorf("%s: a signature is made outside of hmac.Equal", name)
			}
			return true
		})
		ast.Inspect(file, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) && named(b.X, "signature") &&
				!empty(b.Y) {
				t.Errorf("%s: a signature is compared with %s", name, b.Op)
			}
			return true
		})
	}
	expect.That(t, equal == 1, "signatures are compared in %d places, want one", equal)
}

func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func empty(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == `""`
}
