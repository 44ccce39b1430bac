package chain

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func TestALogThatNobodyTouchedIsWhole(t *testing.T) {
	s := newSealer(t)
	l := seal(t, s, 100_000, 1000)
	began := time.Now()
	got := Verify(tenant, l.head, l.links, l.rows, s.signed, later())
	expect.That(t, len(got.Findings) == 0 && got.Sealed == 100_000 && len(got.Waiting) == 0,
		"%d findings, the first %+v; %d sealed", len(got.Findings), slices.Concat(got.Findings, []Finding{{}})[0], got.Sealed)
	t.Logf("100,000 rows: %v", time.Since(began).Round(time.Millisecond))
}

func TestWhatIsFoundIsNamed(t *testing.T) {
	s := newSealer(t)
	whole := seal(t, s, 10, 5)
	other := newSealer(t)
	for name, tt := range map[string]struct {
		change func(l *log)
		want   []Finding
	}{
		"nothing":           {func(*log) {}, nil},
		"in another order":  {func(l *log) { slices.Reverse(l.rows); slices.Reverse(l.links) }, nil},
		"a change":          {func(l *log) { l.rows[3].Content = []byte("{}") }, []Finding{{Changed, row(3).Key}}},
		"a removal":         {func(l *log) { l.rows = slices.Delete(l.rows, 3, 4) }, []Finding{{Removed, row(3).Key}}},
		"a row of the past": {func(l *log) { l.rows = append(l.rows, row(11)) }, []Finding{{Inserted, row(11).Key}}},
		"a row twice":       {func(l *log) { l.rows = append(l.rows, row(3)) }, []Finding{{Inserted, row(3).Key}}},
		"the end":           {func(l *log) { l.rows, l.links = l.rows[:5], l.links[:1] }, []Finding{{Cut, "head"}}},
		"another's signature": {func(l *log) { l.links[1].Signature = other.sign(t, l.links[1].Text()) },
			[]Finding{{Forged, "link 2"}}},
		"another tenant's chain": {func(l *log) {
			for i := range l.links {
				l.links[i].Tenant = "01OTHER"
				l.links[i].Signature = s.sign(t, l.links[i].Text())
			}
		}, []Finding{{Broken, "link 2"}, {Cut, "head"}, {Forged, "link 1"}, {Forged, "link 2"}}},
		"a head of nobody's": {func(l *log) { h := *l.head; h.Signature = nil; l.head = &h },
			[]Finding{{Forged, "head"}, {Loose, "link 1"}, {Loose, "link 2"}}},
		"a row of the future": {func(l *log) {
			r := row(11)
			r.At = later().Add(Drift + time.Second)
			l.rows = append(l.rows, r)
		}, []Finding{{Dated, row(11).Key}}},
		"everything": {func(l *log) { l.rows, l.links = nil, nil }, []Finding{{Cut, "head"}}},
		"a row and its entry": {func(l *log) {
			l.rows = slices.Delete(l.rows, 3, 4)
			l.links[0].Entries = slices.Delete(l.links[0].Entries, 3, 4)
		}, []Finding{{Forged, "link 1"}, {Broken, "link 2"}}},
		"no head at all": {func(l *log) { l.head = nil }, []Finding{{Loose, "link 1"}, {Loose, "link 2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := whole.copy()
			tt.change(&l)
			got := Verify(tenant, l.head, l.links, l.rows, s.signed, later()).Findings
			expect.Must(t, len(got) == len(tt.want), "found is %+v, want %+v", got, tt.want)
			for _, w := range tt.want {
				expect.That(t, slices.Contains(got, w), "found is %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestTheLastMinuteIsNamed(t *testing.T) {
	s := newSealer(t)
	l := seal(t, s, 10, 5)
	young := row(10)
	l.rows = append(l.rows, young)
	got := Verify(tenant, l.head, l.links, l.rows, s.signed, young.At.Add(Unsealed))
	expect.That(t, len(got.Findings) == 0 && slices.Equal(got.Waiting, []string{young.Key}), "%+v", got)
	got = Verify(tenant, l.head, l.links, l.rows, s.signed, young.At.Add(Unsealed+time.Second))
	expect.That(t, slices.Equal(got.Findings, []Finding{{Inserted, young.Key}}), "a minute later: %+v", got)
	l.more(t, s, true, young)
	l.keep(t, s)
	got = Verify(tenant, l.head, l.links, l.rows, s.signed, later())
	expect.That(t, len(got.Findings) == 0 && slices.Equal(got.Late, []string{young.Key}), "sealed late: %+v", got)
}

func TestARowThatIsSealedTwiceAlikeIsFine(t *testing.T) {
	s := newSealer(t)
	l := seal(t, s, 10, 5)
	l.more(t, s, false, l.rows[2:4]...)
	l.keep(t, s)
	got := Verify(tenant, l.head, l.links, l.rows, s.signed, later())
	expect.That(t, len(got.Findings) == 0 && got.Sealed == 10, "%+v", got)
}

func TestWhatCantBeSealedIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		salt string
		key  string
	}{
		"a line break": {salt(1), "AUDIT#x\nrow y"}, "a space": {salt(1), "AUDIT# x"}, "no key": {salt(1),
			""}, "a short salt": {"00", "AUDIT#x"}, "no hex": {fmt.Sprintf("%064s", "z"), "AUDIT#x"},
	} {
		l, err := Next(Head{Tenant: tenant}, tt.salt, []Row{{Key: tt.key}}, at())
		expect.That(t, err != nil, "%s: %+v", name, l)
	}
}

func TestTheOrderOfMembersIsNoChange(t *testing.T) {
	a := expect.Value(Canonical(map[string]any{"b": 1, "a": map[string]any{"y": "<&>", "x": nil}}))(t)
	expect.That(t, string(a) == `{"a":{"x":null,"y":"<&>"},"b":1}`, "it is %s", a)
}

// If somebody changes a row and restores it within a minute, the chain matches the rows again, but the sealer's note
// remains.
func TestWhatTheSealerSawStays(t *testing.T) {
	s := newSealer(t)
	for note, want := range map[Note]Flaw{Modified: Touched, Deleted: Touched, Misdated: Dated} {
		l := seal(t, s, 10, 5)
		seen := row(3)
		seen.Note = note
		l.more(t, s, false, seen)
		l.keep(t, s)
		got := Verify(tenant, l.head, l.links, l.rows, s.signed, later())
		expect.That(t, slices.Equal(got.Findings, []Finding{{want, row(3).Key}}), "%s: %+v", note, got.Findings)
		l.links[2].Entries[0].Note = ""
		got = Verify(tenant, l.head, l.links, l.rows, s.signed, later())
		expect.That(t, slices.Contains(got.Findings, Finding{Forged, "link 3"}), "%s was taken off: %+v", note, got.Findings)
	}
}

// A row can be removed together with its link before a head covers the link. A report lists the rows for which this is
// possible.
func TestRowsBehindTheHeadAreNamed(t *testing.T) {
	s := newSealer(t)
	l := seal(t, s, 10, 5)
	young := row(11)
	l.rows = append(l.rows, young)
	l.more(t, s, false, young)
	got := Verify(tenant, l.head, l.links, l.rows, s.signed, later().Add(Unkept))
	expect.That(t, len(got.Findings) == 0 && slices.Equal(got.Behind, []string{young.Key}), "%+v", got)
	got = Verify(tenant, l.head, l.links, l.rows, s.signed, later().Add(Unkept+time.Second))
	expect.That(t, slices.Equal(got.Findings, []Finding{{Loose, "link 3"}}), "later: %+v", got)
}

func TestNoTwoRowsShareAKey(t *testing.T) {
	seen := map[string]string{}
	for _, pair := range [][2]string{{"a", "b"}, {"a/b", ""}, {"a", "/b"}, {"", "a/b"}, {"a%2F", "b"}, {"a\n", "b"},
		{"a ", "b"}, {"あ", "b"}} {
		key := KeyOf(pair[0], pair[1])
		was, ok := seen[key]
		expect.That(t, !ok, "%q and %q are both %s", was, pair, key)
		seen[key] = fmt.Sprint(pair)
		_, err := Next(Head{Tenant: tenant}, salt(1), []Row{{Key: key}}, at())
		expect.That(t, err == nil, "%q: %v", pair, err)
	}
}

func TestAClockThatIsBehindDoesNotTurnTheChain(t *testing.T) {
	last := Head{Tenant: tenant, Seq: 4, Link: "x", At: at()}
	l := expect.Value(Next(last, salt(1), nil, at().Add(-time.Hour)))(t)
	expect.That(t, l.At.Equal(at()) && l.Seq == 5 && l.Previous == "x", "%+v", l)
}

const tenant = "01TENANT"

func at() time.Time { return time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC) }

// log is an audit log with its chain.
type log struct {
	head  *Head
	links []Link
	rows  []Row
}

// sealer signs like KMS: ECDSA with P-256 over SHA-256.
type sealer struct{ key *ecdsa.PrivateKey }

func newSealer(t *testing.T) sealer {
	return sealer{expect.Value(ecdsa.GenerateKey(elliptic.P256(), crand.Reader))(t)}
}

func (s sealer) sign(t *testing.T, text []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(text)
	return expect.Value(ecdsa.SignASN1(crand.Reader, s.key, sum[:]))(t)
}

func (s sealer) signed(text, signature []byte) bool {
	sum := sha256.Sum256(text)
	return ecdsa.VerifyASN1(&s.key.PublicKey, sum[:], signature)
}

func row(n int) Row {
	content, _ := Canonical(map[string]any{"action": "prompt.approved", "actor": fmt.Sprintf("U%04d", n%7),
		"details": map[string]any{"n": n}})
	return Row{Key: fmt.Sprintf("AUDIT#%s#2026-04/%06d", tenant, n), Content: content,
		At: at().Add(time.Duration(n) * time.Second)}
}

func salt(n int) string { return fmt.Sprintf("%064x", n) }

// seal makes a log of n rows in links of at most per rows, and stores its head.
func seal(t *testing.T, s sealer, n, per int) log {
	t.Helper()
	var out log
	for i := range n {
		out.rows = append(out.rows, row(i))
	}
	last := Head{Tenant: tenant}
	for part := range slices.Chunk(out.rows, per) {
		l := expect.Value(Next(last, salt(len(out.links)+1), part, part[len(part)-1].At))(t)
		l.Signature = s.sign(t, l.Text())
		out.links = append(out.links, l)
		last = l.Head(l.At)
	}
	out.keep(t, s)
	return out
}

// keep stores a head that names the last link.
func (l *log) keep(t *testing.T, s sealer) {
	t.Helper()
	last := l.links[len(l.links)-1]
	head := last.Head(last.At)
	head.Signature = s.sign(t, head.Text())
	l.head = &head
}

// more seals additional rows.
func (l *log) more(t *testing.T, s sealer, late bool, rows ...Row) {
	t.Helper()
	last := l.links[len(l.links)-1]
	next := expect.Value(Next(last.Head(last.At), salt(len(l.links)+1), rows, later()))(t)
	next.Late = late
	next.Signature = s.sign(t, next.Text())
	l.links = append(l.links, next)
}

func (l log) copy() log {
	links := slices.Clone(l.links)
	for i := range links {
		links[i].Entries = slices.Clone(links[i].Entries)
	}
	return log{l.head, links, slices.Clone(l.rows)}
}

// later returns a time at which all rows must be sealed.
func later() time.Time { return at().Add(48 * time.Hour) }
