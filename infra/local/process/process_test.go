package process_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/expect"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	// The shell's child would outlive it if only the shell were killed.
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
	p.Kill() // once more does nothing
	for _, pid := range []int{p.PID(), grandchild} {
		deadline := time.Now().Add(time.Minute)
		for !ended(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is left", pid)
			}
			time.Sleep(time.Millisecond) // or the looks take the time of what they wait for
		}
	}
	if p.Err() == nil {
		t.Error("a killed process ended well")
	}
}

// ended is true for a process that is gone, or dead and not yet waited for.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestStopLetsAProcessEndByItself(t *testing.T) {
	p := expect.Value(process.Start(exec.Command("sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done")))(t)
	p.Stop(10 * time.Second)
	// The trap may not be set yet; then the signal itself ends the shell.
	if err := p.Err(); err != nil && !strings.Contains(err.Error(), "terminated") {
		t.Errorf("it ended with %v", err)
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	if _, err := process.Start(exec.Command(filepath.Join(t.TempDir(), "nothing"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := expect.Value(process.Share(path))(t)
	second := expect.Value(process.Share(path))(t)
	first()
	if _, ok, err := process.TryLock(path); ok || err != nil {
		t.Errorf("a shared file was locked: %v", err)
	}
	second()
	unlock, ok, err := process.TryLock(path)
	if !ok || err != nil {
		t.Fatalf("a free file was not locked: %v", err)
	}
	waited := make(chan error)
	go func() {
		release, err := process.Lock(path)
		if err == nil {
			release()
		}
		waited <- err
	}()
	unlock()
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestFolder(t *testing.T) {
	t.Setenv(process.FolderVariable, filepath.Join(t.TempDir(), "a", "b"))
	got, err := process.Folder()
	if err != nil || got != os.Getenv(process.FolderVariable) {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv(process.FolderVariable, "")
	root := expect.Value(process.ModuleRoot())(t)
	if got, err := process.Folder(); err != nil || got != filepath.Join(root, ".ringi-local") {
		t.Errorf("%s, %v", got, err)
	}
	t.Chdir(t.TempDir())
	if _, err := process.ModuleRoot(); err == nil {
		t.Error("a module was found outside of any")
	}
}
