package tenancy

import (
	"io/fs"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Source is a repository of GitHub with whose files conversations may begin.
type Source struct {
	Name       string   `json:"name"`
	Repository string   `json:"repository"`     // owner/name
	Ref        string   `json:"ref"`            // heads/… or tags/…
	Path       string   `json:"path,omitempty"` // a folder of it; empty: all
	People     []string `json:"people"`         // Slack user ids, or Everybody alone
	Agents     []string `json:"agents"`         // ids of agents, whose vendors get the files
	CI         CI       `json:"ci"`
	// RepositoryID is GitHub's number of the repository that was listed. A name that is given up may become another
	// repository's. 0: GitHub was not asked, so the source is not used.
	RepositoryID int `json:"repository_id,omitempty"`
}

// CI says what a pushed branch asks of the repository's CI.
type CI string

const (
	CIRun  CI = "run"
	CISkip CI = "skip"
)

// CIs lists them. None is the default: an administrator chooses.
var CIs = []CI{CIRun, CISkip}

// Everybody stands for all members of the workspace.
const Everybody = "everybody"

// Limits of a workspace's sources.
const (
	MaxSources      = 20
	maxSourcePeople = 200
	maxSourcePath   = 200 // bytes
)

var (
	repositoryForm = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`}
	refNameForm    = language.Regexp{Text: `^[A-Za-z0-9._/+-]{1,190}$`}
)

// Problems returns everything that is wrong with the source, without asking GitHub.
func (s Source) Problems() (all aggregate.Problems) {
	all.Unless(nameForm.Get().MatchString(s.Name), "name", "source_name")
	_, name, _ := strings.Cut(s.Repository, "/")
	all.Unless(repositoryForm.Get().MatchString(s.Repository) && !strings.HasSuffix(name, ".git") && name != "." &&
		name != "..", "repository", "source_repository")
	all.Unless(isRef(s.Ref), "ref", "source_ref")
	all.Unless(s.Path == "" || len(s.Path) <= maxSourcePath && s.Path != "." && fs.ValidPath(s.Path), "path",
		"source_path")
	people := len(s.People) > 0 && len(s.People) <= maxSourcePeople
	for _, id := range s.People {
		people = people && (aggregate.UserForm.Get().MatchString(id) || id == Everybody && len(s.People) == 1)
	}
	all.Unless(people, "people", "source_people")
	agents := len(s.Agents) > 0 && len(s.Agents) <= MaxSources
	for _, id := range s.Agents {
		agents = agents && idForm.Get().MatchString(id)
	}
	all.Unless(agents, "agents", "source_agents")
	all.Unless(slices.Contains(CIs, s.CI), "ci", "source_ci")
	return all
}

// isRef reports whether a text names a branch or tag: heads/… or tags/…. A commit's hash does not, because it may be
// that of a fork.
func isRef(ref string) bool {
	kind, name, _ := strings.Cut(ref, "/")
	if kind != "heads" && kind != "tags" || !refNameForm.Get().MatchString(name) {
		return false
	}
	for _, odd := range []string{"..", "//", "/."} {
		if strings.Contains("/"+name+"/", odd) {
			return false
		}
	}
	return !strings.HasSuffix(name, ".lock")
}

// May reports whether a person may begin conversations with this agent by the source.
func (s Source) May(user, agent string) bool {
	return s.RepositoryID > 0 && slices.Contains(s.Agents, agent) &&
		(slices.Contains(s.People, user) || slices.Contains(s.People, Everybody))
}

// SourceNamed returns the source with this name among those that a person may begin conversations with this agent by.
// Names are compared without case.
func SourceNamed(sources []Source, name, user, agent string) (Source, bool) {
	for _, s := range sources {
		if strings.EqualFold(s.Name, name) && s.May(user, agent) {
			return s, true
		}
	}
	return Source{}, false
}

// SourcesFor lists the names of the sources by which a person may begin conversations with this agent.
func SourcesFor(sources []Source, user, agent string) (names []string) {
	for _, s := range sources {
		if s.May(user, agent) {
			names = append(names, s.Name)
		}
	}
	return names
}
