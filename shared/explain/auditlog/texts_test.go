package auditlog

import (
	"testing"

	"ringi/shared/runtime/expect"
)

func TestEachLanguageHasAllTexts(t *testing.T) { expect.Whole[texts](t, files, "texts") }
