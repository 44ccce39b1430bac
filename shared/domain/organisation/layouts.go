package organisation

// layout is a kind of file, found by its headers.
type layout struct {
	ID      string
	marks   [][]string // headers, as key writes them; a file of this kind has all of one list
	columns []alias    // headers that mean something else here than elsewhere
	split   string     // what parts the departments of a path; none: a name is no path
	levels  bool       // numbers in headers are those of levels, not of posts
}

// Own is the layout of the files that this package writes.
const Own = "ringi"

// layouts are the files of products, the narrower ones first. Their headers are those of the products' help pages
// and of public programs that read them: support.smarthr.jp/ja/help/articles/360026105994 and
// 2fd53459-44d5-439b-b16d-1331197d8445, support.freee.co.jp/hc/ja/articles/115005464626,
// support.kaonavi.jp/function-admin/csv/003 and setup-setting/step02, jinjer-jinji.zendesk.com/hc/ja/articles/
// 360037928651 and 26818818330393, jinjer-kintai.zendesk.com/hc/ja/articles/360036438531,
// support.google.com/cloudidentity/answer/40057, and learn.microsoft.com/entra/identity/users/users-bulk-download and
// users-bulk-add.
var layouts = []layout{
	{ID: Own, marks: [][]string{{"部署コード", "親部署"}, {"部署コード", "親部署コード"}, {"部署コード", "parentdepartment"},
		{"departmentcode", "親部署"}, {"departmentcode", "parentdepartment"}}},
	{ID: "smarthr_departments", marks: [][]string{{"code", "level1"}}, split: "/", levels: true,
		columns: []alias{{"code", ColumnDepartment}}},
	{ID: "kaonavi_departments", marks: [][]string{{"所属1コード", "所属名1"}, {"所属コード1", "所属名1"},
		{"所属1コード", "所属1名"}}, levels: true, columns: []alias{{"所属コード", ColumnLevelCode}, {"所属名", ColumnLevel}}},
	{ID: "smarthr", marks: [][]string{{"部署1部署"}, {"役職1役職"}, {"ビジネスネーム姓"}, {"社員番号", "部署1"}}, split: "/"},
	{ID: "jinjer_posts", marks: [][]string{{"発令年月日", "所属グループ"}, {"発令年月日", "役職"}}, split: "/"},
	{ID: "jinjer_attendance", marks: [][]string{{"従業員id", "在職ステータス"}, {"従業員id", "打刻グループ"},
		{"従業員id", "所属グループ"}}, split: "/"},
	{ID: "jinjer", marks: [][]string{{"職場氏名(氏)"}, {"社員番号", "在籍区分"}, {"社員番号", "所属グループ"}}, split: "/"},
	{ID: "kaonavi", marks: [][]string{{"社員番号", "所属コード"}, {"社員番号", "フリガナ", "所属"}}, split: " "},
	{ID: "freee", marks: [][]string{{"従業員番号", "部門"}, {"従業員番号", "所属部門"}, {"従業員番号", "部門1"},
		{"従業員番号", "役職"}, {"従業員番号", "役職1"}, {"従業員番号", "雇用形態"}}, split: "/"},
	{ID: "google", marks: [][]string{{"emailaddress", "orgunitpath"}}, split: "/"},
	{ID: "entra", marks: [][]string{{"userprincipalname", "objectid"}, {"userprincipalname", "displayname"}},
		columns: []alias{{"title", ColumnPosition}, {"id", ColumnID}}},
	{ID: "", split: "/>"},
}

// alias is a header by which a column is known.
type alias struct {
	key    string
	column Column
}

