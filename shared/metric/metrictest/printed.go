// Package metrictest reads what a test's code counts.
package metrictest

import (
	"os"
	"path/filepath"
	"testing"
)

// Printed is what f writes to standard output, where metrics go. No test that uses it may run in parallel.
func Printed(t *testing.T, f func()) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdout")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = before }()
	f()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
