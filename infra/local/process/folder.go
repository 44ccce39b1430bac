package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

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
