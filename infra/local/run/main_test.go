package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, want string
		args       []string
		is         error
	}{
		{name: "nothing"},
		{name: "an unknown command", args: []string{"start"}, want: `unknown flag or command "start"`},
		{name: "an unknown flag", args: []string{"-port", "1"}, want: "flag provided but not defined: -port"},
		{name: "help", args: []string{"-h"}, want: "help requested", is: flag.ErrHelp},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _, err := parse(tt.args, streams{err: io.Discard})
			if tt.want == "" {
				expect.That(t, err == nil && o.Addr == "127.0.0.1:3000" && o.AWSAddr == "127.0.0.1:4566" && o.Model == "demo",
					"%+v, %v", o, err)
				return
			}
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want) && (tt.is == nil || errors.Is(err, tt.is)),
				"got %v, want %q in it", err, tt.want)
		})
	}
}

func TestHelpIsGivenAndNoFailure(t *testing.T) {
	out, err := command(t, "-h").CombinedOutput()
	expect.That(t, err == nil && strings.Contains(string(out), "local invoke <function>") &&
		strings.Contains(string(out), "-aws-addr"), "%v: %s", err, out)
}

// onFreePorts returns flags for a stack that can run next to others.
func onFreePorts() []string { return []string{"-addr", "127.0.0.1:0", "-aws-addr", "127.0.0.1:0"} }

// asProgram is the variable with which this test binary is the program: to link another one takes seconds.
const asProgram = "RINGI_LOCAL_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command returns a command that runs this program.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	expect.Patience(t)
	cmd := exec.Command(expect.Value(os.Executable())(t), args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// serving starts a command, waits until it is ready and returns the address that it prints.
func serving(t *testing.T, cmd *exec.Cmd) (url string, logged *bytes.Buffer) {
	t.Helper()
	logged = &bytes.Buffer{}
	cmd.Stderr = logged
	out := expect.Value(cmd.StdoutPipe())(t)
	expect.NoError(t, cmd.Start())
	watchdog := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() { watchdog.Stop(); cmd.Process.Kill() })
	told := ""
	for lines := bufio.NewScanner(out); lines.Scan(); told += lines.Text() + "\n" {
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			expect.Has(t, told, "starting (1/3): compiling", "what the start does")
			expect.Has(t, told, "starting (3/3)", "how far it is")
			return url, logged
		}
	}
	t.Fatalf("it never was ready: %s", logged)
	return "", nil
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		expect.Eventually(t, fmt.Sprintf("process %d is gone", pid),
			func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
}

// asAdministrator signs in to the console as the first administrator and returns a page.
func asAdministrator(t *testing.T, url, page string) string {
	t.Helper()
	browser := http.Client{Jar: expect.Value(cookiejar.New(nil))(t)}
	get := func(address string) (*http.Response, string) {
		resp := expect.Value(browser.Get(address))(t)
		defer resp.Body.Close()
		return resp, string(expect.Value(io.ReadAll(resp.Body))(t))
	}
	who, _ := get(url + "/console/signin/begin?next=" + page)
	back, text := get(url + "/openid/connect/authorize?" + who.Request.URL.RawQuery + "&user=" + webapi.Suzuki)
	expect.Must(t, back.Request.URL.Path == page, "signing in leads to %s: %s", back.Request.URL, text)
	return text
}

func TestCtrlCStopsEverything(t *testing.T) {
	cmd := command(t, onFreePorts()...)
	url, logged := serving(t, cmd)
	resp, err := http.Get(url)
	expect.NoError(t, err)
	resp.Body.Close()
	expect.That(t, resp.StatusCode == http.StatusOK, "the page is %d", resp.StatusCode)
	listed := asAdministrator(t, url, "/console/tools/servers/rooms")
	if !strings.Contains(listed, "rooms.book_room") || strings.Count(listed, "badge-good") != 2 ||
		!strings.Contains(listed, "items[] › quantity × items[] › unit_price (currency)") {
		t.Errorf("the tools of the server are %s", listed) // contests may read by one, and orders are marked, from the start
	}
	printed(t, url)
	children := childrenOf(t, cmd.Process.Pid)
	expect.That(t, len(children) != 0, "it has no children; the stand-ins should be one")
	expect.NoError(t, cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	expect.That(t, err == nil, "it ended with %v: %s", err, logged)
	if n := strings.Count(logged.String(), "\n"); n > 20 || strings.Contains(logged.String(), `"_aws"`) {
		t.Errorf("the terminal's lines are buried under %d others: %s", n, logged)
	}
	gone(t, children)
}

// printed makes a function print something, and waits until the log file has it.
func printed(t *testing.T, url string) {
	t.Helper()
	resp := expect.Value(http.Post(url+"/slack/events", "application/json", strings.NewReader("{}")))(t)
	resp.Body.Close()
	dir := expect.Value(process.Folder())(t)
	expect.Eventually(t, "what functions print stands in the file", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "functions.log"))
		return err == nil && strings.Contains(string(text), `"_aws"`)
	})
}

