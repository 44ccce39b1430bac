package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// The tests that infra/claims.md names exist.
func TestTheClaimsNameTestsThatThereAre(t *testing.T) {
	const root = "../.."
	claims := expect.Value(os.ReadFile(filepath.Join(root, "infra", "claims.md")))(t)
	lists := regexp.MustCompile("`([a-z/-]+)` (Test[A-Za-z0-9]+(?:, Test[A-Za-z0-9]+)*)").
		FindAllStringSubmatch(strings.Join(strings.Fields(string(claims)), " "), -1)
	expect.Must(t, len(lists) >= 10, "it names tests of %d packages", len(lists))
	for _, list := range lists {
		var code strings.Builder
		for _, name := range expect.Value(filepath.Glob(filepath.Join(root, list[1], "*_test.go")))(t) {
			code.Write(expect.Value(os.ReadFile(name))(t))
		}
		for _, test := range strings.Split(list[2], ", ") {
			expect.That(t, strings.Contains(code.String(), "\nfunc "+test+"(t *testing.T)"),
				"there is no %s in %s", test, list[1])
		}
	}
}
