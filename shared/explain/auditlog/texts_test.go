package auditlog

import (
	"testing"

	"ringi/shared/words/language/languagetest"
)

func TestEachLanguageHasAllTexts(t *testing.T) { languagetest.Whole[texts](t, files, "texts") }
