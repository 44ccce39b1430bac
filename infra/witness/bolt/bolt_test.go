package bolt

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/infra/witness"
)

// withoutNode, set where CI has no Node, leaves this witness out; without it a missing Node fails there.
const withoutNode = "RINGI_WITHOUT_NODE"

func app(t *testing.T) witness.App {
	t.Helper()
	path, err := node(t.Context())
	if errors.Is(err, ErrNode) && (os.Getenv("CI") == "" || os.Getenv(withoutNode) != "") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder, err := process.Folder()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := install(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return witness.App{Name: "the Bolt app", Command: func(testing.TB) *exec.Cmd {
		cmd := exec.Command(path, "app.js")
		cmd.Dir = dir
		return cmd
	}}
}

func TestBoltUnderstandsTheSandbox(t *testing.T) { witness.Walk(t, app(t)) }

func TestBoltRefusesAForeignSignature(t *testing.T) { witness.Distrust(t, app(t)) }

func TestWithoutNodeTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := node(t.Context()); !errors.Is(err, ErrNode) || !strings.Contains(err.Error(), "install nodejs") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedInstallationIsSaidAndDoneAgain(t *testing.T) {
	bin, folder := t.TempDir(), t.TempDir()
	npm := func(script string) {
		if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	npm("echo ENOTFOUND >&2; exit 1\n")
	if _, err := install(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "npm could not install Bolt") || !strings.Contains(err.Error(), "ENOTFOUND") {
		t.Errorf("got %v", err)
	}
	npm("mkdir node_modules\n")
	dir, err := install(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"app.js", "package-lock.json", ".npmrc", "node_modules", "installed"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	npm("exit 1\n")
	if again, err := install(t.Context(), folder); err != nil || again != dir {
		t.Errorf("a second time: %s, %v", again, err)
	}
}

// The lock pins contents, not the place that they come from.
func TestTheLockNamesNoRegistry(t *testing.T) {
	lock, err := files.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(lock, []byte(`"resolved"`)) || !bytes.Contains(lock, []byte(`"integrity": "sha512-`)) {
		t.Error("package-lock.json holds addresses, or no hashes; .npmrc leaves the addresses out when npm writes it")
	}
}
