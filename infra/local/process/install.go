package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ErrNode says which Node to install if there is no suitable one.
var ErrNode = errors.New("this test needs Node 20 or newer with npm: install nodejs and npm")

// withoutNode is the variable that skips such tests in CI. Without it a missing Node is a failure there.
const withoutNode = "RINGI_WITHOUT_NODE"

// node returns ErrNode if there is no suitable Node.
func node(ctx context.Context) error {
	_, err := exec.LookPath("npm")
	old := "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"
	if err != nil || exec.CommandContext(ctx, "node", "-e", old).Run() != nil {
		return ErrNode
	}
	return nil
}

// StartNode installs the packages that files lock for a test, once for each content, and returns their folder. Without
// Node it skips the test.
func StartNode(t testing.TB, name string, files fs.FS) (dir string) {
	t.Helper()
	if dir = Try(t, name, files); dir == "" {
		t.Skip(ErrNode)
	}
	return dir
}

// Try is StartNode for a test that says something without Node, too: it returns nothing then.
func Try(t testing.TB, name string, files fs.FS) (dir string) {
	t.Helper()
	err := node(t.Context())
	if err != nil && (os.Getenv("CI") == "" || os.Getenv(withoutNode) != "") {
		return ""
	}
	if err == nil {
		var folder string
		if folder, err = Folder(); err == nil {
			dir, err = installNode(t.Context(), folder, name, files)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// installNode copies files to a subfolder of folder, installs the packages that they lock, and returns the subfolder.
// It does this once for each content. Several processes may call it at once.
func installNode(ctx context.Context, folder, name string, files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s %d\n", path, len(content))
		sum.Write(content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	unlock, err := Lock(filepath.Join(folder, name+".lock"))
	if err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	defer unlock()
	dir := filepath.Join(folder, name+"-"+hex.EncodeToString(sum.Sum(nil))[:12])
	stamp := filepath.Join(dir, "installed")
	if _, err := os.Stat(stamp); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("remove an unfinished installation: %w", err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return "", fmt.Errorf("install %s: %w", name, err)
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm could not install %s (is a package registry reachable from here?): %s", name,
			strings.TrimSpace(string(out)))
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		return "", fmt.Errorf("stamp the installation: %w", err)
	}
	return dir, nil
}

// ErrMissing says what to install when there is no suitable Python.
var ErrMissing = errors.New("the local stack needs Python 3.10 or newer with its venv module: install python3 (on " +
	"Debian and Ubuntu also python3-venv)")

// suitable is a program that fails if its Python is too old or incomplete.
const suitable = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))"

// find returns the first suitable Python.
func find(ctx context.Context) (string, error) {
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10",
		"python"} {
		if exec.CommandContext(ctx, name, "-c", suitable).Run() == nil {
			return name, nil
		}
	}
	return "", ErrMissing
}

// environment returns the Python of a private virtual environment with the pinned packages, which it makes below Folder
// if necessary, having told notify if it isn't nil. Each set of pins has its own environment, since another may be in
// use. If several processes call environment at once, one makes the environment and the others wait.
//
// It returns ErrMissing if there is no suitable Python, and pip's error if the packages can't be installed.
func environment(ctx context.Context, pins []byte, notify func(string)) (string, error) {
	folder, err := Folder()
	if err != nil {
		return "", err
	}
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
	if notify != nil {
		notify("making a Python environment for moto (once, about half a minute)")
	}
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
	pip := exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--no-input", "--no-deps", "--prefer-binary", "-r", requirements)
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip could not install moto (is a package index reachable from here?): %s", lastLine(out))
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

// FolderVariable overrides <module>/.ringi-local as the folder of files that the local stack keeps between starts.
const FolderVariable = "RINGI_LOCAL_DIR"

// ModuleRoot returns the nearest folder with a go.mod, from the working directory upwards.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the module: no go.mod here or above; start it inside the repository")
		}
		dir = parent
	}
}

// Folder returns the folder of files that are slow to make, such as the Python environment and compiled functions. It
// creates the folder if necessary.
func Folder() (string, error) {
	dir := os.Getenv(FolderVariable)
	if dir == "" {
		root, err := ModuleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, ".ringi-local")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make %s: %w", FolderVariable, err)
	}
	return filepath.Abs(dir)
}
