package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrMissing says what to install when there is no suitable Python.
var ErrMissing = errors.New("the local stack needs Python 3.10 or newer with its venv module: install python3 (on Debian and Ubuntu also python3-venv)")

// commands returns the names of Python in the order in which they are tried.
func commands() []string {
	return []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"}
}

// system is the Python of the operating system.
var system = "/usr/bin/python3"

// suitable is a program that fails if its Python is too old or incomplete. Otherwise it prints how many seconds a small
// benchmark takes.
const suitable = `
import sys, time, timeit
import venv, ensurepip
if sys.version_info < (3, 10): sys.exit(1)
class Item:
    def __init__(self, key, values): self.key, self.values = key, values
    def size(self): return sum([len(str(v)) for v in self.values.values()])
def work():
    for n in range(2000): Item(str(n), {"a": n, "b": [n]}).size()
print(min(timeit.repeat(work, number=1, repeat=60, timer=time.process_time)))`

// find returns the first suitable Python, unless the system's Python is clearly faster. A Python that was compiled as a
// shared library without optimizations, as pyenv may do, takes 50% longer.
func find(ctx context.Context) (string, error) {
	for _, name := range commands() {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if seconds, ok := pace(ctx, path); ok {
			if own, ok := pace(ctx, system); ok && own < seconds*9/10 {
				return system, nil
			}
			return path, nil
		}
	}
	return "", ErrMissing
}

// pace returns the seconds that a suitable Python needs for the benchmark.
func pace(ctx context.Context, path string) (seconds float64, ok bool) {
	out, err := exec.CommandContext(ctx, path, "-c", suitable).Output()
	if err != nil {
		return 0, false
	}
	seconds, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return seconds, err == nil
}

// Environment returns the Python of a private virtual environment with the pinned packages, which it makes below folder
// if necessary. what names the environment's purpose for messages. Each set of pins has its own environment, since
// another may be in use. If several processes call Environment at once, one makes the environment and the others wait.
//
// It returns ErrMissing if there is no suitable Python, and pip's error if the packages can't be installed.
func Environment(ctx context.Context, folder, what string, pins []byte, notify func(string)) (string, error) {
	unlock, err := Lock(filepath.Join(folder, "venv.lock"))
	if err != nil {
		return "", fmt.Errorf("make the Python environment: %w", err)
	}
	defer unlock()

	sum := sha256.Sum256(pins)
	want := hex.EncodeToString(sum[:])
	venv := filepath.Join(folder, "venv", want[:12])
	python, stamp := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "requirements.sha256")
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want &&
		exec.CommandContext(ctx, python, "-c", "").Run() == nil {
		return python, nil
	}
	base, err := find(ctx)
	if err != nil {
		return "", err
	}
	notify("making a Python environment for " + what + " (once, about half a minute)")
	if err := os.RemoveAll(venv); err != nil {
		return "", fmt.Errorf("remove an unfinished Python environment: %w", err)
	}
	if out, err := exec.CommandContext(ctx, base, "-m", "venv", venv).CombinedOutput(); err != nil {
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
