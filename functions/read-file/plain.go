package main

import (
	"bytes"
	"strings"

	"ringi/shared/runtime/filetext"
	"ringi/shared/words/charset"
	"ringi/shared/words/lazy"
)

// plain returns a text without a form.
func plain(file []byte) filetext.Text {
	text, as, torn := charset.Decode(file)
	switch {
	case bytes.HasPrefix(file, []byte(`{\rtf`)), mail.Get().Match(file):
		return filetext.Text{Why: filetext.OtherType}
	case as == "" && bytes.IndexByte(file, 0) >= 0:
		return filetext.Text{Why: filetext.OtherType}
	case as == "":
		return filetext.Text{Why: filetext.Encoding}
	case !legible(text):
		return filetext.Text{Why: filetext.OtherType}
	}
	w := &writer{}
	if torn {
		w.remark(filetext.Torn)
	}
	w.write(text) // only the limit can stop it, which it remarks
	return filetext.Text{Text: w.done(), Form: filetext.Plain, Encoding: as, Remarks: w.remarks}
}

// mail matches the beginning of a mail as programs keep it: headers, one of which says how its text is written.
var mail = lazy.Regexp{Text: `(?i)\A(?:(?:[!-9;-~]+:[^\n]*|[ \t][^\n]*)\r?\n)*(?:MIME-Version|Content-Transfer-Encoding|Content-Type): `}

// legible reports whether a text has none of the control characters that only binary files have.
func legible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a\x1b", r)
	})
}
