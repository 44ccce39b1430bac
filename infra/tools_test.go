package infra_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

var update = flag.Bool("update", false, "write the tables of shared/tool/README.md and functions/README.md")

const tableBegins, tableEnds = "<!-- tools -->\n", "<!-- /tools -->"

// The table of tools in shared/tool/README.md lists the catalog.
func TestReadmeListsTheTools(t *testing.T) {
	path := filepath.Join(repository, "shared", "tool", "README.md")
	before, rest, begins := strings.Cut(textOf(t, path), tableBegins)
	table, after, ends := strings.Cut(rest, tableEnds)
	expect.Must(t, begins && ends, "%s has no %s … %s", path, strings.TrimSpace(tableBegins), tableEnds)
	want := tableOfTools(t)
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(before+tableBegins+want+tableEnds+after), 0o644))
		return
	}
	diff := cmp.Diff(want, table)
	expect.That(t, diff == "", "run go test ./infra -run %s -update: %s", t.Name(), diff)
}

func tableOfTools(t *testing.T) string {
	catalog := expect.Value(tool.Builtin())(t)
	vendors := map[string]string{"": "nobody", "freee": "freee HR", "google": "Google Sheets", "github": "GitHub",
		"slack": "Slack"}
	var out strings.Builder
	out.WriteString("| tool | | effect | calls | at most | constraints |\n|---|---|---|---|---|---|\n")
	for _, s := range catalog.All() {
		vendor, known := vendors[s.Provider]
		expect.That(t, known, "%s: the table has no name for the provider %q", s.Name, s.Provider)
		var constraints []string
		for _, name := range s.Knows() {
			constraints = append(constraints, "`"+string(name)+"`")
		}
		fmt.Fprintf(&out, "| `%s` | %s (%s) | %s | %s | %.0f s, %d rows, result %d KiB | %s |\n",
			s.Name, s.Title("en"), s.Title("ja"), s.Access, vendor, s.Timeout.Seconds(), s.MaxRows, s.MaxBytes>>10, strings.Join(constraints, ", "))
	}
	return out.String()
}
