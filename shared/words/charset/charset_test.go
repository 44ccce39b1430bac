package charset

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"

	"ringi/shared/runtime/expect"
)

func TestUTF8AndShiftJISAreDecoded(t *testing.T) {
	const names = "氏名,部署\r\n髙橋①,㈱営業 ソ能表ｱｲｳ\r\n"
	sjis := expect.Value(japanese.ShiftJIS.NewEncoder().String(names))(t)
	euc := expect.Value(japanese.EUCJP.NewEncoder().String("氏名,部署\r\n佐藤,営業\r\n"))(t)
	for file, want := range map[string][2]string{
		names: {names, UTF8}, "\ufeff" + names: {names, UTF8}, "": {"", UTF8}, "plain": {"plain", UTF8},
		sjis: {names, ShiftJIS},
		euc:  {}, "caf\x8e cr\x8fme": {}, "\xff\xfea\x00": {}, names[:1]: {},
		strings.Repeat(sjis, 3) + "\xf0\x40": {strings.Repeat(names, 3) + "\ufffd", ShiftJIS},
		sjis + "\xf0\x40\xf0\x40\xf0\x40":    {},
	} {
		text, as := Decode([]byte(file))
		expect.That(t, text == want[0] && as == want[1], "%.20q: %q as %q", file, text, as)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x8e\x81\x96\xbc"))
	f.Fuzz(func(t *testing.T, file []byte) {
		text, as := Decode(file)
		expect.That(t, utf8.ValidString(text) && (as != "" || text == ""), "%q as %q", text, as)
	})
}
