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

// Newest has the revision of the newest row of each Relied type by its key, each behind a space; 0 for a row that was
// deleted: " TASK=2 PROMPT#0001=5". It stands in the head, whose revision every Change requires, so that a decision may
// rely on such a row, or on there being none after it, without a condition of its own.
type Newest string

// of returns the entry of a key's type with the space before it, or "".
func (n Newest) of(key string) string {
	typ, _, _ := strings.Cut(key, "#")
	i := strings.Index(string(n), " "+typ)
	if i < 0 {
		return ""
	}
	end := strings.IndexByte(string(n[i+1:]), ' ')
	if end < 0 {
		return string(n[i:])
	}
	return string(n[i : i+1+end])
}

// Key returns the key of the newest row of a type, such as PROMPT, as it was noted last; "" if there is none.
func (n Newest) Key(typ string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(n.of(typ), " "), "=")
	return key
}

// entryOf returns a row's entry, "" if the row isn't Relied.
func entryOf(r Row, rev int) string {
	if _, relied := r.(Relied); !relied {
		return ""
	}
	return " " + r.Key() + "=" + strconv.Itoa(rev)
}

// After returns the Newest of the head that a Change of the head with revision rev leaves.
func (n Newest) After(rev int, c Change) Newest {
	for _, r := range c.Rows {
		n = n.with(r, rev+1)
	}
	for _, r := range c.Drop {
		n = n.with(r, 0)
	}
	return n
}

// with notes a row's revision unless a newer row of its type is noted.
func (n Newest) with(r Row, rev int) Newest {
	last, entry := n.of(r.Key()), entryOf(r, rev)
	if entry == "" || last > " "+r.Key()+"~" { // a newer key's: after this key comes "=", which is below "~"
		return n
	}
	return Newest(strings.Replace(string(n), last, "", 1) + entry)
}

// Unproven returns those rows of which the head doesn't prove that they are as they were read, or still absent.
func (n Newest) Unproven(rows []Row) (out []Row) {
	for _, r := range rows {
		last, entry := n.of(r.Key()), entryOf(r, r.Revision())
		if entry == "" || last != entry && (r.Revision() > 0 || last >= " "+r.Key()) {
			out = append(out, r)
		}
	}
	return out
}
