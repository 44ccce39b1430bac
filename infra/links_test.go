package infra_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Only functions that call models link the models' SDKs. These are megabytes large, and the functions that Slack waits
// for start often.
func TestOnlyFunctionsThatThinkLinkModels(t *testing.T) {
	thinking := []string{"extract-task", "draft-prompt", "plan-process", "execute-process", "answer-message", "run-round"}
	sdks := []string{"github.com/anthropics/", "github.com/openai/", "github.com/aws/aws-sdk-go-v2/service/bedrockruntime"}
	links := func(deps []string) (found []string) {
		for _, dep := range deps {
			if i := slices.IndexFunc(sdks, func(sdk string) bool { return strings.HasPrefix(dep, sdk) }); i >= 0 {
				found = append(found, sdks[i])
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	functions := 0
	for _, p := range expect.Value(packages())(t) {
		pkg, deps := p.ImportPath, p.Deps
		folder, function := strings.CutPrefix(pkg, "ringi/functions/")
		found := links(deps)
		switch {
		case function && slices.Contains(thinking, folder):
			functions++
			expect.Is(t, len(found), len(sdks), "%s thinks, and links only %v", folder, found)
		case function && slices.Contains(deps, "ringi/shared/model/demo"):
			t.Errorf("%s links the demo model, which no deployment lets it ask", folder)
		case (function || pkg == "ringi/shared/model" || pkg == "ringi/shared/domain/task") && len(found) > 0:
			t.Errorf("%s links %v", pkg, found)
		}
		// The SDK's root package brings all of the vendor's products: 13 MiB. The stand-in reads requests by its types.
		expect.That(t, strings.HasPrefix(pkg, "ringi/infra/") || !slices.Contains(deps, "github.com/openai/openai-go/v3"),
			"%s links the whole of OpenAI's SDK; shared/model/openai keeps to its package responses", pkg)
	}
	expect.That(t, functions == len(thinking), "%d of %v are there", functions, thinking)
}

// The SDK's client of Lambda prepares all shapes of that API at each start. Only functions that read a streamed answer,
// which shared/runtime/outbound can't, link it.
func TestOnlyCallersOfTheSandboxLinkTheClientOfLambda(t *testing.T) {
	var links []string
	for _, p := range expect.Value(packages())(t) {
		folder, function := strings.CutPrefix(p.ImportPath, "ringi/functions/")
		if function && !strings.Contains(folder, "/") && slices.Contains(p.Deps, "github.com/aws/aws-sdk-go-v2/service/lambda") {
			links = append(links, folder)
		}
	}
	expect.Same(t, []string{"run-action", "run-round"}, links)
}

// The functions that Slack waits for read and store objects by shared/store/large. The SDK's client of S3 is a tenth of
// their binaries.
func TestFunctionsThatSlackWaitsForLinkNoClientOfS3(t *testing.T) {
	waitsFor := []string{"ringi/functions/receive-event", "ringi/functions/receive-interaction"}
	found := 0
	for _, p := range expect.Value(packages())(t) {
		if slices.Contains(waitsFor, p.ImportPath) {
			found++
			expect.That(t, !slices.Contains(p.Deps, "github.com/aws/aws-sdk-go-v2/service/s3"), "%s links it", p.ImportPath)
		}
	}
	expect.Is(t, found, len(waitsFor))
}

// Somebody waits for the console's start: expressions are compiled when they are first needed (shared/words/language).
func TestTheConsoleCompilesNoExpressionAtItsStart(t *testing.T) {
	compiled := regexp.MustCompile(`(?m)^(?:var )?\s?\w+ += regexp\.MustCompile.*`)
	all := expect.Value(packages())(t)
	console := slices.IndexFunc(all, func(p listed) bool { return p.ImportPath == "ringi/functions/serve-console" })
	expect.Must(t, console >= 0, "there is no console")
	read := 0
	for _, p := range all {
		if p.ImportPath != "ringi/functions/serve-console" && !slices.Contains(all[console].Deps, p.ImportPath) {
			continue
		}
		for _, name := range p.GoFiles {
			read++
			found := compiled.FindString(textOf(t, filepath.Join(p.Dir, name)))
			expect.That(t, found == "", "%s/%s: %s", p.ImportPath, name, found)
		}
	}
	expect.That(t, read > 100, "only %d files were read", read)
}
