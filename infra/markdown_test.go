package infra_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
)

var (
	markdownLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug       = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// pages returns the repository's pages by path, without prompts and test data.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := textsBelow(t, []string{".md"}, repository)
	maps.DeleteFunc(out, func(path, _ string) bool {
		return slices.ContainsFunc(strings.Split(path, "/"), func(folder string) bool {
			return slices.Contains([]string{"node_modules", "prompts", "testdata"}, folder)
		})
	})
	expect.Must(t, len(out) >= 10, "%d pages", len(out))
	return out
}

// Every relative link of a text in the repository leads to a file, and to a heading if it names one.
func TestLinksBetweenTextsLeadSomewhere(t *testing.T) {
	links := 0
	for path, text := range pages(t) {
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			checkLink(t, path, m[1])
		}
	}
	expect.That(t, links >= 20, "%d links", links)
}

const (
	mostLine   = 120 // characters of a line, but for rows of tables, literals and addresses
	mostCell   = 200 // characters of a table's cell; whatever is longer is a list
	mostReadme = 150 // lines: details belong next to their code
)

var address = regexp.MustCompile(`https?://\S+`)

// misshapen returns the lines and cells of a page that are too long. The bench's tables don't count.
func misshapen(page string) (out []string) {
	literal, measured := false, false
	for i, line := range strings.Split(page, "\n") {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "```"):
			literal = !literal
		case strings.HasPrefix(text, "<!--"):
			measured = text == "<!-- bench -->"
		case literal || measured:
		case strings.HasPrefix(text, "|"):
			for _, cell := range strings.Split(strings.ReplaceAll(text, `\|`, ""), "|") {
				if n := utf8.RuneCountInString(strings.TrimSpace(cell)); n > mostCell {
					out = append(out, fmt.Sprintf("%d: a cell of %d characters", i+1, n))
				}
			}
		case utf8.RuneCountInString(address.ReplaceAllString(line, "")) > mostLine:
			out = append(out, fmt.Sprintf("%d: %d characters", i+1, utf8.RuneCountInString(line)))
		}
	}
	return out
}

func TestPagesFitAScreen(t *testing.T) {
	for path, text := range pages(t) {
		for _, line := range misshapen(text) {
			t.Errorf("%s:%s", path, line)
		}
		n := strings.Count(text, "\n")
		expect.That(t, path != filepath.Join(repository, "README.md") || n <= mostReadme, "%s has %d lines", path, n)
	}
	long := strings.Repeat("a ", 101)
	page := long + "\n| " + long + "|\n```\n" + long + "\n```\n<!-- bench -->\n| " + long + "|\n<!-- /bench -->\nhttps://" + strings.Repeat("a", 200)
	expect.Is(t, len(misshapen(page)), 2, "found of a line, a cell, a literal, a measurement and an address")
}

// README's map has a line for each area, in their order.
func TestTheMapIsTheTree(t *testing.T) {
	var mapped []string
	text := textOf(t, filepath.Join(repository, "README.md"))
	for _, m := range regexp.MustCompile(`(?m)^shared/(\w+)/ +\S`).FindAllStringSubmatch(text, -1) {
		mapped = append(mapped, m[1])
	}
	expect.Same(t, areas, mapped)
}

func checkLink(t *testing.T, from, to string) {
	t.Helper()
	file, anchor, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = filepath.Join(filepath.Dir(from), file)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s: %s: %v", from, to, err)
		return
	}
	if anchor == "" {
		return
	}
	for _, h := range markdownHeading.FindAllStringSubmatch(textOf(t, target), -1) {
		if strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor {
			return
		}
	}
	t.Errorf("%s: %s has no heading %s", from, target, anchor)
}

var goFile = regexp.MustCompile("`(?:[\\w.-]+/)*(\\w+\\.go)`")

// The Go files that pages name exist.
func TestPagesNameFilesThatExist(t *testing.T) {
	there := map[string]bool{}
	for path := range textsBelow(t, []string{".go"}, repository) {
		there[filepath.Base(path)] = true
	}
	named := 0
	for path, text := range pages(t) {
		for _, file := range goFile.FindAllStringSubmatch(text, -1) {
			named++
			expect.That(t, there[file[1]], "%s: there is no %s", path, file[0])
		}
	}
	expect.That(t, named > 10, "pages name %d files", named)
}
