package moto

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
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

// unpack writes the launcher where Python can import its parts.
func unpack(folder string) (string, error) {
	files, err := fs.Sub(launcher, "launcher")
	if err != nil {
		return "", fmt.Errorf("unpack the launcher: %w", err)
	}
	dir, err := process.Install(folder, "launcher", files, func(string) error { return nil })
	return filepath.Join(dir, "main.py"), err
}
