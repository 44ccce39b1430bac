package main

import "golang.org/x/sys/unix"

// refusedHere are refused calls that only arm64 has.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD}
