package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// attacker is the archive of a workspace that contains the attacker: this program.
var attacker = sync.OnceValue(func() []byte {
	own, err := os.Executable()
	binary, unread := os.ReadFile(own)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	h := &tar.Header{Name: "attacker", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(binary))}
	err = errors.Join(err, unread, w.WriteHeader(h))
	_, unwritten := w.Write(binary)
	if err = errors.Join(err, unwritten, w.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
})

// armed returns an order whose workspace contains the attacker, which it starts.
func armed(t *testing.T, args ...string) isolated.Order {
	t.Helper()
	expect.Patience(t)
	s := newStore(t)
	s.archive = attacker()
	o := s.order("")
	o.Type, o.Script, o.Argv, o.Workspace, o.Upload = isolated.TestRun, "", append([]string{"./attacker", "attack"},
		args...), s.URL+"/workspace", isolated.Form{}
	return o
}

// fails is an attack that gets nothing.
func fails(t *testing.T, l level, args ...string) {
	t.Helper()
	none(t, run(t, l, armed(t, args...)))
}

func none(t *testing.T, o outcome) {
	t.Helper()
	expect.NoError(t, o.err)
	expect.That(t, !strings.Contains(o.text(), "GOT ") && strings.Contains(o.text(), "tried"), "%+v\n%s", o.end, o.text())
}

func TestNoSystemCallLeadsOutOfABox(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) { fails(t, l, "calls", string(l)) })
}

// listener is a service of the host that no command may reach: over TCP on every address of this machine, over UDP, and
// over Unix sockets.
type listener struct {
	port, unix, abstract string
	reached              atomic.Value // over which network
}

func listen(t *testing.T, l level) *listener {
	t.Helper()
	dir := outside(t)
	h := &listener{unix: filepath.Join(dir, "socket"), abstract: fmt.Sprintf("@ringi-test-%d-%s", os.Getpid(), l)}
	accept := func(network, address string) net.Listener {
		n := expect.Value(net.Listen(network, address))(t)
		t.Cleanup(func() { n.Close() })
		go func() {
			for c, err := n.Accept(); err == nil; c, err = n.Accept() {
				h.reached.Store(network)
				c.Close()
			}
		}()
		return n
	}
	_, h.port, _ = net.SplitHostPort(accept("tcp", "0.0.0.0:0").Addr().String())
	accept("unix", h.unix)
	expect.NoError(t, os.Chmod(h.unix, 0o777))
	accept("unix", h.abstract)
	udp := expect.Value(net.ListenPacket("udp", "0.0.0.0:"+h.port))(t)
	t.Cleanup(func() { udp.Close() })
	go func() {
		if _, _, err := udp.ReadFrom(make([]byte, 512)); err == nil {
			h.reached.Store("udp")
		}
	}()
	return h
}

// outside returns a folder of the host that everybody may read and write, with files.
func outside(t *testing.T, files ...string) string {
	t.Helper()
	dir := expect.Value(os.MkdirTemp("", "outside"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	expect.NoError(t, os.Chmod(dir, 0o777))
	for i := 0; i+1 < len(files); i += 2 {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644))
	}
	return dir
}

// Lambda's Runtime API is a port of the machine's loopback address; the metadata service has another address.
func TestNobodyIsReachedFromABox(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		host := listen(t, l)
		targets := []string{"tcp 169.254.169.254:80", "tcp 169.254.170.2:80", "tcp [fd00:ec2::254]:80",
			"udp 169.254.169.253:53", "udp 1.1.1.1:53", "unix " + host.unix, "unix " + host.abstract}
		for _, a := range addresses() {
			targets = append(targets, "tcp "+a+":"+host.port, "udp "+a+":"+host.port)
		}
		fails(t, l, append([]string{"network"}, targets...)...)
		expect.Is(t, host.reached.Load(), nil, "the network over which the host was reached")
	})
}

// Processes inherit a developer's shell's open files, unless somebody closes them.
func TestWhatWasLeftOpenIsClosed(t *testing.T) {
	for _, path := range []string{t.TempDir(), expect.Value(os.Executable())(t)} {
		fd := expect.Value(unix.Open(path, unix.O_RDONLY, 0))(t) // not close-on-exec
		defer unix.Close(fd)
		defer unix.Close(expect.Value(unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 77))(t)) // above a stage's descriptors
	}
	inBoxes(t, func(t *testing.T, l level) { fails(t, l, "files") })
}

func TestADiskIsNotFilled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		one := ran(t, l, `dd if=/dev/zero of=$TMPDIR/big bs=1M count=4000 status=none
			echo ended $?; wc -c < $TMPDIR/big`)
		// The shell's own message may come before or after.
		expect.That(t, strings.Contains(one.text(), fmt.Sprint(maxFileBytes)) && !strings.Contains(one.text(), "ended 0"),
			"one file: %+v\n%s", one.end, one.text())
		if l == machine { // its disk goes with it
			return
		}
		many := ran(t, l, `i=0
			while [ $i -lt 60 ]; do dd if=/dev/zero of=f$i bs=1M count=50 status=none || exit 9; i=$((i+1)); done
			echo filled`)
		expect.That(t, many.end.ExitCode == 9 && many.end.Version == "" && !strings.Contains(many.text(), "filled") &&
			strings.Contains(many.text(), "No space left on device"), "many files: %+v\n%s", many.end, many.text())
	})
}

