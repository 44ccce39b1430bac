package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/isolated"
)

// Limits of the attachments that a model is shown. The newest ones are counted first.
const (
	MaxFileText  = 64 << 10  // bytes of one text
	MaxFilesText = 160 << 10 // bytes of all texts
	MaxImage     = 3 << 20   // bytes of one image
	MaxImages    = 5
)

// imageTypes are the types that every vendor's models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Readable returns why a file of this type and size can't be shown to a model, or an empty text if it can.
func Readable(mime string, size int) (why string) {
	mime, _, _ = strings.Cut(mime, ";")
	switch {
	case slices.Contains(imageTypes, mime):
		if size > MaxImage {
			return fmt.Sprintf("the image has %d bytes, the limit is %d", size, MaxImage)
		}
	case strings.HasPrefix(mime, "text/"), mime == "application/json", mime == "application/yaml",
		mime == "application/x-yaml", mime == "application/xml", mime == "application/javascript":
		if size > MaxFileText {
			return fmt.Sprintf("the text has %d bytes, the limit is %d", size, MaxFileText)
		}
	default:
		return conversation.OnlyRead
	}
	return ""
}

// Attach reads the files of a history within the limits, the newest first, and records why the others are not shown.
// read returns a file's content of at most most bytes, or why it can't be read. Attach returns the files that the agent
// is shown, with the hashes of their contents but without the contents.
func Attach(history []Message, read func(f File, most int) (body []byte, why string)) (shown []File) {
	b := &budget{}
	for i := range slices.Backward(history) {
		files := slices.Clone(history[i].Files)
		for j := range files {
			f := &files[j]
			if f.Body != nil {
				continue
			}
			if f.Why = b.refuses(*f); f.Why != "" {
				continue
			}
			most := MaxFileText
			if strings.HasPrefix(f.Type, "image/") {
				most = MaxImage
			}
			if f.Body, f.Why = read(*f, most); f.Why != "" {
				f.Body = nil
				continue
			}
			sum := sha256.Sum256(f.Body)
			hash := hex.EncodeToString(sum[:])
			if f.Hash != "" && f.Hash != hash { // a changed file is not shown in the place of the one that was answered
				f.Body, f.Why = nil, conversation.Changed
				continue
			}
			f.Hash, f.Size = hash, len(f.Body)
			shown = append(shown, File{ID: f.ID, Name: f.Name, Type: f.Type, Hash: f.Hash, Size: f.Size})
		}
		history[i].Files = files
	}
	return shown
}

// budget counts how much of the attachments' limits is used.
type budget struct{ text, images int }

// refuses counts a file, or returns why it does not fit.
func (b *budget) refuses(f File) string {
	size := max(f.Size, len(f.Body))
	if why := f.Why; why != "" {
		return why
	}
	if why := Readable(f.Type, size); why != "" {
		return why
	}
	if strings.HasPrefix(f.Type, "image/") {
		if b.images == MaxImages {
			return fmt.Sprintf("only the newest %d images are read", MaxImages)
		}
		b.images++
		return ""
	}
	if b.text+size > MaxFilesText {
		return fmt.Sprintf("only the newest %d bytes of texts are read", MaxFilesText)
	}
	b.text += size
	return ""
}

// filesShown returns for each file why it is not shown, empty if it is.
func filesShown(history []Message) [][]string {
	b, out := &budget{}, make([][]string, len(history))
	for i, m := range slices.Backward(history) {
		for _, f := range m.Files {
			why := b.refuses(f)
			if why == "" && f.Body == nil {
				why = "it is not there any more"
			}
			out[i] = append(out[i], why)
		}
	}
	return out
}

// lying adds where a file lies beside the conversation's files.
func (e entry) lying(f File) entry {
	if e.Lies = f.Lies; f.TextLies != f.Lies {
		e.TextAt = f.TextLies
	}
	if f.Encoding != "UTF-8" {
		e.Encoding = f.Encoding
	}
	var all []string
	for _, r := range f.Remarks {
		all = append(all, string(r))
	}
	e.Remarks = strings.Join(all, ", ")
	return e
}

// notRead says why a file is not shown, and how the model gets at it all the same.
func notRead(f File, why string) string {
	switch {
	case f.TextLies != "":
		return why + ": use read_file and search"
	case f.Lies != "" && slices.Contains(isolated.AllUnreadable, isolated.Unreadable(why)):
		return "its text can't be read (" + why + "); a command can use the file"
	}
	return why
}
