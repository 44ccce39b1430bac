package rules

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits of an organisation's file, and of cells in characters.
const (
	MaxOrganisationBytes = 2 << 20
	MaxPosts             = 10_000
	maxName              = 100
	maxPosition          = 50
	maxDepartment        = 200
	maxMail              = 254 // what RFC 5321 leaves of a path of 256 bytes
	maxValue             = 40  // characters of a cell that a problem quotes
)

// columns are the fields of a row in the order of the headers. The first and the third are what a file must have.
var columns = []string{"person", "name", "department", "position", "head", "manager", "main"}

const colPerson, colName, colDepartment, colPosition, colHead, colManager, colMain = 0, 1, 2, 3, 4, 5, 6

var columnHeaders = language.InEach(
	[]string{"メールか Slack ID", "氏名", "部署", "役職", "部署の長", "上長", "主務"},
	[]string{"Email or Slack ID", "Name", "Department", "Position", "Head", "Manager", "Main"})

// alsoCalled are further names of columns, without blanks and in lower case.
var alsoCalled = map[string]int{"メール": colPerson, "メールアドレス": colPerson, "slackid": colPerson, "email": colPerson,
	"mail": colPerson, "e-mail": colPerson, "名前": colName, "長": colHead}

// OrganisationHeader returns the headers of a file in a language.
func OrganisationHeader(locale string) []string { return columnHeaders.In(locale) }

// OrganisationColumn returns the header of a problem's column in a language, "" of none.
func OrganisationColumn(column, locale string) string {
	if i := slices.Index(columns, column); i >= 0 {
		return columnHeaders.In(locale)[i]
	}
	return ""
}

// columnOf returns the place of the column that a header names in any language, -1 for none.
func columnOf(header string) int {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "_", "").Replace(language.Narrow(s)))
	}
	for _, locale := range language.All {
		is := func(h string) bool { return plain(h) == plain(header) }
		if i := slices.IndexFunc(columnHeaders.In(locale), is); i >= 0 {
			return i
		}
	}
	if i, is := alsoCalled[plain(header)]; is {
		return i
	}
	return -1
}

// affirmed is how a file says yes in a language.
var affirmed = language.InEach("はい", "yes")

// affirmative and negative are what else it may say, in lower case.
var affirmative, negative = []string{"はい", "yes", "y", "true", "1", "○", "〇"},
	[]string{"", "いいえ", "no", "n", "false", "0", "×", "-"}

// ReadOrganisation reads a file in UTF-8, with or without a byte order mark. If anything is wrong with it, there is no
// organisation, and all is said that could be found, by line: the field of a problem is the line, a dot and the column.
// Its last argument is another line, where one has to do with it.
func ReadOrganisation(file []byte) (*Organisation, aggregate.Problems) {
	r := &reader{}
	switch {
	case len(file) > MaxOrganisationBytes:
		r.wrong(0, "", "csv_bytes", MaxOrganisationBytes>>20)
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0")):
		r.wrong(0, "", "csv_workbook")
	case !utf8.Valid(file):
		good := bytes.ToValidUTF8(file, []byte{0})
		r.wrong(1+bytes.Count(good[:bytes.IndexByte(good, 0)], []byte("\n")), "", "csv_encoding")
	default:
		r.rows(bytes.TrimPrefix(file, []byte("\ufeff")))
		r.check()
	}
	slices.SortStableFunc(r.problems, func(a, b lineProblem) int { return cmp.Compare(a.line, b.line) })
	var all aggregate.Problems
	for _, p := range r.problems {
		all = append(all, p.Problem)
	}
	if len(all) > 0 {
		return nil, all
	}
	return newOrganisation(r.posts), nil
}

type lineProblem struct {
	line int
	aggregate.Problem
}

// reader reads the rows of a file.
type reader struct {
	columns  []int // of the cells, -1 where one is ignored
	posts    []Post
	problems []lineProblem
}

// wrong adds a problem of a line; 0 is the whole file.
func (r *reader) wrong(line int, column, code string, args ...any) {
	field := column
	if line > 0 {
		field = strings.TrimSuffix(fmt.Sprint(line, ".", column), ".")
	}
	r.problems = append(r.problems, lineProblem{line, aggregate.Problem{Field: field, Code: code, Args: args}})
}

