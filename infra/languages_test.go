package infra_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// byLetters are the files that may name languages: those that recognize them by their letters, and the demo model,
// which understands two.
var byLetters = []string{
	"shared/words/language/language.go", "infra/contest/exec.go",
	"shared/model/demo/",
}

// If a text is in a map by locale, or behind a comparison with one, nobody notices that a new language lacks it. Calls
// of language.InEach don't compile until they have the new language.
func TestNothingAsksForOneLanguage(t *testing.T) {
	files := textsBelow(t, []string{".go"}, "../shared", "../functions", "contest")
	expect.Must(t, len(files) >= 500, "only %d files", len(files))
	for path, text := range files {
		name := filepath.Join("infra", path)
		if slices.ContainsFunc(byLetters, func(known string) bool { return strings.HasPrefix(name, known) }) {
			continue
		}
		set := token.NewFileSet()
		file := expect.Value(parser.ParseFile(set, path, text, parser.SkipObjectResolution))(t)
		for _, at := range languagesIn(file, strings.HasSuffix(path, "_test.go")) {
			t.Errorf("%s:%d names one language: use language.InEach, language.All or language.English", name,
				set.Position(at).Line)
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

// languagesIn returns the places of a file that name a language, except for structs of one language's words, which have
// a field for it. A test may name languages one by one, but has to use language.All for a list of all.
func languagesIn(file *ast.File, test bool) (found []token.Pos) {
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		switch {
		case test:
			if list, ok := n.(*ast.CompositeLit); ok && len(list.Elts) > 1 &&
				!slices.ContainsFunc(list.Elts, func(e ast.Expr) bool { return !isLocale(e) }) {
				found = append(found, n.Pos())
			}
		case isLocale(n) && !ofWords(above, n), isEnglish(n) && compared(above):
			found = append(found, n.Pos())
		}
		above = append(above, n)
		return true
	})
	return found
}

func isLocale(n ast.Node) bool {
	text, ok := n.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return false
	}
	said, err := strconv.Unquote(text.Value)
	return err == nil && slices.Contains(language.All, said)
}

// isEnglish reports whether a node is language.English.
func isEnglish(n ast.Node) bool {
	name, ok := n.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "English"
}

// ofWords reports whether a locale is the value of a field.
func ofWords(above []ast.Node, n ast.Node) bool {
	for i := len(above) - 1; i >= 0 && !compared(above[:i+1]); i-- {
		if field, ok := above[i].(*ast.KeyValueExpr); ok {
			return field.Key != n
		}
	}
	return false
}

// compared reports whether the last of these nodes compares its children.
func compared(above []ast.Node) bool {
	switch x := above[len(above)-1].(type) {
	case *ast.BinaryExpr:
		return x.Op == token.EQL || x.Op == token.NEQ
	case *ast.CaseClause:
		return true
	}
	return false
}

// bothInOne are files whose lines hold all languages at once.
var bothInOne = []string{
	"slack-manifest.yaml", "local/vendors/github.html", "local/vendors/vendors.go", "local/vendors/accounts.go",
}

// notForPeople are files whose Japanese is no text of Ringi's: forms by which words are recognized, what people of the
// sample company are called and wrote, and prompts for models.
var notForPeople = []string{
	"../shared/model/demo/", "../shared/model/turn/tools.go",
	"../shared/model/modeltest/", "../shared/tool/", "../shared/words/",
	"../shared/slack/card/cut.go", "../shared/slack/card/text.go", "../shared/decide/pipeline/pipelinetest/",
	"../shared/store/storetest/",
	"../functions/receive-interaction/command.go", "../functions/receive-event/conversation.go",
	"../functions/read-file/colors.go", "../functions/read-file/lists.go", "../functions/read-file/plain.go",
	"../functions/read-file/show.go",
	"../functions/serve-console/rules/money.go",
	"../shared/domain/organisation/header.go", "../shared/domain/organisation/japanese.go",
	"../shared/domain/organisation/layouts.go", "../shared/domain/organisation/usual.go", "../shared/domain/rules/unit.go",
	"../shared/domain/rules/currency.go",
	"../functions/serve-console/consoletest/", "../functions/serve-console/settings/rows.go",
	"bench/", "contest/", "local/driver/", "events/", "faults/", "smoke/", "local/vendors/",
	"local/sandbox/workspace/",
}

