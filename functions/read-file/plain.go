package main

import (
	"bytes"
	"strings"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/charset"
	"ringi/shared/words/language"
)

// plain returns a text without a form.
func plain(file []byte, name string) isolated.FileText {
	text, as, torn := charset.Decode(file)
	switch {
	case bytes.HasPrefix(file, []byte(`{\rtf`)), isMail(file):
		return isolated.FileText{Why: isolated.OtherType}
	case as == "" && bytes.IndexByte(file, 0) >= 0:
		return isolated.FileText{Why: isolated.OtherType}
	case as == "":
		return isolated.FileText{Why: isolated.Encoding}
	case !asLegible(text):
		return isolated.FileText{Why: isolated.OtherType}
	}
	w := &writer{}
	if torn {
		w.remark(isolated.Torn)
	}
	if ofOffice.Get().MatchString(name) { // such as a table in HTML, called .xls
		w.remark(isolated.HasEnding)
	}
	if hides(text) {
		w.remark(isolated.HasHidden)
	}
	w.write(text) // only the limit can stop it, which it remarks
	return isolated.FileText{Text: w.done(), Form: isolated.PlainText, Encoding: as, Remarks: w.remarks}
}

// What hides a part of a page or a sheet that is kept as HTML or XML: a style or an attribute of its element, or a rule
// for some of them. Excel itself writes an empty row without a height, and a rule for how names are read aloud (rt).
const hiding = `display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all`

var (
	markup = language.Regexp{Text: `(?i)\A\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)*<(?:!doctype html|html|head|body|meta|` +
		`style|div|table|(?:\w+:)?workbook)\b`}
	hiddenPart = language.Regexp{Text: `(?i)<[^<>]*(?:(?:` + hiding + `|:Hidden="1"|type=["']?hidden)[^<>]*` +
		`|\shidden(?:[\s=][^<>]*)?)>` +
		`(?:\s|&nbsp;|</?(?:td|th|p|div|span|font|b|br|a|cell|data|ss:cell|ss:data)\b[^<>]*>)*[^\s<&]`}
	hiddenRule  = language.Regexp{Text: `(?i)([^{}\s,;>]*)\s*\{[^{}]*(?:` + hiding + `)[^{}]*\}`}
	hiddenSheet = language.Regexp{Text: `(?i)visible(?:>|=")sheet(?:very)?hidden`}
)

// hides reports whether a text is HTML or XML, a part of which people don't see.
func hides(text string) bool {
	if !markup.Get().MatchString(text) {
		return false
	}
	for _, rule := range hiddenRule.Get().FindAllStringSubmatch(text, -1) {
		if rule[1] != "rt" {
			return true
		}
	}
	return hiddenPart.Get().MatchString(text) || hiddenSheet.Get().MatchString(text)
}

var ofOffice = language.Regexp{Text: `(?i)\.(?:xls[xmb]?|doc[xm]?|ppt[xm]?|pdf)$`}

// Headers of a mail as programs keep it, which may begin with a byte order mark, or with the line of a folder of mails.
// Notes may have a line such as Content-Type of their own: that alone makes no mail.
var (
	headers = language.Regexp{Text: `\A(?:\x{feff})?(?:From [^\n]*\n)?((?:(?:[!-9;-~]+:[^\n]*|[ \t][^\n]*)(?:\r?\n|\z))+)`}
	coded   = language.Regexp{Text: `(?im)^(?:MIME-Version|Content-Transfer-Encoding): `}
	typed   = language.Regexp{Text: `(?im)^Content-Type: `}
	sent    = language.Regexp{Text: `(?im)^(?:From|To|Subject|Received|Message-ID|Return-Path): `}
)

func isMail(file []byte) bool {
	m := headers.Get().FindSubmatch(file)
	return m != nil && (coded.Get().Match(m[1]) || typed.Get().Match(m[1]) && sent.Get().Match(m[1]))
}

// legible reports whether a text has none of the control characters that only binary files have.
func asLegible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a\x1b", r)
	})
}
