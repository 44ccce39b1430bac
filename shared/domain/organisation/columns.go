package organisation

import "strings"

// Column is a column of the file, by its English header.
type Column string

const (
	Number         Column = "employee_number"
	Name           Column = "name"
	Mail           Column = "email"
	DepartmentCode Column = "department_code"
	DepartmentName Column = "department_name"
	ParentCode     Column = "parent_department"
	PositionName   Column = "position"
	PositionRank   Column = "rank"
	MainPost       Column = "post"
	ManagerNumber  Column = "manager"
	Employment     Column = "employment"
	ValidFrom      Column = "valid_from"
	ValidTo        Column = "valid_to"
)

// columns are all columns in the order in which problems of one row are listed.
var columns = []Column{Number, Name, Mail, DepartmentCode, DepartmentName, ParentCode, PositionName, PositionRank,
	MainPost, ManagerNumber, Employment, ValidFrom, ValidTo}

// required are the columns without which a file is refused. Without 'employment' everybody would count as an employee,
// and without 'manager' somebody may have misspelled it, but a small company has no such column.
var required = []Column{Number, Name, Mail, DepartmentCode, ParentCode, PositionName, PositionRank, Employment}

// ofPerson are the columns that stay empty in a row that describes a department only.
var ofPerson = []Column{Name, Mail, PositionName, PositionRank, MainPost, ManagerNumber, Employment}

// headers are the accepted names of columns beside the English ones.
var headers = map[string]Column{
	"社員番号": Number,
	"氏名":   Name,
	"メール":  Mail, "メールアドレス": Mail,
	"部署コード": DepartmentCode,
	"部署名":   DepartmentName,
	"親部署":   ParentCode, "親部署コード": ParentCode,
	"役職": PositionName,
	"順位": PositionRank, "役職順位": PositionRank,
	"主務/兼務": MainPost, "主務・兼務": MainPost,
	"上長": ManagerNumber, "上長社員番号": ManagerNumber,
	"区分": Employment, "雇用区分": Employment,
	"適用開始日": ValidFrom, "適用終了日": ValidTo,
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
