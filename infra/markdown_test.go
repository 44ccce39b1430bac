package infra_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
