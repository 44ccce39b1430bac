package infra_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/language/languagetest"
)

// bothInOne are files whose lines hold all languages at once.
var bothInOne = []string{
	"slack-manifest.yaml", "local/vendors/github.html", "local/vendors/page.html", "local/vendors/consent.go",
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
	"../functions/serve-console/rules/amounts.go",
	"../shared/domain/organisation/columns.go", "../shared/domain/rules/unit.go", "../shared/domain/rules/currency.go",
	"../functions/serve-console/consoletest/", "../functions/serve-console/settings/rows.go",
	"bench/", "contest/", "local/driver/", "events/", "faults/", "smoke/", "witness/", "local/vendors/",
	"local/sandbox/workspace/",
}

// TestEveryTextIsPrinted writes all texts that people read, each language beside the other, into the file that
// RINGI_TEXTS names. Japanese anywhere in code or data that is in no such text makes it fail.
func TestEveryTextIsPrinted(t *testing.T) {
	texts := languagetest.TextsBelow(t, "../shared", "../functions", ".")
	for _, path := range bothInOne {
		for i, line := range strings.Split(textOf(t, path), "\n") {
			if languagetest.Japanese(line) {
				texts = append(texts, languagetest.Text{File: path, Key: strconv.Itoa(i + 1), In: inAll(strings.TrimSpace(line))})
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b languagetest.Text) int { return cmp.Compare(a.File, b.File) })
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
func table(texts []languagetest.Text) string {
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
