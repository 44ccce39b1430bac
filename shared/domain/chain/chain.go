// Package chain seals audit rows so that later changes are detected. Each link lists the rows that it seals by key and
// salted hash, contains the hash of the previous link, and is signed. The package does no I/O.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// form is the first line of a link's text. A different format must have a different first line.
const form = "ringi-chain 1"

// Note records an irregularity that the sealer saw in a row. It is sealed with the row, so that it is found in every
// later check.
type Note string

const (
	Misdated Note = "misdated" // its time differs from the table's by more than Drift
	Modified Note = "modified" // overwritten; the hash is of the new content
	Deleted  Note = "deleted"  // the hash is of the deleted content
)

// Drift is how far a row's time may differ from the time at which the table stored it.
const Drift = 2 * time.Minute

// Row is an audit row as stored in the table.
type Row struct {
	Key     string // from KeyOf
	Content []byte // from Canonical
	At      time.Time
	Note    Note // only for sealing
}

// Entry is one sealed row in a link.
type Entry struct {
	Key  string `json:"key"`
	Hash string `json:"hash"` // see HashOf
	Note Note   `json:"note,omitempty"`
}

// Link is a signed link that seals rows.
type Link struct {
	Tenant    string    `json:"tenant_id"`
	Seq       int       `json:"seq"`      // from 1
	Previous  string    `json:"previous"` // ID of the previous link, empty for the first
	Salt      string    `json:"salt"`     // 64 hex digits, different for each link
	At        time.Time `json:"at"`
	Late      bool      `json:"late,omitempty"` // it seals rows that were not sealed in time
	Entries   []Entry   `json:"entries"`
	Signature []byte    `json:"signature"`
}

// Head records the length of a chain. It is stored where nobody can delete it.
type Head struct {
	Tenant    string    `json:"tenant_id"`
	Seq       int       `json:"seq"`
	Link      string    `json:"link"` // ID of the last link
	At        time.Time `json:"at"`
	Signature []byte    `json:"signature"`
}

// HashOf returns the hash of a row in a link: the SHA-256 of the salt's bytes, the key, a zero byte and the content.
// Once the salt is deleted with the link's row, short contents can't be found by guessing.
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

// Next returns the unsigned link after last. For the first link, last has only a Tenant. It returns an error for a key
// with a space or a line break.
func Next(last Head, salt string, rows []Row, now time.Time) (Link, error) {
	l := Link{Tenant: last.Tenant, Seq: last.Seq + 1, Previous: last.Link, Salt: salt,
		At: now.UTC().Truncate(time.Millisecond)}
	if l.At.Before(last.At) {
		l.At = last.At // clocks of machines differ
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

// Text returns the text to sign: a line for each field and each entry, so that any program can reproduce it.
func (l Link) Text() []byte {
	var b strings.Builder
	late := "in time"
	if l.Late {
		late = "late"
	}
	fmt.Fprintf(&b, "%s\ntenant %s\nseq %d\nprevious %s\nsalt %s\nat %s\n%s\n", form, l.Tenant, l.Seq, l.Previous, l.Salt,
		moment(l.At), late)
	for _, e := range l.Entries {
		fmt.Fprintf(&b, "row %s %s", e.Key, e.Hash)
		if e.Note != "" {
			fmt.Fprintf(&b, " %s", e.Note)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// ID returns the hash of the link's text.
func (l Link) ID() string {
	sum := sha256.Sum256(l.Text())
	return hex.EncodeToString(sum[:])
}

// Head returns the unsigned head of a chain that ends with this link.
func (l Link) Head(now time.Time) Head {
	return Head{Tenant: l.Tenant, Seq: l.Seq, Link: l.ID(), At: now.UTC().Truncate(time.Millisecond)}
}

// Text returns the text to sign.
func (h Head) Text() []byte {
	return fmt.Appendf(nil, "ringi-head 1\ntenant %s\nseq %d\nlink %s\nat %s\n", h.Tenant, h.Seq, h.Link, moment(h.At))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// KeyOf joins a row's partition and sort key. Bytes other than letters, digits and #-_.:* are percent-encoded, so that
// the result is unique and has no line break.
func KeyOf(partition, sort string) string { return escape(partition) + "/" + escape(sort) }

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("#-_.:*", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Canonical encodes a row's content independently of the order of its members: JSON with sorted members, no white
// space, and numbers unchanged. members must be decoded with UseNumber.
func Canonical(members map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		return nil, fmt.Errorf("write a row's content: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
