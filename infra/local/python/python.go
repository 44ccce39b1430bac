// Package python makes private Python environments of pinned packages.
package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
)

// ErrMissing says what to install when there is no suitable Python.
var ErrMissing = errors.New("the local stack needs Python 3.10 or newer with its venv module: install python3 (on Debian and Ubuntu also python3-venv)")

// commands are tried in this order; the first that is new enough is taken.
func commands() []string {
	return []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"}
}

const suitable = `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))`

func find(ctx context.Context) (string, error) {
	for _, name := range commands() {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.CommandContext(ctx, path, "-c", suitable).Run() == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}

// Environment returns the Python of a private virtual environment with the
// pinned requirements, which serve what is named, and makes it below folder
// first if it is missing. Other pins have another environment, which may be in
// use. Several processes may ask at once: one makes it, the others wait.
//
// It returns ErrMissing if there is no suitable Python, and a sentence from pip
// if the packages can't be installed.
func Environment(ctx context.Context, folder, what string, pins []byte, notify func(string)) (string, error) {
	unlock, err := process.Lock(filepath.Join(folder, "venv.lock"))
	if err != nil {
		return "", fmt.Errorf("make the Python environment: %w", err)
	}
	defer unlock()

	sum := sha256.Sum256(pins)
	want := hex.EncodeToString(sum[:])
	venv := filepath.Join(folder, "venv", want[:12])
	python, stamp := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "requirements.sha256")
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want && exec.CommandContext(ctx, python, "-c", "").Run() == nil {
		return python, nil
	}
	system, err := find(ctx)
	if err != nil {
		return "", err
	}
	notify("making a Python environment for " + what + " (once, about half a minute)")
	if err := os.RemoveAll(venv); err != nil {
		return "", fmt.Errorf("remove an unfinished Python environment: %w", err)
	}
	if out, err := exec.CommandContext(ctx, system, "-m", "venv", venv).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", ErrMissing, lastLine(out))
	}
	requirements := filepath.Join(venv, "requirements.txt")
	if err := os.WriteFile(requirements, pins, 0o644); err != nil {
		return "", fmt.Errorf("write requirements: %w", err)
	}
	pip := exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--prefer-binary", "-r", requirements)
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip could not install %s (is a package index reachable from here?): %s", what, lastLine(out))
	}
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		return "", fmt.Errorf("stamp the Python environment: %w", err)
	}
	return python, nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