func TestKillingGoRunStopsEverything(t *testing.T) {
	expect.AtNight(t)
	cmd := exec.Command("go", append([]string{"run", ".."}, onFreePorts()...)...)
	serving(t, cmd)
	pids := childrenOf(t, cmd.Process.Pid)
	for _, pid := range pids {
		pids = append(pids, childrenOf(t, pid)...)
	}
	expect.That(t, len(pids) >= 2, "processes %v, want the program and the stand-ins", pids)
	expect.NoError(t, cmd.Process.Kill())
	gone(t, pids)
}

// A second start compiles nothing and links nothing. Its time is that of processors, since other tests run beside it.
func TestAWarmStartTakesThreeSeconds(t *testing.T) {
	expect.AtNight(t)
	var took time.Duration
	for range 2 {
		cmd := exec.Command("go", "run", "..", "-addr", "127.0.0.1:0", "-aws-addr", "127.0.0.1:0")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to go run and to the program
		serving(t, cmd)
		expect.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		_ = cmd.Wait() // go run fails when it is interrupted
		took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	expect.That(t, took < 3*time.Second, "it took %s", took)
}

// childrenOf lists a process's children. It reads /proc, or calls ps on systems without /proc, such as macOS.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	stats := expect.Value(filepath.Glob("/proc/[0-9]*/stat"))(t)
	var lines []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// In "12 (name) S 34 …", the parent is the second field after the name.
		pid, _, _ := strings.Cut(string(stat), " ")
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 1 {
			lines = append(lines, pid+" "+fields[1])
		}
	}
	if len(stats) == 0 {
		out := expect.Value(exec.Command("ps", "-A", "-o", "pid=,ppid=").Output())(t)
		lines = strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	var pids []int
	for _, line := range lines {
		var pid, ppid int
		if _, err := fmt.Sscan(line, &pid, &ppid); err == nil && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestAPortInUseIsSaidInOneSentence(t *testing.T) {
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	out, err := command(t, "-addr", l.Addr().String()).CombinedOutput()
	expect.That(t, err != nil && strings.Contains(string(out), "-addr") && strings.Count(string(out), "\n") == 1,
		"%v: %s", err, out)
}

func TestTheModelThatIsAskedFor(t *testing.T) {
	type chosen struct {
		Host       string
		Keys       map[string]any
		Parameters map[string]string
		Allow      []string
	}
	box := func(url, key string) map[string]any {
		return map[string]any{"compatible": map[string]any{"my-box": map[string]string{"url": url, "key": key}}}
	}
	for _, tt := range []struct {
		name, model string
		env         map[string]string
		want        chosen
		refused     string
	}{
		{name: "demo, with keys about", model: "demo", env: map[string]string{"ANTHROPIC_API_KEY": "k",
			"OPENAI_API_KEY": "k"}},
		{name: "anthropic", model: "anthropic:claude-sonnet-4-6",
			env: map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"},
			want: chosen{"api.anthropic.com", map[string]any{"anthropic": "a"},
				map[string]string{"AnthropicBaseUrl": "https://api.anthropic.com"}, nil}},
		{name: "gemini", model: "gemini-2.5-flash", env: map[string]string{"GEMINI_API_KEY": "g"},
			want: chosen{"generativelanguage.googleapis.com",
				map[string]any{"compatible": map[string]any{"gemini": map[string]string{
					"url": "https://generativelanguage.googleapis.com/v1beta/openai", "key": "g"}}}, nil,
				[]string{"generativelanguage.googleapis.com:443"}}},
		{name: "on this machine", model: "compatible:my-box/llama3.2:3b",
			env:  map[string]string{"MY_BOX_BASE_URL": "http://127.0.0.1:11434/v1"},
			want: chosen{"127.0.0.1:11434", box("http://127.0.0.1:11434/v1", ""), nil, []string{"127.0.0.1:11434"}}},
		{name: "no key", model: "claude-sonnet-4-6", env: map[string]string{"OPENAI_API_KEY": "o"},
			refused: "-model claude-sonnet-4-6 needs ANTHROPIC_API_KEY in the environment"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o stack.Options
			host, err := useModel(&o, tt.model, func(name string) string { return tt.env[name] })
			if tt.refused != "" {
				expect.That(t, err != nil && strings.Contains(err.Error(), tt.refused) &&
					!strings.Contains(err.Error(), "\n"), "got %v, want %q in it", err, tt.refused)
				return
			}
			d := cmp.Diff(tt.want, chosen{host, o.ModelKeys, o.Parameters, o.Allow})
			expect.That(t, d == "" && err == nil && o.Model == tt.model, "%v %v", d, err)
		})
	}
}

func TestTheBannerSaysWhereRequestsGo(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "key-planted")
	o, host, err := parse([]string{"-model", "anthropic:claude-sonnet-4-6"}, streams{err: io.Discard})
	expect.Must(t, err == nil && host == "api.anthropic.com", "%v %v", host, err)
	for _, banner := range []string{o.Sandbox.Banner, o.Sandbox.BannerEN} {
		expect.That(t, strings.Contains(banner, "anthropic:claude-sonnet-4-6") && strings.Contains(banner, host) &&
			!strings.Contains(banner, "planted"),
			"%v", banner)
	}
	expect.Is(t, ready("http://127.0.0.1:3000", "demo", ""), "ready http://127.0.0.1:3000")
	got := ready("http://127.0.0.1:3000", o.Model, host)
	expect.That(t, got == "ready http://127.0.0.1:3000 with anthropic:claude-sonnet-4-6 at api.anthropic.com", "%v", got)
	o, host, err = parse(nil, streams{err: io.Discard})
	expect.That(t, err == nil && host == "" && o.ModelKeys == nil && !strings.Contains(o.Sandbox.BannerEN, "anthropic"),
		"a key alone switches something: %q %v %v", host, o.ModelKeys, err)
}

