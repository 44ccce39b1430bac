package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// Bench checks the calls of functions against their roles before they reach AWS's stand-ins.
type Bench struct {
	Account Account
	// Roles maps a function's access key id to its role. Calls with other keys, those of people and tests, are not
	// checked.
	Roles map[string]Role
	Notes *Notes // records what was allowed; may be nil
	Log   *slog.Logger
}

// Handler passes on the calls that the caller's role allows, and refuses the others as AWS does.
func (b *Bench) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := readPolicy(r)
		if err != nil {
			return // the caller has disconnected
		}
		role, judged := b.Roles[c.caller]
		if !judged {
			next.ServeHTTP(w, r)
			return
		}
		all, err := b.Account.requests(c)
		if err != nil {
			b.Notes.addRefused(c.caller, Request{Action: err.Error()})
			b.Log.ErrorContext(r.Context(), "a call that can't be judged", "function", c.caller, "err", err)
			c.refuse(w, err.Error())
			return
		}
		for _, q := range all {
			if why := b.judge(c.caller, role, q); why != "" {
				b.Log.ErrorContext(r.Context(), "a call that the role doesn't allow", "function", c.caller, "action", q.Action,
					"resource", q.Resource)
				c.refuse(w, why)
				return
			}
		}
		if list, reads := b.Account.listOf(c, all); reads {
			w = &gone{ResponseWriter: w, call: c, refused: func() string { return b.judge(c.caller, role, list) }}
		}
		next.ServeHTTP(w, r)
	})
}

// judge records what allows a request, or returns why the request is refused.
func (b *Bench) judge(caller string, role Role, q Request) string {
	v := role.Judge(q)
	if same := b.Account.Same; same != nil {
		for _, q.Resource = range same(role, q) {
			if v = role.Judge(q); v.Allowed {
				break
			}
		}
	}
	if !v.Allowed {
		b.Notes.addRefused(caller, q)
		return b.Account.refusal(role, caller, q, v)
	}
	b.Notes.add(caller, v.By)
	return ""
}

// listOf returns the right that a caller needs to get a 404 for a missing object. Without that right, S3 answers 403.
func (a Account) listOf(c call, all []Request) (Request, bool) {
	if len(all) != 1 || all[0].Action != "s3:GetObject" {
		return Request{}, false
	}
	bucket, _, _ := strings.Cut(all[0].Resource, "/")
	return Request{Action: "s3:ListBucket", Resource: bucket, Context: all[0].Context}, true
}

// gone replaces S3's 404 for a missing object by a 403 if the caller may not list the bucket.
type gone struct {
	http.ResponseWriter
	call    call
	refused func() string
	instead bool // the answer was replaced
}

func (g *gone) WriteHeader(status int) {
	if status == http.StatusNotFound {
		if why := g.refused(); why != "" {
			g.instead = true
			g.Header().Del("Content-Length")
			g.call.refuse(g.ResponseWriter, why)
			return
		}
	}
	g.ResponseWriter.WriteHeader(status)
}

func (g *gone) Write(b []byte) (int, error) {
	if g.instead {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// Unwrap lets the proxy flush the response.
func (g *gone) Unwrap() http.ResponseWriter { return g.ResponseWriter }

// Must returns an error unless the role of a function or state machine allows these actions, which AWS takes on its
// behalf.
func (b *Bench) Must(owner, resource string, actions ...string) error {
	for _, action := range actions {
		if why := b.judge(owner, b.Roles[owner], Request{Action: action, Resource: resource}); why != "" {
			return errors.New(why)
		}
	}
	return nil
}

// refusal returns AWS's message for a request that the role does not allow.
func (a Account) refusal(role Role, caller string, q Request, v Verdict) string {
	action, resource := q.Action, q.Resource
	if strings.HasPrefix(action, "sqs:") { // SQS uses lower case
		action = strings.ToLower(action)
	}
	why := "because no identity-based policy allows the " + action + " action"
	if v.Denied != "" {
		why = "with an explicit deny in an identity-based policy"
	}
	if strings.HasPrefix(action, "s3:") {
		resource = `"` + resource + `"`
	}
	who := fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", a.ID, role.Name, caller)
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", who, action, resource, why)
}

// refuse answers a refused call in the form of its service.
func (c call) refuse(w http.ResponseWriter, message string) {
	switch c.service {
	case "s3":
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if c.Method == http.MethodHead {
			return
		}
		body, _ := xml.Marshal(struct { // marshaling strings can't fail
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: "AccessDenied", Message: message})
		w.Write(append([]byte(xml.Header), body...))
	case "lambda":
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		c.answer(w, http.StatusForbidden, map[string]string{"Message": message})
	case "sqs": // clients read the code of the older protocol first
		w.Header().Set("X-Amzn-Query-Error", "AccessDenied;Sender")
		c.answer(w, http.StatusForbidden, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"message": message})
	case "dynamodb":
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"Message": message})
	default:
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "AccessDeniedException", "Message": message})
	}
}

func (c call) answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", cmp.Or(c.Header.Get("Content-Type"), "application/json"))
	w.WriteHeader(status)
	text, _ := json.Marshal(body) // marshaling strings can't fail
	w.Write(text)
}

const (
	// measured marks the process whose memory is measured.
	measured = "RINGI_TEST_MEASURED"
	// spareKB is for what a function has and the measured process lacks, such as connections to a model's provider. What
	// the measured process alone has, the test, is about as much.
	spareKB = 16 << 10
)

// Fits runs the test once more, in a process of its own, and there calls do. That process's largest memory must
// fit into the memory that the template gives to the function.
func Fits(t *testing.T, function string, environment []string, do func()) {
	t.Helper()
	if detecting {
		t.Skip("the race detector takes memory of its own")
	}
	if os.Getenv(measured) != "" {
		do()
		status := expect.Value(os.ReadFile("/proc/self/status"))(t)
		_, peak, _ := bytes.Cut(status, []byte("VmHWM:"))
		fmt.Printf("\npeak %s\n", bytes.TrimSpace(peak[:bytes.IndexByte(peak, '\n')]))
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("without /proc the memory is not known")
	}
	path := filepath.Join("..", "..", "template.yaml") // from a function's folder
	tpl := expect.Value(Read(path, Names{}, map[string]string{"Stage": "dev"}))(t)
	limit := 0
	for _, f := range tpl.Functions {
		if f.ID == function {
			limit = f.Memory
		}
	}
	peak := 0
	for range 3 { // a machine that stalls collects garbage late
		if peak = peakKB(t, limit, environment); peak < limit<<10-spareKB {
			break
		}
	}
	t.Logf("%s takes up to %d MiB of %d", function, peak>>10, limit)
	expect.That(t, peak < limit<<10-spareKB, "%s takes %d KiB of %d MB", function, peak, limit)
}

// peakKB runs the test in a process of its own, with the collector's limit as boot.BoundMemory sets it.
func peakKB(t *testing.T, limit int, environment []string) (kb int) {
	t.Helper()
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(append(os.Environ(), environment...), measured+"=1",
		"GOGC=100", fmt.Sprintf("GOMEMLIMIT=%dMiB", limit/4*3))
	out, err := again.CombinedOutput()
	_, peak, found := bytes.Cut(out, []byte("\npeak "))
	expect.Must(t, err == nil && found, "%v\n%s", err, out)
	fmt.Sscan(string(peak), &kb)
	expect.Must(t, kb > 0, "no peak in %.40s", peak)
	return kb
}

// Settle forgets, in the measured process, what preparing the test took.
func Settle(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	expect.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
}