// TestEveryTextIsPrinted writes all texts that people read, each language beside the other, into the file that
// RINGI_TEXTS names. Japanese anywhere in code or data that is in no such text makes it fail.
func TestEveryTextIsPrinted(t *testing.T) {
	texts := expect.TextsBelow(t, "../shared", "../functions", ".")
	for _, path := range bothInOne {
		for i, line := range strings.Split(textOf(t, path), "\n") {
			if expect.Japanese(line) {
				texts = append(texts, expect.Text{File: path, Key: strconv.Itoa(i + 1), In: inAll(strings.TrimSpace(line))})
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b expect.Text) int { return cmp.Compare(a.File, b.File) })
	page := table(texts)
	expect.Must(t, len(texts) >= 2000, "only %d texts", len(texts))
	kinds := []string{".go", ".json", ".yaml", ".js", ".html", ".toml"}
	for path, text := range textsBelow(t, kinds, "../shared", "../functions", ".") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") ||
			slices.ContainsFunc(notForPeople, func(other string) bool { return strings.HasPrefix(path, other) }) {
			continue
		}
		for _, part := range japaneseIn(t, path, text) {
			expect.That(t, strings.Contains(page, part), "%s: %q is printed nowhere", path, part)
		}
	}
	if path := os.Getenv("RINGI_TEXTS"); path != "" {
		expect.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		t.Logf("%d texts in %s", len(texts), path)
	}
}

// table prints texts in Markdown, a table for each file.
func table(texts []expect.Text) string {
	var b strings.Builder
	cell := strings.NewReplacer("\n", "<br>", "|", `\|`)
	fmt.Fprintf(&b, "# %d texts\n", len(texts))
	for i, x := range texts {
		if i == 0 || texts[i-1].File != x.File {
			fmt.Fprintf(&b, "\n## %s\n\n| at | %s |\n|---|%s\n", strings.TrimPrefix(x.File, "../"),
				strings.Join(language.All, " | "), strings.Repeat("---|", len(language.All)))
		}
		fmt.Fprintf(&b, "| %s |", cell.Replace(x.Key))
		for _, locale := range language.All {
			b.WriteString(" " + cell.Replace(x.In[locale]) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func inAll(text string) language.Texts {
	all := language.Texts{}
	for _, locale := range language.All {
		all[locale] = text
	}
	return all
}

// besides matches lines that hold no text: comments, and by which words the demo model recognizes a request.
var besides = regexp.MustCompile(`^\s*(?:#|//|"asks": )`)

// letters matches Japanese without anything that a file may escape.
var letters = regexp.MustCompile(`[\p{Hiragana}\p{Katakana}\p{Han}][\p{Hiragana}\p{Katakana}\p{Han}ー、。]*`)

// marks matches functions whose arguments are forms and marks.
var marks = regexp.MustCompile(`^(?:Regexp|MustCompile|Trim|Contains|NewReplacer)`)

// japaneseIn returns the Japanese of a file, without comments and regular expressions.
func japaneseIn(t *testing.T, path, text string) (found []string) {
	if filepath.Ext(path) != ".go" {
		for _, line := range strings.Split(text, "\n") {
			if !besides.MatchString(line) {
				found = append(found, letters.FindAllString(line, -1)...)
			}
		}
		return found
	}
	file := expect.Value(parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution))(t)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			of, ok := n.Fun.(*ast.SelectorExpr)
			return !ok || !marks.MatchString(of.Sel.Name)
		case *ast.CompositeLit:
			of, ok := n.Type.(*ast.SelectorExpr)
			return !ok || of.Sel.Name != "Regexp"
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				found = append(found, letters.FindAllString(expect.Value(strconv.Unquote(n.Value))(t), -1)...)
			}
		}
		return true
	})
	return found
}
