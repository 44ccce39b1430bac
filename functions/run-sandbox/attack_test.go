//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// attacker is the archive of a workspace that contains the attacker: this program.
var attacker = sync.OnceValues(func() ([]byte, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(own)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	h := &tar.Header{Name: "attacker", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(binary))}
	if err := w.WriteHeader(h); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	return out.Bytes(), w.Close()
})

// armed returns an order whose workspace contains the attacker.
func armed(t *testing.T, s *store, args ...string) isolated.Order {
	t.Helper()
	expect.Patience(t)
	s.archive = expect.Value(attacker())(t)
	o := s.order("")
	o.Type, o.Script, o.Argv, o.Workspace, o.Upload = isolated.TestRun, "", append([]string{"./attacker", "attack"},
		args...), s.URL+"/workspace", isolated.Form{}
	return o
}

// little is how much memory a box has whose memory is attacked. By day a quarter is enough to see that more is
// withheld: it takes time to fill.
func little() int64 {
	if expect.Long() {
		return memory
	}
	return memory / 4
}

// mib is a part of a box's memory, as an argument of an attack.
func mib(bytes int64) string { return strconv.FormatInt(bytes>>20, 10) }

func none(t *testing.T, o outcome) {
	t.Helper()
	expect.NoError(t, o.err)
	expect.That(t, !strings.Contains(o.text(), "GOT ") && strings.Contains(o.text(), "tried"), "%+v\n%s", o.end, o.text())
}

// If a command can stop inside, the supervisor kills it instead.
func TestACommandThatStopsItsParentEndsWithItsTime(t *testing.T) {
	t.Parallel() // it waits longer than all others, so it is the first of those that run side by side
	inBoxes(t, func(t *testing.T, l level) {
		child := "child-of-the-stopped-" + string(l)
		o := newStore(t).order(`kill -STOP $PPID; exec -a ` + child + ` sleep 40`)
		o.TimeoutSeconds = 1
		var got outcome
		expect.Within(t, 30*time.Second, func() { got = run(t, l, o) })
		expect.That(t, (l != machine || got.err != nil) && (l == machine || got.end.TimedOut), "%+v, %v", got.end, got.err)
		for _, pid := range running(child) { // as the supervisor's own process does at its end
			syscall.Kill(pid, syscall.SIGKILL)
		}
		nothingRunsOf(t, child)
	})
}

func TestNoSystemCallLeadsOutOfABox(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) { none(t, run(t, l, armed(t, newStore(t), "calls", string(l)))) })
}

// listener is a service of the host that no command may reach: over TCP on every address of this machine, over UDP, and
// over Unix sockets.
type listener struct{ tcp, udp, unix, abstract, seen string }

func listen(t *testing.T, l level) *listener {
	t.Helper()
	dir := expect.Value(os.MkdirTemp("", "listener"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	expect.NoError(t, os.Chmod(dir, 0o755))
	h := &listener{unix: filepath.Join(dir, "socket"), abstract: fmt.Sprintf("@ringi-test-%d-%s", os.Getpid(), l),
		seen: filepath.Join(dir, "seen")}
	note := func(what string) { os.WriteFile(h.seen, []byte(what), 0o600) }
	accept := func(network, address string) net.Listener {
		n := expect.Value(net.Listen(network, address))(t)
		t.Cleanup(func() { n.Close() })
		go func() {
			for {
				c, err := n.Accept()
				if err != nil {
					return
				}
				note(network)
				c.Close()
			}
		}()
		return n
	}
	_, port, _ := net.SplitHostPort(accept("tcp", "0.0.0.0:0").Addr().String())
	accept("unix", h.unix)
	expect.NoError(t, os.Chmod(h.unix, 0o777))
	accept("unix", h.abstract)
	udp := expect.Value(net.ListenPacket("udp", "0.0.0.0:"+port))(t)
	t.Cleanup(func() { udp.Close() })
	go func() {
		if _, _, err := udp.ReadFrom(make([]byte, 512)); err == nil {
			note("udp")
		}
	}()
	h.tcp, h.udp = port, port
	return h
}

// Lambda's Runtime API is a port of the machine's loopback address; the metadata service has another address.
func TestNobodyIsReachedFromABox(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		host := listen(t, l)
		targets := []string{"tcp 169.254.169.254:80", "tcp 169.254.170.2:80", "tcp [fd00:ec2::254]:80",
			"udp 169.254.169.253:53", "udp 1.1.1.1:53", "unix " + host.unix, "unix " + host.abstract}
		for _, a := range addresses() {
			targets = append(targets, "tcp "+a+":"+host.tcp, "udp "+a+":"+host.udp)
		}
		none(t, run(t, l, armed(t, newStore(t), append([]string{"network"}, targets...)...)))
		what, err := os.ReadFile(host.seen)
		expect.That(t, err != nil, "the host was reached over %s", what)
	})
}

// Processes inherit a developer's shell's open files, unless somebody closes them.
func TestWhatWasLeftOpenIsClosed(t *testing.T) {
	for _, path := range []string{t.TempDir(), expect.Value(os.Executable())(t)} {
		fd := expect.Value(unix.Open(path, unix.O_RDONLY, 0))(t) // not close-on-exec
		defer unix.Close(fd)
		defer unix.Close(expect.Value(unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 77))(t)) // above a stage's descriptors
	}
	inBoxes(t, func(t *testing.T, l level) { none(t, run(t, l, armed(t, newStore(t), "files"))) })
}

