package main

import (
	"fmt"
	"os"
	"path/filepath"

	"ringi/infra/local/process"
)

// functionLog opens the file for what functions print: log lines and metrics, too many for a
// terminal. Each start empties the file; two stacks that run at the same time both append to
// it.
func functionLog() (*os.File, error) {
	dir, err := process.Folder()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "functions.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep what functions print: %w", err)
	}
	return f, nil
}