// rows reads the header and the rows below it.
func (r *reader) rows(text []byte) {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	for n := 0; ; {
		cells, err := in.Read()
		if bad, is := errors.AsType[*csv.ParseError](err); is {
			r.wrong(bad.StartLine, "", "csv_quotes")
			return
		}
		if err != nil { // the end
			break
		}
		line, _ := in.FieldPos(0)
		switch blank := strings.TrimSpace(strings.Join(cells, "")) == ""; {
		case blank:
		case r.columns == nil:
			if !r.header(line, cells) {
				return
			}
		case n == MaxPosts:
			r.wrong(line, "", "csv_rows", MaxPosts)
			return
		default:
			n++
			r.row(line, cells)
		}
	}
	if len(r.posts)+len(r.problems) == 0 {
		r.wrong(0, "", "csv_empty")
	}
}

// header finds the columns; false if a file lacks one or has one twice.
func (r *reader) header(line int, cells []string) bool {
	for _, h := range cells {
		c := columnOf(h)
		if c >= 0 && slices.Contains(r.columns, c) {
			r.wrong(line, columns[c], "csv_twice")
		}
		r.columns = append(r.columns, c)
	}
	for _, c := range []int{colPerson, colDepartment} {
		if !slices.Contains(r.columns, c) {
			r.wrong(line, columns[c], "csv_missing")
		}
	}
	return len(r.problems) == 0
}

// errorValue matches what spreadsheets show for a formula without a value: Excel's and Google's errors, a column that
// is too narrow, and LibreOffice's errors.
var errorValue = language.Regexp{Text: `(?i)^(?:#(?:N/A|GETTING_DATA|NAME\?|[A-Z/0]+!)|##+|Err:\d{3})$`}

// row reads a row. Of one with a cell that can't be read nothing is checked that other rows say, too.
func (r *reader) row(line int, cells []string) {
	var of [7]string
	before := len(r.problems)
	for i, v := range cells {
		switch v = literal(strings.TrimSpace(v)); {
		case i >= len(r.columns):
			if v != "" {
				r.wrong(line, "", "csv_extra", quoted(v))
			}
			continue
		case r.columns[i] < 0:
			continue
		}
		c := r.columns[i]
		of[c] = v
		switch {
		case errorValue.Get().MatchString(language.Narrow(v)), v == "0" && c != colHead && c != colMain:
			r.wrong(line, columns[c], "csv_formula", quoted(v))
		case unseen(v):
			r.wrong(line, columns[c], "csv_unreadable", quoted(v))
		}
	}
	if len(r.problems) > before {
		return
	}
	p := Post{
		line:       line,
		Person:     r.person(line, colPerson, of[colPerson]),
		Name:       r.short(line, colName, of[colName], maxName),
		Department: r.short(line, colDepartment, departmentOf(of[colDepartment]), maxDepartment),
		Position:   r.short(line, colPosition, Posted(of[colPosition]), maxPosition),
		Head:       r.says(line, colHead, of[colHead]),
		Manager:    r.person(line, colManager, of[colManager]),
		Main:       r.says(line, colMain, of[colMain]),
	}
	switch {
	case len(r.problems) > before:
	case p.Person == "":
		r.wrong(line, columns[colPerson], "csv_required")
	case p.Department == "":
		r.wrong(line, columns[colDepartment], "csv_required")
	default:
		r.posts = append(r.posts, p)
	}
}

func quoted(s string) string { return language.Clip(s, maxValue) }

// literal returns the text of a cell without the apostrophe that keeps a spreadsheet from taking it for a formula.
func literal(s string) string {
	if rest, ok := strings.CutPrefix(s, "'"); ok && rest != "" && strings.ContainsRune("=+-@＝＋－＠|%", []rune(rest)[0]) {
		return rest
	}
	return s
}

// unseen reports whether a text has a character that can't be read or seen, other than blanks between its parts and the
// variation selectors by which some kanji of names are chosen.
func unseen(s string) bool {
	var before rune
	for _, r := range s {
		chosen := unicode.Is(unicode.Variation_Selector, r) && unicode.Is(unicode.Han, before)
		if !chosen && (r == utf8.RuneError || language.Ignorable(r) || language.Blank(r) && r != ' ' && r != '\u3000') {
			return true
		}
		before = r
	}
	return false
}

func (r *reader) short(line, column int, s string, most int) string {
	if utf8.RuneCountInString(s) > most {
		r.wrong(line, columns[column], "csv_length", most)
	}
	return s
}

func (r *reader) says(line, column int, cell string) bool {
	cell = strings.ToLower(language.Narrow(cell))
	if slices.Contains(affirmative, cell) {
		return true
	}
	if !slices.Contains(negative, cell) {
		r.wrong(line, columns[column], "csv_yes", quoted(cell))
	}
	return false
}

