package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
)

// level is how a command is isolated.
type level string

const (
	// namespaces gives a command its own processes and network, and of this machine's files only the tools, read-only.
	namespaces level = "namespaces"
	// machine is for a virtual machine that was made for this one action.
	machine level = "machine"
)

// plan is the supervisor's order to inside.
type plan struct {
	Level   level
	Argv    []string
	Script  string // instead of Argv
	Seconds int    // of processor time, for each of the command's processes and processors
	Memory  int64  // bytes
	Folder  string // holds the box's folders; empty with namespaces, which have their own file system
	// Attached says that the second archive has attachments, which lie beside the workspace.
	Attached bool
}

// readPlan reads the plan that a stage begins with.
func readPlan(orders *bufio.Reader) (p plan, err error) {
	text, err := orders.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	return p, nil
}

// event is a report of inside. Its fields are sent in this order, Missing to Exit once.
type event struct {
	Held    []string // the box is ready; these isolation measures hold
	Failed  string   // the box, or the process of a command, could not be made, for this reason
	Missing string   // the command's tool, which doesn't exist
	Limit   string   // the limit that ended the command
	Exit    *exit    // the command has ended
	Packed  bool     // the workspace is packed
	Left    []string // names of files that could not be packed
	Refused string   // why the workspace could not be packed
}

type exit struct {
	Code   int
	Signal string
}

// tell adds an event to the answer's end.
func (e event) tell(end *isolated.End) {
	switch {
	case e.Missing != "":
		end.Missing = e.Missing
	case e.Limit != "":
		end.Limit = e.Limit
	case e.Exit != nil:
		end.ExitCode, end.Signal = e.Exit.Code, e.Exit.Signal
	case e.Packed:
		end.Left = e.Left
		if end.Limit == isolated.EndedEarly {
			end.Limit = ""
		}
	case e.Refused != "":
		end.Limit = isolated.NotKept + ": " + e.Refused
	}
}

// box isolates one command.
type box struct {
	cmd     *exec.Cmd
	control *os.File // orders for inside, which kills everything in the box when this closes
	result  *os.File // the file into which inside packs the workspace
	events  chan event
	held    []string
	out     *output
	done    chan struct{} // closed when inside has ended
	folder  string        // empty with namespaces
}

// archives are of the files that a command works on, and of those that lie beside them.
type archives struct{ files, attached []byte }

// startBox makes a box and waits until it is ready. The command has not begun when it returns.
func startBox(l level, p plan, files archives, out *output) (_ *box, err error) {
	p.Level = l
	b := &box{events: make(chan event, 8), out: out, done: make(chan struct{})}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	uid := boxUser()
	if l != namespaces {
		if b.folder, err = makeFolder(uid); err != nil {
			return nil, err
		}
		p.Folder = b.folder
	}
	if err := b.launch(l, uid, files); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(b.control).Encode(p); err != nil {
		return nil, fmt.Errorf("tell the room its plan: %w", err)
	}
	select {
	case e, ok := <-b.events:
		switch {
		case !ok:
			return nil, errors.New("the room was given up")
		case e.Held == nil:
			return nil, errors.New(e.Failed)
		}
		b.held = e.Held
		return b, nil
	case <-time.After(20 * time.Second):
		return nil, errors.New("the room was not ready in time")
	}
}

// boxUser returns the user that a box's processes have outside the box. It is this process's user, or, since root has
// no limit on processes, a random user that owns nothing.
func boxUser() int {
	own := os.Geteuid()
	if own != 0 {
		return own
	}
	for _, s := range spare {
		if id := s.first + rand.IntN(s.count); known("/proc/self/uid_map", id) && known("/proc/self/gid_map", id) {
			return id
		}
	}
	return own // this container's user namespace has no other users, and its root is not the host's
}

// spare are the ranges of user ids that root gives to boxes.
var spare = []struct{ first, count int }{{0x52000000, 1 << 24}, {61184, 4096}}

