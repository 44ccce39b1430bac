package main

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"

	"ringi/shared/runtime/filetext"
)

// plain returns a text without a form. Texts of Japanese spreadsheets are in Shift_JIS more often than not.
func plain(file []byte) filetext.Text {
	text, as := decoded(file)
	switch {
	case as == "" && bytes.IndexByte(file, 0) >= 0:
		return filetext.Text{Why: filetext.OtherType}
	case as == "":
		return filetext.Text{Why: filetext.Encoding}
	case !legible(text):
		return filetext.Text{Why: filetext.OtherType}
	}
	w := &writer{}
	w.write(text) // only the limit can stop it, which it remarks
	return filetext.Text{Text: w.done(), Form: filetext.Plain, Encoding: as, Remarks: w.remarks}
}

// decoded returns a file as UTF-8 and the name of its encoding, which is empty if none fits.
func decoded(file []byte) (text, as string) {
	switch {
	case bytes.HasPrefix(file, []byte("\xef\xbb\xbf")) && utf8.Valid(file):
		return string(file[3:]), "UTF-8"
	case bytes.HasPrefix(file, []byte("\xff\xfe")):
		return ofUTF16(file[2:], binary.LittleEndian, "UTF-16LE")
	case bytes.HasPrefix(file, []byte("\xfe\xff")):
		return ofUTF16(file[2:], binary.BigEndian, "UTF-16BE")
	}
	even, odd := zeros(file)
	switch {
	case even+odd > 0 && even == 0 && odd > len(file)/8:
		return ofUTF16(file, binary.LittleEndian, "UTF-16LE")
	case even+odd > 0 && odd == 0 && even > len(file)/8:
		return ofUTF16(file, binary.BigEndian, "UTF-16BE")
	case even+odd > 0:
		return "", ""
	case utf8.Valid(file):
		return string(file), "UTF-8"
	}
	shift, asShift := in(japanese.ShiftJIS, file)
	euc, asEUC := in(japanese.EUCJP, file)
	switch {
	case asShift && !(asEUC && halfWidth(shift) > halfWidth(euc)):
		return shift, "Shift_JIS"
	case asEUC:
		return euc, "EUC-JP"
	}
	return "", ""
}

// in returns a file as UTF-8, if it can be in this encoding.
func in(e encoding.Encoding, file []byte) (string, bool) {
	as, err := e.NewDecoder().Bytes(file)
	return string(as), err == nil && !bytes.ContainsFunc(as, unlikely)
}

// halfWidth counts half-width kana, which EUC-JP read as Shift_JIS mostly becomes.
func halfWidth(text string) (n int) {
	for _, r := range text {
		if r >= 'ｦ' && r <= 'ﾟ' {
			n++
		}
	}
	return n
}

// unlikely reports whether a character shows that a text is not in the encoding in which it was read.
func unlikely(r rune) bool { return r == utf8.RuneError || unicode.Is(unicode.Co, r) }

// zeros counts zero bytes at even and at odd places.
func zeros(file []byte) (even, odd int) {
	for i, c := range file {
		switch {
		case c != 0:
		case i%2 == 0:
			even++
		default:
			odd++
		}
	}
	return even, odd
}

func ofUTF16(file []byte, order binary.ByteOrder, name string) (text, as string) {
	if len(file)%2 != 0 {
		return "", ""
	}
	units := make([]uint16, len(file)/2)
	for i := range units {
		units[i] = order.Uint16(file[2*i:])
	}
	text = string(utf16.Decode(units))
	if strings.ContainsFunc(text, unlikely) {
		return "", ""
	}
	return text, name
}

// legible reports whether a text has none of the control characters that only binary files have.
func legible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a\x1b", r)
	})
}
