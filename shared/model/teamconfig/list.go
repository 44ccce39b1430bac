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

// Limits of the search by Contests, because the folder may hold many unrelated files.
const (
	mostWalked   = 2000 // files and folders
	mostRead     = 200  // files
	mostContests = 50
	deepest      = 4 // folders within each other
)

// errEnough stops a walk that has reached a limit.
var errEnough = errors.New("enough was seen")

// Contests lists the workspace's files that describe contests, including invalid ones. more says that the search
// reached a limit, so there may be others.
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

// describesContest reports whether a file has a contest's table, or seems to have one although it is not valid TOML.
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

// SharedFile lists the contests in a deployment's files that further Slack workspaces may see and play.
const SharedFile = "shared.toml"

// AnyTeam stands for every Slack workspace.
const AnyTeam = "any"

// SharedWith returns the workspace with only those contests that SharedFile gives to a further Slack workspace. Without
// that file there are none. If the file can't be read there are none either, and SharedWith returns an error.
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

// errNotShared is the error for a file that is not shared. It equals the error for a file that does not exist.
var errNotShared = fmt.Errorf("there is no such file in the workspace: %w", fs.ErrNotExist)

// Has reports whether the contest of a file may be seen: of all, or of those that SharedWith left. The file need not
// exist.
func (w Workspace) Has(file string) bool {
	clean, err := inside(file)
	return w.shared == nil || err == nil && slices.Contains(w.shared, clean)
}
