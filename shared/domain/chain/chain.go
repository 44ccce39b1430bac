// Package chain seals audit rows so that a later change of them shows: each link lists the rows that it seals, by key
// and salted hash, names the link before it by its hash, and is signed. It reads and writes nothing itself.
package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// form is the first line of a link's text; another form gets another line.
const form = "ringi-chain 1"

// Note is what the sealer saw of a row that is not as it should be. It is sealed with the row, and a finding for ever.
type Note string

const (
	Misdated Note = "misdated" // its time is more than Drift off the table's
	Modified Note = "modified" // written over: the hash is of what it became
	Deleted  Note = "deleted"  // the hash is of what it was
)

// Drift is how far a row's time may be off the time at which the table took it.
const Drift = 2 * time.Minute

// Row is an audit row as the table has it.
type Row struct {
	Key     string // of KeyOf
	Content []byte // of Canonical
	At      time.Time
	Note    Note // when it is sealed only
}

// Entry is one row in a link.
type Entry struct {
	Key  string `json:"key"`
	Hash string `json:"hash"` // see HashOf
	Note Note   `json:"note,omitempty"`
}

// Link seals rows.
type Link struct {
	Tenant    string    `json:"tenant_id"`
	Seq       int       `json:"seq"`      // from 1
	Previous  string    `json:"previous"` // ID of the link before, empty for the first
	Salt      string    `json:"salt"`     // 64 hex digits, of this link alone
	At        time.Time `json:"at"`
	Late      bool      `json:"late,omitempty"` // it seals what was not sealed in its time
	Entries   []Entry   `json:"entries"`
	Signature []byte    `json:"signature"`
}

// Head says how long a chain is. It is kept where nobody can take it back.
type Head struct {
	Tenant    string    `json:"tenant_id"`
	Seq       int       `json:"seq"`
	Link      string    `json:"link"` // ID of the last one
	At        time.Time `json:"at"`
	Signature []byte    `json:"signature"`
}

// HashOf is what a link has of a row: the SHA-256 of the salt's bytes, the key, a zero byte and the content. Without
// the salt, which expires with the link's row, nobody finds a short content by trying.
func HashOf(salt string, r Row) (string, error) {
	b, err := hex.DecodeString(salt)
	if err != nil || len(b) != sha256.Size {
		return "", errors.New("salt must be 64 hex digits")
	}
	h := sha256.New()
	h.Write(b)
	h.Write([]byte(r.Key))
	h.Write([]byte{0})
	h.Write(r.Content)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Next is the link behind last, a Head of the tenant alone for the first, unsigned. A key that can't stand on a line of
// its own is refused.
func Next(last Head, salt string, rows []Row, now time.Time) (Link, error) {
	l := Link{Tenant: last.Tenant, Seq: last.Seq + 1, Previous: last.Link, Salt: salt, At: now.UTC().Truncate(time.Millisecond)}
	if l.At.Before(last.At) {
		l.At = last.At // one machine's clock is behind another's
	}
	for _, r := range rows {
		if !oneWord(r.Key) {
			return Link{}, fmt.Errorf("key %.40q has a space or a line break, or is empty", r.Key)
		}
		hash, err := HashOf(salt, r)
		if err != nil {
			return Link{}, err
		}
		l.Entries = append(l.Entries, Entry{r.Key, hash, r.Note})
	}
	return l, nil
}

func oneWord(key string) bool { return key != "" && !strings.ContainsAny(key, " \n\r") }

// Text is the signed text of a link: a line for each field, and one for each entry. A program in any language can write the same.
func (l Link) Text() []byte {
	var b strings.Builder
	late := "in time"
	if l.Late {
		late = "late"
	}
	fmt.Fprintf(&b, "%s\ntenant %s\nseq %d\nprevious %s\nsalt %s\nat %s\n%s\n", form, l.Tenant, l.Seq, l.Previous, l.Salt, moment(l.At), late)
	for _, e := range l.Entries {
		fmt.Fprintf(&b, "row %s %s", e.Key, e.Hash)
		if e.Note != "" {
			fmt.Fprintf(&b, " %s", e.Note)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// ID names a link by all that it says.
func (l Link) ID() string {
	sum := sha256.Sum256(l.Text())
	return hex.EncodeToString(sum[:])
}

// Head is the head of a chain that ends with this link, unsigned.
func (l Link) Head(now time.Time) Head {
	return Head{Tenant: l.Tenant, Seq: l.Seq, Link: l.ID(), At: now.UTC().Truncate(time.Millisecond)}
}

// Text is the signed text of a head.
func (h Head) Text() []byte {
	return fmt.Appendf(nil, "ringi-head 1\ntenant %s\nseq %d\nlink %s\nat %s\n", h.Tenant, h.Seq, h.Link, moment(h.At))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
