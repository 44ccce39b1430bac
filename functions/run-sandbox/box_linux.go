package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
)

// box isolates one command.
type box struct {
	*stage  // inside, which kills everything in the box when it ends
	reports chan report
	held    []string // the isolation measures that hold
	out     *output
	done    chan struct{} // closed when inside has ended and all output is read
	result  *os.File      // into which inside packs the workspace
	folder  string        // that is removed with the box
}

// The folders of a box. A command can write below the first two.
const (
	workspaceName = "workspace"
	temporaryName = "tmp"
	attachedName  = "attachments"
)

// boxPrefix begins the names of box folders.
const boxPrefix = "ringi-sandbox-"

// startBox makes a box and waits until it is ready. The command has not begun when it returns.
func startBox(p plan, archives io.Reader) (_ *box, err error) {
	b := &box{reports: make(chan report, 2), out: &output{}, done: make(chan struct{})}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	fd, err := unix.MemfdCreate("result", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make room for the result: %w", err)
	}
	b.result = os.NewFile(uintptr(fd), "result")
	uid := boxUser(b.result)
	if p.Folder = "/"; p.Level != namespaces {
		if b.folder, err = makeFolder(uid); err != nil {
			return nil, err
		}
		p.Folder = b.folder
	}
	cmd := &exec.Cmd{Stdin: archives, Stdout: b.out, Stderr: b.out, ExtraFiles: []*os.File{b.result},
		SysProcAttr: attributes(p.Level, uid), WaitDelay: 2 * time.Second}
	if b.stage, err = start(stageInside, cmd, p, func() error { return b.launch(cmd) }); err != nil {
		return nil, err
	}
	defer time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() }).Stop()
	r, err := b.hear()
	if err != nil {
		return nil, err
	}
	b.held = r.End.Held
	go func() {
		defer close(b.reports)
		for r, err := b.hear(); err == nil; r, err = b.hear() {
			b.reports <- r
		}
	}()
	return b, nil
}

// launch starts inside and locks the thread that forks until it ends: the kernel sends the death signal when that
// thread ends.
func (b *box) launch(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(b.done)
		}
	}()
	return <-started
}

// makeFolder makes the folder of a box on a machine of its own, which ends with the box.
func makeFolder(uid int) (folder string, err error) {
	folder, err = os.MkdirTemp("", boxPrefix)
	for _, name := range []string{"", workspaceName, temporaryName, attachedName} {
		path := filepath.Join(folder, name)
		if err == nil {
			err = os.MkdirAll(path, 0o700)
		}
		if err == nil {
			err = os.Chown(path, uid, -1)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make the room: %w", err)
	}
	return folder, nil
}

// boxUser returns the user that a box's processes have outside the box. It is this process's user, or, since root has
// no limit on processes, a random user that owns nothing but a file of the box.
func boxUser(file *os.File) int {
	own := os.Geteuid()
	if own != 0 {
		return own
	}
	for _, s := range spare {
		id := s.first + rand.IntN(s.count)
		if err := file.Chown(id, id); !errors.Is(err, unix.EINVAL) { // otherwise this user namespace has no such user
			return id
		}
	}
	return own // this container's user namespace has no other users, and its root is not the host's
}

// spare are the ranges of user ids that root gives to boxes.
var spare = []struct{ first, count int }{{0x52000000, 1 << 24}, {61184, 4096}}

// boxID is the user id and the group id within a box.
const boxID = 1000

// attributes are those of inside's process. With namespaces it is the first process in them and has the capabilities to
// build a box there. Without them it has no privileges.
func attributes(l level, uid int) *syscall.SysProcAttr {
	root := uid != os.Geteuid()
	a := &syscall.SysProcAttr{Setsid: true}
	if l != namespaces {
		if root {
			a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
		}
		return a
	}
	a.Pdeathsig = syscall.SIGKILL // if the supervisor's thread ends, inside is killed, and with it the box
	a.Cloneflags = namespaceFlags &^ unix.CLONE_NEWCGROUP
	gid := uid
	if !root {
		gid = os.Getegid()
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: boxID, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: boxID, HostID: gid, Size: 1}}
	a.GidMappingsEnableSetgroups = root
	a.Credential = &syscall.Credential{Uid: boxID, Gid: boxID, NoSetGroups: !root}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE,
		unix.CAP_FOWNER, unix.CAP_KILL}
	return a
}

// packed returns the changed workspace. The command could not reach the process that packed it, but packed validates
// the archive as untrusted input anyway.
func (b *box) packed() ([]byte, error) {
	archive, err := io.ReadAll(io.NewSectionReader(b.result, 0, files.MaxArchive+1))
	if err == nil {
		_, err = files.Read(bytes.NewReader(archive))
	}
	return archive, err
}

// end ends the box's processes, and returns once their output is read, or can't be within two seconds: a process that
// survives its box would keep the pipes open.
func (b *box) end() {
	if b.stage == nil {
		return
	}
	b.control.Close()
	killing := time.AfterFunc(10*time.Second, func() { b.cmd.Process.Kill() })
	defer killing.Stop()
	<-b.done
	b.out.end()
}

// close ends the box's processes and removes its files.
func (b *box) close() {
	b.end()
	b.result.Close()
	if b.folder != "" {
		os.RemoveAll(b.folder)
	}
}
