// Package metrictest reads what a test's code counts.
package metrictest

import (
	"os"
	"path/filepath"
	"testing"

	"ringi/shared/runtime/expect"
)

// Printed is what f writes to standard output, where metrics go. No test that uses it may run in parallel.
func Printed(t *testing.T, f func()) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdout")
	file := expect.Value(os.Create(name))(t)
	before := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = before }()
	f()
	expect.NoError(t, file.Close())
	b := expect.Value(os.ReadFile(name))(t)
	return string(b)
}
