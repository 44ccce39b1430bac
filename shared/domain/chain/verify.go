package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// Unsealed is how young a row may be that no link seals yet.
	Unsealed = time.Minute
	// Unkept is how young a link may be that no head that was put away names yet: one is put away each minute.
	Unkept = 3 * time.Minute
)

// Flaw is a way in which a chain and its rows disagree.
type Flaw string

const (
	Changed  Flaw = "changed"  // a row is not what was sealed
	Removed  Flaw = "removed"  // a sealed row is gone
	Inserted Flaw = "inserted" // a row that nobody sealed in its time
	Forged   Flaw = "forged"   // a link or the head is not what was signed
	Broken   Flaw = "broken"   // a link does not follow the one before
	Cut      Flaw = "cut"      // the chain ends before its head
	Loose    Flaw = "loose"    // links behind the head that was put away, which nothing holds any more
	Touched  Flaw = "touched"  // the sealer saw that a row was changed or removed, whatever it is now
	Dated    Flaw = "dated"    // a row's time is not that at which the table took it, or has not come yet
)

// Finding is one flaw, and where.
type Finding struct {
	Flaw  Flaw
	Where string // a row's key, or "link 7", or "head"
}

// Report is what a check found.
type Report struct {
	Findings []Finding
	Sealed   int      // rows that are as they were sealed
	Late     []string // keys of those that were sealed late
	Waiting  []string // keys of those too young to be sealed: nothing is proved of them
	Behind   []string // keys of those sealed by links that no head names yet: a removal together with their links would not show
}

// Signed reports whether a signature of the sealer's key stands under a text.
type Signed func(text, signature []byte) bool

// Keys are all that ever signed a chain, in the order in which one took the place of the other: mostly there is one.
// What was signed by a later one is followed by nothing of an earlier one.
type Keys []Signed

// Any reports whether one of them signed a text.
func (k Keys) Any(text, signature []byte) bool { return k.from(0, text, signature) < len(k) }

// from is the first at or behind i that signed a text; else it is behind them all.
func (k Keys) from(i int, text, signature []byte) int {
	for ; i < len(k) && !k[i](text, signature); i++ {
	}
	return i
}

// Verify holds the rows of a tenant's audit log against its chain, all in any order, and the chain against the head
// that was put away; nil when none was yet.
func Verify(tenant string, head *Head, links []Link, rows []Row, keys Keys, now time.Time) Report {
	c := check{keys: keys, entries: map[string][]sealed{}}
	links = slices.SortedFunc(slices.Values(links), func(a, b Link) int { return cmp.Compare(a.Seq, b.Seq) })
	c.links(tenant, links)
	c.head(tenant, head, links, now)
	c.rows(rows, now)
	c.sort()
	return c.report
}

// VerifyPart holds some rows of a log against the part of its chain from the first link that seals one of them to the
// head that was put away. What else the links seal is not looked at, and no row may be unsealed.
func VerifyPart(tenant string, head *Head, links []Link, rows []Row, keys Keys) Report {
	c := check{keys: keys, entries: map[string][]sealed{}, part: true}
	links = slices.SortedFunc(slices.Values(links), func(a, b Link) int { return cmp.Compare(a.Seq, b.Seq) })
	c.links(tenant, links)
	if head == nil {
		c.found(Cut, "head")
	}
	c.head(tenant, head, links, time.Time{})
	c.rows(rows, time.Time{})
	c.sort()
	return c.report
}

// sealed is an entry with what it takes to hold a row against it.
type sealed struct {
	hash, salt string
	late       bool
	seq        int
}

type check struct {
	keys    Keys
	by      map[int]int         // which of them signed a link, by its seq
	entries map[string][]sealed // by key
	report  Report
	touched []Finding
	kept    int  // seq of the head
	part    bool // only some rows are there, and no link before the first that is needed
}

func (c *check) sort() {
	slices.SortFunc(c.report.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Flaw, b.Flaw)) })
}

func (c *check) found(f Flaw, where string) {
	c.report.Findings = append(c.report.Findings, Finding{f, where})
}

func (c *check) links(tenant string, links []Link) {
	first, previous := 1, ""
	if c.part && len(links) > 0 {
		first, previous = links[0].Seq, links[0].Previous
	}
	by := 0
	c.by = map[int]int{}
	for i, l := range links {
		where := fmt.Sprintf("link %d", l.Seq)
		if k := c.keys.from(by, l.Text(), l.Signature); l.Tenant != tenant || !l.formed() || k == len(c.keys) {
			c.found(Forged, where)
		} else {
			by = k
		}
		c.by[l.Seq] = by
		if l.Seq != first+i || l.Previous != previous {
			c.found(Broken, where)
		}
		previous = l.ID()
		for _, e := range l.Entries {
			c.entry(l, e)
		}
	}
}

// formed reports whether each member is one word of its own line, so that the signed text can be read in one way only:
// with a line break in a note, or a space in a key, the same text would seal other rows.
func (l Link) formed() bool {
	if !digest(l.Salt) || l.Previous != "" && !digest(l.Previous) {
		return false
	}
	return !slices.ContainsFunc(l.Entries, func(e Entry) bool {
		return !oneWord(e.Key) || !digest(e.Hash) || e.Note != "" && e.Note != Misdated && e.Note != Modified && e.Note != Deleted
	})
}

// digest reports whether a text is a SHA-256 in hex, or as long as one.
func digest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// entry takes what a link seals of a row. What it became, or that it is gone, is no state that it should be in.
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

// head finds links that were taken off the end: the head that was put away names one that is no longer there. Links
// behind it that should long be under another are found, too.
func (c *check) head(tenant string, head *Head, links []Link, now time.Time) {
	switch {
	case head == nil:
	case head.Tenant != tenant || c.keys.from(c.by[head.Seq], head.Text(), head.Signature) == len(c.keys):
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

// Forgotten are the heads that were put away and name a link that the chain no longer has: it was set back, and may
// have grown since to what it was.
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
		case len(all) == 0 && !c.part && r.At.After(now.Add(Drift)): // it would wait for ever
			c.found(Dated, r.Key)
		case len(all) == 0 && !c.part && !r.At.Before(now.Add(-Unsealed)):
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
		if !there[key] && !c.part {
			c.found(Removed, key)
		}
	}
	c.touches(there)
}

// touches are what the sealer saw: of a part, of its rows alone.
func (c *check) touches(there map[string]bool) {
	for _, f := range c.touched {
		if !c.part || there[f.Where] {
			c.report.Findings = append(c.report.Findings, f)
		}
	}
}

// holds reports whether the row is the one that was sealed. A row that was sealed twice must be both.
func (s sealed) holds(r Row) bool {
	hash, err := HashOf(s.salt, r)
	return err == nil && hash == s.hash
}
