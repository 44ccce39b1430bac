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

// Limits of the search by Contests, since people's folders hold other files, too.
const (
	mostWalked   = 2000 // files and folders
	mostRead     = 200  // files
	mostContests = 50
	deepest      = 4 // folders within each other
)

// errEnough ends a walk.
var errEnough = errors.New("enough was seen")

// Contests are the names of the workspace's files that describe contests, valid or not. more says that it did not look
// everywhere.
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

// describesContest reports whether a file has, or in spite of a mistake seems to have, the table of a contest.
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

// AnyTeam stands for every Slack workspace.
const AnyTeam = "any"

// SharedWith is the workspace with only those contests that SharedFile gives to a further Slack workspace. Without
// that file there are none. If the file can't be read there are none either, and the error says why.
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

// errNotShared is the error for a file that is not shared: the same as for one that does not exist.
var errNotShared = fmt.Errorf("there is no such file in the workspace: %w", fs.ErrNotExist)

// has reports whether a contest's file may be seen.
func (w Workspace) has(file string) bool {
	clean, err := inside(file)
	return w.shared == nil || err == nil && slices.Contains(w.shared, clean)
}
