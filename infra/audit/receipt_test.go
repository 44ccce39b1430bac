package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

const tenant = "00000000006KYFXYRCTT23PT5E"

func began() time.Time { return time.Date(2026, 4, 18, 9, 0, 0, 120_000_000, time.UTC) }

// sealer signs like KMS.
type sealer struct{ key *ecdsa.PrivateKey }

func newSealer(t *testing.T) sealer {
	t.Helper()
	return sealer{expect.Value(ecdsa.GenerateKey(elliptic.P256(), crand.Reader))(t)}
}

func (s sealer) sign(t *testing.T, text []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(text)
	return expect.Value(ecdsa.SignASN1(crand.Reader, s.key, sum[:]))(t)
}

func row(n int) chain.Row {
	at := began().Add(time.Duration(n) * time.Second)
	content, _ := chain.Canonical(map[string]any{"action": "prompt.approved", "text": "承認 \u2028 <&>", "n": n})
	return chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", fmt.Sprintf("%s#%06d", at.Format(time.RFC3339), n)),
		Content: content, At: at}
}

// seal makes a log of rows, in links of at most per.
func (s sealer) seal(t *testing.T, rows []chain.Row, per int) *log {
	t.Helper()
	l := &log{tenant: tenant, rows: rows, public: expect.Value(x509.MarshalPKIXPublicKey(&s.key.PublicKey))(t),
		at: began().Add(48 * time.Hour)}
	last := chain.Head{Tenant: tenant}
	for part := range slices.Chunk(rows, per) {
		next := expect.Value(chain.Next(last, fmt.Sprintf("%064x", len(l.links)+1), part, part[len(part)-1].At))(t)
		next.Signature = s.sign(t, next.Text())
		l.links = append(l.links, next)
		last = next.Head(next.At)
	}
	last.Signature = s.sign(t, last.Text())
	l.head = &last
	return l
}

func sealed(t *testing.T, n, per int) *log {
	t.Helper()
	var rows []chain.Row
	for i := range n {
		rows = append(rows, row(i))
	}
	return newSealer(t).seal(t, rows, per)
}

// tampered returns the receipt after one change by somebody who can write the whole table but has no key.
func tampered(r Receipt, how int, by *rand.Rand) (Receipt, string) {
	r.Rows, r.Links = slices.Clone(r.Rows), slices.Clone(r.Links)
	i, j := by.IntN(len(r.Rows)), by.IntN(len(r.Rows)-1)
	if j >= i {
		j++
	}
	k := by.IntN(len(r.Links))
	entries := slices.Clone(r.Links[k].Entries)
	switch how % 10 {
	case 0:
		content := []byte(r.Rows[i].Content)
		content[by.IntN(len(content))] ^= 1 << by.IntN(7)
		r.Rows[i].Content = string(content)
		return r, "change a row"
	case 1:
		return r.with(sealedRow{r.Rows[i].Key + "x", r.Rows[j].Content, r.Rows[i].At}), "insert a row"
	case 2:
		return r.without(r.Rows[i].Key), "remove a row"
	case 3:
		r.Rows[i].Content, r.Rows[j].Content = r.Rows[j].Content, r.Rows[i].Content
		return r, "swap two rows"
	case 4:
		r.Links = r.Links[:max(k, 1)]
		n := 0
		for _, l := range r.Links {
			n += len(l.Entries)
		}
		r.Rows = r.Rows[:n]
		return r, "remove the tail with its links"
	case 5:
		r.Links[k].Entries = entries[1:]
		return r.without(entries[0].Key), "remove a row and its entry"
	case 6:
		at := slices.IndexFunc(r.Rows, func(x sealedRow) bool { return x.Key == entries[0].Key })
		r.Rows[at].Content = `{"action":"prompt.rejected"}`
		entries[0].Hash, _ = chain.HashOf(r.Links[k].Salt, chain.Row{Key: entries[0].Key,
			Content: []byte(r.Rows[at].Content)})
		r.Links[k].Entries = entries
		return r, "change a row and its entry"
	case 7:
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool {
			return slices.ContainsFunc(entries, func(e chain.Entry) bool { return e.Key == x.Key })
		})
		r.Links = slices.Delete(r.Links, k, k+1)
		for n := k; n < len(r.Links); n++ {
			r.Links[n].Seq = n + 1
		}
		return r, "remove a link and its rows"
	case 8:
		r.Links[k].Signature = r.Links[(k+1)%len(r.Links)].Signature
		return r, "put another's signature"
	default:
		h := *r.Head
		h.Seq, h.Link = k, fmt.Sprintf("%064x", k)
		r.Head = &h
		return r, "put another head"
	}
}

