// Package charset finds out in which encoding a file's text is, and decodes it.
package charset

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
)

// Names of encodings.
const (
	UTF8     = "UTF-8"
	ShiftJIS = "Shift_JIS"
)

// Decode returns a file as UTF-8, without a byte order mark, and the name of its encoding, which is empty if none fits.
// Texts of Japanese spreadsheets are in Shift_JIS more often than not: in the form of Windows, with 髙 and ①.
func Decode(file []byte) (text, as string) {
	switch {
	case bytes.HasPrefix(file, []byte("\xef\xbb\xbf")) && utf8.Valid(file):
		return string(file[3:]), UTF8
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
		return string(file), UTF8
	}
	shift, asShift := in(japanese.ShiftJIS, file)
	euc, asEUC := in(japanese.EUCJP, file)
	switch {
	case asShift && !(asEUC && halfWidth(shift) > halfWidth(euc)):
		return shift, ShiftJIS
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
