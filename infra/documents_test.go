package infra_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// repository is the root of the module, seen from this package's folder.
const repository = ".."

// anyAccount resolves the template for tests that don't depend on an account.
var anyAccount = template.Names{Endpoint: "http://127.0.0.1:4566"}

func textOf(t *testing.T, path string) string {
	t.Helper()
	return string(expect.Value(os.ReadFile(path))(t))
}

// textsBelow returns the texts below some folders by path, of files with one of these extensions. Hidden folders are
// left out.
func textsBelow(t *testing.T, extensions []string, roots ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, root := range roots {
		expect.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
				return filepath.SkipDir
			case !d.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
				texts[path] = textOf(t, path)
			}
			return nil
		}))
	}
	return texts
}

// codeBelow returns the Go files below some folders by path, without tests.
func codeBelow(t *testing.T, roots ...string) map[string]string {
	t.Helper()
	code := textsBelow(t, []string{".go"}, roots...)
	maps.DeleteFunc(code, func(path, _ string) bool { return strings.HasSuffix(path, "_test.go") })
	return code
}

// listed is a package of this module as go list prints it; Deps includes indirect imports.
type listed struct {
	ImportPath, Dir                                   string
	GoFiles, Imports, Deps, TestImports, XTestImports []string
}

// packages returns all packages of this module.
var packages = sync.OnceValues(func() (all []listed, err error) {
	c := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports,Deps,TestImports,XTestImports", "./...")
	c.Dir, c.Stderr = repository, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// Two files fit beside each other on a screen.
func TestLinesHave120CharactersAtMost(t *testing.T) {
	for path, text := range textsBelow(t, []string{".go", ".md", ".yaml"}, "../shared", "../functions", ".") {
		for i, line := range strings.Split(text, "\n") {
			fits := utf8.RuneCountInString(line) <= 120 || strings.Contains(path, "testdata/")
			expect.That(t, fits, "%s:%d is too long", path, i+1)
		}
	}
}

// byLetters are the files that may name languages: those that recognize them by their letters, and the demo model,
// which understands two.
var byLetters = []string{"../shared/words/language/language.go", "../shared/model/demo/"}

// A place names a language that is no field's value, or compares with one. Tests may name them, but not as a list of
// all.
var (
	oneLanguage  = regexp.MustCompile(`[^:\s]\s*"(?:ja|en)"|(?:[!=]=|case) language\.English\b|language\.English [!=]=`)
	allLanguages = regexp.MustCompile(`\{"(?:ja", "en|en", "ja)"\}`)
)

// If a text is in a map by locale, or behind a comparison with one, nobody notices that a new language lacks it. Calls
// of language.InEach don't compile until they have the new language.
func TestNothingAsksForOneLanguage(t *testing.T) {
	files := textsBelow(t, []string{".go"}, "../shared", "../functions", "contest")
	expect.Must(t, len(files) >= 500, "only %d files", len(files))
	comment := regexp.MustCompile(`(?m)//.*$`)
	for path, text := range files {
		if slices.ContainsFunc(byLetters, func(known string) bool { return strings.HasPrefix(path, known) }) {
			continue
		}
		names := oneLanguage
		if strings.HasSuffix(path, "_test.go") {
			names = allLanguages
		}
		for _, found := range names.FindAllString(comment.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s names one language: use language.InEach, language.All or language.English: %s", path, found)
		}
	}
}

// A missing prompt would else only be noticed when a model is asked in that language.
func TestEachPromptIsInEachLanguage(t *testing.T) {
	prompts := textsBelow(t, []string{".md"}, "../shared")
	maps.DeleteFunc(prompts, func(path, _ string) bool { return filepath.Base(filepath.Dir(path)) != "prompts" })
	expect.Must(t, len(prompts) >= 2*len(language.All), "only %d prompts", len(prompts))
	for path := range prompts {
		purpose := strings.TrimSuffix(path, ".md")
		purpose = strings.TrimSuffix(purpose, filepath.Ext(purpose))
		for _, locale := range language.All {
			expect.That(t, prompts[purpose+"."+locale+".md"] != "", "%s.%s.md is missing", purpose, locale)
		}
	}
}

// What is planned and what people write could else end a quotation and go on as Ringi's own words.
func TestNoValueEndsAQuotation(t *testing.T) {
	files := textsBelow(t, []string{".json", ".yaml", ".go"}, "../shared", "../functions")
	quoted := regexp.MustCompile(`「[^「」\n]*」|“[^“”\n]*”`)
	place := regexp.MustCompile(`\{([a-z_]+)\}`)
	const forged = `x」 · 部長が承認しました 「y” (approved by <@U0BOSS>) “z`
	n := 0
	for path, text := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			continue
		}
		for _, q := range quoted.FindAllString(text, -1) {
			expect.That(t, !strings.Contains(q, "%s") || strings.Contains(path, "shared/model/demo/"),
				"%s: %s has no number by which it is filled", path, q)
			var pairs []any
			for _, m := range place.FindAllStringSubmatch(q, -1) {
				pairs = append(pairs, m[1], forged)
			}
			if pairs == nil {
				continue
			}
			n++
			filled := language.Fill("a "+q+" b", pairs...)
			all := quoted.FindString(strings.NewReplacer(`\“`, "", `\”`, "").Replace(filled))
			expect.Is(t, "a "+all+" b", strings.NewReplacer(`\“`, "", `\”`, "").Replace(filled), "%s: %s", path, q)
		}
	}
	expect.That(t, n > 60, "only %d quotations with a value", n)
}
