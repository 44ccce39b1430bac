package charset_test

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/charset"
)

func TestATextIsDecodedAsItsProgramWroteIt(t *testing.T) {
	const text = "社員番号,氏名\r\n1001,髙橋 誠①\r\n"
	sjis := expect.Value(japanese.ShiftJIS.NewEncoder().String(text))(t)
	utf16 := expect.Value(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text))(t)
	euc := expect.Value(japanese.EUCJP.NewEncoder().String("部署,氏名\n営業,佐藤\n"))(t)
	for _, c := range []struct{ file, text, as string }{
		{text, text, charset.UTF8}, {"\ufeff" + text, text, charset.UTF8}, {"", "", charset.UTF8}, {sjis, text,
			charset.ShiftJIS},
		{utf16, text, "UTF-16LE"}, {euc, "部署,氏名\n営業,佐藤\n", "EUC-JP"}, {"\x00\x01\x02\x00", "", ""}, {"a\xff\xfe\xfd",
			"", ""},
	} {
		got, as := charset.Decode([]byte(c.file))
		expect.Is(t, got, c.text, "%.20q", c.file)
		expect.Is(t, as, c.as, "%.20q", c.file)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"氏名", "\x8e\x81\x96\xbc", "\xff\xfea\x00", "a\x00b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		text, as := charset.Decode(file)
		expect.That(t, utf8.ValidString(text) && (as != "" || text == ""), "%q as %q", text, as)
	})
}
