package teamconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// SharedFile says which contests of a deployment's files further Slack workspaces may see and play.
const SharedFile = "shared.toml"

// AnyTeam, in the place of a Slack workspace's id, is each.
const AnyTeam = "any"

// SharedWith is the workspace as a further Slack workspace has it: of its contests those that SharedFile gives to the
// team by name. Without that file, or when it can't be read, there are none; the error of the latter says why.
func (w Workspace) SharedWith(team string) (Workspace, error) {
	w.shared = []string{}
	tables, err := (&reading{w: w}).tables(SharedFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w, nil
	case err != nil:
		return w, fmt.Errorf("%s: %w", SharedFile, err)
	}
	given, _ := tables["contests"].(map[string]any)
	for name, teams := range given {
		list, _ := teams.([]any)
		file, err := inside(name)
		if err == nil && (slices.Contains(list, any(AnyTeam)) || team != "" && slices.Contains(list, any(team))) {
			w.shared = append(w.shared, file)
		}
	}
	slices.Sort(w.shared)
	return w, nil
}

// errNotShared is what is said of a file that is there for others alone: the same as of one that is not there.
var errNotShared = fmt.Errorf("there is no such file in the workspace: %w", fs.ErrNotExist)

// has reports whether a contest's file may be seen.
func (w Workspace) has(file string) bool {
	clean, err := inside(file)
	return w.shared == nil || err == nil && slices.Contains(w.shared, clean)
}
