//go:build linux

package main

import (
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
		pid, _ := strconv.Atoi(strings.Split(s, "/")[2])
		text, err := os.ReadFile(s)
		if err != nil || slices.Contains(pids, pid) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(s), "cmdline"))
		ours := strings.Contains(string(text), "("+name+")") || strings.HasPrefix(string(line), name)
		state := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
		if ours && state != "Z" && state != "X" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// nothingRuns fails if a process of an attack, or its child, still runs, and kills it.
func nothingRuns(t *testing.T) {
	t.Helper()
	nothingRunsOf(t, "attacker")
	nothingRunsOf(t, unseenChild)
}

func nothingRunsOf(t *testing.T, name string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for left := running(name); len(left) > 0; left = running(name) {
		if time.Now().After(deadline) {
			t.Errorf("the processes %v live on", left)
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestAForkBombEndsWithItsTime(t *testing.T) {
	inTurn(t, func(t *testing.T, l level) {
		o := newStore(t).order(`b() { b | b & }; b; while :; do sleep 1; done`)
		o.TimeoutSeconds = 3 // a busy machine begins few processes in a second
		most := make(chan int, 1)
		stop := make(chan struct{})
		go func() {
			highest := 0
			for {
				select {
				case <-stop:
					most <- highest
					return
				case <-time.After(50 * time.Millisecond):
					highest = max(highest, len((&inside{}).descendants()))
				}
			}
		}()
		got := run(t, l, o)
		close(stop)
		highest := <-most
		expect.NoError(t, got.err)
		expect.That(t, (got.end.TimedOut || got.end.Limit == isolated.EndedByMemory) && got.took <= 40*time.Second,
			"%+v after %s", got.end, got.took)
		expect.That(t, highest >= 50 && highest <= maxProcesses+20, "%d processes at most", highest)
		t.Logf("%d processes at most, %s from start to end", highest, got.took)
		noneIsLeft(t)
	})
}

// noneIsLeft fails if a process of a box still runs. A zombie waits for init and does nothing.
func noneIsLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		left := (&inside{}).descendants()
		if len(left) == 0 {
			return
		}
		expect.Must(t, !time.Now().After(deadline), "%d processes are left", len(left))
		time.Sleep(20 * time.Millisecond)
	}
}

// Each process uses less than it may, and of three two have no first thread.
func TestMemoryIsWithheld(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		o := runWithin(t, l, armed(t, newStore(t), "hoard", mib(little()*2/5)), little())
		expect.NoError(t, o.err)
		expect.That(t, o.end.Limit == isolated.EndedByMemory && o.end.Signal == "SIGKILL" &&
			!strings.Contains(o.text(), "GOT"), "%+v\n%s", o.end, o.text())
	})
	noneIsLeft(t)
	nothingRuns(t)
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
	p, looks, unseen := childProcess{pid: c.Process.Pid}, 200, 0
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
	inBoxes(t, func(t *testing.T, l level) {
		a := armed(t, newStore(t), "leaderless", "0", "40")
		a.TimeoutSeconds = 1
		var o outcome
		expect.Within(t, 20*time.Second, func() { o = run(t, l, a) })
		expect.That(t, o.end.TimedOut && !strings.Contains(o.text(), "GOT"), "its time: %+v, %v\n%s", o.end, o.err, o.text())
		a = armed(t, newStore(t))
		a.Type, a.Argv, a.Script = isolated.ShellCommand, nil,
			"setsid ./attacker attack leaderless 0 300 >/dev/null 2>&1 & sleep 1; echo tried"
		none(t, run(t, l, a))
	})
	nothingRuns(t)
}

func TestDevicesStayAsTheMachineHasThem(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		if l == namespaces {
			none(t, run(t, l, armed(t, newStore(t), "devices")))
		}
	})
}
