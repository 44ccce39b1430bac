package organisation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// MaxBatch is the maximum size of a batch's rows in bytes. An item of DynamoDB has at most 400 KB with its keys.
const MaxBatch = 300 << 10

// record is one line of Canonical. One of its members is set.
type record struct {
	Position   *Position   `json:"position,omitempty"`
	Department *Department `json:"department,omitempty"`
	Person     *Person     `json:"person,omitempty"`
	Post       *Post       `json:"post,omitempty"`
}

// Canonical returns the organisation as bytes that only depend on what it says: lines of JSON, first the positions,
// then the departments, the people and the posts, each sorted.
func (o *Organisation) Canonical() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	put := func(r record) {
		if err := e.Encode(r); err != nil {
			panic(fmt.Sprintf("encode an organisation: %v", err)) // records hold only strings, numbers and booleans
		}
	}
	for i := range o.positions {
		put(record{Position: &o.positions[i]})
	}
	for i := range o.departments {
		put(record{Department: &o.departments[i]})
	}
	for i := range o.people {
		put(record{Person: &o.people[i]})
	}
	for i := range o.posts {
		put(record{Post: &o.posts[i]})
	}
	return b.Bytes()
}

// SHA256 is the hexadecimal SHA-256 of Canonical.
func (o *Organisation) SHA256() string {
	sum := sha256.Sum256(o.Canonical())
	return hex.EncodeToString(sum[:])
}

// Batch is a part of Canonical that fits into a row of the table.
type Batch struct {
	Part  int    `json:"part"` // from 1
	Parts int    `json:"parts"`
	Rows  string `json:"rows"` // whole lines
}

// Batches splits Canonical.
func (o *Organisation) Batches() []Batch { return batches(o.Canonical()) }

// batches splits lines of at most 10 KB each.
func batches(lines []byte) (all []Batch) {
	for rest := lines; len(rest) > 0; {
		n := len(rest)
		if n > MaxBatch {
			n = 1 + bytes.LastIndexByte(rest[:MaxBatch], '\n')
		}
		all, rest = append(all, Batch{Part: len(all) + 1, Rows: string(rest[:n])}), rest[n:]
	}
	for i := range all {
		all[i].Parts = len(all)
	}
	return all
}

// ErrIncomplete says that batches are not all of one organisation.
var ErrIncomplete = errors.New("the organisation's batches are not complete")

// Assemble reads batches in any order. It returns ErrIncomplete if one is missing, and an error for anything that this
// release doesn't know. The caller compares SHA256 with that of the version.
func Assemble(batches []Batch) (*Organisation, error) {
	all, err := joinedRows(batches)
	if err != nil {
		return nil, err
	}
	return Decode(all)
}

// joinedRows puts the rows of batches in their order.
func joinedRows(batches []Batch) ([]byte, error) {
	batches = slices.Clone(batches)
	sort.Slice(batches, func(i, j int) bool { return batches[i].Part < batches[j].Part })
	var all bytes.Buffer
	for i, b := range batches {
		if b.Part != i+1 || b.Parts != len(batches) {
			return nil, fmt.Errorf("part %d of %d: %w", b.Part, b.Parts, ErrIncomplete)
		}
		all.WriteString(b.Rows)
	}
	if len(batches) == 0 {
		return nil, ErrIncomplete
	}
	return all.Bytes(), nil
}

var errNotCanonical = errors.New("it is not how an organisation is written")

// Decode reads what Canonical returned. Anything else is an error, also other bytes that would say the same.
func Decode(canonical []byte) (*Organisation, error) {
	o := &Organisation{}
	for number, rest := 1, canonical; len(rest) > 0; number++ {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		if err := o.decode(text); err != nil {
			return nil, fmt.Errorf("read line %d of an organisation: %w", number, err)
		}
		rest = after
	}
	o.sort()
	if !bytes.Equal(o.Canonical(), canonical) {
		return nil, fmt.Errorf("read an organisation: %w", errNotCanonical)
	}
	return o, nil
}

func (o *Organisation) decode(text []byte) error {
	var r record
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return err
	}
	switch {
	case r.Position != nil:
		o.positions = append(o.positions, *r.Position)
	case r.Department != nil:
		o.departments = append(o.departments, *r.Department)
	case r.Person != nil:
		o.people = append(o.people, *r.Person)
	case r.Post != nil:
		o.posts = append(o.posts, *r.Post)
	}
	return nil
}

// Rows returns the rows of a file that says what the organisation says: the header, then a row for each post, by
// number, then one for each department that has no post. Read makes the same organisation of them. Headers and words
// are those of a language.
func (o *Organisation) Rows(locale string) [][]string {
	out := [][]string{Header(locale)}
	row := func(p Post, d Department) {
		person, is := o.byNumber[p.Number]
		rank, main := "", ""
		if n := o.ranks[p.Position]; n > 0 {
			rank = strconv.Itoa(n)
		}
		if is {
			main = PostWord(p.Main, locale)
		}
		out = append(out, []string{p.Number, person.Name, strings.Join(person.Mails, ";"), d.Code, d.Name, d.Parent,
			p.Position, rank, main, person.Manager, person.Kind.Word(locale)})
	}
	for _, p := range o.posts {
		row(p, o.byCode[p.Department])
	}
	for _, d := range o.departments {
		if len(o.members[d.Code]) == 0 {
			row(Post{}, d)
		}
	}
	return out
}

// Header returns the header of a file.
func Header(locale string) []string { return headersIn.In(locale) }
