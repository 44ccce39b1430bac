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

	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func TestTheCommandSaysHowItIsCalled(t *testing.T) {
	o, _, err := parse(nil, streams{err: io.Discard})
	expect.That(t, err == nil && o.Addr == "127.0.0.1:3000" && o.AWSAddr == "127.0.0.1:4566" && o.Model == "demo",
		"%+v, %v", o, err)
	for args, want := range map[string]string{"start": `unknown flag or command "start"`, "-h": "help requested",
		"-port 1": "flag provided but not defined: -port"} {
		_, _, err := parse(strings.Fields(args), streams{err: io.Discard})
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", args, err)
	}
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	out, err := command(t, "-addr", l.Addr().String()).CombinedOutput()
	expect.That(t, err != nil && strings.Contains(string(out), "-addr") && strings.Count(string(out), "\n") == 1,
		"a port in use: %v: %s", err, out)
	expect.NoError(t, l.Close())
	dead := l.Addr().String()
	for args, want := range map[string]error{"": errUsage, "a b": errUsage, "receive-event -h": flag.ErrHelp,
		"receive-event -aws-addr " + dead: stack.ErrNoStack} {
		err := invoke(t.Context(), strings.Fields(args), streams{out: io.Discard, err: io.Discard})
		expect.Fails(t, err, want, "%q", args)
	}
	file := filepath.Join(t.TempDir(), "event.json")
	expect.NoError(t, os.WriteFile(file, []byte(`{"a":1}`), 0o644))
	for from, want := range map[string]string{"": "{}", "-": `{"b":2}`, file: `{"a":1}`} {
		event, err := readEvent(from, strings.NewReader(`{"b":2}`))
		expect.That(t, err == nil && string(event) == want, "%q: %s, %v", from, event, err)
	}
	_, err = readEvent("-", strings.NewReader("{"))
	expect.That(t, err != nil && strings.Contains(err.Error(), "is no JSON"), "%v", err)
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
	resp = expect.Value(http.Post(url+"/slack/events", "application/json", strings.NewReader("{}")))(t)
	resp.Body.Close()
	log := filepath.Join(expect.Value(process.Folder())(t), "functions.log")
	expect.Eventually(t, "what functions print stands in the file", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), `"ReceiveEventFunction`)
	})
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

func TestTheModelThatIsAskedFor(t *testing.T) {
	const google = "https://generativelanguage.googleapis.com/v1beta/openai"
	box := func(name, url, key string) map[string]any {
		return map[string]any{"compatible": map[string]any{name: map[string]string{"url": url, "key": key}}}
	}
	for model, want := range map[string]struct {
		host       string
		keys       map[string]any
		parameters map[string]string
		allow      []string
	}{
		"demo": {},
		"anthropic:claude-sonnet-4-6": {"api.anthropic.com", map[string]any{"anthropic": "key of ANTHROPIC_API_KEY"},
			map[string]string{"AnthropicBaseUrl": "https://api.anthropic.com"}, nil},
		"gemini-2.5-flash": {"generativelanguage.googleapis.com", box("gemini", google, "key of GEMINI_API_KEY"), nil,
			[]string{"generativelanguage.googleapis.com:443"}},
		"compatible:my-box/llama3.2:3b": {"127.0.0.1:11434", box("my-box", "http://127.0.0.1:11434/v1", ""), nil,
			[]string{"127.0.0.1:11434"}},
	} {
		var o stack.Options
		host, err := useModel(&o, model, func(name string) string {
			switch name {
			case "MY_BOX_BASE_URL":
				return "http://127.0.0.1:11434/v1"
			case "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY":
				return "key of " + name
			}
			return ""
		})
		expect.That(t, err == nil && host == want.host && o.Model == model, "%s: %s %s, %v", model, host, o.Model, err)
		expect.Same(t, want.keys, o.ModelKeys)
		expect.Same(t, want.parameters, o.Parameters)
		expect.Same(t, want.allow, o.Allow)
	}
	_, err := useModel(&stack.Options{}, "claude-sonnet-4-6", func(string) string { return "" })
	expect.Has(t, fmt.Sprint(err), "-model claude-sonnet-4-6 needs ANTHROPIC_API_KEY in the environment")
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
	for _, u := range webapi.NewWorkspace(webapi.Config{TeamID: "T0", Company: true, Now: time.Now}).Users() {
		if !u.Bot && !u.Stranger && !u.Restricted {
			mails[u.ID] = u.Email
		}
	}
	expect.Is(t, len(mails), 8)
	for _, name := range []string{"organisation.csv", "organisation.en.csv"} {
		o, wrong := rules.ReadOrganisation(expect.Value(os.ReadFile(filepath.Join("..", name)))(t))
		expect.Must(t, len(wrong) == 0 && o.People() == 8, "%s: %v", name, wrong)
		for id, mail := range mails {
			chain, _ := o.Above(mail)
			expect.That(t, o.Has(mail) && (len(chain) > 0) != (id == webapi.Kato), "%s: %s has a superior: %v", name, id, chain)
		}
	}
}
