package infra_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// areas are the folders of shared, lowest first. A package only imports packages of its own area or of areas below it.
var areas = []string{
	"words",   // texts for people: languages, odd characters, encodings, masking; knows nothing of tasks or Slack
	"runtime", // what each function needs: its start, own secrets, metrics, calls to others, the isolated environment
	"domain",  // the rules, as pure functions over loaded values: who may decide, and what follows. No SDK
	"explain", // why, in words
	"store",   // rows and objects
	"slack",   // requests from Slack, cards, people. Drawing a card reads nothing
	"tool",    // calls of vendors
	"model",   // calls of models
	"secret",  // accounts that tenants connect: the vault, consent, the bot. The deployment's own are in runtime/secret
	"decide",  // from a click or a message to a commit, and from rows to effects
}

// withoutSDK are areas and packages that import only the standard library, packages of Ringi and bareModules.
var withoutSDK = []string{
	"domain", "words/language", "runtime/isolated", "runtime/clock", "model/demo",
}

// bareModules are the modules that packages without SDKs may import: ids, differences of lines, Unicode's forms and
// widths, and Shift_JIS.
var bareModules = []string{
	"github.com/oklog/ulid/v2", "github.com/aymanbagabas/go-udiff/lcs", "golang.org/x/text/unicode/norm",
	"golang.org/x/text/width", "golang.org/x/text/encoding/japanese",
}

// sdkConfig is the SDK's package that finds out where it runs. It brings the clients of single sign-on, which no
// function needs, into each binary: boot.Run reads Lambda's variables instead.
const sdkConfig = "github.com/aws/aws-sdk-go-v2/config"

// apart are packages that must not import each other although their areas may: package card neither reads the rows that
// it renders nor posts the cards.
var apart = map[string][]string{
	"slack/card":     {"slack/slackapi", "store"},
	"slack/slackapi": {"slack/card"},
}

// helpers are imported by tests only. True means that a helper may start stand-ins of infra/local.
var helpers = map[string]bool{
	"store/storetest": true, "model/modeltest": false, "runtime/expect": false, "serve-console/consoletest": true,
}

// besidePages reports whether one page of the console imports another: they stand on package web and beside each other,
// and package console assembles them.
func besidePages(importer, importee string) bool {
	function, page, _ := strings.Cut(importer, "/")
	page, _, _ = strings.Cut(page, "/")
	if function != "serve-console" || page == "" || page == "console" || page == "consoletest" {
		return false
	}
	return !within(importee, function+"/"+page) && importee != "serve-console/web"
}

// height returns the position of a package's area, from 1, or 0 if it is in none.
func height(name string) int {
	area, _, _ := strings.Cut(name, "/")
	return 1 + slices.Index(areas, area)
}

// within reports whether a package is folder, or below it.
func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// own reports whether importer and imported package belong to the same function.
func own(from, to string) bool {
	_, function, _ := strings.Cut(to, "/")
	function, _, _ = strings.Cut(function, "/")
	return within(strings.TrimPrefix(from, "ringi/"), "functions/"+function)
}

func goesBare(name string) bool {
	area, _, _ := strings.Cut(name, "/")
	return slices.Contains(withoutSDK, area) || slices.Contains(withoutSDK, name)
}

// forbidden says why a package may not import another; "" if it may.
func forbidden(from, to string) string {
	to, ours := strings.CutPrefix(to, "ringi/")
	importer, importee := place(strings.TrimPrefix(from, "ringi/")), place(to)
	switch _, helper := helpers[importer.name]; {
	case !ours && importer.folder == "shared" && !helper && goesBare(importer.name) && strings.Contains(to, ".") &&
		!slices.Contains(bareModules, to):
		return "it goes without SDKs"
	case to == sdkConfig && importer.folder != "infra":
		return "it brings clients that no function needs"
	case !ours:
		return ""
	case importee.folder == "functions" && own(from, to):
		if _, helper := helpers[importee.name]; helper {
			return "it is for tests"
		}
		if besidePages(importer.name, importee.name) {
			return "pages stand beside each other"
		}
		return ""
	case importee.folder == "functions":
		return "a function is imported by nobody"
	case importer.folder == "infra":
		if strings.HasPrefix(importer.name, "local") && importee.folder == "infra" &&
			!strings.HasPrefix(importee.name, "local") {
			return "the local stack stands below the rest of infra"
		}
		return ""
	case importee.folder == "infra" && !(helper && helpers[importer.name] && strings.HasPrefix(importee.name, "local/")):
		return "infra stands on top"
	case helper:
		return ""
	}
	switch _, helper := helpers[importee.name]; {
	case helper:
		return "it is for tests"
	case height(importee.name) == 0:
		return "it is in no area"
	case importer.folder == "shared" && height(importee.name) > height(importer.name):
		return "the import runs up"
	case importer.folder == "shared" && slices.Contains(apart[importer.name], importee.name):
		return "they stay apart"
	}
	return ""
}

