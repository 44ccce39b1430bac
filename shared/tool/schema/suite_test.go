package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool/schema"
)

// TestTheOfficialSuite holds verdicts against the JSON Schema Test Suite, which comes
// with the library. What is refused must be refused for one of our reasons.
func TestTheOfficialSuite(t *testing.T) {
	dir := expect.Value(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output())(t)
	files := expect.Value(filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "jsonschema", "testdata", "draft*", "*.json")))(t)
	reasons := regexp.MustCompile(`may not refer to (other documents|themselves)$|must be spelled dependentRequired or dependentSchemas$|only \$ref is followed$|\$id: only the whole may have one$|\$ref: "#\w+": there is no such schema$`)
	const other = "ref overrides any sibling keywords" // only in draft 7; here they count
	verdicts := 0
	for _, file := range files {
		b := expect.Value(os.ReadFile(file))(t)
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		expect.NoError(t, json.Unmarshal(b, &groups))
		for _, g := range groups {
			s, err := schema.Compile(filepath.Base(file), string(g.Schema))
			if err != nil {
				expect.That(t, reasons.MatchString(err.Error()), "%s: %v", g.Description, err)
				continue
			}
			for _, test := range g.Tests {
				verdicts++
				if found := check(t, s, string(test.Data)); (len(found) == 0) != test.Valid && g.Description != other {
					t.Errorf("%s: %s: %s: %v, but it fits: %v", filepath.Base(file), g.Description, test.Description, found, test.Valid)
				}
			}
		}
	}
	expect.That(t, verdicts >= 1500, "only %d verdicts: the suite is not where it was", verdicts)
}
