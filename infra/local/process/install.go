package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Install copies files to a subfolder of folder, lets finish add what must be generated, and returns the subfolder. It
// does this once for each content. Several processes may call it at once.
func Install(folder, name string, files fs.FS, finish func(dir string) error) (string, error) {
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
	if err := finish(dir); err != nil {
		return "", err
	}
	if err := os.WriteFile(stamp, nil, 0o644); err != nil {
		return "", fmt.Errorf("stamp the installation: %w", err)
	}
	return dir, nil
}
