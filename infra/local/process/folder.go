package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// FolderVariable names another place than <module>/.ringi-local for what the
// local stack keeps between starts.
const FolderVariable = "RINGI_LOCAL_DIR"

// ModuleRoot is the nearest folder, upwards from the working directory, that
// has a go.mod.
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

// Folder is where the local stack keeps what is slow to make: the Python
// environment and built functions. It is made if missing.
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
