package expect

import (
	"os"
	"path/filepath"
	"testing"
)

// Printed returns what f writes to standard output, where metrics go. Tests that use it must not run in parallel.
func Metrics(t *testing.T, f func()) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdout")
	file := Value(os.Create(name))(t)
	before := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = before }()
	f()
	NoError(t, file.Close())
	b := Value(os.ReadFile(name))(t)
	return string(b)
}
