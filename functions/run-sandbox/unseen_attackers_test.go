//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		runtime.LockOSThread() // attacks run in their process's first thread
	}
}

// attackWithoutFirstThread ends the first thread of its process, which then looks like a zombie, and continues in
// another thread, with a child. The arguments are the MiB that it holds and the seconds that it lives.
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
	syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0) // ends only this thread
}

// unseenChild is the argument by which attackWithoutFirstThread starts its child.
const unseenChild = "child-of-the-unseen"

// attackByHoarding uses more memory than allowed, in processes without their first threads.
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

// attackBySignals sends every signal to every thread of inside.
func attackBySignals([]string) {
	parent := os.Getppid()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", parent))
	for s := unix.Signal(1); s <= 64; s++ {
		syscall.Kill(parent, s)
		for _, thread := range threads {
			tid, _ := strconv.Atoi(filepath.Base(thread))
			syscall.Kill(tid, s) // takes the id of any thread
			unix.Tgkill(parent, tid, s)
		}
	}
	time.Sleep(500 * time.Millisecond)
	fmt.Println("tried")
}

// attackDevices changes a device's attributes, which belong to the machine. It looks for the error of a read-only
// mount: a user other than the machine's root would be refused anyway.
func attackDevices([]string) {
	for _, name := range devices {
		path := "/dev/" + name
		if err := os.Chmod(path, 0o600); !errors.Is(err, unix.EROFS) {
			got("the mode of %s: %v", name, err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); !errors.Is(err, unix.EROFS) {
			got("the times of %s: %v", name, err)
		}
	}
	if err := os.WriteFile("/dev/null", []byte("x"), 0); err != nil {
		got("no device to write: %v", err)
	}
	fmt.Println("tried")
}

// attackByUnlinking fills the disk with deleted files. With an argument, its process becomes untraceable.
func attackByUnlinking(args []string) {
	if len(args) > 0 {
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	block := make([]byte, 10<<20)
	for i := range 8 {
		f, err := os.Create(fmt.Sprint("unlinked", i))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer f.Close()
		os.Remove(f.Name())
		for range 10 {
			if _, err := f.Write(block); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	time.Sleep(15 * time.Second)
	got("800 MiB")
}

// attackBySockets has too many sockets, in several processes that each have fewer. Their buffers are full.
func attackBySockets(args []string) {
	if len(args) == 0 {
		for range 3 {
			exec.Command("./attacker", "attack", "sockets", "one").Start()
		}
		time.Sleep(15 * time.Second)
		got("sockets")
		return
	}
	for range maxSockets/4 + 1 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			break
		}
		for block := make([]byte, 16<<10); err == nil; {
			_, err = unix.Write(pair[0], block)
		}
	}
	time.Sleep(15 * time.Second)
}
