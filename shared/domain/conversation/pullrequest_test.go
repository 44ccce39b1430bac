package conversation

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// commitOf returns a commit with these files below a path, and more entries that they lack.
func commitOf(t *testing.T, path string, tree *files.Tree, more ...files.Committed) Commit {
	t.Helper()
	c := Commit{Path: path, Entries: more}
	for _, f := range expect.Value(tree.Find(""))(t) {
		c.Entries = append(c.Entries, files.Committed{Path: f.Path, Mode: f.Mode})
	}
	return c
}

func TestAPullRequestHasWhatChangedAndNothingElse(t *testing.T) {
	was := treeOf(t, file("main.py", "a\n"), file("old.py", "x\n"), file("run.sh", "true\n"), file("stays", "s\n"),
		folder("empty"), link("way", "stays"))
	is := treeOf(t, file("main.py", "b\n"), program("run.sh", "true\n"), file("stays", "s\n"), file("new/x.py", ""),
		folder("made"), link("way", "stays"))
	c := commitOf(t, "services/pay", was, files.Committed{Path: "large.bin", Mode: "100644"})
	changes := c.Changes(was, is)
	var got []string
	for _, x := range changes {
		got = append(got, fmt.Sprint(x.Path, x.Kinds()))
	}
	expect.Same(t, []string{"services/pay/run.sh[mode]", "services/pay/new/x.py[added]",
		"services/pay/main.py[changed]", "services/pay/old.py[deleted]"}, got)
	expect.Same(t, []string(nil), c.Unpushable(changes))
	expect.Same(t, []string{"nothing has changed since the commit"}, c.Unpushable(c.Changes(was, was)))
}

// Each of these would change what nobody was shown, what runs, or what a person takes for something else.
func TestWhatAPullRequestMayNotChange(t *testing.T) {
	base := []written{file("a/b", "x\n"), file("Makefile", "x\n"), link("way", "Makefile"), program("run", "x\n")}
	left := []files.Committed{{Path: "lfs/big", Mode: "100644"}, {Path: "vendored", Mode: "160000"},
		{Path: "Data/x", Mode: "100644"}}
	large := strings.Repeat("x\n", files.MaxChangedLines+1)
	for name, test := range map[string]struct {
		add    []written
		remove string
		says   string
	}{
		"an action of the repository": {add: []written{file(".github/workflows/x.yml", "on: push\n")},
			says: `because of ".github"`},
		"the same in capitals":           {add: []written{file("sub/.GitHub/x", "x\n")}, says: `because of ".GitHub"`},
		"another CI":                     {add: []written{file(".gitlab-ci.yml", "x\n")}, says: ".gitlab-ci.yml"},
		"a part of another CI":           {add: []written{file(".gitlab-ci/x.yml", "x\n")}, says: ".gitlab-ci"},
		"CircleCI":                       {add: []written{file(".circleci/config.yml", "x\n")}, says: ".circleci"},
		"Jenkins":                        {add: []written{file("ci/Jenkinsfile.prod", "x\n")}, says: "Jenkinsfile.prod"},
		"submodules":                     {add: []written{file(".gitmodules", "x\n")}, says: ".gitmodules"},
		"attributes":                     {add: []written{file("a/.gitattributes", "x\n")}, says: ".gitattributes"},
		"owners":                         {add: []written{file("docs/CODEOWNERS", "x\n")}, says: "CODEOWNERS"},
		"Git's folder":                   {add: []written{file("a/.git/config", "x\n")}, says: "no path"},
		"Git's folder by its short name": {add: []written{file("a/GIT~1/config", "x\n")}, says: "no path"},
		"a new link":                     {add: []written{link("new", "Makefile")}, says: "a link or a folder"},
		"a link that leads elsewhere":    {add: []written{link("way", "run")}, remove: "way", says: "a link or a folder"},
		"a link that is gone":            {remove: "way", says: "a link or a folder"},
		"a file that becomes a link": {add: []written{link("run", "Makefile")}, remove: "run",
			says: "a link or a folder"},
		"a folder that becomes a file": {add: []written{file("a", "x\n")}, remove: "a/b", says: "a link or a folder"},
		"a file that becomes a folder": {add: []written{file("run/x", "x\n")}, remove: "run", says: "a link or a folder"},
		"what the files lack": {add: []written{file("lfs/big", "x\n")},
			says: "is in the repository, but not in these files"},
		"a folder that the files lack": {add: []written{file("lfs", "x\n")},
			says: "is in the repository, but not in these files"},
		"below a submodule":            {add: []written{file("vendored/x", "x\n")}, says: `"vendored" is no folder`},
		"alike but for case":           {add: []written{file("makefile", "x\n")}, says: "only in case"},
		"alike but for width":          {add: []written{file("Ｍakefile", "x\n")}, says: "only in case"},
		"alike to what the files lack": {add: []written{file("data/y", "x\n")}, says: "only in case"},
		"a binary":                     {add: []written{file("bin", "\x00")}, says: "no UTF-8 text"},
		"too much":                     {add: []written{file("long", large)}, says: "lines, the limit is 3000"},
	} {
		was, next := treeOf(t, base...), slices.Clone(base)
		next = slices.DeleteFunc(next, func(w written) bool { return w.Header.Name == test.remove })
		is := treeOf(t, append(next, test.add...)...)
		c := commitOf(t, "", was, left...)
		expect.Has(t, strings.Join(c.Unpushable(c.Changes(was, is)), "\n"), test.says, "%s", name)
	}
}

