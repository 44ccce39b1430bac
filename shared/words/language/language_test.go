package language_test

import (
	"embed"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/language/languagetest"
)

func TestEveryLanguageHasItsOwn(t *testing.T) {
	said := language.InEach("はい", "yes")
	expect.Must(t, len(said) == len(language.All), "%d languages, %d texts", len(language.All), len(said))
	for locale, want := range map[string]string{"ja": "はい", "en": "yes", "": "はい", "fr": "はい"} {
		expect.Is(t, said.In(locale), want, "%q", locale)
	}
}

//go:embed testdata
var files embed.FS

func TestWordsAreReadByLanguage(t *testing.T) {
	type words struct {
		Yes  string
		More map[string]string
	}
	languagetest.Whole[words](t, files, "testdata/whole")
	in := language.Catalog[words]{Files: &files, Folder: "testdata/whole"}
	for locale, want := range map[string]string{"ja": "はい", "en": "yes", "fr": "はい"} {
		got := in.In(locale)
		expect.That(t, got.Yes == want && got == in.In(locale), "%q: %+v", locale, got)
	}
	defer func() {
		expect.That(t, recover() != nil, "a file that is not there is read")
	}()
	(&language.Catalog[words]{Files: &files, Folder: "testdata/none"}).In("en")
}
