package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"ringi/shared/runtime/expect"
)

func TestWithoutNodeTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Node(t.Context())
	expect.That(t, errors.Is(err, ErrNode) && strings.Contains(err.Error(), "install nodejs"), "got %v", err)
}

func TestAFailedInstallationIsSaidAndDoneAgain(t *testing.T) {
	bin, folder := t.TempDir(), t.TempDir()
	files := fstest.MapFS{"app.js": {}, "package-lock.json": {}, ".npmrc": {}, "more/one.json": {Data: []byte("{}")}}
	npm := func(script string) {
		expect.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	npm("echo ENOTFOUND >&2; exit 1\n")
	_, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err != nil && strings.Contains(err.Error(), "npm could not install app") &&
		strings.Contains(err.Error(), "ENOTFOUND"), "got %v", err)
	npm("mkdir node_modules\n")
	dir := expect.Value(InstallNode(t.Context(), folder, "app", files))(t)
	for _, name := range []string{"app.js", "package-lock.json", ".npmrc", "more/one.json", "node_modules", "installed"} {
		expect.Value(os.Stat(filepath.Join(dir, name)))(t)
	}
	npm("exit 1\n")
	again, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err == nil && again == dir, "a second time: %s, %v", again, err)
	files["app.js"] = &fstest.MapFile{Data: []byte("other")}
	npm("mkdir node_modules\n")
	other, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err == nil && other != dir, "another content: %s, %v", other, err)
}
