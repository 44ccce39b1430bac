package process

import (
	"errors"
	"fmt"
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

// fake makes a Python that prints this benchmark time. If missing is set, it fails because a part is missing.
func fake(t *testing.T, seconds string, missing bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	script := fmt.Sprintf("#!/bin/sh\n%t && exit 1\necho %s\n", missing, seconds)
	expect.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestTheFasterPythonIsTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		first, own string
		ownLacks   bool
		takesOwn   bool
	}{
		"the first is as fast":            {"0.0010", "0.0010", false, false},
		"the first is slower":             {"0.0018", "0.0011", false, true},
		"slower, and the other can't do":  {"0.0018", "0.0011", true, false},
		"a little slower, as noise makes": {"0.00105", "0.0010", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, before := fake(t, tt.first, false), system
			system = fake(t, tt.own, tt.ownLacks)
			t.Cleanup(func() { system = before })
			t.Setenv("PATH", filepath.Dir(first)+":/bin")
			want := map[bool]string{false: first, true: system}[tt.takesOwn]
			got := expect.Value(find(t.Context()))(t)
			expect.That(t, got == want, "took %s", got)
		})
	}
}
