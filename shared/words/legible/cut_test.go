package legible_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestATextIsCutBetweenCharacters(t *testing.T) {
	for name, x := range map[string]struct {
		text                          string
		most                          int
		first, bytes, beginning, clip string
	}{
		"shorter":         {"稟議", 3, "稟議", "稟", "稟議", "稟議"},
		"as long":         {"稟議書", 3, "稟議書", "稟", "稟議書", "稟議書"},
		"longer":          {"稟議書類", 3, "稟議書", "稟", "稟議書…", "稟議…"},
		"of four bytes":   {"😀😀", 1, "😀", "", "😀…", "…"},
		"empty":           {"", 3, "", "", "", ""},
		"no UTF-8 at all": {"a\xff\xfeb", 2, "a\xff", "a\xff", "a\xff…", "a…"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Is(t, legible.First(x.text, x.most), x.first, "First")
			expect.Is(t, legible.FirstBytes(x.text, x.most), x.bytes, "FirstBytes")
			expect.Is(t, legible.Beginning(x.text, x.most), x.beginning, "Beginning")
			expect.Is(t, legible.Clip(x.text, x.most), x.clip, "Clip")
		})
	}
}

func TestATextIsCutAfterAWholeLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n12345\t67890\nc": "a\tb\n12345\t", "a\tbcdefgh\n1234567": "a\tbcdefgh\n", "abcdefghijkl": "abcdefghijkl",
		"abcdefghijkl\nx": "abcdefghijkl", "abcdefghijklmn": "abcdefghijkl", "a,営業、人事部の全員の残業": "a,営業、人事部の全員の",
		"稟議書類です。人事部の全員": "稟議書類です。",
	} {
		expect.Is(t, legible.FirstLines(text, 12), want, "%q", text)
	}
}
