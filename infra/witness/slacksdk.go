package witness

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"ringi/infra/local/process"
)

//go:embed app.py blocks.py requirements.txt
var sdkFiles embed.FS

// interpreter returns the path of a Python that has slack_sdk.
func interpreter(ctx context.Context, notify func(string)) (string, error) {
	folder, err := process.Folder()
	if err != nil {
		return "", err
	}
	pins, err := sdkFiles.ReadFile("requirements.txt")
	if err != nil {
		return "", fmt.Errorf("read requirements: %w", err)
	}
	return process.Environment(ctx, folder, "slack_sdk", pins, notify)
}

// script writes one of the package's programs into dir and returns its path.
func script(dir, name string) (string, error) {
	content, err := sdkFiles.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	return path, nil
}
