package organisation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

const top = "1,Ann,ann@x.example,A,,,boss,1,,,employee"

// problemsOf returns what is wrong with a file.
func problemsOf(t *testing.T, file string) organisation.Problems {
	t.Helper()
	_, err := organisation.Read([]byte(file))
	p, ok := errors.AsType[organisation.Problems](err)
	expect.Must(t, ok || err == nil, "%v", err)
	return p
}

type problem = organisation.Problem

// wrong is what an administrator may get wrong, and all that they are told about it.
type wrong struct {
	rows []string
	want []problem
}

func told(t *testing.T, cases map[string]wrong) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { expect.Same(t, c.want, problemsOf(t, file(c.rows...)).Listed) })
	}
}

func TestWhatIsMissingOrUnknownInARowIsNamed(t *testing.T) {
	told(t, map[string]wrong{
		"no number": {[]string{top, ",Bob,,A,,,,,,,,,"},
			[]problem{{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleRequired}}},
		"no number, but an employment": {[]string{top, ",,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleRequired}}},
		"no department": {[]string{top, "2,Bob,,,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnDepartment, Rule: organisation.RuleRequired}}},
		"no name": {[]string{top, "2,,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnName, Rule: organisation.RuleRequired}}},
		"no employment": {[]string{top, "2,Bob,,A,,,,,,,,,"},
			[]problem{{Row: 3, Column: organisation.ColumnEmployment, Rule: organisation.RuleRequired}}},
		"an unknown employment": {[]string{top, "2,Bob,,A,,,,,,,役員,,"},
			[]problem{{Row: 3, Column: organisation.ColumnEmployment, Rule: organisation.RuleKind, Value: "役員"}}},
		"neither main nor concurrent": {[]string{top, "2,Bob,,A,,,,,出向,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnPost, Rule: organisation.RulePost, Value: "出向"}}},
	})
}

func TestWhatIsWrongWithATextIsNamed(t *testing.T) {
	long := func(n int) string { return strings.Repeat("あ", n) }
	told(t, map[string]wrong{
		"a long code": {[]string{top, "2,Bob,," + long(201) + ",,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnDepartment, Rule: organisation.RuleLength, Limit: 200,
				Value: long(40)}}},
		"a long number": {[]string{top, long(65) + ",Bob,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleLength, Limit: 64, Value: long(40)}}},
		"a long name, quoted in part": {[]string{top, "2," + long(101) + ",,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnName, Rule: organisation.RuleLength, Limit: 100, Value: long(40)}}},
		"a long position": {[]string{top, "2,Bob,,A,,," + long(51) + ",,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnPosition, Rule: organisation.RuleLength, Limit: 50, Value: long(40)}}},
		"an invisible character in a name": {[]string{top, "2,Bo\u202eb,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnName, Rule: organisation.RuleCharacters, Value: "Bo\u202eb"}}},
		"a variation selector without kanji": {[]string{top, "2,Bo\U000e0100b,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnName, Rule: organisation.RuleCharacters, Value: "Bo\U000e0100b"}}},
		"an invisible character in a position": {[]string{top, "2,Bob,,A,,,bo\u200bss,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnPosition, Rule: organisation.RuleCharacters, Value: "bo\u200bss"}}},
		"a blank in a number": {[]string{top, "2 3,Bob,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleCharacters, Value: "2 3"}}},
		"what parts numbers in keys": {[]string{top, "2#3,Bob,,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleCharacters, Value: "2#3"}}},
		"an invisible character in a code": {[]string{top, "2,Bob,,A\u200b,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnDepartment, Rule: organisation.RuleCharacters, Value: "A\u200b"}}},
		"no address": {[]string{top, "2,Bob,bob,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnMail, Rule: organisation.RuleMail, Value: "bob"}}},
		"many addresses": {[]string{top, "2,Bob," + addresses(0, 21) + ",A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnMail, Rule: organisation.RuleMails, Limit: 20,
				Value: addresses(0, 21)[:40]}}},
		"many addresses over several rows": {[]string{top, "2,Bob," + addresses(0, 11) + ",A,,,,,,,employee",
			"2,Bob," + addresses(11, 21) + ",A,,,aide,,concurrent,,employee"},
			[]problem{{Row: 4, Column: organisation.ColumnMail, Rule: organisation.RuleMails, Limit: 20}}},
		"an address of two people": {[]string{top, "2,Bob,ANN@x.example,A,,,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnMail, Rule: organisation.RuleMailUsed, Value: "ann@x.example",
				Other: 2}}},
	})
}

func TestWhatIsWrongWithARankIsNamed(t *testing.T) {
	told(t, map[string]wrong{
		"a rank that is no number": {[]string{top, "2,Bob,,A,,,aide,high,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleRank, Limit: 999, Value: "high"}}},
		"rank 0": {[]string{top, "2,Bob,,A,,,aide,0,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleRank, Limit: 999, Value: "0"}}},
		"rank 1000": {[]string{top, "2,Bob,,A,,,aide,1000,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleRank, Limit: 999, Value: "1000"}}},
		"a rank with a sign": {[]string{top, "2,Bob,,A,,,aide,+3,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleRank, Limit: 999, Value: "+3"}}},
		"a rank of nothing": {[]string{top, "2,Bob,,A,,,,3,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleNoPosition, Value: "3"}}},
		"a position with two ranks": {[]string{top, "2,Bob,,A,,,boss,2,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnRank, Rule: organisation.RuleTwoRanks, Value: "boss", Other: 2}}},
		"a cell without header": {[]string{top, "2,Bob,,A,,,,,,9,employee,more"},
			[]problem{{Row: 3, Rule: organisation.RuleExtraCell, Value: "more"}}},
	})
}

// addresses returns addresses with numbers, as a cell has them.
func addresses(from, to int) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("m%02d@x.example", i))
	}
	return strings.Join(all, ";")
}

func TestWhatRowsSayAgainstEachOtherIsNamed(t *testing.T) {
	const bob = "2,Bob,,A,,,,,,,employee"
	told(t, map[string]wrong{
		"one number with two names": {[]string{top, bob, "2,Rob,,A,,,aide,,concurrent,,employee"},
			[]problem{{Row: 4, Column: organisation.ColumnName, Rule: organisation.RuleConflict, Value: "Rob", Other: 3}}},
		"two employments": {[]string{top, bob, "2,Bob,,A,,,aide,,concurrent,,contractor"},
			[]problem{{Row: 4, Column: organisation.ColumnEmployment, Rule: organisation.RuleConflict, Value: "contractor",
				Other: 3}}},
		"two managers": {[]string{top, "3,Cem,,A,,,,,,,employee", "2,Bob,,A,,,,,,1,employee",
			"2,Bob,,A,,,aide,,concurrent,3,employee"},
			[]problem{{Row: 5, Column: organisation.ColumnManager, Rule: organisation.RuleConflict, Value: "3", Other: 4}}},
		"a department with two names": {[]string{top, "2,Bob,,B,Sales,A,,,,,employee", "3,Cem,,B,Sale,A,,,,,employee"},
			[]problem{{Row: 4, Column: organisation.ColumnDepartmentName, Rule: organisation.RuleConflict, Value: "Sale",
				Other: 3}}},
		"a department with two parents": {[]string{top, ",,,C,,,,,,,,,", "2,Bob,,B,,A,,,,,employee",
			"3,Cem,,B,,C,,,,,employee"},
			[]problem{{Row: 5, Column: organisation.ColumnParent, Rule: organisation.RuleConflict, Value: "C", Other: 4}}},
		"no main post": {[]string{top, "2,Bob,,A,,,,,concurrent,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnPost, Rule: organisation.RuleNoMain}}},
		"two main posts": {[]string{top, "2,Bob,,A,,,,,,,employee", "2,Bob,,A,,,aide,,,,employee"},
			[]problem{{Row: 4, Column: organisation.ColumnPost, Rule: organisation.RuleTwoMains, Other: 3}}},
		"the same post twice": {[]string{top, bob, "2,Bob,,A,,,,,concurrent,,employee"},
			[]problem{{Row: 4, Column: organisation.ColumnPosition, Rule: organisation.RuleSamePost, Other: 3}}},
	})
}

func TestWhatRowsSayOfWhatStandsAboveIsNamed(t *testing.T) {
	told(t, map[string]wrong{
		"an unknown manager": {[]string{top, "2,Bob,,A,,,,,,9,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnManager, Rule: organisation.RuleUnknown, Value: "9"}}},
		"an unknown department above": {[]string{top, "2,Bob,,B,,Z,,,,,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnParent, Rule: organisation.RuleUnknown, Value: "Z"}}},
		"departments above each other": {[]string{top, ",,,B,,C,,,,,,,", ",,,C,,B,,,,,,,"},
			[]problem{{Row: 3, Column: organisation.ColumnParent, Rule: organisation.RuleCycle, Value: "B"},
				{Row: 4, Column: organisation.ColumnParent, Rule: organisation.RuleCycle, Value: "C"}}},
		"a department above itself": {[]string{top, ",,,B,,B,,,,,,,"},
			[]problem{{Row: 3, Column: organisation.ColumnParent, Rule: organisation.RuleCycle, Value: "B"}}},
		"people above each other": {[]string{top, "2,Bob,,A,,,,,,3,employee", "3,Cem,,A,,,,,,2,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnManager, Rule: organisation.RuleCycle, Value: "2"},
				{Row: 4, Column: organisation.ColumnManager, Rule: organisation.RuleCycle, Value: "3"}}},
		"somebody above themselves": {[]string{top, "2,Bob,,A,,,,,,2,employee"},
			[]problem{{Row: 3, Column: organisation.ColumnManager, Rule: organisation.RuleCycle, Value: "2"}}},
	})
}

// A row that can't be read accuses no other row, and isn't taken for more than its number and its code.
func TestARowThatCantBeReadAccusesNoOther(t *testing.T) {
	unread := []problem{{Row: 4, Column: organisation.ColumnEmployment, Rule: organisation.RuleKind, Value: "nobody"}}
	for name, rows := range map[string][2]string{
		"a position's rank":                 {"2,Bob,,A,,,aide,5,,,employee", "3,Cem,,A,,,aide,6,,,nobody"},
		"a name that it may say":            {"2,,,A,,,,,,,employee", "2,Bob,,A,,,aide,,concurrent,,nobody"},
		"a manager whom it describes":       {"2,Bob,,A,,,,,,3,employee", "3,Cem,,A,,,,,,,nobody"},
		"a main post that it may be":        {"2,Bob,,A,,,,,concurrent,,employee", "2,Bob,,A,,,aide,,,,nobody"},
		"another name":                      {"2,Bob,,A,,,,,,,employee", "2,Rob,,A,,,aide,,concurrent,,nobody"},
		"a department that it may continue": {"2,Bob,,B,,C,,,,,employee", "3,Cem,,C,,,,,,,nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, unread, problemsOf(t, file(top, rows[0], rows[1])).Listed)
		})
	}
}

// What an ordinary file has is no problem.
func TestWhatFilesMayHave(t *testing.T) {
	for name, rows := range map[string][]string{
		"a second post without the rest": {top, "2,Bob,,A,,,,,,1,employee", "2,,,A,,,aide,,concurrent,,,,"},
		"names of as many letters as may be": {top, strings.Repeat("１", 64) + "," + strings.Repeat("あ", 100) + ",,A,,," +
			strings.Repeat("あ", 50) + ",,,,employee"},
		"a rank that is said once":          {top, "2,Bob,,A,,,boss,,,,employee"},
		"a parent that is said once":        {top, "2,Bob,,B,,A,,,,,employee", "3,Cem,,B,,,,,,,employee"},
		"cells that are missing at the end": {top, "2,Bob,,A,,,,,,,employee"},
		"as many addresses as may be":       {top, "2,Bob," + addresses(0, 20) + ",A,,,,,,,employee"},
		"kanji that are chosen":             {top, "2,葛\U000E0100城 辻\u3000子,,A,葛\U000E0100城課,,,,,,employee"},
		"an address of several rows": {top, "2,Bob,b@x.example,A,,,,,,,employee",
			"2,Bob,b@x.example,A,,,aide,,concurrent,,employee"},
	} {
		t.Run(name, func(t *testing.T) { expect.NoError(t, problemsOrNil(t, file(rows...))) })
	}
}

func problemsOrNil(t *testing.T, file string) error {
	t.Helper()
	_, err := organisation.Read([]byte(file))
	return err
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, mail := range []string{"a", "a@", "@x.example", "a@x", "a@@x.example", "a@x.example.", "a@.x.example",
		"a@x..example", "a b@x.example", "a@x.example a", "<a@x.example>", "あ@x.example", "a@x.exa\"mple",
		strings.Repeat("a", 245) + "@x.example"} {
		got := problemsOf(t, file(top, `2,Bob,"`+strings.ReplaceAll(mail, `"`, `""`)+`",A,,,,,,,employee`)).Listed
		expect.Must(t, len(got) == 1 && got[0].Rule == organisation.RuleMail, "%q: %v", mail, got)
	}
	longest := strings.Repeat("a", 244) + "@x.example"
	cell := `" B@X.example ； ;` + longest + "\n" + `c@x.example;"`
	p, _ := read(t, file(top, "2,Bob,"+cell+",A,,,,,,,employee")).Person("2")
	expect.Same(t, []string{longest, "b@x.example", "c@x.example"}, p.Mails)
}

// A position is one position, however it is typed: its rank, too, is one.
func TestAPositionIsTheSameHoweverItIsTyped(t *testing.T) {
	const head = "employee_number,name,email,department_code,parent_department,position,rank,employment\n"
	for typed, want := range map[string]string{
		"部　長": "部長", " 部 長 ": "部長", "営業　部長": "営業部長", "ﾏﾈｰｼﾞｬｰ": "マネージャー", "ＧＭ": "GM", "第 1 課長": "第1課長",
		"General  Manager": "General Manager", "영업 부장": "영업부장", "課長代理": "課長代理",
	} {
		o := expect.Value(organisation.Read([]byte(head + "1,One,,A,,\"" + typed + "\",1,employee\n")))(t)
		expect.Is(t, o.Posts("1")[0].Position, want, typed)
		expect.That(t, o.Has("A", typed) && o.Has("Ａ", want) && o.Has("A", ""), "%q", typed)
		expect.That(t, !o.Has("A", "長") && !o.Has("B", ""), "%q", typed)
	}
	_, err := organisation.Read([]byte(head + "1,One,,A,,部長,1,employee\n2,Two,,A,,部　長,2,employee\n"))
	expect.That(t, err != nil, "部長 has two ranks")
}
