package teamconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
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
