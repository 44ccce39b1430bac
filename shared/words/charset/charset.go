// Package charset finds out in which encoding a file's text is, and decodes it. What can't be told is not guessed: a
// wrong guess may read well.
package charset

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"ringi/shared/words/language"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Names of encodings.
const (
	UTF8        = "UTF-8"
	UTF16LE     = "UTF-16LE"
	UTF16BE     = "UTF-16BE"
	ISO2022JP   = "ISO-2022-JP"
	ShiftJIS    = "Shift_JIS" // in the form of Windows, with 髙 and ①
	EUCJP       = "EUC-JP"
	CP949       = "CP949" // Korean, with EUC-KR
	GB18030     = "GB18030"
	Big5        = "Big5"
	Windows1252 = "Windows-1252"
)

// Decode returns a file as UTF-8, without a byte order mark, and the name of its encoding, which is empty if none can be
// told. torn says that the file begins or ends within a character, which is left out, or has characters that are
// damaged, which are U+FFFD in the text.
func Decode(file []byte) (text, as string, torn bool) {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xfe")):
		return ofUTF16(file[2:], binary.LittleEndian, UTF16LE)
	case bytes.HasPrefix(file, []byte("\xfe\xff")):
		return ofUTF16(file[2:], binary.BigEndian, UTF16BE)
	case bytes.IndexByte(file, 0) >= 0:
		return unmarked(file)
	case shifts.Get().Match(file):
		return of2022(file)
	}
	plain := bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	if inASCII(plain) {
		return "", "", false
	}
	if text, torn, ok := ofUTF8(plain); ok {
		return text, UTF8, torn
	}
	return legacy(file)
}

// Encodings that write other languages in ASCII, and look like it: HZ, and UTF-7 with its base64 of UTF-16.
var (
	hz        = language.Regexp{Text: `~\{((?:[!-w][!-~])+)~\}`}
	utf7      = language.Regexp{Text: `\+([A-Za-z0-9/+]*)-?`}
	inUTF7    = base64.RawStdEncoding
	leastUTF7 = 4 // characters: fewer may be chance
)

// inASCII reports whether a file is in one of them. They are not decoded.
func inASCII(file []byte) bool {
	if bytes.ContainsFunc(file, func(r rune) bool { return r >= 0x80 }) {
		return false
	}
	if open := bytes.Count(file, []byte("~{")); open > 0 && len(hz.Get().FindAll(file, -1)) == open {
		text, ok := in(simplifiedchinese.HZGB2312, file)
		return ok && usual(text)
	}
	found := 0
	for _, run := range utf7.Get().FindAllSubmatch(file, -1) {
		code, err := inUTF7.Strict().DecodeString(string(run[1]))
		if err != nil || len(code)%2 != 0 || len(code) == 0 && !bytes.HasSuffix(run[0], []byte("-")) {
			return false // a sign like others
		}
		for i := 0; i < len(code); i += 2 {
			if r := rune(binary.BigEndian.Uint16(code[i:])); r >= 0x80 && !usual(string(r)) {
				return false
			} else if r >= 0x2000 {
				found++
			}
		}
	}
	return found >= leastUTF7
}

// shifts matches what ISO 2022 changes its sets of characters by. Escape sequences that color a terminal are others.
var shifts = language.Regexp{Text: `\x1b(?:\$[@AB]|\$[()*+][@-Z]|\([BIJ])`}

// of2022 decodes ISO-2022-JP, in which e-mails are kept. Other forms of ISO 2022 are not decoded.
func of2022(file []byte) (text, as string, torn bool) {
	for _, cut := range []int{0, 1} {
		text, ok := in(japanese.ISO2022JP, file[:len(file)-cut])
		if ok && !strings.Contains(text, "\x1b") {
			return text, ISO2022JP, cut > 0
		}
	}
	return "", "", false
}

// Torn UTF-8 has this many whole characters of several bytes at least: for each end that is cut off, and for each byte
// that is broken elsewhere.
const wholeForCut, wholeForBroken = 2, 20

