package explain

import (
	"testing"

	"ringi/shared/words/language/languagetest"
)

func TestEachLanguageSaysWhyACallFailed(t *testing.T) {
	languagetest.Whole[callWords](t, texts, "texts/failedcall")
}
