package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"ringi/shared/runtime/expect"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	// The shell's child would survive if only the shell were killed.
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	r, w, err := os.Pipe()
	expect.NoError(t, err)
	defer r.Close()
	cmd.Stdout = w
	p, err := Start(cmd)
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

func TestStopLetsAProcessEndByItself(t *testing.T) {
	p := expect.Value(Start(exec.Command("sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done")))(t)
	p.Stop(10 * time.Second)
	// If the trap is not set yet, the signal ends the shell.
	err := p.Err()
	expect.That(t, err == nil || strings.Contains(err.Error(), "terminated"), "it ended with %v", err)
}

// The child runs this test again, with RINGI_TEST_SPINS set. It keeps more threads busy than there are processors.
func TestAPausedProcessStandsStill(t *testing.T) {
	const spins = "RINGI_TEST_SPINS"
	if os.Getenv(spins) != "" {
		for range 16 {
			go func() {
				for {
				}
			}()
		}
		fmt.Println(spins)
		select {}
	}
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this system does not tell how long threads ran")
	}
	for range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), spins+"=1", "GOMAXPROCS=16")
		out := expect.Value(cmd.StdoutPipe())(t)
		p := expect.Value(Start(cmd))(t)
		expect.Value(bufio.NewReader(out).ReadString('\n'))(t)
		p.Pause()
		before := ran(t, p.PID())
		time.Sleep(50 * time.Millisecond) // a paused process does nothing meanwhile
		after := ran(t, p.PID())
		expect.That(t, after == before, "it ran on for %v", after-before)
		p.Kill()
	}
}

// ran returns how long the threads of a process have run.
func ran(t *testing.T, pid int) (sum time.Duration) {
	t.Helper()
	threads := expect.Value(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)))(t)
	expect.Must(t, len(threads) >= 2, "process %d has %d threads", pid, len(threads))
	for _, path := range threads {
		ns, _, _ := strings.Cut(string(expect.Value(os.ReadFile(path))(t)), " ")
		n := expect.Value(strconv.ParseInt(ns, 10, 64))(t)
		sum += time.Duration(n)
	}
	return sum
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	expect.Fails(t, expect.Err(Start(exec.Command(filepath.Join(t.TempDir(), "nothing")))), os.ErrNotExist)
}

func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock := expect.Value(Lock(path))(t)
	waited := make(chan error, 1)
	go func() {
		release, err := Lock(path)
		if err == nil {
			release()
		}
		waited <- err
	}()
	select {
	case err := <-waited:
		t.Errorf("a locked file was locked again: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	err := <-waited
	expect.That(t, err == nil, "%v", err)
}

func TestFolder(t *testing.T) {
	t.Setenv(FolderVariable, filepath.Join(t.TempDir(), "a", "b"))
	got, err := Folder()
	expect.That(t, err == nil && got == os.Getenv(FolderVariable), "%s, %v", got, err)
	t.Setenv(FolderVariable, "")
	root := expect.Value(ModuleRoot())(t)
	got, err = Folder()
	expect.That(t, err == nil && got == filepath.Join(root, ".ringi-local"), "%s, %v", got, err)
	t.Chdir(t.TempDir())
	expect.That(t, expect.Err(ModuleRoot()) != nil, "a module was found outside of any")
}

func TestWhoIsAnswered(t *testing.T) {
	const self = "127.0.0.1:3000"
	for _, tt := range []struct {
		name, method, host string
		header             map[string]string
		answered           bool
	}{
		{"a program", "POST", self, nil, true},
		{"by another name of this machine", "GET", "localhost:3000", nil, true},
		{"by IPv6", "GET", "[::1]:3000", nil, true},
		{"by the address that it came in at", "GET", "192.0.2.7:3000", nil, true},
		{"by a name that was opened", "GET", "Stack.internal:3000", nil, true},
		{"a page of that name", "POST", "stack.internal:3000",
			map[string]string{"Origin": "http://stack.internal:3000", "Sec-Fetch-Site": "same-origin"}, true},
		{"an address that somebody typed", "GET", self, map[string]string{"Sec-Fetch-Site": "none"}, true},
		{"its own page", "POST", self, map[string]string{"Origin": "http://" + self, "Sec-Fetch-Site": "same-origin"}, true},
		{"a link on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, true},

		{"no name", "GET", "", nil, false},
		{"a foreign name", "GET", "evil.example:3000", nil, false},
		{"a name that begins like ours", "GET", "localhost.evil.example:3000", nil, false},
		{"a name that ends like ours", "GET", "evil.localhost:3000", nil, false},
		{"a name with an address in it", "GET", "127.0.0.1.evil.example:3000", nil, false},
		{"an address that is none of ours", "GET", "192.0.2.8:3000", nil, false},
		{"no address at all", "GET", "0.0.0.0:3000", nil, false},
		{"a page of a foreign name that resolves to here", "POST", "evil.example:3000",
			map[string]string{"Origin": "http://evil.example:3000", "Sec-Fetch-Site": "same-origin"}, false},
		{"another origin", "POST", self, map[string]string{"Origin": "https://evil.example"}, false},
		{"another port", "POST", self, map[string]string{"Origin": "http://127.0.0.1:8000"}, false},
		{"an origin that is hidden", "POST", self, map[string]string{"Origin": "null"}, false},
		{"our origin over https", "POST", self, map[string]string{"Origin": "https://" + self}, false},
		{"a picture on another site", "GET", self, map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{"a link on another site", "GET", self, map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a picture on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, false},
		{"a frame on another port", "GET", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, false},
		{"a form on another port", "POST", self, map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false},
		{"a word that nobody knows", "GET", self, map[string]string{"Sec-Fetch-Site": "new-word"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			h := Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }), "stack.internal")
			r := httptest.NewRequest(tt.method, "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3000}))
			r.Host = tt.host
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			want := http.StatusForbidden
			if tt.answered {
				want = http.StatusOK
			}
			expect.That(t, asked == tt.answered && w.Code == want, "answered %v with %d", asked, w.Code)
		})
	}
}

func TestWithoutNodeTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Node(t.Context())
	expect.That(t, errors.Is(err, ErrNode) && strings.Contains(err.Error(), "install nodejs"), "got %v", err)
}

