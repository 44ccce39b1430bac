package organisation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

// Reading is as what a column of a file is read: a column, and of which of a person's posts, or of which level. The
// zero Reading is a column that is ignored.
type Reading struct {
	Column Column
	Nth    int // from 1
}

// String writes a reading as forms and rows have it.
func (r Reading) String() string {
	switch {
	case r.Column == "":
		return Ignored
	case r.Nth > 1:
		return fmt.Sprintf("%s.%d", r.Column, r.Nth)
	}
	return string(r.Column)
}

// ParseReading reads what String wrote; false for anything else.
func ParseReading(s string) (Reading, bool) {
	if s == Ignored {
		return Reading{}, true
	}
	name, nth, numbered := strings.Cut(s, ".")
	r := Reading{Column(name), 1}
	if numbered {
		r.Nth, _ = strconv.Atoi(nth)
	}
	known := r.Column == ColumnLevelCode ||
		slices.ContainsFunc(aliases, func(a alias) bool { return a.column == r.Column })
	return r, known && r.Nth >= 1 && r.Nth <= mostNumbered && r.String() == s && (r.Nth == 1 || r.numbered())
}

// mostNumbered is how many posts of a person, or levels of departments, a row may have.
const mostNumbered = 20

// numbered reports whether several columns of a row may be read as this one, of different posts or levels.
func (r Reading) numbered() bool {
	return r.places() || r.Column == ColumnPosition || r.Column == ColumnLevelCode
}

// places reports whether a column says where somebody works.
func (r Reading) places() bool {
	switch r.Column {
	case ColumnDepartment, ColumnDepartmentName, ColumnPath, ColumnLevel:
		return true
	}
	return false
}

func lower(s string) string { return strings.ToLower(folded(s)) }

var (
	// noted matches what products write beside a column's name; a column that only goes up has no alias.
	noted = language.Regexp{Text: `^[*※●■◎]+\s*|\s*(?:\[(?:required|read only)\]|【[^】]*】|\((?:必須|任意)\))\s*$`}
	// joints are signs between the words of a name.
	joints = strings.NewReplacer(" ", "", "_", "", "-", "", "・", "", "/", "", ":", "", ".", "")
	// second matches words for posts that are not the main one, main those for the main one.
	second, first = language.Regexp{Text: `兼務|兼任`}, language.Regexp{Text: `主務|本務`}
	digits        = language.Regexp{Text: `[0-9]+`}
)

// key is what is compared of a header.
func key(header string) string {
	return joints.Replace(noted.Get().ReplaceAllString(lower(header), ""))
}

// find returns the column of a key.
func find(all []alias, key string) (Column, bool) {
	for _, a := range all {
		if a.key == key {
			return a.column, true
		}
	}
	return "", false
}

// readingOf returns as what a column is read by its header, in any layout.
func readingOf(header string) (Reading, bool) { return (&layout{}).reading(header) }

// named matches the name by which Microsoft's templates know a column, beside the one that people read. An alias in
// brackets is one that means something else there: [accountEnabled] says whether signing in is blocked.
var named = language.Regexp{Text: `\[([A-Za-z]+)\]`}

// reading returns as what a column is read by its header: 部署, 部署2 部署, 兼務部署1, 役職(兼務2) or 上司(主務).
func (l *layout) reading(header string) (Reading, bool) {
	k := key(header)
	if c, ok := l.column(k); ok {
		return Reading{c, 1}, true
	}
	if name := named.Get().FindStringSubmatch(header); name != nil {
		for _, k := range []string{lower(name[0]), lower(name[1])} {
			if c, ok := l.column(k); ok {
				return Reading{c, 1}, true
			}
		}
	}
	rest, nth, ok := number(k)
	if !ok {
		return Reading{}, false
	}
	if second.Get().MatchString(rest) {
		rest, nth = second.Get().ReplaceAllString(rest, ""), max(nth, 1)+1
	}
	rest = strings.TrimSuffix(first.Get().ReplaceAllString(rest, ""), "()")
	c, ok := l.column(rest)
	for _, again := range []string{"部署", "部門", "所属", "役職"} { // 部署2 部署, 役職1 役職名
		if name, twice := strings.CutPrefix(rest, again); twice && !ok {
			c, ok = l.column(name)
		}
	}
	r := Reading{c, max(nth, 1)}
	return r, ok && rest != k && (r.numbered() || nth == 0) && r.Nth <= mostNumbered
}

// number returns a key without the number in it; false if it has two.
func number(key string) (rest string, nth int, ok bool) {
	all := digits.Get().FindAllString(key, -1)
	if len(all) == 0 {
		return key, 0, true
	}
	if slices.ContainsFunc(all, func(n string) bool { return n != all[0] }) {
		return key, 0, false
	}
	nth, err := strconv.Atoi(all[0])
	return digits.Get().ReplaceAllString(key, ""), nth, err == nil && nth >= 1
}

func (l *layout) column(key string) (Column, bool) {
	if c, ok := find(l.columns, key); ok {
		return c, true
	}
	return find(aliases, key)
}

// detect returns the layout of a file by its header.
func detect(header []string) *layout {
	var keys []string
	for _, h := range header {
		keys = append(keys, key(h))
		if name := named.Get().FindStringSubmatch(h); name != nil {
			keys = append(keys, lower(name[1]))
		}
	}
	lacks := func(k string) bool { return !slices.Contains(keys, k) }
	for i := range layouts {
		l := &layouts[i]
		if l.ID == Own && slices.ContainsFunc(header, foreign) {
			continue
		}
		if slices.ContainsFunc(l.marks, func(all []string) bool { return !slices.ContainsFunc(all, lacks) }) {
			return l
		}
	}
	return &layouts[len(layouts)-1]
}

// foreign reports whether a column is one that Ringi's own files don't have, but others do.
func foreign(header string) bool {
	r, ok := readingOf(header)
	return ok && (r.Nth > 1 || !slices.Contains(columns, r.Column))
}