// person reads an address, of which the case doesn't matter, or a Slack id.
func (r *reader) person(line, column int, cell string) string {
	cell = strings.TrimSpace(language.Narrow(cell))
	if id := strings.ToUpper(cell); aggregate.UserForm.Get().MatchString(id) {
		return id
	}
	if cell != "" && !isMail(cell) {
		r.wrong(line, columns[column], "csv_person", quoted(cell))
	}
	return strings.ToLower(cell)
}

// isMail reports whether a text has the form that addresses of workspaces have: visible ASCII without marks that part
// or quote addresses, one @, and a domain with a dot.
func isMail(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`@,;:<>()[]"\`, r) }
	return len(s) <= maxMail && local != "" && !strings.ContainsFunc(local, odd) && !strings.ContainsFunc(domain, odd) &&
		strings.Contains(domain, ".") && strings.Trim(domain, ".") == domain && !strings.Contains(domain, "..")
}

// departmentOf reads a path: its parts as positions are read, and none of them empty.
func departmentOf(cell string) string {
	var parts []string
	for part := range strings.SplitSeq(language.Narrow(cell), "/") {
		if part = Posted(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// Posted returns what a position is called, however it was typed: 部　長 and ﾌﾞﾁｮｳ as 部長 and ブチョウ. Blanks only part
// words of scripts that need them.
func Posted(s string) string {
	var out []rune
	blank := false
	for _, r := range strings.TrimSpace(language.Narrow(s)) {
		if r == ' ' {
			blank = true
			continue
		}
		if blank && len(out) > 0 && !unicode.In(r, unspaced...) && !unicode.In(out[len(out)-1], unspaced...) {
			out = append(out, ' ')
		}
		out, blank = append(out, r), false
	}
	return string(out)
}

// unspaced are scripts in which blanks within a position only spread it.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// check finds what only several rows together can break. While a row can't be read, what others lack may stand there.
func (r *reader) check() {
	whole := len(r.problems) == 0
	people, heads, posts := map[string][]*Post{}, map[string]int{}, map[[3]string]int{}
	for i := range r.posts {
		p := &r.posts[i]
		people[p.Person] = append(people[p.Person], p)
		if first, twice := heads[p.Department]; p.Head && twice {
			r.wrong(p.line, columns[colHead], "csv_two_heads", first)
		} else if p.Head {
			heads[p.Department] = p.line
		}
		place := [3]string{p.Person, p.Department, p.Position}
		if first, twice := posts[place]; twice {
			r.wrong(p.line, columns[colPosition], "csv_same_post", first)
		} else {
			posts[place] = p.line
		}
	}
	above := map[string]*Post{}
	for i := range r.posts {
		if p := &r.posts[i]; p == people[p.Person][0] {
			above[p.Person] = r.main(people[p.Person], whole)
		}
	}
	for i := range r.posts {
		p := &r.posts[i]
		if whole && p.Manager != "" && people[p.Manager] == nil {
			r.wrong(p.line, columns[colManager], "csv_unknown", quoted(p.Manager))
		}
	}
	r.circles(above)
}

// main returns somebody's main post: the only one, or the one that says so.
func (r *reader) main(all []*Post, whole bool) (is *Post) {
	named := &Post{}
	for _, p := range all {
		switch {
		case p.Name == "" || p.Name == named.Name:
		case named.Name == "":
			named = p
		default:
			r.wrong(p.line, columns[colName], "csv_two_names", named.line)
		}
		if p.Main && is != nil {
			r.wrong(p.line, columns[colMain], "csv_two_mains", is.line)
		} else if p.Main {
			is = p
		}
	}
	switch {
	case is == nil && len(all) == 1:
		is, all[0].Main = all[0], true
	case is == nil && whole:
		r.wrong(all[0].line, columns[colMain], "csv_no_main")
	}
	return is
}

// circles reports who stands above themselves by the managers that main posts name.
func (r *reader) circles(above map[string]*Post) {
	walked := map[string]int{} // the number of the walk that came by
	for n, p := range r.posts {
		at := above[p.Person]
		for at != nil && at.Manager != "" && walked[at.Person] == 0 {
			walked[at.Person] = n + 1
			at = above[at.Manager]
		}
		for at != nil && at.Manager != "" && walked[at.Person] == n+1 { // once round
			r.wrong(at.line, columns[colManager], "csv_cycle")
			walked[at.Person] = -1
			at = above[at.Manager]
		}
	}
}