// isGuarded reports whether no pull request may add a file.
func isGuarded(t *testing.T, p string) bool {
	t.Helper()
	was, is := treeOf(t), treeOf(t, file(p, "x\n"))
	c := commitOf(t, "", was)
	return strings.Contains(strings.Join(c.Unpushable(c.Changes(was, is)), "\n"), "because of")
}

// testdata/pushed-names.txt are the names by which services and hooks of Git are steered, of the published catalog that
// it names.
func TestGuardsKnowThePublishedNames(t *testing.T) {
	published := 0
	for line := range strings.Lines(string(expect.Value(os.ReadFile("testdata/pushed-names.txt"))(t))) {
		pattern := strings.TrimSpace(line)
		if strings.HasPrefix(pattern, "#") {
			continue
		}
		published++
		p := strings.NewReplacer("**/", "some/folder/", "**", "deep/x", "*", "x").Replace(pattern)
		for _, p := range []string{p, "services/api/" + p, strings.ToUpper(p), p + "."} {
			expect.That(t, isGuarded(t, p), "%s may be changed, published as %s", p, pattern)
		}
	}
	expect.That(t, published > 100, "%d names", published)
}

// Names that the catalog lacks, as their vendors' pages have them, and writings of a name that some file systems take
// for it.
func TestGuardsKnowNamesInAnyWriting(t *testing.T) {
	for _, p := range []string{
		"docs/.github/x", "ci/Jenkinsfile.deploy", "deploy.jenkinsfile", "Deploy.Jenkinsfile", "jenkins/release.jenkins",
		".woodpecker/x.yml", "azure-pipelines-2.yml", ".azure-pipelines/pr.yml", "ci/azure-pipelines/steps.yml",
		"buildspec.yml", "buildspec-release.yaml", "ci/buildspec_arm64.yml", "deploy/cloudbuild-prod.yaml",
		".semaphore/semaphore.yml", ".semaphore.yml", ".cirrus.star", ".tekton/pull-request.yaml", ".teamcity/settings.kts",
		"bitrise.yml", "wercker.yml", "netlify.toml", "app.yaml", "appspec.yml", ".harness/x.yaml", "screwdriver.yaml",
		"circle.yml", "codeship-steps.yml", "shippable.yml", ".taskcluster.yml", ".evergreen.yml", ".prow.yaml",
		".drone.star", ".drone.jsonnet", ".gitlab-ci/build.yml", "heroku.yml", "Procfile", ".husky/pre-push", "OWNERS",
		".readthedocs.yaml", "Dangerfile.ts", ".buddy/x.fixed.yml", "zuul.d/jobs.yaml", "codefresh.yml", ".do/app.yaml",
		".GitHub/workflows/x.yml", "．github/workflows/x.yml", ".ｇithub/workflows/x.yml", ".github./workflows/x.yml",
		".github /workflows/x.yml", "JENKINSFILE", "ﬂy.toml", ".GITLAB-CI.YML", "vendor/x/.Travis.yml",
	} {
		expect.That(t, isGuarded(t, p), "%s may be changed", p)
	}
	for _, p := range []string{
		"README.md", "Makefile", "package.json", "docs/pipelines/intro.md", "github/client.go", "src/bitrise/client.go",
		"src/owners/list.go", "cmd/render.go", "app/app.tsx", "src/cirrus/cloud.go", "gitlab.md", "build.yml",
	} {
		expect.That(t, !isGuarded(t, p), "%s may not be changed", p)
	}
}

// A commit that isn't the one of the files, and a renaming to another case, which makes nothing alike.
func TestChangesAreOfTheCommit(t *testing.T) {
	was, is := treeOf(t, file("a.txt", "x\n")), treeOf(t, file("A.txt", "x\n"))
	c := commitOf(t, "", was)
	expect.Same(t, []string(nil), c.Unpushable(c.Changes(was, is)))
	c.Entries[0].Mode = "100755"
	expect.Has(t, strings.Join(c.Unpushable(c.Changes(was, is)), "\n"), `"a.txt" is not what the commit has`)
}

