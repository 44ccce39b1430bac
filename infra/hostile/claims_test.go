package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// What infra/claims.md claims, a test must say: each that it names is there.
func TestTheClaimsNameTestsThatThereAre(t *testing.T) {
	const root = "../.."
	claims := expect.Value(os.ReadFile(filepath.Join(root, "infra", "claims.md")))(t)
	named := regexp.MustCompile("`([a-z/-]+)` (Test[A-Za-z0-9]+)").FindAllStringSubmatch(string(claims), -1)
	if len(named) < 10 {
		t.Fatalf("it names %d tests", len(named))
	}
	for _, n := range named {
		files := expect.Value(filepath.Glob(filepath.Join(root, n[1], "*_test.go")))(t)
		found := false
		for _, name := range files {
			text := expect.Value(os.ReadFile(name))(t)
			found = found || strings.Contains(string(text), "\nfunc "+n[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("there is no %s in %s", n[2], n[1])
		}
	}
}