// aliases are the headers of all layouts, by column. Of several columns that are read as the same, a row's first one
// that isn't empty counts, in this order.
var aliases = []alias{
	{"employeenumber", ColumnNumber}, {"employeeid", ColumnNumber}, {"employeeno", ColumnNumber},
	{"社員番号", ColumnNumber}, {"従業員番号", ColumnNumber}, {"従業員id", ColumnNumber}, {"社員id", ColumnNumber},
	{"従業員コード", ColumnNumber}, {"社員コード", ColumnNumber}, {"職員番号", ColumnNumber},
	{"name", ColumnName}, {"displayname", ColumnName}, {"fullname", ColumnName}, {"氏名", ColumnName},
	{"姓名", ColumnName}, {"名前", ColumnName}, {"従業員名", ColumnName}, {"社員名", ColumnName},
	{"職場氏名", ColumnName}, {"表示名", ColumnName},
	{"ビジネスネーム姓", ColumnFamily}, {"職場氏名(氏)", ColumnFamily}, {"姓", ColumnFamily}, {"氏", ColumnFamily},
	{"苗字", ColumnFamily}, {"氏名(姓)", ColumnFamily}, {"lastname", ColumnFamily}, {"surname", ColumnFamily},
	{"familyname", ColumnFamily},
	{"ビジネスネーム名", ColumnGiven}, {"職場氏名(名)", ColumnGiven}, {"名", ColumnGiven}, {"氏名(名)", ColumnGiven},
	{"firstname", ColumnGiven}, {"givenname", ColumnGiven},
	{"email", ColumnMail}, {"mail", ColumnMail}, {"emailaddress", ColumnMail}, {"メール", ColumnMail},
	{"社用メールアドレス", ColumnMail}, {"会社メールアドレス", ColumnMail}, {"email(社用)", ColumnMail},
	{"メールアドレス(社用)", ColumnMail}, {"メールアドレス", ColumnMail}, {"userprincipalname", ColumnMail},
	{"objectid", ColumnID},
	{"usertype", ColumnAccount},
	{"[accountenabled]", ColumnBlocked}, {"blockcredential", ColumnBlocked},
	{"departmentcode", ColumnDepartment}, {"部署コード", ColumnDepartment}, {"部門コード", ColumnDepartment},
	{"所属コード", ColumnDepartment}, {"組織コード", ColumnDepartment},
	{"departmentname", ColumnDepartmentName}, {"部署名", ColumnDepartmentName}, {"部門名", ColumnDepartmentName},
	{"所属名", ColumnDepartmentName}, {"組織名", ColumnDepartmentName},
	{"orgunitpath", ColumnPath}, {"department", ColumnPath}, {"部署", ColumnPath}, {"部門", ColumnPath},
	{"所属", ColumnPath}, {"所属部署", ColumnPath}, {"所属部門", ColumnPath}, {"所属組織", ColumnPath},
	{"所属グループ", ColumnPath}, {"組織", ColumnPath},
	{"level", ColumnLevel},
	{"parentdepartment", ColumnParent}, {"親部署", ColumnParent}, {"親部署コード", ColumnParent},
	{"上位部署コード", ColumnParent}, {"親部門コード", ColumnParent}, {"上位部門コード", ColumnParent},
	{"親所属コード", ColumnParent}, {"上位所属コード", ColumnParent}, {"上位組織コード", ColumnParent},
	{"position", ColumnPosition}, {"役職", ColumnPosition}, {"役職名", ColumnPosition}, {"職位", ColumnPosition},
	{"jobtitle", ColumnPosition}, {"employeetitle", ColumnPosition},
	{"rank", ColumnRank}, {"順位", ColumnRank}, {"役職順位", ColumnRank},
	{"post", ColumnPost}, {"主務兼務", ColumnPost}, {"本務兼務", ColumnPost},
	{"manager", ColumnManager}, {"上長", ColumnManager}, {"上長社員番号", ColumnManager}, {"上司", ColumnManager},
	{"上司社員番号", ColumnManager}, {"manageremail", ColumnManager},
	{"employment", ColumnEmployment}, {"区分", ColumnEmployment}, {"雇用区分", ColumnEmployment},
	{"雇用形態", ColumnEmployment}, {"employeetype", ColumnEmployment}, {"employmenttype", ColumnEmployment},
	{"社員区分", ColumnEmployment}, {"従業員区分", ColumnEmployment},
	{"validfrom", ColumnFrom}, {"適用開始日", ColumnFrom}, {"入社年月日", ColumnFrom}, {"入社日", ColumnFrom},
	{"hiredate", ColumnFrom}, {"employeehiredate", ColumnFrom},
	{"validto", ColumnTo}, {"適用終了日", ColumnTo}, {"退職年月日", ColumnTo}, {"退職日", ColumnTo},
	{"退社年月日", ColumnTo}, {"退社日", ColumnTo}, {"employeeleavedatetime", ColumnTo},
	{"status", ColumnStatus}, {"状態", ColumnStatus}, {"在籍状況", ColumnStatus}, {"在籍区分", ColumnStatus},
	{"在職ステータス", ColumnStatus}, {"在籍ステータス", ColumnStatus}, {"在職状況", ColumnStatus},
	{"accountenabled", ColumnStatus},
	{"休職開始日", ColumnLeaveFrom}, {"休職開始年月日", ColumnLeaveFrom},
	{"休職終了日", ColumnLeaveTo}, {"休職終了年月日", ColumnLeaveTo},
	{"発令年月日", ColumnSince}, {"発令日", ColumnSince},
}

