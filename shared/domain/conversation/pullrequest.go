package conversation

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Push is the part of a kept payload that says where a pull request goes. Changes says what it changes there, by the
// repository's paths, and Base which version of the conversation's files has these changes.
type Push struct {
	Source       string     `json:"source"`     // its name in the settings
	Repository   string     `json:"repository"` // owner/name
	RepositoryID int        `json:"repository_id"`
	Commit       string     `json:"commit"` // on which it is made
	Into         string     `json:"into"`   // the branch that is asked to take the changes
	CI           tenancy.CI `json:"ci"`
}

// Limits of what a pull request says, in characters.
const (
	MaxPullTitle = 120
	MaxPullBody  = 4000
)

// titleMarks are what a title may have beside letters and digits. GitHub and CI read nothing into them.
const titleMarks = " .,:_-"

// CheckPull returns what is wrong with the texts of a pull request, worded so that a model can mend it.
func CheckPull(title, body string) (problems []string) {
	odd := strings.IndexFunc(title, func(r rune) bool {
		return !strings.ContainsRune(titleMarks, r) && (!unicode.IsLetter(r) && !unicode.IsDigit(r) || !language.Shows(r))
	})
	switch n := utf8.RuneCountInString(title); {
	case !utf8.ValidString(title) || strings.TrimSpace(title) == "" || strings.TrimSpace(title) != title:
		problems = append(problems, "title must have text, and no blanks around it")
	case n > MaxPullTitle:
		problems = append(problems, fmt.Sprintf("title has %d characters, the limit is %d", n, MaxPullTitle))
	case odd >= 0:
		r, _ := utf8.DecodeRuneInString(title[odd:])
		problems = append(problems, fmt.Sprintf("title has %q, it may have letters, digits and %q", r, titleMarks))
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }
	switch n := utf8.RuneCountInString(body); {
	case !utf8.ValidString(body) || strings.ContainsFunc(body, control):
		problems = append(problems, "body must be text with LF line ends")
	case !language.Legible(body):
		problems = append(problems, "body is empty")
	case n > MaxPullBody:
		problems = append(problems, fmt.Sprintf("body has %d characters, the limit is %d", n, MaxPullBody))
	}
	return problems
}

