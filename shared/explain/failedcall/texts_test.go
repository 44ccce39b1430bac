package failedcall

import (
	"testing"

	"ringi/shared/words/language/languagetest"
)

func TestEachLanguageHasAllTexts(t *testing.T) { languagetest.Whole[words](t, files, "texts") }
