package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resetSignals removes Go's signal handlers, except for SIGURG, which the runtime sends to its own threads. The first
// process of a PID namespace ignores every signal without a handler, so that the command can't end it, while some of
// Go's handlers would end it. The command's stage calls it too, because a program inherits ignored signals.
func resetSignals() error {
	action := [4]uint64{} // struct sigaction: default handler, no flags, no mask
	const last, bytesOfSet = 64, 8
	for s := unix.Signal(1); s <= last; s++ {
		if s == unix.SIGKILL || s == unix.SIGSTOP || s == unix.SIGURG {
			continue
		}
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, bytesOfSet, 0,
			0)
		if errno != 0 {
			return fmt.Errorf("reset signal %d: %w", s, errno)
		}
	}
	return nil
}