// forbiddenInTests applies to a package's tests, which may start stand-ins and use areas above.
func forbiddenInTests(from, to string) string {
	to, ours := strings.CutPrefix(to, "ringi/")
	switch {
	case ours && strings.HasPrefix(to, "functions/") && !own(from, to):
		return "a function is imported by nobody"
	case ours && !strings.HasPrefix(from, "ringi/infra") && strings.HasPrefix(to, "infra/") &&
		!strings.HasPrefix(to, "infra/local/"):
		return "of infra tests need only the local stack"
	}
	return ""
}

type placed struct{ folder, name string }

// place is a package's folder at the top, and its name below that.
func place(path string) placed {
	folder, name, _ := strings.Cut(path, "/")
	return placed{folder, name}
}

func TestNoImportRunsBack(t *testing.T) {
	seen := map[string]bool{}
	for _, from := range expect.Value(packages())(t) {
		p := place(strings.TrimPrefix(from.ImportPath, "ringi/"))
		if p.folder == "shared" {
			area, _, _ := strings.Cut(p.name, "/")
			seen[p.name], seen[area] = true, true
			expect.That(t, height(p.name) != 0, "%s is in no area", from.ImportPath)
		} else if p.folder == "functions" {
			seen[p.name] = true
		}
		for _, to := range from.Imports {
			expect.Is(t, forbidden(from.ImportPath, to), "", "%s imports %s", from.ImportPath, to)
		}
		for _, to := range slices.Concat(from.TestImports, from.XTestImports) {
			expect.Is(t, forbiddenInTests(from.ImportPath, to), "", "a test of %s imports %s", from.ImportPath, to)
		}
	}
	for _, name := range slices.Concat(areas, withoutSDK, slices.Collect(maps.Keys(apart)),
		slices.Collect(maps.Keys(helpers))) {
		expect.That(t, seen[name], "%s is gone", name)
	}
}

// Where tenants' dates and times are written or read, one function says in which zone.
func TestOneFunctionSaysTheZone(t *testing.T) {
	const home = "shared/domain/tenancy/tenant.go"
	for path, text := range codeBelow(t, filepath.Join(repository, "functions"), filepath.Join(repository, "shared")) {
		for _, makes := range []string{"FixedZone(", "LoadLocation(", "time.Local"} {
			n, want := strings.Count(text, makes), 0
			if strings.HasSuffix(filepath.ToSlash(path), home) && makes == "FixedZone(" {
				want = 1
			}
			expect.That(t, n == want, "%s has %d of %q: tenancy.Zone says the zone", path, n, makes)
		}
	}
}

const thinking = "answer-message draft-prompt execute-process extract-task plan-process run-round"

// links says which functions alone link a module, or package, that is large or slow to start: the models' SDK and the
// demo model, and clients that prepare all shapes of their APIs, for which shared/runtime/outbound stands in where
// nothing is signed by KMS. The functions that Slack waits for read and store objects by shared/store/large.
var links = map[string]string{"github.com/anthropics/": thinking, "ringi/shared/model/demo": thinking,
	"github.com/aws/aws-sdk-go-v2/service/lambda": "", "github.com/aws/aws-sdk-go-v2/service/kms": "seal-audit"}

func TestFewFunctionsLinkWhatIsLarge(t *testing.T) {
	all := expect.Value(packages())(t)
	for large, want := range links {
		var found []string
		for _, p := range all {
			folder, function := strings.CutPrefix(p.ImportPath, "ringi/functions/")
			deep := slices.ContainsFunc(p.Deps, func(dep string) bool { return within(dep, strings.TrimSuffix(large, "/")) })
			if function && !strings.Contains(folder, "/") && deep {
				found = append(found, folder)
			}
			domain := p.ImportPath == "ringi/shared/model" || p.ImportPath == "ringi/shared/domain/task"
			expect.That(t, !domain || !deep, "%s links %s", p.ImportPath, large)
			s3 := slices.Contains(p.Deps, "github.com/aws/aws-sdk-go-v2/service/s3")
			expect.That(t, !s3 || folder != "receive-event" && folder != "receive-interaction", "%s links S3's client", folder)
		}
		expect.Is(t, strings.Join(found, " "), want, large)
	}
}

// Somebody waits for the console's start: expressions are compiled when they are first needed (shared/words/language).
func TestTheConsoleCompilesNoExpressionAtItsStart(t *testing.T) {
	compiled := regexp.MustCompile(`(?m)^(?:var )?\s?\w+ += regexp\.MustCompile.*`)
	all := expect.Value(packages())(t)
	console := slices.IndexFunc(all, func(p listed) bool { return p.ImportPath == "ringi/functions/serve-console" })
	for _, p := range all {
		if p.ImportPath != "ringi/functions/serve-console" && !slices.Contains(all[console].Deps, p.ImportPath) {
			continue
		}
		for _, name := range p.GoFiles {
			expect.Is(t, compiled.FindString(textOf(t, filepath.Join(p.Dir, name))), "", "%s/%s", p.ImportPath, name)
		}
	}
}
