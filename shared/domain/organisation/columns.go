package organisation

import (
	"slices"
	"strings"

	"ringi/shared/words/language"
)

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
	[]string{"employee_number", "name", "email", "department_code", "department_name", "parent_department", "position", "rank",
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
