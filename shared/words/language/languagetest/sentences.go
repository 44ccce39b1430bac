package languagetest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/words/language"
)

// Sentences are Ringi's own texts by locale, cut at their placeholders. Texts that another language has too are left
// out.
type Sentences map[string][]string

// SentencesBelow collects the texts below folders: files <locale>.json, objects by locale in other JSON files, and
// what Go files give to language.InEach.
func SentencesBelow(t testing.TB, roots ...string) Sentences {
	t.Helper()
	texts := map[string][]string{}
	for _, root := range roots {
		must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			switch filepath.Ext(path) {
			case ".json":
				inFile(t, path, texts)
			case ".go":
				if !strings.HasSuffix(path, "_test.go") {
					inCode(t, path, texts)
				}
			}
			return err
		}))
	}
	out := Sentences{}
	for _, locale := range language.All {
		var others string
		for other, said := range texts {
			if other != locale {
				others += strings.Join(said, "\n")
			}
		}
		for _, text := range texts[locale] {
			for _, part := range placeholder.Split(text, -1) {
				if part = strings.TrimFunc(part, mark); tells(part) && !strings.Contains(others, part) {
					out[locale] = append(out[locale], part)
				}
			}
		}
		slices.Sort(out[locale])
		out[locale] = slices.Compact(out[locale])
		if len(out[locale]) < 300 {
			t.Fatalf("only %d texts in %s", len(out[locale]), locale)
		}
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// placeholder matches what a text is filled with, and marks around it.
var placeholder = regexp.MustCompile("\\{\\w+\\}|%[+#]?[0-9.]*[a-z]|[\\n`*“”「」<>]")

func mark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// tells reports whether a text is long enough to be nobody else's: three words, or five letters with hiragana.
func tells(part string) bool {
	kana := strings.ContainsFunc(part, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
	if kana {
		return len([]rune(part)) >= 5
	}
	return len(strings.Fields(part)) >= 3 && len(part) >= 12 && part[0] < unicode.MaxASCII
}

// Foreign returns the sentences of other languages in a text. data is what people and vendors wrote, which may be in
// any language.
func (s Sentences) Foreign(locale, text string, data ...string) (found []string) {
	theirs := strings.Join(data, "\n")
	for other, parts := range s {
		for _, part := range parts {
			if other != locale && strings.Contains(text, part) && !strings.Contains(theirs, part) {
				found = append(found, part)
			}
		}
	}
	return found
}

func inFile(t testing.TB, path string, texts map[string][]string) {
	t.Helper()
	var v any
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(text, &v))
	if locale := strings.TrimSuffix(filepath.Base(path), ".json"); slices.Contains(language.All, locale) {
		leaves(v, locale, texts)
		return
	}
	byLocale(v, texts)
}

// leaves adds all texts of a JSON value.
func leaves(v any, locale string, texts map[string][]string) {
	switch v := v.(type) {
	case string:
		texts[locale] = append(texts[locale], v)
	case []any:
		for _, x := range v {
			leaves(x, locale, texts)
		}
	case map[string]any:
		for _, x := range v {
			leaves(x, locale, texts)
		}
	}
}

// byLocale adds the texts below members that are named by locales.
func byLocale(v any, texts map[string][]string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			byLocale(x, texts)
		}
	case map[string]any:
		for name, x := range v {
			if slices.Contains(language.All, name) {
				leaves(x, name, texts)
				continue
			}
			byLocale(x, texts)
		}
	}
}

// inCode adds the literals in the arguments of language.InEach, and in the variables of the file that it names.
func inCode(t testing.TB, path string, texts map[string][]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	must(t, err)
	declared := map[string]ast.Node{}
	for _, d := range file.Decls {
		if all, ok := d.(*ast.GenDecl); ok {
			for _, x := range all.Specs {
				if v, ok := x.(*ast.ValueSpec); ok {
					declared[v.Names[0].Name] = v
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != len(language.All) {
			return true
		}
		if of, ok := call.Fun.(*ast.SelectorExpr); !ok || of.Sel.Name != "InEach" {
			return true
		}
		for i, arg := range call.Args {
			literals(arg, language.All[i], texts)
			ast.Inspect(arg, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok && declared[name.Name] != nil {
					literals(declared[name.Name], language.All[i], texts)
				}
				return true
			})
		}
		return true
	})
}

func literals(n ast.Node, locale string, texts map[string][]string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING {
			if said, err := strconv.Unquote(x.Value); err == nil {
				texts[locale] = append(texts[locale], said)
			}
		}
		return true
	})
}