func TestTheEnvironmentOfNobodyElseIsRead(t *testing.T) {
	t.Setenv("SECRET_OF_THE_HOST", "an access key")
	inBoxes(t, func(t *testing.T, l level) {
		script := `env; tr '\0' '\n' < /proc/$PPID/environ; echo tried`
		// at level machine only the file's owner protects it; in a Lambda function that is the function's user
		if l != machine || os.Geteuid() == 0 {
			script = `cat /proc/*/environ | tr '\0' '\n'; ` + script
		}
		got := ran(t, l, script)
		expect.That(t, !strings.Contains(got.text(), "access key") && !strings.Contains(got.text(), "AWS_") &&
			strings.Contains(got.text(), "USER=sandbox") && strings.Contains(got.text(), "tried"), "%s", got.text())
	})
}

func TestALinkLeadsNobodyOut(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		dir := outside(t, "secret", "of the host")
		secret := filepath.Join(dir, "secret")
		// Out: the archive doesn't contain the target of a link, or a link in place of a folder.
		s := newStore(t)
		out := run(t, l, s.order(fmt.Sprintf(
			`ln -s %s l; mkdir d; echo x > d/f; mv d e; ln -s %s d; ln -s /proc/self/environ p; echo tried`, secret, dir)))
		none(t, out)
		expect.Same(t, []string{"e/f"}, s.after(t))
		expect.That(t, len(out.end.Left) == 3 && !bytes.Contains(s.uploaded, []byte("of the host")), "%q", out.end.Left)
		// Through: in a box with its own file system, a link shows nothing of this machine either.
		if l != machine {
			none(t, ran(t, l, fmt.Sprintf(`ln -s %s l; cat l && echo GOT it; echo x > l && echo GOT it; echo tried`, secret)))
		}
		expect.Is(t, string(expect.Value(os.ReadFile(secret))(t)), "of the host", "it was changed")
	})
}

// A box's workspace is the folder that was made for it, even if a command puts another in its place.
func TestNothingTakesThePlaceOfTheWorkspace(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		s := newStore(t)
		got := run(t, l, s.order(fmt.Sprintf(`echo x > f; cd ..
			mv workspace was && ln -s %s workspace && echo GOT it
			mv tmp t && echo GOT it; : > new && echo GOT it; echo tried`, outside(t, "secret", "of the host"))))
		if l != machine { // there the complete box belongs to its user
			none(t, got)
		}
		expect.Same(t, []string{"f"}, s.after(t))
	})
}

// Folders that their owner may not list are read before they are kept.
func TestWhatACommandClosedToItselfIsKept(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		s := newStore(t)
		expect.NoError(t, run(t, l, s.order(`mkdir -p a/b; echo x > a/b/f; chmod 0 a/b/f; chmod 100 a/b; chmod 0 a`)).err)
		expect.Same(t, []string{"a/b/f"}, s.after(t))
	})
}

func TestDevicesStayAsTheMachineHasThem(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		if l == namespaces {
			fails(t, l, "devices")
		}
	})
}

// running returns the processes of that name that still have a running thread: it is their command's or their first
// argument's beginning. It looks at every thread of this machine, not only at those that a box knows.
func running(name string) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/stat")
	for _, s := range stats {
		text, err := os.ReadFile(s)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(s), "cmdline"))
		ours := strings.Contains(string(text), "("+name+")") || strings.HasPrefix(string(line), name)
		ended := strings.Contains(string(text), ") Z ") || strings.Contains(string(text), ") X ")
		if pid, _ := strconv.Atoi(strings.Split(s, "/")[2]); err == nil && ours && !ended && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// left returns the processes of boxes that still run, also those that no box knows any more.
func left() []int {
	left := slices.Concat(running("attacker"), running(strayed))
	for _, p := range (&inside{}).descendants() {
		left = append(left, p.pid)
	}
	return left
}

// If a command can stop inside, the supervisor kills it instead.
func TestACommandThatStopsItsParentEndsWithItsTime(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		child := strayed + string(l)
		o := newStore(t).order(`kill -STOP $PPID; exec -a ` + child + ` sleep 40`)
		o.TimeoutSeconds = 1
		s := supervising(l)
		s.patience = killAfter + time.Second
		var got outcome
		expect.Within(t, 30*time.Second, func() { got = s.runs(t, o) })
		expect.That(t, (l != machine || got.err != nil) && (l == machine || got.end.TimedOut), "%+v, %v", got.end, got.err)
		for _, pid := range running(child) { // as the supervisor's own process does at its end
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func TestNothingOutlivesItsCommand(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		ignore := `trap "" TERM HUP INT; while :; do sleep 0.1; done`
		o := newStore(t).order(fmt.Sprintf(`
			nohup sh -c '%[1]s' >/dev/null 2>&1 &
			setsid sh -c '%[1]s' &
			(setsid sh -c '(%[1]s) & (%[1]s) & exit 0' &)
			sleep 0.3; echo begun; exit 5`, ignore))
		var got outcome
		expect.Within(t, 10*time.Second, func() { got = run(t, l, o) })
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 5 && got.text() == "begun", "%+v after %s: %s", got.end, got.took, got.text())
	})
}

