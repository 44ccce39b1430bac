package organisation

import (
	"slices"

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
	ColumnStatus         Column = "status"
)

// Columns that only files of other products have.
const (
	ColumnFamily    Column = "family_name"
	ColumnGiven     Column = "given_name"
	ColumnID        Column = "id"               // what the product calls an account by
	ColumnAccount   Column = "account"          // whether the account is a member's or a guest's
	ColumnBlocked   Column = "blocked"          // whether the account can't sign in
	ColumnPath      Column = "department"       // a department's name, with those above it before it
	ColumnLevel     Column = "department_level" // one department of a path
	ColumnLevelCode Column = "level_code"
	ColumnLeaveFrom Column = "leave_from" // the first and the last day on which the person is away
	ColumnLeaveTo   Column = "leave_to"
	ColumnSince     Column = "since" // the first day of a post, which lasts until the person's next one
)

// columns are all columns in the order in which problems of one row are listed.
var columns = []Column{ColumnNumber, ColumnName, ColumnMail, ColumnDepartment, ColumnDepartmentName, ColumnParent,
	ColumnPosition, ColumnRank, ColumnPost, ColumnManager, ColumnEmployment, ColumnFrom, ColumnTo, ColumnStatus}

// ofPerson are the columns that stay empty in a row that describes a department only.
var ofPerson = []Column{ColumnName, ColumnMail, ColumnPosition, ColumnRank, ColumnPost, ColumnManager, ColumnEmployment,
	ColumnStatus}

// Kind says how a person is employed. Where nothing else is asked for, only employees count.
type Kind string

const (
	Employee   Kind = "employee"
	Contractor Kind = "contractor" // of a company or on their own, by a contract for work
	Temporary  Kind = "temporary"  // sent by an agency
)

// mainPosts are the words of the column 'post'. An empty cell means a main post: a file without second posts needs no
// such column, and a person whose second post is unmarked has two main posts, which is refused.
var mainPosts = map[string]bool{"": true, "主務": true, "兼務": false, "main": true, "concurrent": false}

// others are the columns that only files of other products have.
var others = []Column{ColumnFamily, ColumnGiven, ColumnID, ColumnAccount, ColumnBlocked, ColumnPath, ColumnLevel,
	ColumnLevelCode, ColumnLeaveFrom, ColumnLeaveTo, ColumnSince}

// headersIn are the headers of files that are written, in the order of columns, and what others are called.
var headersIn = language.InEach(
	[]string{"社員番号", "氏名", "メール", "部署コード", "部署名", "親部署", "役職", "順位", "主務/兼務", "上長", "区分", "適用開始日", "適用終了日",
		"状態", "姓", "名", "ID", "アカウントの種別", "サインインのブロック", "部署", "部署の階層", "階層のコード", "休職開始日", "休職終了日", "発令日"},
	[]string{"employee_number", "name", "email", "department_code", "department_name", "parent_department", "position",
		"rank", "post", "manager", "employment", "valid_from", "valid_to", "status", "family_name", "given_name", "id",
		"account", "blocked", "department", "department_level", "level_code", "leave_from", "leave_to", "since"})

// order is the place of a column in lists, -1 of no column.
func (c Column) order() int {
	if i := slices.Index(others, c); i >= 0 {
		return len(columns) + i
	}
	return slices.Index(columns, c)
}

// Header returns the name of a column in a language.
func (c Column) Header(locale string) string { return headersIn.In(locale)[c.order()] }

// kindsIn are the words for kinds: employees, contractors, those of agencies.
var kindsIn = language.InEach([]string{"社員", "委託", "派遣"}, []string{"employee", "contractor", "temporary"})

// Word returns how a file names a kind. An unknown one has no word.
func (k Kind) Word(locale string) string {
	if i := slices.Index([]Kind{Employee, Contractor, Temporary}, k); i >= 0 {
		return kindsIn.In(locale)[i]
	}
	return string(k)
}

// awayIn are the words for somebody who is away.
var awayIn = language.InEach("休職", "leave")

// postsIn are the words for main and other posts.
var postsIn = language.InEach([]string{"主務", "兼務"}, []string{"main", "concurrent"})

// PostWord returns how a file says whether a post is the main one.
func PostWord(main bool, locale string) string {
	if main {
		return postsIn.In(locale)[0]
	}
	return postsIn.In(locale)[1]
}
