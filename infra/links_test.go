package infra_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// code is what each package of this module imports, also by what it imports.
type code struct{ imports map[string][]string }

func readCode(t *testing.T) code {
	t.Helper()
	c := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}}|{{range .Deps}}{{.}} {{end}}", "./functions/...", "./shared/...")
	c.Dir, c.Stderr = repository, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := code{map[string][]string{}}
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(strings.TrimSpace(line), "|")
		all.imports[pkg] = strings.Fields(deps)
	}
	return all
}

// Only functions that think carry the models' SDKs: they weigh megabytes, and the
// functions that Slack waits for start often.
func TestOnlyFunctionsThatThinkLinkModels(t *testing.T) {
	thinking := []string{"extract-task", "draft-prompt", "plan-process", "execute-process", "answer-message", "run-round"}
	sdks := []string{"github.com/anthropics/", "github.com/openai/", "github.com/aws/aws-sdk-go-v2/service/bedrockruntime"}
	all := readCode(t)
	links := func(pkg string) (found []string) {
		for _, dep := range all.imports[pkg] {
			if i := slices.IndexFunc(sdks, func(sdk string) bool { return strings.HasPrefix(dep, sdk) }); i >= 0 {
				found = append(found, sdks[i])
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	functions := 0
	for pkg, deps := range all.imports {
		folder, function := strings.CutPrefix(pkg, "ringi/functions/")
		found := links(pkg)
		switch {
		case function && slices.Contains(thinking, folder):
			functions++
			if len(found) != len(sdks) {
				t.Errorf("%s thinks, and links only %v", folder, found)
			}
		case function && slices.Contains(deps, "ringi/shared/model/demo"):
			t.Errorf("%s links the demo model, which no deployment lets it ask", folder)
		case (function || pkg == "ringi/shared/model" || pkg == "ringi/shared/domain/task") && len(found) > 0:
			t.Errorf("%s links %v", pkg, found)
		}
		// The SDK's root package brings all of the vendor's products: 13 MiB.
		if slices.Contains(deps, "github.com/openai/openai-go/v3") {
			t.Errorf("%s links the whole of OpenAI's SDK; shared/model/openai keeps to its package responses", pkg)
		}
	}
	if functions != len(thinking) {
		t.Errorf("%d of %v are there", functions, thinking)
	}
}
