package legible_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestNamesThatFileSystemsConfuseHaveOneForm(t *testing.T) {
	for _, same := range [][2]string{
		{"Makefile", "makefile"}, {"caf\u00e9.txt", "cafe\u0301.txt"}, {"ﬁle", "FILE"}, {"ａ１", "A1"}, {"straße", "STRASSE"},
		{"がっこう", "か\u3099っこう"}, {"ｶﾞ", "ガ"}, {"한", "\u1112\u1161\u11ab"}, {"ΣΑΣ", "σας"}, {"ᾳ", "αι"}, {"K", "\u212a"}, {"ſ", "S"},
	} {
		expect.Is(t, legible.Folded(same[0]), legible.Folded(same[1]), "%q and %q", same[0], same[1])
	}
	for _, other := range [][2]string{{"a", "b"}, {"a/b", "ab"}, {"а", "a"}, {"は", "ば"}, {"1", "l"}} {
		expect.That(t, legible.Folded(other[0]) != legible.Folded(other[1]), "%q and %q have one form", other[0], other[1])
	}
}