func (r Receipt) with(x sealedRow) Receipt {
	r.Rows = append(r.Rows, x)
	return r
}

func (r Receipt) without(key string) Receipt {
	r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool { return x.Key == key })
	return r
}

// judged collects receipts for verify.py, which gets them all at once because it starts slowly.
type judged struct {
	found int
	names []string
	hold  []bool
	lines bytes.Buffer
}

func (j *judged) add(t *testing.T, name string, r Receipt, holds bool) {
	t.Helper()
	if j.found++; !holds && !expect.Long() && j.found%4 != 0 {
		return // one false receipt in four by day
	}
	j.names, j.hold = append(j.names, name), append(j.hold, holds)
	j.lines.Write(append(expect.Value(json.Marshal(r))(t), '\n'))
}

// changed adds a receipt once for each change. Each must be found invalid.
func (j *judged) changed(t *testing.T, name string, r Receipt, changes map[string]func(*Receipt)) {
	t.Helper()
	base := expect.Value(json.Marshal(r))(t)
	for _, what := range slices.Sorted(maps.Keys(changes)) {
		var r Receipt
		expect.NoError(t, json.Unmarshal(base, &r))
		changes[what](&r)
		j.add(t, name+", "+what, r, false)
	}
}

// agree runs verify.py on all receipts: it finds those that don't hold.
func (j *judged) agree(t *testing.T) {
	t.Helper()
	all := python(t, j.lines.Bytes())
	expect.Is(t, len(all), len(j.names), "receipts that verify.py judged")
	for n, got := range all {
		expect.That(t, got.holds() == j.hold[n], "%s: verify.py finds %+v", j.names[n], got)
	}
}

// findings are what the check of a log finds in that of a receipt.
func findings(t *testing.T, r Receipt) (all [][2]string) {
	t.Helper()
	l := log{tenant: r.Tenant, at: r.MadeAt, head: r.Head, links: r.Links,
		public: expect.Value(base64.StdEncoding.DecodeString(r.PublicKey))(t)}
	for _, x := range r.Rows {
		l.rows = append(l.rows, chain.Row{Key: x.Key, Content: []byte(x.Content), At: x.At})
	}
	for _, f := range expect.Value(l.check())(t).Findings {
		all = append(all, [2]string{string(f.Flaw), f.Where})
	}
	return all
}

// Both programs find every change. verify.py gets one receipt in five; at night, when it reads 30 MB for each, one
// in fifty.
func TestVerifyFindsEveryTampering(t *testing.T) {
	expect.Patience(t)
	rows, per, of, times := 100, 10, 5, 100
	if expect.Long() {
		rows, per, of, times = 100_000, 500, 50, 1000
	}
	whole := sealed(t, rows, per).receipt()
	by := rand.New(rand.NewPCG(expect.Seed(), 9))
	var lines bytes.Buffer
	var want [][][2]string
	var names []string
	here, there := time.Duration(0), time.Duration(0)
	for n := range times {
		r, name := tampered(whole, n, by)
		second := n%(10*of) < 10
		if second {
			text := expect.Value(json.Marshal(r))(t)
			lines.Write(append(text, '\n'))
			r = Receipt{} // encoding changed the invalid UTF-8
			expect.NoError(t, json.Unmarshal(text, &r))
		}
		start := time.Now()
		found := findings(t, r)
		here += time.Since(start)
		expect.Must(t, len(found) != 0, "tampering %d, %s, is not found", n, name)
		if second {
			want, names = append(want, found), append(names, name)
		}
		if lines.Len() > 1<<28 || n == times-1 {
			start = time.Now()
			all := python(t, lines.Bytes())
			expect.Must(t, len(all) == len(want), "verify.py says %d lines of %d receipts", len(all), len(want))
			for i, got := range all {
				expect.Must(t, slices.Equal(got.Chain, want[i]), "%s: this finds %v, verify.py %v", names[i], want[i], got.Chain)
			}
			there += time.Since(start)
			want, names = nil, nil
			lines.Reset()
		}
	}
	t.Logf("%d tamperings of %d rows: %v here; %d of them %v by verify.py", times, rows, here.Round(time.Millisecond),
		times/of, there.Round(time.Millisecond))
}

