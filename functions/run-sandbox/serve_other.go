//go:build !linux

package main

import (
	"fmt"
	"os"

	"ringi/shared/runtime/isolated"
)

// main refuses: isolation needs the Linux kernel.
func main() {
	if err := isolated.NewWriter(os.Stdout).NotBegun(
		"commands run on Linux only: this machine's system withholds nothing from them", true); err != nil {
		fmt.Fprintln(os.Stderr, "run-sandbox:", err)
	}
}