func TestADiskIsNotFilled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		one := run(t, l, newStore(t).order(`dd if=/dev/zero of=$TMPDIR/big bs=1M count=4000 status=none
			echo ended $?; wc -c < $TMPDIR/big`))
		expect.NoError(t, one.err)
		// The shell's own message may come before or after.
		expect.That(t, strings.Contains(one.text(), fmt.Sprint(maxFileBytes)) && !strings.Contains(one.text(), "ended 0"),
			"one file: %+v\n%s", one.end, one.text())
		if l == machine { // its disk goes with it
			return
		}
		many := run(t, l, newStore(t).order(`i=0
			while [ $i -lt 60 ]; do dd if=/dev/zero of=f$i bs=1M count=50 status=none || exit 9; i=$((i+1)); done
			echo filled`))
		expect.NoError(t, many.err)
		switch {
		case strings.Contains(many.text(), "filled") || many.end.Version != "":
			t.Errorf("many files: %+v\n%s", many.end, many.text())
		case many.end.ExitCode != 9 || !strings.Contains(many.text(), "No space left on device"):
			t.Errorf("many files: %+v\n%s", many.end, many.text())
		}
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
		got := run(t, l, newStore(t).order(script))
		expect.NoError(t, got.err)
		expect.That(t, !strings.Contains(got.text(), "access key") && !strings.Contains(got.text(), "AWS_") &&
			strings.Contains(got.text(), "USER=sandbox") && strings.Contains(got.text(), "tried"), "%s", got.text())
	})
}

func TestALinkLeadsNobodyOut(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		dir := expect.Value(os.MkdirTemp("", "outside"))(t)
		defer os.RemoveAll(dir)
		expect.NoError(t, os.Chmod(dir, 0o777))
		secret := filepath.Join(dir, "secret")
		expect.NoError(t, os.WriteFile(secret, []byte("of the host"), 0o644))
		// Out: the archive doesn't contain the target of a link, or a link in place of a folder.
		s := newStore(t)
		out := run(t, l, s.order(fmt.Sprintf(
			`ln -s %s l; mkdir d; echo x > d/f; mv d e; ln -s %s d; ln -s /proc/self/environ p; echo tried`, secret, dir)))
		none(t, out)
		expect.Same(t, []string{"e/f"}, s.after(t).Paths())
		expect.That(t, len(out.end.Left) == 3 && !bytes.Contains(s.uploaded, []byte("of the host")), "%q", out.end.Left)
		// Through: in a box with its own file system, a link shows nothing of this machine either.
		if l != machine {
			none(t, run(t, l, newStore(t).order(fmt.Sprintf(
				`ln -s %s l; cat l && echo GOT it; echo x > l && echo GOT it; echo tried`, secret))))
		}
		expect.Is(t, string(expect.Value(os.ReadFile(secret))(t)), "of the host", "it was changed")
	})
}

// A box's workspace is the folder that was made for it, even if a command puts another in its place.
func TestNothingTakesThePlaceOfTheWorkspace(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		dir := expect.Value(os.MkdirTemp("", "outside"))(t)
		defer os.RemoveAll(dir)
		expect.NoError(t, os.Chmod(dir, 0o755))
		expect.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("of the host"), 0o644))
		s := newStore(t)
		got := run(t, l, s.order(fmt.Sprintf(`echo x > f; cd ..
			mv workspace was && ln -s %s workspace && echo GOT it
			mv tmp t && echo GOT it; : > new && echo GOT it; echo tried`, dir)))
		if l != machine { // there the complete box belongs to its user
			none(t, got)
		}
		expect.Same(t, []string{"f"}, s.after(t).Paths())
	})
}

// Folders that their owner may not list are read before they are kept.
func TestWhatACommandClosedToItselfIsKept(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		s := newStore(t)
		got := run(t, l, s.order(`mkdir -p a/b; echo x > a/b/f; chmod 0 a/b/f; chmod 100 a/b; chmod 0 a`))
		expect.NoError(t, got.err)
		expect.Same(t, []string{"a/b/f"}, s.after(t).Paths())
	})
}

func TestNothingOutlivesItsCommand(t *testing.T) {
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
	noneIsLeft(t)
}

func TestACommandThatIgnoresSignalsIsKilled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		o := newStore(t).order(`trap 'echo ignored' TERM INT HUP; echo begun; while :; do sleep 0.1; done`)
		o.TimeoutSeconds = 3 // on a busy machine, too, the trap is set by then
		var got outcome
		expect.Within(t, 12*time.Second, func() { got = run(t, l, o) })
		expect.NoError(t, got.err)
		expect.That(t, got.end.Signal == "SIGKILL" && got.end.TimedOut && strings.Contains(got.text(), "ignored"),
			"%+v after %s: %s", got.end, got.took, got.text())
	})
	noneIsLeft(t)
}

// A command that kills the process that watches it only hides how it ended.
func TestAParentIsNotKilled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		got := run(t, l, armed(t, newStore(t), "parent"))
		if l != machine {
			none(t, got)
		} else if got.err == nil || errors.Is(got.err, isolated.ErrNotBegun) { // there it can kill inside
			t.Errorf("%+v, %v: it is not known how the command ended", got.end, got.err)
		}
	})
	noneIsLeft(t)
}