func TestATitleSaysNothingToGitHub(t *testing.T) {
	for title, says := range map[string]string{
		"Round prices down": "", "税込み価格を切り捨てる: shop/price": "title has '/'", "税込み価格の端数、": "title has '、'",
		"CSVデータの読み込み v1.2 - 3_a": "", strings.Repeat("語", 120): "",
		strings.Repeat("語", 121): "title has 121 characters, the limit is 120",
		"":                       "title must have text", " a": "no blanks around it", "a\nb": `title has '\n'`,
		"${{ github.token }}": "title has '$'",
		"Fixes #1":            "title has '#'", "by @team": "title has '@'", "a\u3164b": "title has", "a\u200bb": "title has",
		"e\u0301": "title has",
		"\xff":    "title must have text",
	} {
		said := strings.Join(CheckPull(title, "why"), "\n")
		expect.That(t, strings.Contains(said, says) && (says == "") == (said == ""), "%q: %q", title, said)
	}
	for body, says := range map[string]string{
		"why\n\tso": "", "": "body is empty", "\u200b \n": "body is empty", "a\r\nb": "LF line ends", "a\x00": "LF line ends",
		strings.Repeat("語", 4001): "body has 4001 characters, the limit is 4000",
	} {
		said := strings.Join(CheckPull("t", body), "\n")
		expect.That(t, strings.Contains(said, says) && (says == "") == (said == ""), "%q: %q", body, said)
	}
}

// No line of a body ends the block of code in which it stands, whatever it is made of.
func TestABodyStaysOneBlockOfCode(t *testing.T) {
	for _, body := range []string{"why", "```\n@team\n```\n", "````` `` ``````\n", "`", "~~~\n", strings.Repeat("`", 50)} {
		lines := strings.Split(strings.TrimSuffix(PullBody(body), "\n"), "\n")
		fence := strings.TrimSuffix(lines[0], "text")
		expect.That(t, len(fence) >= 3 && strings.Trim(fence, "`") == "" && lines[len(lines)-1] == fence, "%q", lines)
		inside := lines[1 : len(lines)-1]
		expect.Is(t, strings.Join(inside, "\n"), strings.TrimRight(body, "\n"))
		expect.That(t, !strings.Contains(strings.Join(inside, "\n"), fence), "%q ends in %q", fence, inside)
	}
}

func TestACommitsMessageIsOurs(t *testing.T) {
	expect.Is(t, PushMessage("s", "a", tenancy.CIRun),
		"Apply changes that people approved in Ringi\n\nConversation s, action a\n")
	expect.Is(t, PushMessage("s", "a", tenancy.CISkip),
		"Apply changes that people approved in Ringi\n\nConversation s, action a\n\n[skip ci]\n")
	expect.Is(t, BranchOf("s", "a"), "ringi/s/a")
}

// The kit's words for a tree and its entries.
type written = expect.Entry

var (
	treeOf  = expect.Tree
	file    = expect.File
	program = expect.Program
	link    = expect.Link
	folder  = expect.Folder
)

// A pull request has each path whose entries differ, and nothing else.
func TestAPullRequestListsWhatDiffers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		was, is := anyTree(rt, "was"), anyTree(rt, "is")
		c := Commit{Path: rapid.SampledFrom([]string{"", "services/支払"}).Draw(rt, "path")}
		pushed, differ := map[string]string{}, map[string]string{}
		for _, x := range c.Changes(was, is) {
			pushed[strings.TrimPrefix(x.Path, c.Path+"/")] = side(x.Was) + " → " + side(x.Is)
		}
		before, after := entriesOf(was), entriesOf(is)
		for p, e := range before {
			if x := cmp.Or(after[p], "nothing"); x != e {
				differ[p] = e + " → " + x
			}
		}
		for p, e := range after {
			if before[p] == "" {
				differ[p] = "nothing → " + e
			}
		}
		expect.Must(rt, maps.Equal(pushed, differ), "a pull request has %v, not %v", pushed, differ)
	})
}

// entriesOf writes a tree's entries by their paths. Git has no folders, so these are nothing.
func entriesOf(tree *files.Tree) map[string]string {
	all := map[string]string{}
	for _, c := range files.Difference(&files.Tree{}, tree) {
		if c.Is.Kind() != files.KindFolder {
			all[c.Path] = side(c.Is)
		}
	}
	return all
}

func side(s *files.Side) string {
	if s == nil || s.Kind() == files.KindFolder {
		return "nothing"
	}
	return s.Mode + " " + s.SHA256
}

// anyTree draws files, programs, links and folders of a few names.
func anyTree(rt *rapid.T, of string) *files.Tree {
	var all []written
	taken := map[string]bool{}
	for i := range rapid.IntRange(0, 6).Draw(rt, of) {
		names := []string{"a", "b", "d", "d/a", "d/b", "d/e/f", "日本", ".git/config"}
		name := rapid.SampledFrom(names).Draw(rt, fmt.Sprint(of, i))
		above := slices.ContainsFunc(slices.Collect(maps.Keys(taken)), func(other string) bool {
			return other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
		})
		if above {
			continue
		}
		taken[name] = true
		text := rapid.SampledFrom([]string{"", "1\n", "2\n", "\x00"}).Draw(rt, fmt.Sprint(of, i, "text"))
		switch rapid.IntRange(0, 3).Draw(rt, fmt.Sprint(of, i, "kind")) {
		case 0:
			all = append(all, program(name, text))
		case 1:
			all = append(all, link(name, rapid.SampledFrom([]string{"x", "y"}).Draw(rt, fmt.Sprint(of, i, "target"))))
		case 2:
			all = append(all, folder(name))
		default:
			all = append(all, file(name, text))
		}
	}
	return treeOf(rt, all...)
}
