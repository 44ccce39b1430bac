package moto_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/moto"
	"ringi/shared/runtime/expect"
)

func TestWithoutPythonTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("RINGI_LOCAL_DIR", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := moto.Start(t.Context(), moto.Options{})
	expect.That(t, errors.Is(err, moto.ErrPython) && strings.Contains(err.Error(), "install python3"), "got %v", err)
}

func TestAnUnreachablePackageIndexIsSaid(t *testing.T) {
	t.Setenv("RINGI_LOCAL_DIR", t.TempDir())
	// This Python makes environments, but its pip fails, as it does without a network.
	bin := t.TempDir()
	script := `#!/bin/sh
case "$*" in
*"-m venv "*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
"-c "*) echo 0 ;;
*"-m pip "*) echo "ERROR: No matching distribution found for moto" >&2; exit 1 ;;
esac
`
	expect.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	_, err := moto.Start(t.Context(), moto.Options{})
	if err == nil || !strings.Contains(err.Error(), "pip could not install moto") || !strings.Contains(err.Error(), "No matching distribution") {
		t.Errorf("got %v", err)
	}
}