// ofUTF8 decodes UTF-8, which may be cut off at both ends, and damaged in a few places.
func ofUTF8(file []byte) (text string, torn, ok bool) {
	if utf8.Valid(file) {
		return string(file), false, true
	}
	least := 0
	for n := 0; n < utf8.UTFMax-1 && len(file) > 0 && !utf8.RuneStart(file[0]); n++ {
		file, least = file[1:], wholeForCut
	}
	for n := 1; n < utf8.UTFMax && n <= len(file); n++ {
		if end := file[len(file)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				file, least = file[:len(file)-n], least+wholeForCut
			}
			break
		}
	}
	whole, broken := 0, 0
	for i := 0; i < len(file); {
		r, n := utf8.DecodeRune(file[i:])
		switch {
		case n > 1:
			whole++
		case r == utf8.RuneError:
			broken++
		}
		i += n
	}
	if whole < least+broken*wholeForBroken {
		return "", false, false
	}
	return strings.ToValidUTF8(string(file), "\ufffd"), true, true
}

// in returns a file as UTF-8, if it can be in this encoding.
func in(e encoding.Encoding, file []byte) (string, bool) {
	as, err := e.NewDecoder().Bytes(file)
	return string(as), err == nil && !bytes.ContainsFunc(as, unlikely)
}

// unlikely reports whether a character shows that a text is not in the encoding in which it was read.
func unlikely(r rune) bool { return control(r) || unknown(r) }

func control(r rune) bool { return r >= 0x80 && r < 0xa0 }

// unknown reports whether a character is none, or one whose meaning only those know who made it (外字).
func unknown(r rune) bool { return r == utf8.RuneError || unicode.Is(unicode.Co, r) }

// known returns a text with U+FFFD for each unknown character, and how many those are; -1: more than in a damaged text.
func known(text string) (string, int) {
	whole, broken := 0, 0
	text = strings.Map(func(r rune) rune {
		switch {
		case unknown(r):
			broken++
			return utf8.RuneError
		case r >= 0x80:
			whole++
		}
		return r
	}, text)
	if whole < broken*wholeForBroken {
		return "", -1
	}
	return text, broken
}

// unmarked decodes UTF-16 without a byte order mark: in one order alone all of it are characters that texts have.
func unmarked(file []byte) (text, as string, torn bool) {
	little, asLittle, tornLittle := ofUTF16(file, binary.LittleEndian, UTF16LE)
	big, asBig, tornBig := ofUTF16(file, binary.BigEndian, UTF16BE)
	isLittle, isBig := asLittle != "" && usual(undamaged(little)), asBig != "" && usual(undamaged(big))
	if isLittle && isBig { // a text in ASCII is one in rare Chinese characters, too
		isLittle, isBig = ascii(little) > 1 && ascii(big) == 0, ascii(big) > 1 && ascii(little) == 0
	}
	switch {
	case isLittle && !isBig:
		return little, asLittle, tornLittle
	case isBig && !isLittle:
		return big, asBig, tornBig
	}
	return "", "", false
}

// undamaged returns a text without the characters that are damaged or unknown.
func undamaged(text string) string { return strings.ReplaceAll(text, string(utf8.RuneError), "") }

func ascii(text string) (n int) {
	for _, r := range text {
		if r < 0x80 {
			n++
		}
	}
	return n
}

// usual reports whether a text has nothing but characters of the languages that are decoded here.
func usual(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		switch {
		case r < ' ':
			return !strings.ContainsRune("\t\n\r\f", r)
		case r < 0x250, r >= 0x2000 && r < 0x2c00, r == 0xfe0f, r >= 0x1f000 && r < 0x1fb00, r >= 0x3000 && r < 0x3400,
			r >= 0xff00 && r < 0xfff0:
			return false
		}
		return !unicode.In(r, unicode.Han, unicode.Hangul, unicode.Cyrillic, unicode.Greek)
	})
}

func ofUTF16(file []byte, order binary.ByteOrder, name string) (text, as string, torn bool) {
	units := make([]uint16, len(file)/2)
	for i := range units {
		units[i] = order.Uint16(file[2*i:])
	}
	torn = len(file)%2 != 0
	if n := len(units); n > 0 && units[n-1] >= 0xd800 && units[n-1] < 0xdc00 {
		units, torn = units[:n-1], true
	}
	text, broken := known(string(utf16.Decode(units)))
	if broken < 0 || strings.ContainsFunc(text, control) {
		return "", "", false
	}
	return text, name, torn || broken > 0
}
