package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Anybody may choose a name that is taken.
func TestPeopleHaveTheirIDsWhereTwoHaveOneName(t *testing.T) {
	named := web.Named(map[string]string{"U1PERSON": "佐藤 花子", "U2PERSON": "佐藤 花子", "U3PERSON": "田中 恵",
		"U4PERSON": "U4PERSON"})
	expect.Same(t, "@佐藤 花子 (U1PERSON) が @佐藤 花子 (U2PERSON) に、@田中 恵 が @U4PERSON と @U5PERSON に",
		web.Mentions("<@U1PERSON> が <@U2PERSON> に、<@U3PERSON> が <@U4PERSON> と <@U5PERSON> に", named))
}

// Pages in English have no Japanese but the name of the other language.
func TestEnglishTextsAreEnglish(t *testing.T) {
	files := expect.Value(filepath.Glob("texts/" + language.English + "/*.yaml"))(t)
	expect.That(t, len(files) > 20, "only %d catalogs", len(files))
	for _, path := range files {
		for line := range strings.Lines(string(expect.Value(os.ReadFile(path))(t))) {
			expect.That(t, !expect.Japanese(line) || strings.HasPrefix(line, "other_language: "), "%s: %s", path, line)
		}
	}
}

// codes are where a problem gets its code: by an argument of a function, or in a value.
var codes = regexp.MustCompile(`(?:Unless|unless|add|fault)\([^\n]*?, "([a-z_]+)"(?:, [A-Z0-9f][^"\n]*)?\)|` +
	`Code: "([a-z_]+)"|wrong\([^\n]*"(csv_[a-z_]+)"`)

// Each problem that a validator finds is said in each language, and no sentence is left that none finds.
func TestEachProblemIsSaid(t *testing.T) {
	found, literals := map[string]bool{}, ""
	for _, dir := range []string{"shared/domain/agent", "shared/domain/organisation", "shared/domain/rules",
		"shared/domain/tenancy", "shared/store", "shared/slack/people", "shared/tool/mcp", "functions/serve-console/web",
		"functions/serve-console/rules", "functions/serve-console/settings"} {
		for _, file := range expect.Value(filepath.Glob("../../../" + dir + "/*.go"))(t) {
			if text := string(expect.Value(os.ReadFile(file))(t)); !strings.HasSuffix(file, "_test.go") {
				literals += text
				for _, m := range codes.FindAllStringSubmatch(text, -1) {
					found[m[1]+m[2]+m[3]] = true
				}
			}
		}
	}
	expect.That(t, len(found) >= 60, "only %d codes are found", len(found))
	for _, locale := range language.All {
		said, _ := web.TextsOf("problems", locale)["problems"].(map[string]string)
		for code := range found {
			expect.That(t, said[code] != "", "%s says nothing of %s", locale, code)
		}
		for code := range said {
			expect.That(t, strings.Contains(literals, `"`+code+`"`), "%s: nothing is %s", locale, code)
		}
	}
}
