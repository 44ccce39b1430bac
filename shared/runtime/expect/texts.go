package expect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"

	"ringi/shared/words/language"
)

// Text is one of Ringi's own texts in all languages, with the file that holds it and its place there: a key, or a line
// of Go code.
type Text struct {
	File, Key string
	In        language.Texts
}

// TextsBelow collects the texts below folders: files <locale>.json and <locale>/*.yaml, objects by locale in other JSON
// files, what Go files give to language.InEach or choose by a locale, and i18n.js of the sandbox.
func TextsBelow(t testing.TB, roots ...string) []Text {
	t.Helper()
	texts := &collected{t: t, at: map[string]language.Texts{}}
	for _, root := range roots {
		NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() && !slices.Contains(without, d.Name()):
				return err
			case d.IsDir():
				return fs.SkipDir
			}
			texts.read(path)
			return nil
		}))
	}
	return texts.all
}

// without are folders that hold no texts of Ringi's.
var without = []string{"testdata", "published"}

// collected are texts in the order of their files. at finds one by file and key, to add its next language.
type collected struct {
	t   testing.TB
	all []Text
	at  map[string]language.Texts
}

func (c *collected) add(file, key, locale, text string) {
	name := file + "\x00" + key
	if c.at[name] == nil {
		c.at[name] = language.Texts{}
		c.all = append(c.all, Text{File: file, Key: key, In: c.at[name]})
	}
	c.at[name][locale] = text
}

// read adds the texts of a file.
func (c *collected) read(path string) {
	folder, name := filepath.Split(path)
	kind := filepath.Ext(name)
	switch locale := strings.TrimSuffix(name, kind); {
	case kind == ".go" && !strings.HasSuffix(name, "_test.go"):
		c.code(path)
	case name == "i18n.js":
		c.script(path)
	case kind == ".json" && slices.Contains(language.All, locale):
		c.leaves(folder+"*.json", "", locale, c.parsed(path))
	case kind == ".json":
		c.byLocale(path, "", c.parsed(path))
	case kind == ".yaml" && slices.Contains(language.All, filepath.Base(folder)):
		c.leaves(filepath.Join(filepath.Dir(filepath.Clean(folder)), "*", name), "", filepath.Base(folder), c.parsed(path))
	}
}

// parsed reads a file of JSON or YAML.
func (c *collected) parsed(path string) (v any) {
	text, err := os.ReadFile(path)
	NoError(c.t, err)
	if filepath.Ext(path) == ".json" {
		NoError(c.t, json.Unmarshal(text, &v))
	} else {
		NoError(c.t, yaml.Unmarshal(text, &v))
	}
	return v
}

// leaves adds all texts of a value in one language.
func (c *collected) leaves(file, key, locale string, v any) {
	if text, ok := v.(string); ok {
		c.add(file, key, locale, text)
	}
	for name, x := range members(v) {
		c.leaves(file, strings.TrimPrefix(key+"."+name, "."), locale, x)
	}
}

// byLocale adds the texts below members that are named by locales.
func (c *collected) byLocale(file, key string, v any) {
	for name, x := range members(v) {
		if slices.Contains(language.All, name) {
			c.leaves(file, key, name, x)
			continue
		}
		c.byLocale(file, strings.TrimPrefix(key+"."+name, "."), x)
	}
}

// members returns the members of a map or list in a fixed order, languages in the order of language.All.
func members(v any) func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		named := map[string]any{}
		switch v := v.(type) {
		case []any:
			for i, x := range v {
				named[fmt.Sprintf("%03d", i+1)] = x
			}
		case map[string]any:
			named = v
		case map[any]any: // YAML with keys such as 404
			for name, x := range v {
				named[fmt.Sprint(name)] = x
			}
		}
		order := func(a, b string) int {
			return cmp.Or(cmp.Compare(slices.Index(language.All, a), slices.Index(language.All, b)), cmp.Compare(a, b))
		}
		for _, name := range slices.SortedFunc(maps.Keys(named), order) {
			if !yield(name, named[name]) {
				return
			}
		}
	}
}

var (
	scriptWords = regexp.MustCompile(`(?ms)^const (\w+) = \{$(.*?)^\};$`)
	scriptIn    = regexp.MustCompile(`(?ms)^  (\w+): \{(.*?)\},$`)
	scriptText  = regexp.MustCompile(`(\w+): ("(?:[^"\\]|\\.)*")`)
)

// script adds the texts of the sandbox's i18n.js: objects by locale, whose members are texts in quotation marks.
func (c *collected) script(path string) {
	text, err := os.ReadFile(path)
	NoError(c.t, err)
	for _, words := range scriptWords.FindAllStringSubmatch(string(text), -1) {
		for _, in := range scriptIn.FindAllStringSubmatch(words[2], -1) {
			for _, m := range scriptText.FindAllStringSubmatch(in[2], -1) {
				var said string
				NoError(c.t, json.Unmarshal([]byte(m[2]), &said))
				c.add(path, words[1]+"."+m[1], in[1], said)
			}
		}
	}
}

// code adds the texts of a Go file: what it gives to language.InEach, pairs in the arguments of other functions, and
// pairs in fields that are named by locales.
func (c *collected) code(path string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	NoError(c.t, err)
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
	NoError(c.t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		NoError(c.t, err)
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
