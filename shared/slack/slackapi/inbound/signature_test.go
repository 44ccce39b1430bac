package inbound

import (
	"context"
	"encoding/base64"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// FuzzVerify: only the secret's own signature is accepted, and only within its time.
func FuzzVerify(f *testing.F) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	f.Add(stamp, Sign(stamp, []byte("payload={}"), "s"), []byte("payload={}"))
	f.Add(stamp, "v0=", []byte{})
	f.Add("-9223372036854775808", "v0=00", []byte("x"))
	f.Add(" 1531420618", "V0=A2114D57", []byte("\x00\xff"))
	f.Add("01531420618", Sign("01531420618", []byte("x"), "s"), []byte("x"))
	f.Fuzz(func(t *testing.T, stamp, signature string, body []byte) {
		h := http.Header{HeaderTimestamp: {stamp}, HeaderSignature: {signature}}
		err := Verify(h, body, "s", now)
		seconds, bad := strconv.ParseInt(stamp, 10, 64)
		age := time.Unix(seconds, 0).Sub(now).Abs()
		good := bad == nil && age <= Tolerance && signature == Sign(stamp, body, "s")
		expect.That(t, good == (err == nil), "stamp %q, signature %q: %v", stamp, signature, err)
		expect.That(t, Verify(h, body, "", now) != nil && Verify(h, append(body, 'x'), "s", now) != nil,
			"believed without a secret, or about another body: %q", signature)
		// Any body with the right signature is accepted.
		h.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		h.Set(HeaderSignature, Sign(h.Get(HeaderTimestamp), body, "s"))
		if err := Verify(h, body, "s", now); err != nil {
			t.Error(err)
		}
	})
}

// FuzzServe: answer gets only bodies that Slack signed, in whatever encoding.
func FuzzServe(f *testing.F) {
	f.Add("payload=%7B%7D", false)
	f.Add(base64.StdEncoding.EncodeToString([]byte("payload=%7B%7D")), true)
	f.Add("cGF5bG9hZA", true)
	f.Add("cGF5\nbG9hZA==", true)
	f.Add("====", true)
	f.Fuzz(func(t *testing.T, text string, encoded bool) {
		body, readable := []byte(text), true
		if encoded {
			var err error
			body, err = base64.StdEncoding.DecodeString(text)
			readable = err == nil
		}
		r := signed(string(body))
		r.Body, r.IsBase64Encoded = text, encoded
		reached := ""
		out := edge().Serve(context.Background(), r, func(_ context.Context, b []byte) (Response, error) {
			reached = string(b)
			return OK(), nil
		})
		switch {
		case len(text) >= MaxBody:
		case readable && (out.StatusCode != 200 || reached != string(body)):
			t.Errorf("%d, and %q was read of %q", out.StatusCode, reached, text)
		case !readable && (out.StatusCode != 400 || reached != ""):
			t.Errorf("%d for no base64: %q", out.StatusCode, text)
		}
		r.Headers["x-slack-signature"] = "v0=" + text
		if out := edge().Serve(context.Background(), r, func(context.Context, []byte) (Response, error) {
			t.Error("an unsigned body was read")
			return OK(), nil
		}); out.StatusCode < 400 {
			t.Errorf("%d without a signature", out.StatusCode)
		}
	})
}

// Signatures are computed in one place, and compared with a caller's only by hmac.Equal: the time of any other
// comparison would reveal how much of a guess is right.
func TestSignaturesAreComparedInConstantTime(t *testing.T) {
	files := expect.Value(filepath.Glob("*.go"))(t)
	equal := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		made := map[ast.Node]bool{} // calls of Sign within hmac.Equal
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Equal" {
				of, ok := s.X.(*ast.Ident)
				expect.That(t, ok && of.Name == "hmac", "%s: %s.Equal is not hmac's", name, s.X)
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
