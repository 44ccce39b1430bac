package dynamodblocal

import (
	"errors"
	"os"
	"testing"

	"ringi/shared/runtime/expect"
)

// withoutJava, set where CI has no Java, leaves tests over this engine out; without it a missing Java fails there.
const withoutJava = "RINGI_WITHOUT_JAVA"

// StartForTest starts an empty server for one test and returns its endpoint. It ends with the test. Without Java or
// Maven the test is skipped on a laptop, and in CI where withoutJava is set; else it fails.
func StartForTest(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := Start(t.Context(), nil)
	if errors.Is(err, ErrJava) && (os.Getenv("CI") == "" || os.Getenv(withoutJava) != "") {
		t.Skip(err)
	}
	expect.NoError(t, err)
	t.Cleanup(s.Stop)
	return s.URL
}
