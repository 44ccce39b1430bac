package vendors

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
)

// OwnOwner is the owner of the repositories that a person serves.
const OwnOwner = "local"

// MaxOwn is how many they may be, beside the demo's.
const MaxOwn = agent.MaxSources - 1

// Own is a repository on this machine that a person has the stack serve.
type Own struct {
	*Clone
	Source agent.Source
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Serve clones a repository into a folder and serves the clone as local/<the name of its folder>. It returns an error
// that says what is wrong with the path.
func (v *Vendors) Serve(path, folder string) (Own, error) {
	if len(v.Own) >= MaxOwn {
		return Own{}, fmt.Errorf("%d repositories are served at most", MaxOwn)
	}
	c, err := NewClone(path, folder)
	if err != nil {
		return Own{}, err
	}
	if slices.ContainsFunc(v.Own, func(o Own) bool { return o.Path == c.Path }) {
		return Own{}, fmt.Errorf("the repository %s is given twice", path)
	}
	name := v.freeName(strings.TrimSuffix(filepath.Base(c.Path), ".git"))
	o := Own{c, everybodys(name, OwnOwner+"/"+name, "heads/"+c.Branch)}
	if faults := o.Source.Faults(); len(faults) > 0 {
		return Own{}, fmt.Errorf("the repository %s is on the branch %s, and a source's branch is of A-Z a-z 0-9 . _ / + - alone", path, c.Branch)
	}
	o.Source.RepositoryID = int(v.GitHub.AddClone(OwnOwner, name, c).ID)
	v.Own = append(v.Own, o)
	return o, nil
}

// freeName makes a source's name that no other has of a folder's.
func (v *Vendors) freeName(folder string) string {
	base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(folder), "-"), "-")
	base = strings.Trim(base[:min(len(base), 28)], "-")
	if base == "" {
		base = "repository"
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if name != ShopName && !slices.ContainsFunc(v.Own, func(o Own) bool { return o.Source.Name == name }) {
			return name
		}
	}
}

// Shop is the source of the demo repository.
func (v *Vendors) Shop() agent.Source {
	s := everybodys(ShopName, ShopOwner+"/"+ShopName, ShopRef)
	s.RepositoryID = int(v.GitHub.ID(s.Repository))
	return s
}

// everybodys is a source for all people and for the agents that work on files.
func everybodys(name, repository, ref string) agent.Source {
	return agent.Source{Name: name, Repository: repository, Ref: ref, People: []string{agent.Everybody},
		Agents: []string{agent.Codex, "claude"}, CI: agent.CISkip}
}
