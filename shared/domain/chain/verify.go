package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// Unsealed is how old a row may be without being sealed.
	Unsealed = time.Minute
	// Unkept is how old a link may be without a stored head that covers it. A head is stored every minute.
	Unkept = 3 * time.Minute
)

// Flaw is a kind of disagreement between a chain and its rows.
type Flaw string

const (
	Changed  Flaw = "changed"  // a row differs from its sealed content
	Removed  Flaw = "removed"  // a sealed row is missing
	Inserted Flaw = "inserted" // a row was not sealed in time
	Forged   Flaw = "forged"   // a link or the head has no valid signature
	Broken   Flaw = "broken"   // a link does not follow its predecessor
	Cut      Flaw = "cut"      // the chain ends before its head
	Loose    Flaw = "loose"    // old links are not covered by the stored head
	Touched  Flaw = "touched"  // the sealer saw that a row was changed or removed
	Dated    Flaw = "dated"    // a row's time differs from the table's, or is in the future
)

// Finding is a flaw and its location.
type Finding struct {
	Flaw  Flaw
	Where string // a row's key, "link 7" or "head"
}

// Report is the result of a check.
type Report struct {
	Findings []Finding
	Sealed   int      // number of rows that match their seals
	Late     []string // keys of rows that were sealed late
	Waiting  []string // keys of rows too young to be sealed; nothing is proved about them
	Behind   []string // keys of rows sealed by links that no stored head covers; removing both would go unnoticed
}

// Signed reports whether the signature is the sealer's signature of the text.
type Signed func(text, signature []byte) bool

// Verify checks all rows of a tenant's audit log against its chain, and the chain against the stored head, which is nil
// if there is none yet. links and rows may be in any order.
func Verify(tenant string, head *Head, links []Link, rows []Row, signed Signed, now time.Time) Report {
	c := check{signed: signed, entries: map[string][]sealed{}}
	links = slices.SortedFunc(slices.Values(links), func(a, b Link) int { return cmp.Compare(a.Seq, b.Seq) })
	c.links(tenant, links)
	c.head(tenant, head, links, now)
	c.rows(rows, now)
	c.sort()
	return c.report
}

// sealed is an entry with the data needed to check a row against it.
type sealed struct {
	hash, salt string
	late       bool
	seq        int
}

type check struct {
	signed  Signed
	entries map[string][]sealed // by row key
	report  Report
	touched []Finding
	kept    int // seq of the stored head
}

func (c *check) sort() {
	slices.SortFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where),
			cmp.Compare(a.Flaw, b.Flaw))
	})
}

func (c *check) found(f Flaw, where string) {
	c.report.Findings = append(c.report.Findings, Finding{f, where})
}

func (c *check) links(tenant string, links []Link) {
	previous := ""
	for i, l := range links {
		where := fmt.Sprintf("link %d", l.Seq)
		if l.Tenant != tenant || !l.formed() || !c.signed(l.Text(), l.Signature) {
			c.found(Forged, where)
		}
		if l.Seq != 1+i || l.Previous != previous {
			c.found(Broken, where)
		}
		previous = l.ID()
		for _, e := range l.Entries {
			c.entry(l, e)
		}
	}
}

// formed reports whether every field is a single word. Otherwise the signed text would be ambiguous: a line break in a
// note or a space in a key could make the same text seal other rows.
func (l Link) formed() bool {
	if !digest(l.Salt) || l.Previous != "" && !digest(l.Previous) {
		return false
	}
	return !slices.ContainsFunc(l.Entries, func(e Entry) bool {
		return !oneWord(e.Key) || !digest(e.Hash) || e.Note != "" && e.Note != Misdated && e.Note != Modified &&
			e.Note != Deleted
	})
}

// digest reports whether a text has the form of a SHA-256 in hex.
func digest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// entry collects a link's entry for a row. Entries about changed or deleted rows are reported as Touched, but rows need
// not match them.
func (c *check) entry(l Link, e Entry) {
	switch e.Note {
	case Modified, Deleted:
		c.touched = append(c.touched, Finding{Touched, e.Key})
		return
	case Misdated:
		c.touched = append(c.touched, Finding{Dated, e.Key})
	}
	c.entries[e.Key] = append(c.entries[e.Key], sealed{e.Hash, l.Salt, l.Late, l.Seq})
}

// head checks the stored head. It finds links that were removed from the end, and links that should already be covered
// by a later head.
func (c *check) head(tenant string, head *Head, links []Link, now time.Time) {
	switch {
	case head == nil:
	case head.Tenant != tenant || !c.signed(head.Text(), head.Signature):
		c.found(Forged, "head")
	default:
		c.kept = head.Seq
		if !slices.ContainsFunc(links, func(l Link) bool { return l.Seq == head.Seq && l.ID() == head.Link }) {
			c.found(Cut, "head")
		}
	}
	for _, l := range links {
		if l.Seq > c.kept && l.At.Before(now.Add(-Unkept)) {
			c.found(Loose, fmt.Sprintf("link %d", l.Seq))
		}
	}
}

// Forgotten returns a finding for each stored head whose link is not in the chain. Such a chain was truncated, even if
// it has grown again.
func Forgotten(heads []Head, links []Link) (found []Finding) {
	ids := map[int]string{}
	for _, l := range links {
		ids[l.Seq] = l.ID()
	}
	for _, h := range heads {
		if ids[h.Seq] != h.Link {
			found = append(found, Finding{Cut, fmt.Sprintf("head %d of %s", h.Seq, moment(h.At))})
		}
	}
	return found
}

func (c *check) rows(rows []Row, now time.Time) {
	there := map[string]bool{}
	for _, r := range rows {
		switch all := c.entries[r.Key]; {
		case there[r.Key]:
			c.found(Inserted, r.Key)
		case len(all) == 0 && r.At.After(now.Add(Drift)): // it would wait forever
			c.found(Dated, r.Key)
		case len(all) == 0 && !r.At.Before(now.Add(-Unsealed)):
			c.report.Waiting = append(c.report.Waiting, r.Key)
		case len(all) == 0:
			c.found(Inserted, r.Key)
		case !slices.ContainsFunc(all, func(s sealed) bool { return !s.holds(r) }):
			c.report.Sealed++
			if !slices.ContainsFunc(all, func(s sealed) bool { return !s.late }) {
				c.report.Late = append(c.report.Late, r.Key)
			}
			if !slices.ContainsFunc(all, func(s sealed) bool { return s.seq <= c.kept }) {
				c.report.Behind = append(c.report.Behind, r.Key)
			}
		default:
			c.found(Changed, r.Key)
		}
		there[r.Key] = true
	}
	for key := range c.entries {
		if !there[key] {
			c.found(Removed, key)
		}
	}
	c.report.Findings = append(c.report.Findings, c.touched...)
}

// holds reports whether the row matches the entry. A row that was sealed twice must match both entries.
func (s sealed) holds(r Row) bool {
	hash, err := HashOf(s.salt, r)
	return err == nil && hash == s.hash
}
