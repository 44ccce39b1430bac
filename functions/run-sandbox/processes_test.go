//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

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
	expect.That(t, unseen <= looks/10, "its memory is not seen in %d of %d looks", unseen, looks)
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
