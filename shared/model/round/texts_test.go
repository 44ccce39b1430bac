package round

import (
	"testing"

	"ringi/shared/runtime/expect"
)

func TestEachLanguageHasAllSentences(t *testing.T) { expect.Whole[texts](t, embedded, "texts") }
