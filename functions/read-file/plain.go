package main

import (
	"bytes"
	"strings"

	"ringi/shared/runtime/filetext"
	"ringi/shared/words/charset"
	"ringi/shared/words/lazy"
)

// plain returns a text without a form.
func plain(file []byte, name string) filetext.Text {
	text, as, torn := charset.Decode(file)
	switch {
	case bytes.HasPrefix(file, []byte(`{\rtf`)), isMail(file):
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
	if ofOffice.Get().MatchString(name) { // such as a table in HTML, called .xls
		w.remark(filetext.Ending)
	}
	w.write(text) // only the limit can stop it, which it remarks
	return filetext.Text{Text: w.done(), Form: filetext.Plain, Encoding: as, Remarks: w.remarks}
}

var ofOffice = lazy.Regexp{Text: `(?i)\.(?:xls[xmb]?|doc[xm]?|ppt[xm]?|pdf)$`}

// Headers of a mail as programs keep it, which may begin with a byte order mark, or with the line of a folder of mails.
// Notes may have a line such as Content-Type of their own: that alone makes no mail.
var (
	headers = lazy.Regexp{Text: `\A(?:\x{feff})?(?:From [^\n]*\n)?((?:(?:[!-9;-~]+:[^\n]*|[ \t][^\n]*)(?:\r?\n|\z))+)`}
	coded   = lazy.Regexp{Text: `(?im)^(?:MIME-Version|Content-Transfer-Encoding): `}
	typed   = lazy.Regexp{Text: `(?im)^Content-Type: `}
	sent    = lazy.Regexp{Text: `(?im)^(?:From|To|Subject|Received|Message-ID|Return-Path): `}
)

func isMail(file []byte) bool {
	m := headers.Get().FindSubmatch(file)
	return m != nil && (coded.Get().Match(m[1]) || typed.Get().Match(m[1]) && sent.Get().Match(m[1]))
}

// legible reports whether a text has none of the control characters that only binary files have.
func legible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a\x1b", r)
	})
}
