package infra_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

var (
	markdownLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug       = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Every relative link of a text in the repository leads to a file, and to a heading if it names one.
func TestLinksBetweenTextsLeadSomewhere(t *testing.T) {
	links := 0
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(d.Name(), ".") && path != repository; d.IsDir() && (hidden || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		for _, m := range markdownLink.FindAllStringSubmatch(textOf(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			checkLink(t, path, m[1])
		}
		return nil
	})
	if err != nil || links < 20 {
		t.Errorf("%d links, %v", links, err)
	}
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

func textOf(t *testing.T, path string) string {
	t.Helper()
	b := expect.Value(os.ReadFile(path))(t)
	return string(b)
}
