package task

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// FileKind is what a file is by its content, of the kinds that people can open beside a request.
type FileKind string

const (
	KindPDF  FileKind = "pdf"
	KindPNG  FileKind = "png"
	KindJPEG FileKind = "jpeg"
	KindText FileKind = "text" // csv and txt, which have no beginning of their own
	KindXLSX FileKind = "xlsx"
	KindDOCX FileKind = "docx"
)

// FileTypes are the endings of these kinds, as forms and refusals name them.
var FileTypes = []string{"pdf", "png", "jpg", "jpeg", "csv", "txt", "xlsx", "docx"}

// endings are those of a kind, by which machines choose what opens a file. A file is saved under the first unless its
// name has another.
var endings = map[FileKind][]string{KindPDF: {".pdf"}, KindPNG: {".png"}, KindJPEG: {".jpg", ".jpeg"},
	KindText: {".txt", ".csv"}, KindXLSX: {".xlsx"}, KindDOCX: {".docx"}}

// SavedAs returns the name under which people save the file: no text is opened as a program because of its name.
func (f *ReadFile) SavedAs() string {
	all := endings[f.Kind]
	if len(all) == 0 || slices.Contains(all, strings.ToLower(path.Ext(f.Name))) {
		return f.Name
	}
	return f.Name + all[0]
}

// mediaTypes are what browsers are told of a kind. A text is never more than text.
var mediaTypes = map[FileKind]string{KindPDF: "application/pdf", KindPNG: "image/png", KindJPEG: "image/jpeg",
	KindText: "text/plain; charset=utf-8",
	KindXLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	KindDOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}

// MediaType returns the content type with which a file of this kind is served.
func (k FileKind) MediaType() string { return mediaTypes[k] }

// Previewed reports whether browsers show a file of this kind by themselves.
func (k FileKind) Previewed() bool { return k == KindPDF || k == KindPNG || k == KindJPEG }

// KindOf returns what a file is by its content, whatever its name says; "" for any other kind. One of Office in which
// the name of a part with macros stands is none of these; whatever its parts are called, it is saved as a kind that
// Office opens without running macros.
func KindOf(content []byte) FileKind {
	begins := func(text string) bool { return bytes.HasPrefix(content, []byte(text)) }
	has := func(name string) bool { return bytes.Contains(content, []byte(name)) }
	switch {
	case begins("%PDF-"):
		return KindPDF
	case begins("\x89PNG\r\n\x1a\n"):
		return KindPNG
	case begins("\xff\xd8\xff"):
		return KindJPEG
	case begins("PK\x03\x04") && has("[Content_Types].xml") && !has("vbaProject.bin"):
		if has("xl/workbook.xml") {
			return KindXLSX
		}
		if has("word/document.xml") {
			return KindDOCX
		}
	case isText(content):
		return KindText
	}
	return ""
}

// isText reports whether content is text: none of its bytes is a control character that texts don't have.
// language.Decode would tell more, and link its tables into each click's function.
func isText(content []byte) bool {
	return len(content) > 0 && !bytes.ContainsFunc(content, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r)
	})
}

// LeftOut says why a file of a request is not attached, though it could be had: people can't open it beside the
// request.
type LeftOut string

const (
	LeftType LeftOut = "type" // of another kind
	LeftMany LeftOut = "many" // beyond MaxAttached
)

// Take notes of a file that was had what it is, and whether it is attached. place counts the request's files from 0.
func (f *ReadFile) Take(content []byte, place int) {
	f.Bytes, f.SHA256, f.Kind = int64(len(content)), aggregate.HashOf(string(content)), KindOf(content)
	switch {
	case place >= MaxAttached:
		f.Left = LeftMany
	case f.Kind == "":
		f.Left = LeftType
	}
}

// Attached returns the request's files that people can open beside it, and those that are not attached. It is of files
// that were read: before, there are none.
func (a *Aggregate) Attached() (attached, left []ReadFile) { return a.attached(a.Prompt()) }

// AttachedTo is Attached of the files that a version has: a policy or steps.
func (a *Aggregate) AttachedTo(version Gated) (attached, left []ReadFile) {
	return a.attached(a.policyBy(version))
}

func (a *Aggregate) attached(p *Prompt) (attached, left []ReadFile) {
	read := a.readOf(p)
	if read == nil {
		return nil, nil
	}
	for _, f := range read.Files {
		if f.Left == "" && f.SHA256 != "" {
			attached = append(attached, f)
		} else {
			left = append(left, f)
		}
	}
	return attached, left
}

// AttachedAs returns the file with this hash that is attached, or was to an earlier version, or nil.
func (a *Aggregate) AttachedAs(sum string) *ReadFile {
	for _, p := range slices.Backward(append([]*Prompt{nil}, a.Prompts...)) { // the newest first
		attached, _ := a.attached(p)
		if i := slices.IndexFunc(attached, func(f ReadFile) bool { return f.SHA256 == sum }); i >= 0 {
			return &attached[i]
		}
	}
	return nil
}

// Enclosed returns the text of what a request with files has beside its words, whose hash is in what people stamp: what
// it forwards, and each file with its name, kind, size and hash, or why it is not attached. It is "" without files.
func (a *Aggregate) Enclosed() string { return a.enclosing(a.Prompt()) }

// enclosing is Enclosed with the files of a version.
func (a *Aggregate) enclosing(p *Prompt) string {
	if a.Request == nil || len(a.filesOf(p))+a.Request.MoreFiles == 0 {
		return ""
	}
	return a.enclosed(p)
}

// enclosed is enclosing of any request; "" if it is its text alone.
func (a *Aggregate) enclosed(p *Prompt) string {
	type file struct {
		ID     string   `json:"id"`
		Name   string   `json:"name,omitempty"`
		Kind   FileKind `json:"kind,omitempty"`
		Bytes  int64    `json:"bytes,omitempty"`
		SHA256 string   `json:"sha256,omitempty"` // empty if it could not be read
		Left   LeftOut  `json:"left,omitempty"`
	}
	what := struct {
		Forwarded []aggregate.Quoted `json:"forwarded,omitempty"`
		Files     []file             `json:"files,omitempty"`
		More      int                `json:"more_files,omitempty"`
	}{Forwarded: a.Request.Forwarded, More: a.Request.MoreFiles}
	for _, f := range a.filesOf(p) {
		what.Files = append(what.Files, file{ID: f.ID, Name: f.Name, Bytes: f.Bytes})
	}
	if read := a.readOf(p); read != nil {
		for i, f := range read.Files {
			what.Files[i] = file{f.ID, f.Name, f.Kind, f.Bytes, f.SHA256, f.Left}
		}
	}
	if what.Forwarded == nil && what.Files == nil && what.More == 0 {
		return ""
	}
	text, _ := json.Marshal(what) // its times are Slack's
	return string(text)
}
