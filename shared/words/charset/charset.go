// Package charset decodes a file's text: UTF-8, or Shift_JIS as Excel writes it in Japan. Others are not guessed.
package charset

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

// Names of the encodings.
const (
	UTF8     = "UTF-8"
	ShiftJIS = "Shift_JIS"
)

// Decode returns a file as UTF-8, without a byte order mark, and the name of its encoding, which is empty if it is
// neither of the two. In Shift_JIS one character of fifty may be unreadable, such as one that a company made (gaiji).
func Decode(file []byte) (text, as string) {
	if file = bytes.TrimPrefix(file, []byte("\ufeff")); utf8.Valid(file) {
		return string(file), UTF8
	}
	if torn(file) {
		return "", ""
	}
	decoded, err := japanese.ShiftJIS.NewDecoder().Bytes(file)
	lost := bytes.Count(decoded, []byte(string(utf8.RuneError)))
	if err != nil || bytes.IndexByte(file, 0) >= 0 || lost*50 > utf8.RuneCount(decoded) {
		return "", ""
	}
	return string(decoded), ShiftJIS
}

// torn reports whether a file is UTF-8 but for some bytes: it has more whole characters of several bytes than others.
func torn(file []byte) bool {
	whole := 0
	for len(file) > 0 {
		r, n := utf8.DecodeRune(file)
		switch file = file[n:]; {
		case n > 1:
			whole++
		case r == utf8.RuneError:
			whole--
		}
	}
	return whole > 0
}
