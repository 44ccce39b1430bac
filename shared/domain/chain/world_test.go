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

// unseal removes a row's entries from the links.
func (l *log) unseal(key string) {
	for i := range l.links {
		l.links[i].Entries = slices.DeleteFunc(l.links[i].Entries, func(e Entry) bool { return e.Key == key })
	}
}

// later returns a time at which all rows must be sealed.
func later() time.Time { return at().Add(48 * time.Hour) }
