package teamconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// How far Contests looks: people's folders have more in them than files of contests.
const (
	mostWalked   = 2000 // files and folders
	mostRead     = 200  // files
	mostContests = 50
	deepest      = 4 // folders within each other
)

// errEnough ends a walk.
var errEnough = errors.New("enough was seen")

// Contests are the files of the workspace that describe contests, by name, also those with mistakes. It reports more
// when it did not look everywhere.
func (w Workspace) Contests() (files []string, more bool, err error) {
	if w.shared != nil {
		return w.shared[:min(len(w.shared), mostContests)], len(w.shared) > mostContests, nil
	}
	walked, read := 0, 0
	err = fs.WalkDir(w.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("look into %s: %w", name, bare(err))
		}
		walked++
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case walked > mostWalked, len(files) == mostContests, read == mostRead:
			return errEnough
		case d.IsDir() && (hidden || strings.Count(name, "/") >= deepest):
			return fs.SkipDir
		case d.IsDir(), hidden, path.Ext(name) != ".toml":
			return nil
		}
		read++
		if w.describesContest(name) {
			files = append(files, name)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return files, true, nil
	}
	return files, false, err
}

// describesContest reports whether a file has, or was to have, the table of a contest.
func (w Workspace) describesContest(name string) bool {
	f, err := w.FS.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return false
	}
	var tables map[string]any
	if err := unmarshal(b, &tables); err != nil {
		return strings.Contains(string(b), "[orchestrator")
	}
	_, ok := tables["orchestrator"]
	return ok
}

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
