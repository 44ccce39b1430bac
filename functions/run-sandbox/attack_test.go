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
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
