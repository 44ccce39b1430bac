package moto

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
)

//go:embed launcher
var launcher embed.FS

// ErrPython says what to install when there is no Python to run moto with.
var ErrPython = errors.New("the local stack needs Python 3.10 or newer with its venv module: install python3 (on Debian and Ubuntu also python3-venv)")

// pythons are tried in this order; the first that is new enough is taken.
func pythons() []string {
	return []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"}
}

const suitable = `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))`

func findPython(ctx context.Context) (string, error) {
	for _, name := range pythons() {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.CommandContext(ctx, path, "-c", suitable).Run() == nil {
			return path, nil
		}
	}
	return "", ErrPython
}

// environment returns the Python of a private virtual environment with the
// pinned requirements, and makes it first if it is missing. Other pins have
// another environment, which may be in use. Several processes may ask at once:
// one makes it, the others wait.
func environment(ctx context.Context, folder string, notify func(string)) (string, error) {
	pins, err := launcher.ReadFile("launcher/requirements.txt")
	if err != nil {
		return "", fmt.Errorf("read requirements: %w", err)
	}
	unlock, err := process.Lock(filepath.Join(folder, "venv.lock"))
	if err != nil {
		return "", fmt.Errorf("make the Python environment: %w", err)
	}
	defer unlock()

	want := digest(pins)
	venv := filepath.Join(folder, "venv", want[:12])
	python, stamp := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "requirements.sha256")
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want && exec.CommandContext(ctx, python, "-c", "").Run() == nil {
		return python, nil
	}
	system, err := findPython(ctx)
	if err != nil {
		return "", err
	}
	notify("making a Python environment for the AWS stand-ins (once, about half a minute)")
	if err := os.RemoveAll(venv); err != nil {
		return "", fmt.Errorf("remove an unfinished Python environment: %w", err)
	}
	if out, err := exec.CommandContext(ctx, system, "-m", "venv", venv).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", ErrPython, lastLine(out))
	}
	requirements := filepath.Join(venv, "requirements.txt")
	if err := os.WriteFile(requirements, pins, 0o644); err != nil {
		return "", fmt.Errorf("write requirements: %w", err)
	}
	pip := exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--prefer-binary", "-r", requirements)
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip could not install moto (is a package index reachable from here?): %s", lastLine(out))
	}
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		return "", fmt.Errorf("stamp the Python environment: %w", err)
	}
	return python, nil
}

// unpack writes the launcher where Python can import its parts, once per content.
func unpack(folder string) (string, error) {
	unlock, err := process.Lock(filepath.Join(folder, "launcher.lock"))
	if err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	defer unlock()
	files, err := fs.Sub(launcher, "launcher")
	if err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	names, err := fs.Glob(files, "*.py")
	if err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	var all []byte
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return "", fmt.Errorf("unpack the launcher: %w", err)
		}
		all = append(append(all, name...), content...)
	}
	dir := filepath.Join(folder, "launcher-"+digest(all)[:12])
	main := filepath.Join(dir, "main.py")
	if _, err := os.Stat(main); err == nil {
		return main, nil
	}
	if err := os.RemoveAll(dir + ".new"); err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	if err := os.CopyFS(dir+".new", files); err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	if err := os.Rename(dir+".new", dir); err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	return main, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
