package files

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// Download says which files an archive for people has, and under which names: below one folder, without links and
// without what Git takes for its own. The names are safe on Windows, too.
type Download struct {
	Folder  string
	Names   map[string]string // by path
	Renamed []string          // paths whose name in the archive is another one
	Left    []string          // paths that the archive doesn't have
}

// DownloadOf returns the download of a version's files.
func DownloadOf(m Manifest, folder string) Download {
	d := Download{Folder: folder, Names: map[string]string{}}
	taken, folders := map[string]bool{}, map[string]bool{}
	for _, e := range m.Entries {
		if e.Kind == KindFile {
			for dir := parent(e.Path); dir != ""; dir = parent(dir) {
				folders[legible.Folded(safePath(dir))] = true
			}
		}
	}
	for _, e := range m.Entries {
		switch {
		case e.Kind == KindFolder:
			continue
		case e.Kind != KindFile || DotGit(e.Path):
			d.Left = append(d.Left, e.Path)
			continue
		}
		name := safePath(e.Path)
		for n := 2; taken[legible.Folded(name)] || folders[legible.Folded(name)]; n++ {
			ext := path.Ext(safePath(e.Path))
			name = fmt.Sprintf("%s~%d%s", strings.TrimSuffix(safePath(e.Path), ext), n, ext)
		}
		taken[legible.Folded(name)] = true
		if d.Names[e.Path] = name; name != e.Path {
			d.Renamed = append(d.Renamed, e.Path)
		}
	}
	return d
}

// safePath returns a path whose names Windows takes.
func safePath(p string) string {
	names := strings.Split(p, "/")
	for i, name := range names {
		names[i] = SafeName(name)
	}
	return strings.Join(names, "/")
}

// SafeName returns a file's name so that Windows takes it, too: without its special characters, dots and blanks at the
// end, and names of devices.
func SafeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"|?*\/`, r) {
			return '_'
		}
		return r
	}, name)
	if end := strings.TrimRight(name, ". "); end != name {
		name = end + strings.Repeat("_", len(name)-len(end))
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	device := slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}, base)
	if rest := strings.TrimPrefix(strings.TrimPrefix(base, "COM"), "LPT"); rest != base && len([]rune(rest)) == 1 &&
		strings.Contains("0123456789¹²³", rest) {
		device = true
	}
	if device {
		return "_" + name
	}
	return name
}