func TestAFailedInstallationIsSaidAndDoneAgain(t *testing.T) {
	bin, folder := t.TempDir(), t.TempDir()
	files := fstest.MapFS{"app.js": {}, "package-lock.json": {}, ".npmrc": {}, "more/one.json": {Data: []byte("{}")}}
	npm := func(script string) {
		expect.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	npm("echo ENOTFOUND >&2; exit 1\n")
	_, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err != nil && strings.Contains(err.Error(), "npm could not install app") &&
		strings.Contains(err.Error(), "ENOTFOUND"), "got %v", err)
	npm("mkdir node_modules\n")
	dir := expect.Value(InstallNode(t.Context(), folder, "app", files))(t)
	for _, name := range []string{"app.js", "package-lock.json", ".npmrc", "more/one.json", "node_modules", "installed"} {
		expect.Value(os.Stat(filepath.Join(dir, name)))(t)
	}
	npm("exit 1\n")
	again, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err == nil && again == dir, "a second time: %s, %v", again, err)
	files["app.js"] = &fstest.MapFile{Data: []byte("other")}
	npm("mkdir node_modules\n")
	other, err := InstallNode(t.Context(), folder, "app", files)
	expect.That(t, err == nil && other != dir, "another content: %s, %v", other, err)
}

// fake makes a Python that prints this benchmark time. If missing is set, it fails because a part is missing.
func fake(t *testing.T, seconds string, missing bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	script := fmt.Sprintf("#!/bin/sh\n%t && exit 1\necho %s\n", missing, seconds)
	expect.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestTheFasterPythonIsTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		first, own string
		ownLacks   bool
		takesOwn   bool
	}{
		"the first is as fast":            {"0.0010", "0.0010", false, false},
		"the first is slower":             {"0.0018", "0.0011", false, true},
		"slower, and the other can't do":  {"0.0018", "0.0011", true, false},
		"a little slower, as noise makes": {"0.00105", "0.0010", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, before := fake(t, tt.first, false), system
			system = fake(t, tt.own, tt.ownLacks)
			t.Cleanup(func() { system = before })
			t.Setenv("PATH", filepath.Dir(first)+":/bin")
			want := map[bool]string{false: first, true: system}[tt.takesOwn]
			expect.Is(t, expect.Value(find(t.Context()))(t), want, "took")
		})
	}
}