// Both programs agree on a log that nobody touched, and on one with a row dated in the future.
func TestBothKnowTimesToCome(t *testing.T) {
	l, to := sealed(t, 2000, 500), row(2001)
	late, near := *l, *l
	to.At = l.at.Add(chain.Drift + time.Second)
	late.rows = append(slices.Clone(l.rows), to)
	to.At = l.at.Add(chain.Drift)
	near.rows = append(slices.Clone(l.rows), to)
	for name, tt := range map[string]struct {
		of   *log
		want [][2]string
	}{
		"nobody touched it":    {l, nil},
		"a row of the future":  {&late, [][2]string{{"dated", to.Key}}},
		"a clock that differs": {&near, nil},
	} {
		r := tt.of.receipt()
		got := findings(t, r)
		expect.That(t, slices.Equal(got, tt.want), "%s: this finds %v", name, got)
		said := python(t, append(expect.Value(json.Marshal(r))(t), '\n'))
		expect.That(t, len(said) == 1 && slices.Equal(said[0].Chain, tt.want), "%s: verify.py finds %v", name, said)
	}
}

func TestRowsThatCameWhileTheLogWasReadAreLeftOut(t *testing.T) {
	l := sealed(t, 10, 5)
	for n, after := range []time.Duration{-time.Minute, 3 * time.Minute, time.Hour} {
		r := row(20 + n)
		r.At = l.at.Add(after)
		l.rows = append(l.rows, r)
	}
	l.younger(l.at.Add(4 * time.Minute))
	expect.Same(t, []string{row(20).Key, row(22).Key}, []string{l.rows[10].Key, l.rows[len(l.rows)-1].Key})
	expect.Is(t, len(l.rows), 12)
}

// An attacker who can write the table changes the entry of a stamp and the one next to it, and the sealer signs both.
// Then the attacker splits the signed text at other places, so that one member takes the original row and another the
// rest.
func TestASignedTextIsReadInOneWayOnly(t *testing.T) {
	rows := theEntries()
	rows = append(rows[:1:1], append([]chain.Row{row(1)}, rows[1:]...)...)
	was := rows[2]
	became, other := was, rows[3]
	became.Content, became.Note, other.Note = bytes.Replace(was.Content, []byte("U0SUZUKI"), []byte("U0SATO"),
		1), chain.Modified, chain.Modified
	l := newSealer(t).seal(t, append(slices.Clone(rows), became, other), 10)
	l.rows = append(slices.Clone(rows[:2]), append([]chain.Row{became}, rows[3:]...)...)
	r := l.receipt()
	r.Execution = proved(t).Execution
	r = r.part()
	out, err := printed(t, r)
	expect.Must(t, err != nil, "the change is not found:\n%s", out)
	of := slices.Clone(r.Links[0].Entries)
	before, now := slices.IndexFunc(of, func(e chain.Entry) bool { return e.Key == was.Key })-1, len(of)-2
	of[before].Key = of[before].Key + " " + of[before].Hash + "\nrow " + was.Key
	of[before].Hash = of[before+1].Hash
	of[now].Note = chain.Note("modified\nrow " + of[now+1].Key + " " + of[now+1].Hash + " modified")
	r.Links[0].Entries = slices.Delete(of[:now+1], before+1, before+2)
	expect.That(t, len(python(t, append(expect.Value(json.Marshal(r))(t), '\n'))[0].Chain) != 0, "verify.py finds nothing")
}

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

// started is verifies, without standard input, in a process of its own, as an auditor starts it on a console that lacks
// characters.
func started(t *testing.T, args ...string) answer {
	t.Helper()
	c := exec.Command("python3", append([]string{"verify.py"}, args...)...)
	c.Env = append(os.Environ(), "PYTHONIOENCODING=ascii")
	out, _ := c.Output() // it also fails if verify.py finds something
	return answer{c.ProcessState.ExitCode(), string(out)}
}

// inASCII spells what a console lacks as Python does.
func inASCII(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(quoted[1 : len(quoted)-1])
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
