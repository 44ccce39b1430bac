package language

import "testing"

func TestEveryLanguageHasItsOwn(t *testing.T) {
	said := InEach("はい", "yes")
	if len(said) != len(All) {
		t.Fatalf("%d languages, %d texts", len(All), len(said))
	}
	for locale, want := range map[string]string{"ja": "はい", "en": "yes", "": "はい", "fr": "はい"} {
		if got := said.In(locale); got != want {
			t.Errorf("%q: %s", locale, got)
		}
	}
}
