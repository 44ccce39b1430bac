package organisation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Limits of cells, in characters where nothing else is said.
const (
	MaxNumber   = 64
	MaxCode     = 200 // of departments
	MaxName     = 100
	MaxPosition = 50
	MaxMails    = 20  // addresses of one person, over all rows
	maxMail     = 254 // what RFC 5321 leaves of a path of 256 bytes
	MaxRank     = 999
)

// line is a row of the file as it was read.
type line struct {
	row            int
	number         string
	name           string
	mails          []string
	department     string
	departmentName string
	parent         string
	position       string
	rank           int
	main           bool
	manager        string
	kind           Kind
	broken         bool // a cell could not be read, so only the number and the code may be relied on
}

// cells are the cells of one row by column.
type cells struct {
	row      int
	values   map[Column]string
	problems *Problems
	broken   bool
	unread   map[Column]bool // said already
}

func (c *cells) problem(column Column, rule Rule, limit int) {
	if c.broken = true; c.unread[column] {
		return
	}
	c.problems.add(Problem{Row: c.row, Column: column, Rule: rule, Limit: limit,
		Value: strings.TrimSpace(c.values[column])})
}

// line reads a row, and adds a problem for each cell that can't be read.
func (c *cells) line() line {
	l := line{
		row: c.row, number: c.code(ColumnNumber, MaxNumber), name: c.text(ColumnName), mails: c.mails(),
		department: c.code(ColumnDepartment, MaxCode), departmentName: c.text(ColumnDepartmentName),
		parent: c.code(ColumnParent, MaxCode), position: c.position(), rank: c.rank(),
		manager: c.code(ColumnManager, MaxNumber),
	}
	if l.department == "" {
		c.problem(ColumnDepartment, RuleRequired, 0)
	}
	c.employment(&l)
	l.broken = c.broken
	return l
}

// employment reads what only the post of a person has.
func (c *cells) employment(l *line) {
	if l.number == "" {
		if slices.ContainsFunc(ofPerson, func(column Column) bool { return folded(c.values[column]) != "" }) {
			c.problem(ColumnNumber, RuleRequired, 0)
		}
		return
	}
	// An empty cell means a main post: a file without second posts needs no such column, and a person whose second post
	// is unmarked has two main posts, which is refused.
	post := folded(c.values[ColumnPost])
	l.main = post == "" || worded(postsIn, post) == 0
	if post != "" && worded(postsIn, post) < 0 {
		c.problem(ColumnPost, RulePost, 0)
	}
	if kind := folded(c.values[ColumnEmployment]); kind != "" {
		if i := worded(kindsIn, kind); i >= 0 {
			l.kind = kinds[i]
		} else {
			c.problem(ColumnEmployment, RuleKind, 0)
		}
	}
	if l.rank > 0 && l.position == "" {
		c.problem(ColumnRank, RuleNoPosition, 0)
	}
}

// errorValue matches what spreadsheets show for a formula without a value: Excel's and Google's errors, a column that
// is too narrow, and LibreOffice's errors.
var errorValue = language.Regexp{Text: `(?i)^(?:#(?:N/A|GETTING_DATA|NAME\?|[A-Z/0]+!)|##+|Err:\d{3})$`}

// ofWords are the columns of names, in which a 0 is what a spreadsheet shows for an empty cell that a formula names.
var ofWords = []Column{ColumnName, ColumnDepartmentName, ColumnPosition}

// unreadable returns why a cell has no value but what a program shows for lack of one.
func unreadable(column Column, s string) (Rule, bool) {
	switch {
	case errorValue.Get().MatchString(s), s == "0" && slices.Contains(ofWords, column):
		return RuleFormula, true
	case strings.ContainsRune(s, utf8.RuneError):
		return RuleDamaged, true
	}
	return "", false
}

// formulas adds a problem for each cell that has no value.
func (c *cells) formulas() {
	for _, column := range columns {
		rule, ok := unreadable(column, folded(c.values[column]))
		if !ok {
			continue
		}
		c.problem(column, rule, 0)
		if c.unread == nil {
			c.unread = map[Column]bool{}
		}
		c.unread[column] = true
	}
}

// guarded matches a text that programs write as a formula, so that a spreadsheet keeps its zeros.
var guarded = language.Regexp{Text: `^="([^"]*)"$`}

