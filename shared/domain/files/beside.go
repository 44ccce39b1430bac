package files

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// AttachedFolder is where attachments lie beside the conversation's files. No version of the files has this path.
const AttachedFolder = ".ringi/in"

// attachedPath reports whether a path is the attachments' place or below it.
func attachedPath(p string) bool {
	return p == AttachedFolder || strings.HasPrefix(p, AttachedFolder+"/")
}

// reserved reports whether files may not have this path: the attachments' place, or something else than a folder in its
// way.
func reserved(p string, folder bool) bool {
	return attachedPath(p) || p == path.Dir(AttachedFolder) && !folder
}

// CheckWritable is CheckPath for a path that a proposal changes.
func CheckWritable(p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if reserved(p, false) {
		return refuse("path %q is where attachments lie, which nobody can change: write to another folder", p)
	}
	return nil
}

// Own returns the tree without what stands in the attachments' place, and without the folder that was made
// for it.
func (t *Tree) Own() *Tree {
	next, within := &Tree{entries: map[string]entry{}, bytes: t.bytes}, false
	above := path.Dir(AttachedFolder)
	for p, e := range t.entries {
		if reserved(p, e.folder) {
			next.bytes -= int64(len(e.content))
			continue
		}
		next.entries[p] = e
		within = within || strings.HasPrefix(p, above+"/")
	}
	if !within {
		delete(next.entries, above)
	}
	return next
}

// With returns the tree with attachments in their place, for reading. It can't be stored.
func (t *Tree) With(attached *Tree) *Tree {
	if attached == nil || len(attached.entries) == 0 {
		return t
	}
	next := t.Own()
	next.entries = maps.Clone(next.entries)
	for _, p := range []string{path.Dir(AttachedFolder), AttachedFolder} {
		next.entries[p] = entry{folder: true}
	}
	for p, e := range attached.entries {
		next.entries[AttachedFolder+"/"+p] = e
	}
	return next
}

// With returns the manifest with that of attachments in their place.
func (m Manifest) With(attached Manifest) Manifest {
	if len(attached.Entries) == 0 {
		return m
	}
	var out Manifest
	for _, e := range m.Entries {
		if !reserved(e.Path, e.Kind == KindFolder) {
			out.Entries = append(out.Entries, e)
		}
	}
	for _, e := range attached.Entries {
		e.Path = AttachedFolder + "/" + e.Path
		out.Entries = append(out.Entries, e)
	}
	slices.SortFunc(out.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for _, p := range []string{path.Dir(AttachedFolder), AttachedFolder} {
		if !slices.ContainsFunc(out.Entries, func(e Entry) bool { return e.Path == p }) {
			out.Entries = append(out.Entries, Entry{Path: p, Kind: KindFolder, Mode: ModeFolder})
		}
	}
	return out
}
