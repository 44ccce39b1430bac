package aggregate

import (
	"strconv"
	"strings"
)

// Relied is a row that many decisions rely on. The head notes the newest of each type.
type Relied interface {
	Row
	Relied()
}

// Newest has the revision of a Newest's head, and of the newest row of each Relied type by its key; 0 for a row that was
// deleted: "12 TASK=2 PROMPT#0001=5". It stands in the head, whose revision every Change requires, so that a decision
// may rely on such a row, or on there being none after it, without a condition of its own. It says nothing if its
// revision isn't the head's: then an early release committed since.
type Newest string

// FirstRows returns the Newest of a Change that creates an aggregate.
func FirstRows(c Change) Newest { return Newest("0").after(0, c) }

// Followed returns the Newest of the head that a Change of h leaves, "" if it can't be known.
func (h *Head) Followed(c Change) Newest { return h.Newest.after(h.Rev, c) }

// Proves reports whether a row is still as it was read, or still absent, while the head is h.
func (h *Head) Proves(r Row) bool {
	rows, ok := h.Newest.at(h.Rev)
	if _, relied := r.(Relied); !ok || !relied {
		return false
	}
	for _, x := range rows {
		if x.is(r.Key()) {
			return r.Key() > x.key && r.Revision() == 0 || r.Key() == x.key && r.Revision() == x.rev
		}
	}
	return r.Revision() == 0
}

// noted is an entry of a Newest.
type noted struct {
	key string
	rev int
}

// is reports whether a key is of the same type.
func (n noted) is(key string) bool {
	a, _, _ := strings.Cut(n.key, "#")
	b, _, _ := strings.Cut(key, "#")
	return a == b
}

// at returns the entries as of a head's revision, if there are any of it.
func (n Newest) at(rev int) (out []noted, ok bool) {
	all := strings.Fields(string(n))
	if len(all) == 0 || all[0] != strconv.Itoa(rev) {
		return nil, false
	}
	for _, x := range all[1:] {
		key, at, _ := strings.Cut(x, "=")
		number, err := strconv.Atoi(at)
		if err != nil {
			return nil, false
		}
		out = append(out, noted{key, number})
	}
	return out, true
}

// after returns the Newest after a Change of the head with revision rev.
func (n Newest) after(rev int, c Change) Newest {
	rows, ok := n.at(rev)
	if !ok {
		return ""
	}
	note := func(r Row, at int) {
		if _, relied := r.(Relied); !relied {
			return
		}
		for i, x := range rows {
			if x.is(r.Key()) {
				if r.Key() >= x.key {
					rows[i] = noted{r.Key(), at}
				}
				return
			}
		}
		rows = append(rows, noted{r.Key(), at})
	}
	for _, r := range c.Rows {
		note(r, rev+1)
	}
	for _, r := range c.Drop {
		note(r, 0)
	}
	out := strconv.Itoa(rev + 1)
	for _, x := range rows {
		out += " " + x.key + "=" + strconv.Itoa(x.rev)
	}
	return Newest(out)
}