func TestACommandThatIgnoresSignalsIsKilled(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		o := newStore(t).order(`trap 'echo ignored' TERM INT HUP; echo begun; while :; do sleep 0.1; done`)
		o.TimeoutSeconds = 3 // on a busy machine, too, the trap is set by then
		var got outcome
		expect.Within(t, 12*time.Second, func() { got = run(t, l, o) })
		expect.NoError(t, got.err)
		expect.That(t, got.end.Signal == "SIGKILL" && got.end.TimedOut && strings.Contains(got.text(), "ignored"),
			"%+v after %s: %s", got.end, got.took, got.text())
	})
}

// A command that kills the process that watches it only hides how it ended.
func TestAParentIsNotKilled(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		got := run(t, l, armed(t, "parent"))
		if l != machine {
			none(t, got)
		} else if got.err == nil || errors.Is(got.err, isolated.ErrNotBegun) { // there it can kill inside
			t.Errorf("%+v, %v: it is not known how the command ended", got.end, got.err)
		}
	})
}

func TestAForkBombEndsWithItsTime(t *testing.T) {
	inTurn(t, func(t *testing.T, l level) {
		o := newStore(t).order(`b() { b | b & }; b; while :; do sleep 1; done`)
		o.TimeoutSeconds = 3 // a busy machine begins few processes in a second
		var got outcome
		highest, ended := 0, make(chan struct{})
		go func() {
			got = run(t, l, o)
			close(ended)
		}()
		for running := true; running; {
			select {
			case <-ended:
				running = false
			case <-time.After(50 * time.Millisecond):
				highest = max(highest, len((&inside{}).descendants()))
			}
		}
		expect.NoError(t, got.err)
		expect.That(t, (got.end.TimedOut || got.end.Limit == isolated.EndedByMemory) && got.took <= 40*time.Second,
			"%+v after %s", got.end, got.took)
		expect.That(t, highest >= 50 && highest <= maxProcesses+20, "%d processes at most", highest)
	})
}

// Each process uses less than it may, and of three two have no first thread.
func TestMemoryIsWithheld(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		s := supervising(l)
		if !expect.Long() { // a quarter is enough to see that more is withheld: it takes time to fill
			s.memory /= 4
		}
		o := s.runs(t, armed(t, "hoard", strconv.FormatInt(s.memory*2/5>>20, 10)))
		expect.NoError(t, o.err)
		expect.That(t, o.end.Limit == isolated.EndedByMemory && o.end.Signal == "SIGKILL" &&
			!strings.Contains(o.text(), "GOT"), "%+v\n%s", o.end, o.text())
	})
}

// Each thread ends once it has started the next, the first one too.
const fleeing = `import _thread, ctypes
_thread.stack_size(65536)
def flee(): _thread.start_new_thread(flee, ())
flee()
ctypes.CDLL(None).syscall(%d, 0)`

// A process that none of its threads outlives holds its memory all the same.
func TestMemoryOfFleeingThreadsIsSeen(t *testing.T) {
	_, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	c := exec.Command("python3", "-c", fmt.Sprintf(fleeing, unix.SYS_EXIT))
	expect.NoError(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	p, looks, unseen := boxed{pid: c.Process.Pid}, 200, 0
	first := fmt.Sprintf("/proc/%d/status", p.pid)
	expect.Eventually(t, "the first thread ends", func() bool {
		text, err := os.ReadFile(first)
		return err == nil && !strings.Contains(string(text), "VmRSS")
	})
	for range looks {
		if p.memory(ownMemory) == 0 {
			unseen++
		}
		time.Sleep(time.Millisecond)
	}
	expect.That(t, unseen <= looks/2, "its memory is not seen in %d of %d looks", unseen, looks)
}

func TestAProcessWithoutItsFirstThreadIsEnded(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		a := armed(t, "leaderless", "0", "40")
		a.TimeoutSeconds = 1
		var o outcome
		expect.Within(t, 20*time.Second, func() { o = run(t, l, a) })
		expect.That(t, o.end.TimedOut && !strings.Contains(o.text(), "GOT"), "its time: %+v, %v\n%s", o.end, o.err, o.text())
		a = armed(t)
		a.Type, a.Argv, a.Script = isolated.ShellCommand, nil,
			"setsid ./attacker attack leaderless 0 300 >/dev/null 2>&1 & sleep 1; echo tried"
		none(t, run(t, l, a))
	})
}