// Ignored is what a value is read as if its rows are left out.
const Ignored = "ignored"

// What a status is read as: the person works, is away, or has left (Ignored).
const (
	statusHere = "here"
	statusAway = "away"
)

// values are what the words of a column are read as.
type values []struct{ value, as string }

func (v values) find(value string) (as string, known bool) {
	value = lower(value)
	for _, x := range v {
		if x.value == value {
			return x.as, true
		}
	}
	return "", false
}

// employments are products' words for how people are employed, in lower case.
var employments = values{
	{"社員", "employee"}, {"employee", "employee"}, {"委託", "contractor"}, {"contractor", "contractor"},
	{"派遣", "temporary"}, {"temporary", "temporary"}, // those above are Ringi's own
	{"正社員", "employee"}, {"役員", "employee"}, {"取締役", "employee"}, {"契約社員", "employee"}, {"準社員", "employee"},
	{"嘱託", "employee"}, {"嘱託社員", "employee"}, {"パート", "employee"}, {"アルバイト", "employee"},
	{"パート・アルバイト", "employee"}, {"パートタイマー", "employee"}, {"出向受入", "employee"}, {"受入出向", "employee"},
	{"full-time", "employee"}, {"full time", "employee"}, {"fulltime", "employee"}, {"part-time", "employee"},
	{"part time", "employee"}, {"regular", "employee"}, {"permanent", "employee"},
	{"業務委託", "contractor"}, {"業務委託雇用", "contractor"}, {"個人事業主", "contractor"}, {"フリーランス", "contractor"},
	{"freelance", "contractor"}, {"freelancer", "contractor"}, {"consultant", "contractor"}, {"vendor", "contractor"},
	{"派遣社員", "temporary"}, {"派遣雇用", "temporary"}, {"派遣労働者", "temporary"}, {"temp", "temporary"},
	{"agency", "temporary"},
}

// ownKinds is how many of employments are words of Ringi's own files.
const ownKinds = 6

func ownKind(value string) (Kind, bool) {
	as, ok := employments[:ownKinds].find(value)
	return Kind(as), ok
}

// statuses are products' words for whether people work, in lower case.
var statuses = values{
	{"在籍", statusHere}, {"在籍中", statusHere}, {"在職", statusHere}, {"在職中", statusHere}, {"active", statusHere},
	{"here", statusHere}, {"true", statusHere}, {"enabled", statusHere},
	{"休職", statusAway}, {"休職中", statusAway}, {"休業", statusAway}, {"休業中", statusAway}, {"育休中", statusAway},
	{"産休中", statusAway}, {"育児休業中", statusAway}, {"出向", statusAway}, {"出向中", statusAway}, {"在籍出向", statusAway},
	{"在籍出向中", statusAway}, {"leave", statusAway}, {"on leave", statusAway}, {"away", statusAway},
	{"退職", Ignored}, {"退職済", Ignored}, {"退職済み", Ignored}, {"退社", Ignored}, {"転籍", Ignored}, {"left", Ignored},
	{"false", Ignored}, {"disabled", Ignored}, {"inactive", Ignored}, {"suspended", Ignored}, {"archived", Ignored},
	{"terminated", Ignored},
}

// accountTypes are the words for whose an account is.
var accountTypes = values{{"member", statusHere}, {"guest", Ignored}}

// blocks are the words for whether an account is kept from signing in.
var blocks = values{{"no", statusHere}, {"いいえ", statusHere}, {"false", statusHere}, {"yes", Ignored}, {"はい", Ignored},
	{"true", Ignored}}

// known returns what the words of a column are read as, none where a column has no such words.
func known(c Column) values {
	switch c {
	case ColumnEmployment:
		return employments
	case ColumnStatus:
		return statuses
	case ColumnAccount:
		return accountTypes
	case ColumnBlocked:
		return blocks
	}
	return nil
}

// Choices returns as what the values of a column may be read; none for columns whose values are read as they are.
func Choices(c Column) []string {
	switch c {
	case ColumnEmployment:
		return []string{string(Employee), string(Contractor), string(Temporary), Ignored}
	case ColumnStatus, ColumnAccount, ColumnBlocked:
		return []string{statusHere, statusAway, Ignored}
	}
	return nil
}
