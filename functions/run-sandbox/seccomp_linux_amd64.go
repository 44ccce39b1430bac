package main

import "golang.org/x/sys/unix"

// refusedHere are refused calls that only amd64 has.
var refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB,
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS__SYSCTL, unix.SYS_USTAT, unix.SYS_SYSFS}
