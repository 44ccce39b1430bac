package conversation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"unicode/utf8"
)

// EntryKind says what an entry of a version is.
type EntryKind string

const (
	KindFile   EntryKind = "file"
	KindFolder EntryKind = "folder"
	KindLink   EntryKind = "link"
)

// Modes of entries, as git writes them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeFolder     = "040000"
)

// Entry describes a file, a folder or a link of a version without its content.
type Entry struct {
	Path   string    `json:"path"`
	Kind   EntryKind `json:"kind"`
	Mode   string    `json:"mode"`
	Size   int64     `json:"size,omitempty"`   // bytes of a file
	Lines  int       `json:"lines,omitempty"`  // of a file that is text
	SHA256 string    `json:"sha256,omitempty"` // of a file's content, or of a link's target
	Target string    `json:"target,omitempty"` // of a link
}

// Manifest lists the entries of a version, sorted by path. It is stored beside the version, so that nobody has to read
// an archive to list files.
type Manifest struct {
	Entries []Entry `json:"entries"`
}

// Manifest lists the tree's entries.
func (t *Tree) Manifest() Manifest {
	m := Manifest{Entries: make([]Entry, 0, len(t.entries))}
	for _, p := range slices.Sorted(maps.Keys(t.entries)) {
		m.Entries = append(m.Entries, t.entries[p].describe(p))
	}
	return m
}

func (e entry) kind() EntryKind {
	switch {
	case e.folder:
		return KindFolder
	case e.link != "":
		return KindLink
	}
	return KindFile
}

func (e entry) mode() string {
	switch {
	case e.folder:
		return ModeFolder
	case e.link != "":
		return ModeLink
	case e.executable:
		return ModeExecutable
	}
	return ModeFile
}

func (e entry) describe(p string) Entry {
	out := Entry{Path: p, Kind: e.kind(), Mode: e.mode(), Target: e.link}
	switch out.Kind {
	case KindFile:
		out.Size, out.SHA256 = int64(len(e.content)), sumOf(e.content)
		if isText(e.content) {
			out.Lines = countLines(e.content)
		}
	case KindLink:
		out.SHA256 = sumOf([]byte(e.link))
	}
	return out
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isText reports whether people can be shown a file's content: UTF-8 without NUL.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// countLines counts lines as editors do: the last one may lack its line end.
func countLines(b []byte) int {
	n := bytes.Count(b, []byte("\n"))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}
