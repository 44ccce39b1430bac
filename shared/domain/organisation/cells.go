package organisation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Limits of cells, in characters where nothing else is said.
const (
	MaxNumber   = 32 // also of department codes
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
	during         Period
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
		row: c.row, number: c.code(ColumnNumber, MaxNumber), name: c.text(ColumnName, MaxName), mails: c.mails(),
		department: c.code(ColumnDepartment, MaxNumber), departmentName: c.text(ColumnDepartmentName, MaxName),
		parent: c.code(ColumnParent, MaxNumber), position: c.position(), rank: c.rank(),
		manager: c.code(ColumnManager, MaxNumber),
		during:  Period{From: c.date(ColumnFrom), To: c.date(ColumnTo)},
	}
	if l.department == "" {
		c.problem(ColumnDepartment, RuleRequired, 0)
	}
	if l.during.From > 0 && l.during.To > 0 && l.during.To < l.during.From {
		c.problem(ColumnTo, RuleOrder, 0)
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
	var ok bool
	if l.main, ok = mainPosts[strings.ToLower(folded(c.values[ColumnPost]))]; !ok {
		c.problem(ColumnPost, RulePost, 0)
	}
	if kind := strings.ToLower(folded(c.values[ColumnEmployment])); kind != "" {
		if l.kind, ok = kinds[kind]; !ok {
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

// formulas adds a problem for each cell that has no value but what a program shows for lack of one.
func (c *cells) formulas() {
	for _, column := range columns {
		switch s := folded(c.values[column]); {
		case errorValue.Get().MatchString(s), s == "0" && slices.Contains(ofWords, column):
			c.problem(column, RuleFormula, 0)
		case strings.ContainsRune(s, utf8.RuneError):
			c.problem(column, RuleDamaged, 0)
		default:
			continue
		}
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
func folded(s string) string { return strings.TrimSpace(norm.NFKC.String(s)) }

// posted returns what a position is called, however it was typed: 部　長 and ﾌﾞﾁｮｳ as 部長 and ブチョウ. Blanks only part
// words of scripts that need them.
func posted(s string) string {
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
func (c *cells) text(column Column, most int) string {
	s := strings.TrimSpace(c.values[column])
	if unseen(s) {
		c.problem(column, RuleCharacters, 0)
	}
	return c.short(column, s, most)
}

func (c *cells) position() string {
	s := posted(c.values[ColumnPosition])
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

func (c *cells) date(column Column) Date {
	s := folded(c.values[column])
	if s == "" {
		return 0
	}
	d, err := ParseDate(s)
	if err != nil {
		c.problem(column, RuleDate, 0)
	}
	return d
}

// Column is a column of the file, by its English header.
type Column string

const (
	ColumnNumber         Column = "employee_number"
	ColumnName           Column = "name"
	ColumnMail           Column = "email"
	ColumnDepartment     Column = "department_code"
	ColumnDepartmentName Column = "department_name"
	ColumnParent         Column = "parent_department"
	ColumnPosition       Column = "position"
	ColumnRank           Column = "rank"
	ColumnPost           Column = "post"
	ColumnManager        Column = "manager"
	ColumnEmployment     Column = "employment"
	ColumnFrom           Column = "valid_from"
	ColumnTo             Column = "valid_to"
)

// columns are all columns in the order in which problems of one row are listed.
var columns = []Column{ColumnNumber, ColumnName, ColumnMail, ColumnDepartment, ColumnDepartmentName, ColumnParent,
	ColumnPosition, ColumnRank,
	ColumnPost, ColumnManager, ColumnEmployment, ColumnFrom, ColumnTo}

// required are the columns without which a file is refused. The others may be missing, but not be misspelled: a header
// that names no column refuses the file, too.
var required = []Column{ColumnNumber, ColumnName, ColumnMail, ColumnDepartment, ColumnParent, ColumnPosition,
	ColumnRank, ColumnEmployment}

// ofPerson are the columns that stay empty in a row that describes a department only.
var ofPerson = []Column{ColumnName, ColumnMail, ColumnPosition, ColumnRank, ColumnPost, ColumnManager, ColumnEmployment}

// headers are the accepted names of columns beside the English ones.
var headers = map[string]Column{
	"社員番号": ColumnNumber,
	"氏名":   ColumnName,
	"メール":  ColumnMail, "メールアドレス": ColumnMail,
	"部署コード": ColumnDepartment,
	"部署名":   ColumnDepartmentName,
	"親部署":   ColumnParent, "親部署コード": ColumnParent,
	"役職": ColumnPosition,
	"順位": ColumnRank, "役職順位": ColumnRank,
	"主務/兼務": ColumnPost, "主務・兼務": ColumnPost,
	"上長": ColumnManager, "上長社員番号": ColumnManager,
	"区分": ColumnEmployment, "雇用区分": ColumnEmployment,
	"適用開始日": ColumnFrom, "適用終了日": ColumnTo,
}

// Kind says how a person is employed. Where nothing else is asked for, only employees count.
type Kind string

const (
	Employee   Kind = "employee"
	Contractor Kind = "contractor" // of a company or on their own, by a contract for work
	Temporary  Kind = "temporary"  // sent by an agency
)

var kinds = map[string]Kind{
	"社員": Employee, "委託": Contractor, "派遣": Temporary,
	string(Employee): Employee, string(Contractor): Contractor, string(Temporary): Temporary,
}

// mainPosts are the words of the column 'post'. An empty cell means a main post: a file without second posts needs no
// such column, and a person whose second post is unmarked has two main posts, which is refused.
var mainPosts = map[string]bool{"": true, "主務": true, "兼務": false, "main": true, "concurrent": false}

// columnOf returns the column of a header.
func columnOf(header string) (Column, bool) {
	header = strings.ToLower(folded(header))
	if c, ok := headers[header]; ok {
		return c, true
	}
	for _, c := range columns {
		if header == string(c) {
			return c, true
		}
	}
	return "", false
}

// headersIn are the headers of files that are written, in the order of columns.
var headersIn = language.InEach(
	[]string{"社員番号", "氏名", "メール", "部署コード", "部署名", "親部署", "役職", "順位", "主務/兼務", "上長", "区分", "適用開始日", "適用終了日"},
	[]string{"employee_number", "name", "email", "department_code", "department_name", "parent_department", "position",
		"rank",
		"post", "manager", "employment", "valid_from", "valid_to"})

// Header returns the name of a column in a language.
func (c Column) Header(locale string) string { return headersIn.In(locale)[slices.Index(columns, c)] }

// kindsIn are the words for kinds: employees, contractors, those of agencies.
var kindsIn = language.InEach([]string{"社員", "委託", "派遣"}, []string{"employee", "contractor", "temporary"})

// Word returns how a file names a kind. An unknown one has no word.
func (k Kind) Word(locale string) string {
	if i := slices.Index([]Kind{Employee, Contractor, Temporary}, k); i >= 0 {
		return kindsIn.In(locale)[i]
	}
	return string(k)
}

// postsIn are the words for main and other posts.
var postsIn = language.InEach([]string{"主務", "兼務"}, []string{"main", "concurrent"})

// PostWord returns how a file says whether a post is the main one.
func PostWord(main bool, locale string) string {
	if main {
		return postsIn.In(locale)[0]
	}
	return postsIn.In(locale)[1]
}
