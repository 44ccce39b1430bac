package moto

import (
	"errors"
	"os"
	"testing"

	"ringi/shared/runtime/expect"
)

// withoutJava is set where CI has no Java; tests of this engine are then skipped. In CI without this variable, they
// fail if Java is missing.
const withoutJava = "RINGI_WITHOUT_JAVA"

// StartForTest starts an empty server for one test and returns its endpoint. The server ends with the test. Without
// Java or Maven the test is skipped on a laptop. In CI it fails, unless withoutJava is set.
func LocalForTest(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := StartLocal(t.Context(), nil)
	if errors.Is(err, ErrJava) && (os.Getenv("CI") == "" || os.Getenv(withoutJava) != "") {
		t.Skip(err)
	}
	expect.NoError(t, err)
	t.Cleanup(s.Stop)
	return s.URL
}
