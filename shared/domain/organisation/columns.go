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
)

// columns are all columns in the order in which problems of one row are listed.
var columns = []Column{ColumnNumber, ColumnName, ColumnMail, ColumnDepartment, ColumnDepartmentName, ColumnParent,
	ColumnPosition, ColumnRank, ColumnPost, ColumnManager, ColumnEmployment}

// required are the columns without which a file says too little.
var required = []Column{ColumnNumber, ColumnName, ColumnDepartment, ColumnParent, ColumnEmployment}

// ofPerson are the columns that stay empty in a row that describes a department only.
var ofPerson = []Column{ColumnName, ColumnMail, ColumnPosition, ColumnRank, ColumnPost, ColumnManager, ColumnEmployment}

// Kind says how a person is employed. Only employees stamp along a route.
type Kind string

const (
	Employee   Kind = "employee"
	Contractor Kind = "contractor" // of a company or on their own, by a contract for work
	Temporary  Kind = "temporary"  // sent by an agency
)

var kinds = []Kind{Employee, Contractor, Temporary}

// headersIn are the headers of files, in the order of columns.
var headersIn = language.InEach(
	[]string{"社員番号", "氏名", "メール", "部署コード", "部署名", "親部署", "役職", "順位", "主務/兼務", "上長", "区分"},
	[]string{"employee_number", "name", "email", "department_code", "department_name", "parent_department", "position",
		"rank", "post", "manager", "employment"})

// order is the place of a column in lists, -1 of no column.
func (c Column) order() int { return slices.Index(columns, c) }

// Header returns the name of a column in a language.
func (c Column) Header(locale string) string { return headersIn.In(locale)[c.order()] }

// columnOf returns the column that a header names in any language.
func columnOf(header string) (Column, bool) {
	for _, locale := range language.All {
		i := slices.IndexFunc(headersIn.In(locale), func(h string) bool { return strings.EqualFold(h, folded(header)) })
		if i >= 0 {
			return columns[i], true
		}
	}
	return "", false
}

// kindsIn are the words for kinds: employees, contractors, those of agencies.
var kindsIn = language.InEach([]string{"社員", "委託", "派遣"}, []string{"employee", "contractor", "temporary"})

// Word returns how a file names a kind. An unknown one has no word.
func (k Kind) Word(locale string) string {
	if i := slices.Index(kinds, k); i >= 0 {
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

// worded returns the place of a word in a list that each language has; -1 if it is in none.
func worded(in language.Spoken[[]string], word string) int {
	for _, locale := range language.All {
		if i := slices.Index(in.In(locale), strings.ToLower(word)); i >= 0 {
			return i
		}
	}
	return -1
}
