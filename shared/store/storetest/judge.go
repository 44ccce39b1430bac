package storetest

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// judging is a transport that checks the calls of a function's code in the function's tests against its role, as the
// local stack does. A call that the role doesn't allow gets AWS's answer and fails the test.
type judging struct {
	next     http.RoundTripper
	function string // the function under test
	bench    *template.Bench
	mu       sync.Mutex
	refused  []string
}

// judged wraps next in the function's tests, and returns next in all others.
func judged(t testing.TB, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	function := tested()
	if function == "" {
		return next
	}
	bench, err := ofTemplate()
	expect.NoError(t, err)
	_, has := bench.Roles[function]
	expect.Must(t, has, "template.yaml has no role of %s", function)
	j := &judging{next: next, function: function, bench: bench}
	t.Cleanup(func() {
		for _, call := range j.refusals() {
			t.Errorf("the role of %s doesn't allow %s", function, call)
		}
	})
	return j
}

// tested returns the logical id of the function whose package this process tests, "" for other packages.
func tested() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	for filepath.Base(filepath.Dir(folder)) != "functions" {
		if folder == filepath.Dir(folder) {
			return ""
		}
		folder = filepath.Dir(folder)
	}
	id := ""
	for word := range strings.SplitSeq(filepath.Base(folder), "-") {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id + "Function"
}

// ofTemplate has the roles of all functions that template.yaml may deploy.
var ofTemplate = sync.OnceValues(func() (*template.Bench, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	everything := map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"}
	b, err := template.NewBench(filepath.Join(root, "template.yaml"), template.Names{}, everything,
		slog.New(slog.DiscardHandler))
	if err == nil {
		b.Same = same
	}
	return b, err
})

func (j *judging) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if !byFunction() {
		return j.next.RoundTrip(r)
	}
	asked, out := r.Clone(r.Context()), r
	asked.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "="+accessKey+"/",
		"="+j.function+"/", 1))
	if r.Body == nil {
		asked.Body = http.NoBody
	} else if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		out = r.Clone(r.Context())
		out.Body = io.NopCloser(bytes.NewReader(body))
		asked.Body = io.NopCloser(bytes.NewReader(tableOfTest.ReplaceAll(body, []byte(`"ringi-Table"`))))
	}
	said := httptest.NewRecorder()
	j.bench.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answer, err = j.next.RoundTrip(out); err == nil {
			w.WriteHeader(answer.StatusCode)
		}
	})).ServeHTTP(said, asked)
	if err != nil || answer != nil && answer.StatusCode == said.Code {
		return answer, err
	}
	if answer != nil {
		answer.Body.Close()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused = append(j.refused, fmt.Sprintf("%s %s: %s", r.Header.Get("X-Amz-Target"), r.URL.Path, said.Body))
	return said.Result(), nil
}

func (j *judging) refusals() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refused
}

// tableOfTest matches a table's name in a call: each test has its own table.
var tableOfTest = regexp.MustCompile(`"rows-[0-9]+"`)

// same maps a resource that a test has created to those of the deployment: the resources of the role's statements on
// the action.
func same(role template.Role, q template.Request) []string {
	if strings.HasPrefix(q.Action, "dynamodb:") {
		return []string{q.Resource}
	}
	var all []string
	_, key, isObject := strings.Cut(strings.TrimPrefix(q.Resource, "arn:aws:s3:::"), "/")
	for _, p := range role.Policies {
		for _, s := range p.Statements {
			for _, to := range s.Resources {
				if bucket, _, _ := strings.Cut(to, "/"); s.Deny || !s.About(q.Action) {
					continue
				} else if isObject && strings.HasPrefix(q.Action, "s3:") {
					all = append(all, bucket+"/"+key)
				} else {
					all = append(all, to)
				}
			}
		}
	}
	return all
}

// byFunction reports whether the function's code makes the current call: below the AWS client's frames, a frame of the
// function must come before one of its test. In a goroutine that shared code has started there is neither, and it
// returns false.
func byFunction() bool {
	callers := make([]uintptr, 200) // of which the client's take about seventy
	behind := false
	for _, pc := range callers[:runtime.Callers(2, callers)] {
		switch place := placeOf(pc); {
		case place == inClient:
			behind = true
		case behind && place == inTest:
			return false
		case behind && place == inFunction:
			return true
		}
	}
	return false
}

// place is where the code of a frame stands.
type place int

const (
	elsewhere place = iota
	inClient        // of AWS
	inTest
	inFunction
)

// places caches the places of return addresses: reading one takes longer than all else here, and each call has a
// hundred.
var places sync.Map

func placeOf(pc uintptr) place {
	if known, is := places.Load(pc); is {
		return known.(place)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	found, file := elsewhere, filepath.ToSlash(f.File)
	switch {
	case strings.HasPrefix(f.Function, "github.com/aws/"):
		found = inClient
	case strings.HasSuffix(file, "_test.go"), strings.HasSuffix(filepath.Dir(file), "test"):
		found = inTest
	case strings.Contains(file, "/functions/"):
		found = inFunction
	}
	places.Store(pc, found)
	return found
}
