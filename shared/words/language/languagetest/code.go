package languagetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"ringi/shared/words/language"
)

// code adds the texts of a Go file: what it gives to language.InEach, pairs in the arguments of other functions, and
// pairs in fields that are named by locales.
func (c *collected) code(path string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	must(c.t, err)
	var declared map[string]ast.Expr
	ast.Inspect(file, func(n ast.Node) bool {
		each := inEach(n)
		if each == nil {
			return true
		}
		if declared == nil {
			declared = c.declared(path)
		}
		for i, x := range each {
			w := words{declared: declared}
			w.walk(x, "")
			for j, text := range w.texts {
				at := set.Position(each[0].Pos())
				c.add(path, strings.TrimSuffix(fmt.Sprintf("%d:%d %s", at.Line, at.Column, w.keys[j]), " "), language.All[i], text)
			}
		}
		return true
	})
}

// inEach returns the expressions of a node that are the same in each language.
func inEach(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if len(n.Args) != len(language.All) {
			return nil
		}
		first, second := literal(n.Args[0]), literal(n.Args[1])
		if named(n.Fun) == "language.InEach" || Japanese(first) && second != "" && !Japanese(second) {
			return n.Args
		}
	case *ast.CompositeLit:
		var each []ast.Expr
		for i, x := range n.Elts {
			kv, ok := x.(*ast.KeyValueExpr)
			if !ok || i >= len(language.All) {
				return nil
			}
			if name, ok := kv.Key.(*ast.Ident); !ok || name.Name != language.All[i] {
				return nil
			}
			each = append(each, kv.Value)
		}
		if len(each) == len(language.All) {
			return each
		}
	}
	return nil
}

// Japanese reports whether a text has Japanese letters.
func Japanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
	})
}

// declared returns the values of the variables and constants of a file's package.
func (c *collected) declared(path string) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go"))
	must(c.t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must(c.t, err)
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, x := range group.Specs {
				if v, ok := x.(*ast.ValueSpec); ok {
					for i := range min(len(v.Names), len(v.Values)) {
						out[v.Names[i].Name] = v.Values[i]
					}
				}
			}
		}
	}
	return out
}

// words are the texts of an expression in one language, with their fields.
type words struct {
	declared    map[string]ast.Expr
	within      []string
	keys, texts []string
}

func (w *words) walk(n ast.Node, key string) {
	switch x := n.(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		if text := literal(x.(ast.Expr)); text != "" {
			w.keys, w.texts = append(w.keys, key), append(w.texts, text)
		}
	case *ast.UnaryExpr:
		w.walk(x.X, key)
	case *ast.Ident:
		if v := w.declared[x.Name]; v != nil && len(w.within) < 3 {
			w.within = append(w.within, x.Name)
			w.walk(v, key)
			w.within = w.within[:len(w.within)-1]
		}
	case *ast.CompositeLit:
		for i, e := range x.Elts {
			at, value := strconv.Itoa(i+1), e
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				at, value = named(kv.Key), kv.Value
			}
			w.walk(value, strings.TrimPrefix(key+"."+at, "."))
		}
	case *ast.CallExpr:
		if named(x.Fun) == "strings.NewReplacer" { // marks
			return
		}
		for i, a := range x.Args {
			w.walk(a, strings.TrimPrefix(fmt.Sprintf("%s(%d)", key, i+1), "."))
		}
	case *ast.FuncLit:
		i := 0
		ast.Inspect(x.Body, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok || literal(e) == "" {
				return true
			}
			i++
			w.walk(e, fmt.Sprintf("%s#%d", key, i))
			return false
		})
	}
}

// named returns what a key is written as.
func named(key ast.Expr) string {
	switch x := key.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return named(x.X) + "." + x.Sel.Name
	case *ast.BasicLit:
		return strings.Trim(x.Value, `"`)
	}
	return "?"
}

// literal returns the text of an expression of literals, with {} for what is put between them, and "" if it has none.
func literal(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			said, _ := strconv.Unquote(x.Value)
			return said
		}
	case *ast.BinaryExpr:
		left, right := literal(x.X), literal(x.Y)
		if x.Op != token.ADD || left == "" && right == "" {
			return ""
		}
		if left == "" {
			left = "{}"
		}
		if right == "" {
			right = "{}"
		}
		return left + right
	}
	return ""
}