// Both files of the sandbox's company can be uploaded as they are: every full member is in them, with a superior.
func TestTheCompanysFilesFitItsPeople(t *testing.T) {
	mails := map[string]string{}
	for _, u := range webapi.NewWorkspace(webapi.Config{TeamID: "T0", Company: true}).Users() {
		if !u.Bot && !u.Stranger && !u.Restricted {
			mails[u.ID] = u.Email
		}
	}
	expect.Is(t, len(mails), 8)
	for _, name := range []string{"organisation.csv", "organisation.en.csv"} {
		o, wrong := organisation.Read(expect.Value(os.ReadFile(filepath.Join("..", name)))(t))
		expect.Must(t, len(wrong) == 0 && o.People() == 8, "%s: %v", name, wrong)
		for id, mail := range mails {
			chain, _ := o.Above(mail)
			expect.That(t, o.Has(mail) && (len(chain) > 0) != (id == webapi.Kato), "%s: %s has a superior: %v", name, id, chain)
		}
	}
}

func TestInvokeSaysHowItIsCalled(t *testing.T) {
	for _, tt := range []struct {
		args string
		want error
	}{{"", errUsage}, {"a b", errUsage}, {"-h", flag.ErrHelp}, {"receive-event -h", flag.ErrHelp}} {
		expect.Fails(t, invoke(t.Context(), strings.Fields(tt.args), streams{err: io.Discard}), tt.want, "%q", tt.args)
	}
}

func TestInvokeSaysThatNoStackAnswersThere(t *testing.T) {
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	dead := l.Addr().String()
	expect.NoError(t, l.Close())
	out := &bytes.Buffer{}
	err := invoke(t.Context(), []string{"receive-event", "-aws-addr", dead}, streams{out: out, err: io.Discard})
	expect.That(t, errors.Is(err, stack.ErrNoStack) && strings.Contains(err.Error(), dead) && out.Len() == 0,
		"%v, %s", err, out)
}

func TestEvents(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	event := write("event.json", `{"a":1}`)
	for file, want := range map[string]string{"": "{}", "-": `{"b":2}`, event: `{"a":1}`} {
		got, err := readEvent(file, strings.NewReader(`{"b":2}`))
		expect.That(t, err == nil && string(got) == want, "%q: %s, %v", file, got, err)
	}
	for file, want := range map[string]string{filepath.Join(dir, "none"): "read the event (-e)",
		write("bad.json", "{"): "is no JSON"} {
		_, err := readEvent(file, nil)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", file, err)
	}
}
