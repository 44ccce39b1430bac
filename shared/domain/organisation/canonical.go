package organisation

import (
	"bytes"
	"cmp"
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

// Rows returns the rows of a file that says what the organisation says: the header, then a row for each post, by number
// and day, then one for each department that has no post on some of its days. Read makes the same organisation of them.
// Headers and words are those of a language.
func (o *Organisation) Rows(locale string) [][]string {
	w := written{o: o, locale: locale, departments: map[string][]Department{}, ranks: map[string]int{},
		named: map[string][]Period{}}
	for _, d := range o.departments {
		w.departments[d.Code] = append(w.departments[d.Code], d)
	}
	for _, p := range o.positions {
		w.ranks[p.Name] = p.Rank
	}
	w.row(func(c Column) string { return c.Header(locale) })
	posts := slices.Clone(o.posts)
	slices.SortStableFunc(posts, func(a, b Post) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.From, b.From))
	})
	for _, p := range posts {
		w.post(p)
	}
	for _, d := range o.departments {
		w.department(d)
	}
	return w.rows
}

// Header returns the header of a file.
func Header(locale string) []string { return (&Organisation{}).Rows(locale)[0] }

// written is a file that is being written.
type written struct {
	o           *Organisation
	locale      string
	departments map[string][]Department // by code
	ranks       map[string]int          // by position
	named       map[string][]Period     // by department: the days on which a row of a post names it
	rows        [][]string
}

func (w *written) row(cell func(Column) string) {
	var row []string
	for _, c := range columns {
		row = append(row, cell(c))
	}
	w.rows = append(w.rows, row)
}

// post writes a post: a row for each part of its days on which person and department stay the same.
func (w *written) post(p Post) {
	for _, person := range w.o.of(p.Number) {
		for _, d := range w.departments[p.Department] {
			during, ok := common(p.Period, person.Period, d.Period)
			if !ok {
				continue
			}
			w.named[d.Code] = append(w.named[d.Code], during)
			w.row(func(c Column) string { return w.cell(c, person, p, d, during) })
		}
	}
}

func (w *written) cell(c Column, person Person, p Post, d Department, during Period) string {
	switch c {
	case ColumnNumber:
		return p.Number
	case ColumnName:
		return person.Name
	case ColumnMail:
		return strings.Join(person.Mails, ";")
	case ColumnPosition:
		return p.Position
	case ColumnRank:
		if rank := w.ranks[p.Position]; rank > 0 {
			return strconv.Itoa(rank)
		}
		return ""
	case ColumnPost:
		return PostWord(p.Main, w.locale)
	case ColumnManager:
		return person.Manager
	case ColumnEmployment:
		return person.Kind.Word(w.locale)
	case ColumnStatus:
		if person.Away {
			return awayIn.In(w.locale)
		}
		return ""
	}
	return ofDepartment(c, d, during)
}

// ofDepartment returns a cell of the columns that a row without a person has, too.
func ofDepartment(c Column, d Department, during Period) string {
	switch c {
	case ColumnDepartment:
		return d.Code
	case ColumnDepartmentName:
		return d.Name
	case ColumnParent:
		return d.Parent
	case ColumnFrom:
		return during.From.String()
	case ColumnTo:
		return during.To.String()
	}
	return ""
}

// department writes a row of a department only, unless rows of posts name it on all of its days.
func (w *written) department(d Department) {
	if _, missing := uncovered(d.Period, union(w.named[d.Code])); missing {
		w.row(func(c Column) string { return ofDepartment(c, d, d.Period) })
	}
}

// common returns the days that are in all of some periods.
func common(all ...Period) (Period, bool) {
	from, end := all[0].From, all[0].end()
	for _, p := range all[1:] {
		from, end = max(from, p.From), min(end, p.end())
	}
	return until(from, end), from < end
}
