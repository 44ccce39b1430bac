package infra_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// mostFiles is in how many files at most an act at a gate is named, tests aside.
const mostFiles = 12

// Each file that names the act deny, as an example of an act, stands in the recipe for adding one, and they are few.
func TestAnActIsAddedInFewFiles(t *testing.T) {
	text := string(expect.Value(os.ReadFile("contributing.md"))(t))
	_, recipe, _ := strings.Cut(text, "\n## An act\n")
	recipe, _, _ = strings.Cut(recipe, "\n## ")
	names := regexp.MustCompile(`\b(circulation\.)?Deny\b|ActDeny|"deny"|\bact_deny\b|"(process|step|action)\.denied"`)
	others := []string{"shared/slack/card/blocks.go"} // Slack's word for a confirmation's second button
	var files []string
	for _, root := range []string{"shared/domain", "shared/decide", "shared/explain", "shared/slack/card",
		"functions/serve-console/subject", "functions/serve-console/task", "functions/serve-console/console",
		"functions/serve-console/agents",
		"functions/serve-console/web/texts", "functions/receive-interaction", "functions/update-card", "infra/audit"} {
		expect.NoError(t, filepath.WalkDir(filepath.Join("..", root), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			body, err := os.ReadFile(path)
			file := strings.TrimPrefix(filepath.ToSlash(path), "../")
			if names.Match(body) && !slices.Contains(others, file) {
				files = append(files, file)
			}
			return err
		}))
	}
	for _, file := range files {
		expect.That(t, strings.Contains(recipe, "`"+file+"`"), "%s names an act, and the recipe doesn't", file)
	}
	expect.That(t, len(files) > 5 && len(files) <= mostFiles, "an act is named in %d files: %v", len(files), files)
}
