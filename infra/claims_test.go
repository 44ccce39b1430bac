package infra_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// claim is a point of claims.md, with the tests that it names by the folder of their package.
type claim struct {
	says  string
	shown map[string][]string
}

var shownBy = regexp.MustCompile("`([a-z0-9/-]+)`|(Test[A-Z][A-Za-z0-9]*)")

// claimsIn reads a text of points, each with a point below it that names tests after their packages.
func claimsIn(text string) (out []claim) {
	var c *claim
	in, below := "", false
	for line := range strings.Lines(text) {
		switch indented := strings.HasPrefix(line, "  "); {
		case strings.HasPrefix(line, "- "):
			out = append(out, claim{strings.TrimSpace(line[2:]), map[string][]string{}})
			c, in, below = &out[len(out)-1], "", false
			continue
		case !indented:
			c = nil
			continue
		case strings.HasPrefix(line, "  - "):
			below = true
		}
		if c == nil || !below {
			continue
		}
		for _, found := range shownBy.FindAllStringSubmatch(line, -1) {
			if found[1] != "" {
				in = found[1]
			} else {
				c.shown[in] = append(c.shown[in], found[2])
			}
		}
	}
	return out
}

// Each claim of claims.md names tests, and each of them is there.
func TestEachClaimNamesTestsThatAreThere(t *testing.T) {
	all := claimsIn(string(expect.Value(os.ReadFile("claims.md"))(t)))
	expect.Must(t, len(all) > 100, "only %d claims", len(all))
	written := map[string]map[string]string{}
	for _, c := range all {
		expect.That(t, len(c.shown) > 0, "nothing shows that %q", c.says)
		for folder, tests := range c.shown {
			if written[folder] == nil {
				_, err := os.Stat(filepath.Join("..", folder))
				expect.That(t, err == nil, "%q: there is no package %q", c.says, folder)
				written[folder], _ = testsIn(t, folder)
			}
			for _, test := range tests {
				expect.That(t, written[folder][test] != "", "%q: %s has no %s", c.says, folder, test)
			}
		}
	}
}

// A claim is read with the tests of each package that it names.
func TestClaimsAreReadAsTheyAreWritten(t *testing.T) {
	got := claimsIn("# x\n\n- One thing\n  in two lines, `not/this`\n  - `a/b` TestOne, TestTwo;\n    `c` TestThree\n" +
		"- Another\n\nText.\n")
	expect.Must(t, len(got) == 2 && got[0].says == "One thing" && len(got[1].shown) == 0, "%+v", got)
	expect.Same(t, got[0].shown, map[string][]string{"a/b": {"TestOne", "TestTwo"}, "c": {"TestThree"}})
}
