package moto

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ringi/infra/local/process"
	"ringi/infra/local/python"
)

//go:embed launcher
var launcher embed.FS

// ErrPython says what to install when there is no Python to run moto with.
var ErrPython = python.ErrMissing

// environment is the Python that has moto.
func environment(ctx context.Context, folder string, notify func(string)) (string, error) {
	pins, err := launcher.ReadFile("launcher/requirements.txt")
	if err != nil {
		return "", fmt.Errorf("read requirements: %w", err)
	}
	return python.Environment(ctx, folder, "moto", pins, notify)
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
