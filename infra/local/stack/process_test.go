package stack_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	// The shell's child would survive if only the shell were killed.
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	r, w, err := os.Pipe()
	expect.NoError(t, err)
	defer r.Close()
	cmd.Stdout = w
	p, err := process.Start(cmd)
	w.Close()
	expect.NoError(t, err)
	line := expect.Value(bufio.NewReader(r).ReadString('\n'))(t)
	grandchild := expect.Value(strconv.Atoi(strings.TrimSpace(line)))(t)
	p.Kill()
	p.Kill() // a second kill does nothing
	for _, pid := range []int{p.PID(), grandchild} {
		expect.Eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return ended(pid) })
	}
	expect.That(t, p.Err() != nil, "a killed process ended well")
}

// ended reports whether a process is gone, or a zombie.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestALockIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock := expect.Value(process.Lock(path))(t)
	var free atomic.Bool
	var waits sync.WaitGroup
	waits.Go(func() {
		release := expect.Value(process.Lock(path))(t)
		expect.That(t, free.Load(), "a locked file was locked again")
		release()
	})
	time.Sleep(50 * time.Millisecond) // or it has not asked yet
	free.Store(true)
	unlock()
	waits.Wait()
}

// told has what was written.
type told chan string

func (c told) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}

func (c told) all() (text string) {
	for len(c) > 0 {
		text += <-c
	}
	return text
}

// However long it compiles: something is told at once, and again at least every 5 seconds.
func TestASlowStartSaysHowFarItIs(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			out := make(told, 10)
			say, stop := process.Progress(out, terminal)
			for second := range 120 { // a slow build
				if second%50 == 0 {
					say(fmt.Sprintf("compiling: %d of 627", second))
				}
				if synctest.Wait(); second%5 == 0 {
					text := out.all()
					expect.Has(t, text, "compiling: ")
					if second%50 != 0 {
						expect.Has(t, text, fmt.Sprintf("compiling: %d of 627 … ", second/50*50))
					}
				}
				time.Sleep(time.Second)
			}
			say("creating")
			synctest.Wait()
			stop()
			expect.Has(t, out.all(), "creating")
		})
	}
}
