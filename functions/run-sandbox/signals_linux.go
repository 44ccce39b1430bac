package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resetSignals gives every signal back to the kernel, but for the one by which Go's runtime interrupts its own threads.
// The first process of a name space takes no signal that it has no handler for, whichever of its threads it is sent to,
// and Go's handlers of some end the process. What a command inherits are signals that are ignored.
func resetSignals() error {
	action := [4]uint64{} // struct sigaction of the kernel: the default handler, no flags, no mask
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
