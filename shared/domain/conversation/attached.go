package conversation

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// Limits of the attachments of a conversation. A file's own limit is isolated.MaxFile; their texts count too.
const (
	MaxAttached      = 20
	MaxAttachedBytes = files.MaxBytes
)

// Attached is a file of Slack's that lies beside the conversation's files and never changes.
type Attached struct {
	FileID string `json:"file_id"`        // Slack's
	Path   string `json:"path"`           // below AttachedFolder
	Type   string `json:"type,omitempty"` // MIME type
	Bytes  int64  `json:"bytes"`

	// Text is the path of its text below AttachedFolder: its own, if it is text in UTF-8, or of a second file that was
	// made of it. It is empty for images and for what can't be read; then Why says why.
	Text     string                `json:"text,omitempty"`
	Encoding string                `json:"encoding,omitempty"`
	Remarks  []isolated.FileRemark `json:"remarks,omitempty"`
	Why      string                `json:"why,omitempty"`
}

// Image reports whether the file is shown to the model as an image.
func (x Attached) Image() bool { return strings.HasPrefix(x.Type, "image/") }

// Laid are the attachments of a conversation as one version, while it is added to.
type Laid struct {
	Tree *files.Tree
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
	case l.Tree.Bytes()+bytes > MaxAttachedBytes:
		return fmt.Sprintf("a conversation's attachments have at most %d bytes together", MaxAttachedBytes)
	}
	return ""
}

// Add adds a file under its name, or one like it that is free, and returns its entry. It returns why it can't be added.
func (l *Laid) Add(x Attached, name string, content []byte) (added *Attached, why string) {
	if why := l.Refuses(int64(len(content))); why != "" {
		return nil, why
	}
	x.Path, x.Bytes = l.free(name, ""), int64(len(content))
	if files.IsText(content) {
		x.Text, x.Encoding = x.Path, "UTF-8"
	}
	if why := l.put(x.Path, content); why != "" {
		return nil, why
	}
	l.List = append(l.List, x)
	return &l.List[len(l.List)-1], ""
}

// Read adds what was read of a file: its text as a file beside it, or why there is none.
func (l *Laid) Read(x *Attached, t isolated.FileText) {
	x.Encoding, x.Remarks, x.Why = t.Encoding, t.Remarks, string(t.Why)
	if t.Why != "" {
		return
	}
	p := l.free(x.Path, ".txt")
	if x.Why = l.put(p, []byte(t.Text)); x.Why == "" {
		x.Text = p
	}
}

func (l *Laid) put(p string, content []byte) (why string) {
	next, err := l.Tree.Apply([]files.File{{Path: p, Content: string(content)}})
	if err != nil {
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
		if r == '/' || r == '\\' || r == ':' || files.Illegible(r) {
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
	stem := language.FirstBytes(strings.TrimSuffix(name, last), maxFileName-len(last))
	taken := map[string]bool{}
	for _, p := range l.Tree.Paths() {
		taken[language.Folded(p)] = true
	}
	for n := 1; ; n++ {
		p := stem + last + ending
		if n > 1 {
			p = fmt.Sprintf("%s (%d)%s%s", stem, n, last, ending)
		}
		if !taken[language.Folded(p)] {
			return p
		}
	}
}
