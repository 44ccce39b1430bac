// Package metrictest captures the metrics that a test's code writes.
package metrictest

import (
	"os"
	"path/filepath"
	"testing"

	"ringi/shared/runtime/expect"
)

// Printed returns what f writes to standard output, where metrics go. Tests that use it must not run in parallel.
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
