package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"ringi/shared/runtime/expect"
)

// calls has verify.py run once for each line of standard input, a call. It prints the exit code and standard output of
// each as a line.
const calls = `
import contextlib, io, json, sys
import verify
for line in sys.stdin:
    call, out = json.loads(line), io.StringIO()
    with open(call["stdin"], encoding="utf-8") as given, contextlib.redirect_stdout(out):
        before, sys.stdin = sys.stdin, given
        code = verify.main(call["args"])
        sys.stdin = before
    print(json.dumps({"code": code, "out": out.getvalue()}), flush=True)
`

// asking is one run of verify.py. Stdin is a file.
type asking struct {
	Args  []string `json:"args"`
	Stdin string   `json:"stdin"`
}

// answer is how a call ended, and what it printed.
type answer struct {
	Code int    `json:"code"`
	Out  string `json:"out"`
}

// interpreter is the process that runs verify.py in all tests: it starts slowly, and knows the signatures of earlier
// receipts. It ends with the test binary, which closes its standard input.
type interpreter struct {
	sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

var shared = sync.OnceValues(func() (*interpreter, error) {
	c := exec.Command("python3", "-B", "-c", calls)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &interpreter{in: in, out: bufio.NewReader(out)}, c.Start()
})

// verifies runs verify.py and returns its answer.
func verifies(t *testing.T, stdin []byte, args ...string) (a answer) {
	t.Helper()
	expect.Patience(t)
	expect.Value(os.Stat("verify.py"))(t) // go test then runs this again when that file changes
	p := expect.Value(shared())(t)
	file := filepath.Join(t.TempDir(), "stdin")
	expect.NoError(t, os.WriteFile(file, stdin, 0o600))
	line := append(expect.Value(json.Marshal(asking{args, file}))(t), '\n')
	p.Lock()
	defer p.Unlock()
	expect.Value(p.in.Write(line))(t)
	expect.NoError(t, json.Unmarshal(expect.Value(p.out.ReadBytes('\n'))(t), &a))
	return a
}

// started is verifies, without standard input, in a process of its own, as an auditor starts it.
func started(t *testing.T, args ...string) answer {
	t.Helper()
	c := exec.Command("python3", append([]string{"verify.py"}, args...)...)
	out, _ := c.Output() // it also fails if verify.py finds something
	return answer{c.ProcessState.ExitCode(), string(out)}
}

// python runs verify.py on receipts, one per line, and returns what it prints for each.
func python(t *testing.T, receipts []byte) (all []said) {
	t.Helper()
	a := verifies(t, receipts, "--lines")
	expect.Must(t, a.Code == 0, "verify.py: %d", a.Code)
	for line := range bytes.Lines([]byte(a.Out)) {
		var s said
		expect.NoError(t, json.Unmarshal(line, &s))
		all = append(all, s)
	}
	return all
}

type said struct {
	Chain  [][2]string `json:"chain"`
	Claims []string    `json:"claims"`
}

func (s said) holds() bool { return len(s.Chain) == 0 && len(s.Claims) == 0 }

// passes checks that verify.py accepts a receipt.
func passes(t *testing.T, receipt []byte) {
	t.Helper()
	var line bytes.Buffer
	expect.NoError(t, json.Compact(&line, receipt))
	got := python(t, line.Bytes())
	expect.That(t, len(got) == 1 && got[0].holds(), "verify.py: %+v", got)
}

// printed returns what verify.py prints of a receipt, and an error if it finds a fault.
func printed(t *testing.T, r Receipt) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "receipt.json")
	expect.NoError(t, os.WriteFile(file, expect.Value(json.Marshal(r))(t), 0o600))
	a := verifies(t, nil, file)
	if a.Code != 0 {
		return a.Out, fmt.Errorf("verify.py: exit code %d", a.Code)
	}
	return a.Out, nil
}
