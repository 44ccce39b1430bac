//go:build !linux

package main

import (
	"os"

	"ringi/shared/runtime/isolated"
)

// serve refuses: isolation needs the Linux kernel.
func serve([]string) error {
	return isolated.NewWriter(os.Stdout).NotBegun(
		"commands run on Linux only: this machine's system withholds nothing from them", true)
}