// literal returns the text of a cell that is guarded from a spreadsheet: as a formula, or by the apostrophe before what
// would be taken for one.
func literal(s string) string {
	if text := guarded.Get().FindStringSubmatch(s); text != nil {
		return text[1]
	}
	if rest, ok := strings.CutPrefix(s, "'"); ok && rest != "" && strings.ContainsRune("=+-@＝＋－＠|%", []rune(rest)[0]) {
		return rest
	}
	return s
}

// folded returns what is compared rather than shown: without the differences between full and half width, which
// spreadsheets and people mix, and without blanks around it.
func folded(s string) string { return strings.TrimSpace(legible.Narrow(s)) }

// Posted returns what a position is called, however it was typed: 部　長 and ﾌﾞﾁｮｳ as 部長 and ブチョウ. Blanks only part
// words of scripts that need them.
func Posted(s string) string {
	var out []rune
	blank := false
	for _, r := range folded(s) {
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

// exponent matches what Excel makes of a number of twelve digits or more, whose last ones are gone, and what programs
// make of one that they take for a quantity: 101.0, whose zeros before it may be gone.
var exponent = language.Regexp{Text: `^[0-9](?:\.[0-9]+)?[eE]\+[0-9]+$|^[0-9]+\.0+$`}

// code reads an employee number or a department's code.
func (c *cells) code(column Column, most int) string {
	s := folded(c.values[column])
	if exponent.Get().MatchString(s) {
		c.problem(column, RuleExponent, 0)
	}
	// Keys of rows part numbers by #.
	if strings.ContainsFunc(s, func(r rune) bool { return r == '#' || legible.Ignorable(r) || legible.Blank(r) }) {
		c.problem(column, RuleCharacters, 0)
	}
	return c.short(column, s, most)
}

func (c *cells) short(column Column, s string, most int) string {
	if utf8.RuneCountInString(s) > most {
		c.problem(column, RuleLength, most)
	}
	return s
}

// text reads a name. It is not normalized, since normal forms replace some characters of people's names by others.
func (c *cells) text(column Column) string {
	s := strings.TrimSpace(c.values[column])
	if unseen(s) {
		c.problem(column, RuleCharacters, 0)
	}
	return c.short(column, s, MaxName)
}

func (c *cells) position() string {
	s := Posted(c.values[ColumnPosition])
	if unseen(s) {
		c.problem(ColumnPosition, RuleCharacters, 0)
	}
	return c.short(ColumnPosition, s, MaxPosition)
}

// unseen reports whether a name has characters that can't be seen, other than blanks between its parts and the
// variation selectors by which some kanji of names are chosen.
func unseen(s string) bool {
	var before rune
	for _, r := range s {
		chosen := unicode.Is(unicode.Variation_Selector, r) && unicode.Is(unicode.Han, before)
		if !chosen && (legible.Ignorable(r) || legible.Blank(r) && r != ' ' && r != '\u3000') {
			return true
		}
		before = r
	}
	return false
}

// mails reads addresses, of which the case doesn't matter. A comma doesn't part them: where it was meant to part cells,
// the next columns would be read wrongly.
func (c *cells) mails() (all []string) {
	apart := func(r rune) bool { return r == ';' || r == '\n' }
	for _, s := range strings.FieldsFunc(folded(c.values[ColumnMail]), apart) {
		if s = strings.ToLower(strings.TrimSpace(s)); s == "" {
			continue
		}
		if !isMail(s) {
			c.problem(ColumnMail, RuleMail, 0)
		}
		all = append(all, s)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > MaxMails {
		c.problem(ColumnMail, RuleMails, MaxMails)
	}
	return all
}

// isMail reports whether a text has the form that addresses of workspaces have: visible ASCII without marks that part
// or quote addresses, one @, and a domain with a dot.
func isMail(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`@,;:<>()[]"\`, r) }
	return len(s) <= maxMail && local != "" && !strings.ContainsFunc(local, odd) && !strings.ContainsFunc(domain, odd) &&
		strings.Contains(domain, ".") && strings.Trim(domain, ".") == domain && !strings.Contains(domain, "..")
}

func (c *cells) rank() int {
	s := folded(c.values[ColumnRank])
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > MaxRank || s[0] == '+' {
		c.problem(ColumnRank, RuleRank, MaxRank)
		return 0
	}
	return n
}