// PullBody returns a body as GitHub gets it: one block of code that the text can't end, so that nothing in it mentions
// people, closes issues or fetches pictures.
func PullBody(body string) string {
	longest, run := 2, 0
	for _, r := range body {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + strings.TrimRight(body, "\n") + "\n" + fence + "\n"
}

// BranchOf returns the branch on which an action's pull request stands.
func BranchOf(session, action string) string { return "ringi/" + session + "/" + action }

// PushMessage returns the message of an action's commit. None of it is the agent's.
func PushMessage(session, action string, ci tenancy.CI) string {
	text := "Apply changes that people approved in Ringi\n\nConversation " + session + ", action " + action + "\n"
	if ci == tenancy.CISkip {
		text += "\n[skip ci]\n"
	}
	return text
}

// Commit is what a commit has below a source's path, by paths without it.
type Commit struct {
	Path    string
	Entries []files.Committed
}

// Changes returns what became of the repository's files between the source's version and another, by their paths in the
// repository. Git has no folders of their own, so these are left out.
func (c Commit) Changes(was, is *files.Tree) []files.Change {
	all := slices.DeleteFunc(files.Difference(was, is), func(x files.Change) bool {
		return (x.Was == nil || x.Was.Mode == files.ModeFolder) && (x.Is == nil || x.Is.Mode == files.ModeFolder)
	})
	for i := range all {
		all[i].Path = c.path(all[i].Path)
	}
	return all
}

// path returns a path of the files as the repository knows it.
func (c Commit) path(p string) string {
	if c.Path == "" {
		return p
	}
	return c.Path + "/" + p
}

// guarded and guardedFiles are the names, as path.Match has them, that decide what a service or a hook of Git runs when
// something is pushed, or who may accept it: guarded of files and folders, guardedFiles of files alone. What is run in
// its turn (scripts, Makefiles) is not among them.
var (
	guarded = strings.Fields(`.github .gitmodules .gitattributes codeowners .gitlab .gitea .forgejo .circleci*
		.buildkite .semaphore* .tekton .teamcity .woodpecker* .cirrus* .drone* .harness* .codefresh .jenkins
		*jenkinsfile* .azure-pipelines azure-pipelines* .azuredevops .pipelines bitbucket-pipelines*
		.jfrog-pipelines .kode .erda .dice *zuul.d .builds .buddy .ci .concourse .bazelci .gitlab-ci* .travis*
		.appveyor* .mergify* .dependabot .platform* .upsun* .do .husky .githooks .pre-commit* .lefthook*`)
	guardedFiles = strings.Fields(`*gitlab-ci* *.jenkins jenkins-x* jenkins.y*ml *.drone.* *.woodpecker.*
		*azure-pipeline* azure-ci* *bitbucket-pipelines* *appveyor* *cirrus.* *buildspec*.* *cloudbuild*.* *buildkite.*
		circle.y*ml circleci* *semaphore.y*ml *bitrise.* *codemagic.* *wercker.* *codefresh* *screwdriver.y*ml codeship-*
		*shippable.* buddy.y*ml .vela* .zuul* zuul.y*ml bxci.* .build.y*ml .taskcluster* *evergreen.y*ml teamcity.*
		pipeline.y*ml pipeline_config.y*ml pipelines.y*ml concourse.y*ml .prow* .packit* .scrutinizer* .styleci*
		*readthedocs.y*ml action.y*ml
		netlify.* vercel.* now.json amplify.y*ml app.y*ml *render.y*ml fly*.toml railway.* railpack.* nixpacks.* heroku.y*ml
		procfile* appspec*.* zerops.* zeabur.* *.zeabur wrangler.* .lagoon*
		bors.toml *pullapprove* .policy.y*ml *kodiak.toml owners owners_aliases dependabot.* renovate.* .renovaterc*
		dangerfile* lefthook* prek.toml`)
)

// guards returns the name in a path that pull requests may not change, or "".
func guards(p string) string {
	names := strings.Split(p, "/")
	for i, name := range names {
		low := strings.TrimRight(strings.ToLower(language.Folded(name)), ". ") // Windows leaves these out
		same := func(pattern string) bool {
			ok, err := path.Match(strings.ToLower(pattern), low)
			return ok || err != nil
		}
		if slices.ContainsFunc(guarded, same) || i == len(names)-1 && slices.ContainsFunc(guardedFiles, same) {
			return name
		}
	}
	return ""
}

// Unpushable says why these changes can't become a pull request, whatever the commit has, worded for the agent; empty:
// they can.
func Unpushable(changes []files.Change) (problems []string) {
	if len(changes) == 0 {
		return []string{"nothing has changed since the commit"}
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, x := range changes {
		switch {
		case files.CheckPath(x.Path) != nil || files.DotGit(x.Path):
			add("%q is no path that can be pushed", x.Path)
		case guards(x.Path) != "":
			add("%q can't be changed by a pull request, because of %q", x.Path, guards(x.Path))
		case !fileOrNone(x.Was) || !fileOrNone(x.Is):
			add("%q is or was a link or a folder: pull requests change files alone", x.Path)
		}
	}
	return append(problems, files.Unstampable(changes)...)
}

// Unpushable adds why these changes can't be made of the commit. Its archive, which the conversation began with, may
// lack files of the commit, or have others in their place.
func (c Commit) Unpushable(changes []files.Change) (problems []string) {
	if problems = Unpushable(changes); len(problems) > 0 {
		return problems
	}
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	there := map[string]files.Committed{}
	for _, e := range c.Entries {
		there[c.path(e.Path)] = e
	}
	folders := map[string]bool{}
	for p := range there {
		for p = path.Dir(p); p != "." && !folders[p]; p = path.Dir(p) {
			folders[p] = true
		}
	}
	for _, x := range changes {
		switch is, known := there[x.Path]; {
		case x.Was == nil && (known || folders[x.Path]):
			add("%q is in the repository, but not in these files, so it can't be written", x.Path)
		case x.Was != nil && (!known || is.Mode != x.Was.Mode):
			add("%q is not what the commit has", x.Path)
		case x.Was == nil:
			for p := path.Dir(x.Path); p != "."; p = path.Dir(p) {
				if _, file := there[p]; file {
					add("%q can't be there, because %q is no folder in the repository", x.Path, p)
				}
			}
		}
	}
	return append(problems, alike(there, changes)...)
}

// fileOrNone reports whether a side of a change is a file or nothing.
func fileOrNone(s *files.Side) bool { return s == nil || s.Kind() == files.KindFile }

// alike names the changes after which a path differs from another only as people and file systems don't see.
func alike(there map[string]files.Committed, changes []files.Change) (problems []string) {
	after := map[string]bool{}
	for p := range there {
		after[p] = true
	}
	for _, x := range changes {
		if delete(after, x.Path); x.Is != nil {
			after[x.Path] = true
		}
	}
	if err := files.CheckNames(maps.Keys(after), changes); err != nil {
		return []string{err.Error()}
	}
	return nil
}