// known reports whether the user namespace's map in file contains an id.
func known(file string, id int) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int
		if n, _ := fmt.Sscan(line, &inside, &outside, &count); n == 3 && inside <= id && id-inside < count {
			return true
		}
	}
	return false
}

// launch starts inside with pipes for orders, reports and the command's output, and with files for the archives.
func (b *box) launch(l level, uid int, files archives) (err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	theirControl, control := pipe()
	report, theirReport := pipe()
	stdout, theirOut := pipe()
	stderr, theirErr := pipe()
	b.out.streams = []*os.File{stdout, stderr}
	if err != nil {
		return fmt.Errorf("open pipes: %w", err)
	}
	theirs = []*os.File{theirControl, theirReport, theirOut, theirErr}
	b.control = control
	inMemory := func(name string, content []byte) (f *os.File) {
		if err == nil {
			f, err = memoryFile(name, content)
		}
		return f
	}
	in, attached := inMemory("archive", files.files), inMemory("attachments", files.attached)
	theirs = append(theirs, in, attached)
	if b.result = inMemory("result", nil); err != nil {
		return err
	}
	b.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{"run-sandbox", stageInside}, Env: []string{},
		ExtraFiles:  []*os.File{theirControl, theirReport, in, attached, b.result, theirOut, theirErr},
		SysProcAttr: attributes(l, uid)}
	if err := b.start(); err != nil {
		return fmt.Errorf("start the room: %w", err)
	}
	for i, r := range b.out.streams {
		b.out.readers.Go(func() { b.out.read(r, i == 1) })
	}
	go b.listen(report)
	return nil
}

// start locks the thread that forks until the child ends: the kernel sends the death signal when that thread ends.
func (b *box) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := b.cmd.Start()
		started <- err
		if err == nil {
			b.cmd.Wait()
			close(b.done)
		}
	}()
	return <-started
}

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

// boxID is the user id and the group id within a box.
const boxID = 1000

// memoryFile makes a file in memory, without a name.
func memoryFile(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make room for the %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("make room for the %s: %w", name, err)
	}
	return f, nil
}

// listen passes on inside's reports until inside ends.
func (b *box) listen(report *os.File) {
	defer report.Close()
	defer close(b.events)
	in := bufio.NewScanner(report)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			return
		}
		b.events <- e
	}
}

// begin has the command begin.
func (b *box) begin() { io.WriteString(b.control, orderBegin) }

// stop asks the command to end. After two seconds inside kills it.
func (b *box) stop() { io.WriteString(b.control, orderStop) }

// kill ends everything in the box by closing the orders for inside. If a command has stopped inside, so that it can't
// obey, the supervisor kills it after killWithin.
func (b *box) kill() {
	b.control.Close()
	time.AfterFunc(killWithin, func() { b.cmd.Process.Kill() })
}

// packed returns the changed workspace. The command could not reach the process that packed it, but packed validates
// the archive as untrusted input anyway.
func (b *box) packed() (archive []byte, version string, err error) {
	archive, err = io.ReadAll(io.NewSectionReader(b.result, 0, files.MaxArchive+1))
	if err != nil {
		return nil, "", err
	}
	if _, err := files.Read(bytes.NewReader(archive)); err != nil {
		return nil, "", err
	}
	return archive, files.Sum(archive), nil
}

// close ends the box's processes and removes its files.
func (b *box) close() {
	if b.control != nil {
		b.control.Close()
	}
	if b.cmd != nil && b.cmd.Process != nil {
		select {
		case <-b.done:
		case <-time.After(10 * time.Second):
			b.cmd.Process.Kill()
			<-b.done
		}
		go func() {
			for range b.events {
			}
		}()
	}
	b.out.close()
	b.out.readers.Wait()
	if b.result != nil {
		b.result.Close()
	}
	if b.folder != "" {
		os.RemoveAll(b.folder)
	}
}
