package conversation

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/legible"
)

// AttachedFolder is where attachments lie beside the conversation's files. No version of the files has this path.
const AttachedFolder = ".ringi/in"

// Limits of the attachments of a conversation. A file's own limit is isolated.MaxFile; their texts count too.
const (
	MaxAttached      = 20
	MaxAttachedBytes = MaxBytes
)

// Attached is a file of Slack's that lies beside the conversation's files and never changes.
type Attached struct {
	FileID string `json:"file_id"`        // Slack's
	Path   string `json:"path"`           // below AttachedFolder
	Type   string `json:"type,omitempty"` // MIME type
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	// Text is the path of its text below AttachedFolder: its own, if it is text in UTF-8, or of a second file that was
	// made of it. It is empty for images and for what can't be read; then Why says why.
	Text     string                `json:"text,omitempty"`
	Form     isolated.FileForm     `json:"form,omitempty"`
	Encoding string                `json:"encoding,omitempty"`
	Remarks  []isolated.FileRemark `json:"remarks,omitempty"`
	Why      string                `json:"why,omitempty"`
}

// Image reports whether the file is shown to the model as an image.
func (x Attached) Image() bool { return strings.HasPrefix(x.Type, "image/") }

// Laid are the attachments of a conversation as one version, while it is added to.
type Laid struct {
	Tree *Tree
	List []Attached
}

// ByID returns the file with this id of Slack's, or nil.
func (l *Laid) ByID(id string) *Attached {
	i := slices.IndexFunc(l.List, func(x Attached) bool { return x.FileID == id })
	if i < 0 {
		return nil
	}
	return &l.List[i]
}

// Refuses returns why a file of this size can't be added, or "".
func (l *Laid) Refuses(bytes int64) (why string) {
	switch {
	case bytes > isolated.MaxFile:
		return fmt.Sprintf("it has %d bytes, the limit is %d", bytes, isolated.MaxFile)
	case len(l.List) >= MaxAttached:
		return fmt.Sprintf("a conversation holds %d attachments, and has them", MaxAttached)
	case l.Tree.bytes+bytes > MaxAttachedBytes:
		return fmt.Sprintf("a conversation's attachments have at most %d bytes together", MaxAttachedBytes)
	}
	return ""
}

// Add adds a file under its name, or one like it that is free, and returns its entry. It returns why it can't be added.
func (l *Laid) Add(x Attached, name string, content []byte) (added *Attached, why string) {
	if why := l.Refuses(int64(len(content))); why != "" {
		return nil, why
	}
	x.Path, x.Bytes, x.SHA256 = l.free(name, ""), int64(len(content)), sumOf(content)
	if isText(content) {
		x.Text, x.Form, x.Encoding = x.Path, isolated.PlainText, "UTF-8"
	}
	if why := l.put(x.Path, content); why != "" {
		return nil, why
	}
	l.List = append(l.List, x)
	return &l.List[len(l.List)-1], ""
}

// Read adds what was read of a file: its text as a file beside it, or why there is none.
func (l *Laid) Read(x *Attached, t isolated.FileText) {
	x.Form, x.Encoding, x.Remarks, x.Why = t.Form, t.Encoding, t.Remarks, string(t.Why)
	if t.Why != "" {
		return
	}
	p := l.free(x.Path, ".txt")
	if x.Why = l.put(p, []byte(t.Text)); x.Why == "" {
		x.Text = p
	}
}

func (l *Laid) put(p string, content []byte) (why string) {
	next := &Tree{entries: maps.Clone(l.Tree.entries), bytes: l.Tree.bytes}
	if err := next.add(p, entry{content: content}); err != nil {
		return fmt.Sprintf("a conversation's attachments have at most %d bytes together", MaxAttachedBytes)
	}
	l.Tree = next
	return ""
}

// maxFileName is how many bytes of a file's name are kept, so that a number and the ending of its text fit behind it.
const maxFileName = 200

// free returns a path for a file: its name as a name that every system holds, with a number if another file has a name
// that people could take for it.
func (l *Laid) free(name, ending string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || unreadable(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if name = strings.TrimSpace(name); strings.Trim(name, ". ") == "" {
		name = "file"
	}
	last := path.Ext(name)
	if len(last) > maxFileName/4 {
		last = ""
	}
	stem := legible.FirstBytes(strings.TrimSuffix(name, last), maxFileName-len(last))
	taken := map[string]bool{}
	for p := range l.Tree.entries {
		taken[legible.Folded(p)] = true
	}
	for n := 1; ; n++ {
		p := stem + last + ending
		if n > 1 {
			p = fmt.Sprintf("%s (%d)%s%s", stem, n, last, ending)
		}
		if !taken[legible.Folded(p)] {
			return p
		}
	}
}

// attachedPath reports whether a path is the attachments' place or below it.
func attachedPath(p string) bool {
	return p == AttachedFolder || strings.HasPrefix(p, AttachedFolder+"/")
}

// reserved reports whether files may not have this path: the attachments' place, or something else than a folder in its
// way.
func reserved(p string, folder bool) bool {
	return attachedPath(p) || p == path.Dir(AttachedFolder) && !folder
}

// checkWritable is CheckPath for a path that a proposal changes.
func checkWritable(p string) error {
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
