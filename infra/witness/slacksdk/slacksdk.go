// Package slacksdk has the witnesses that use python-slack-sdk: an app, and the SDK's block models, which check Slack's
// limits independently of this code.
package slacksdk

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"ringi/infra/local/process"
	"ringi/infra/local/python"
)

//go:embed app.py blocks.py requirements.txt
var files embed.FS

// interpreter returns the path of a Python that has slack_sdk.
func interpreter(ctx context.Context, notify func(string)) (string, error) {
	folder, err := process.Folder()
	if err != nil {
		return "", err
	}
	pins, err := files.ReadFile("requirements.txt")
	if err != nil {
		return "", fmt.Errorf("read requirements: %w", err)
	}
	return python.Environment(ctx, folder, "slack_sdk", pins, notify)
}

// script writes one of the package's programs into dir and returns its path.
func script(dir, name string) (string, error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	return path, nil
}
