package organisation_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/charset"
)

// exported returns files of testdata/layouts as they are uploaded.
func exported(t *testing.T, names ...string) (all []organisation.File) {
	t.Helper()
	for _, name := range names {
		file := expect.Value(os.ReadFile(filepath.Join("testdata/layouts", name)))(t)
		text, encoding, torn := charset.Decode(file)
		expect.Must(t, encoding != "" && !torn, "%s is in no encoding", name)
		all = append(all, organisation.File{Name: name, Text: []byte(text)})
	}
	return all
}

// answers are what an administrator says of the files of testdata/layouts.
var answers = organisation.Kept{
	Ranks:  map[string]int{"代表取締役": 1, "本部長": 2, "部長": 3, "課長": 4, "社長": 1, "CEO": 2, "Director": 9, "Manager": 11},
	Values: map[string]string{"employment ": "employee"},
}

// laid lays files together of which nothing is asked any more.
func laid(t *testing.T, kept organisation.Kept, files ...organisation.File) *organisation.Laid {
	t.Helper()
	l, err := organisation.Lay(files, kept)
	expect.Must(t, err == nil, "%v", err)
	expect.Must(t, !l.Asks(), "missing %v, values %v, ranks %v", l.Missing, l.Values, l.Ranks)
	return l
}

func TestSixLayoutsAreRead(t *testing.T) {
	for own, c := range map[string]struct {
		files   []string
		layouts string
		ignored string
	}{
		"smarthr": {[]string{"smarthr.csv"}, "smarthr", "性別 生年月日"},
		"smarthr_departments": {[]string{"smarthr.csv", "smarthr_departments.csv"}, "smarthr smarthr_departments",
			"性別 生年月日 適用日"},
		"freee": {[]string{"freee.csv"}, "freee", "氏名(カナ) 標準報酬月額"},
		"kaonavi": {[]string{"kaonavi.csv", "kaonavi_concurrent.csv", "kaonavi_departments.csv"},
			"kaonavi  kaonavi_departments", "フリガナ 性別 生年月日"},
		"jinjer": {[]string{"jinjer_concurrent.csv", "jinjer.csv", "jinjer_main.csv"}, "jinjer_posts jinjer jinjer_posts",
			"異動区分 職場氏名(氏)(フリガナ) EMail(個人) 生年月日 異動区分 勤務地"},
		"jinjer_attendance": {[]string{"jinjer_attendance.csv"}, "jinjer_attendance", "No パスワード *打刻グループ *メイン打刻グループ"},
		"google": {[]string{"google.csv"}, "google", "Password [Required] Password Hash Function [UPLOAD ONLY] " +
			"New Primary Email [UPLOAD ONLY] Last Sign In [READ ONLY] Recovery Email Home Secondary Email " +
			"Work Secondary Email Work Phone Cost Center New Status [UPLOAD ONLY]"},
		"entra": {[]string{"entra.csv"}, "entra", "usageLocation streetAddress state country physicalDeliveryOfficeName " +
			"city postalCode telephoneNumber mobile"},
	} {
		t.Run(own, func(t *testing.T) {
			l := laid(t, answers, exported(t, c.files...)...)
			var is, ignored []string
			for _, s := range l.Sheets {
				is = append(is, s.Layout)
				for _, x := range s.Columns {
					if x.Reading == (organisation.Reading{}) {
						ignored = append(ignored, x.Header)
					}
				}
			}
			expect.Is(t, strings.Join(is, " "), c.layouts)
			expect.Is(t, wide(strings.Join(ignored, " ")), c.ignored)
			want := expect.Value(organisation.Read(exported(t, own+".own.csv")[0].Text))(t)
			expect.Same(t, lines(want), lines(l.Organisation))
		})
	}
}

// lines are what an organisation says.
func lines(o *organisation.Organisation) []string { return strings.Split(string(o.Canonical()), "\n") }

// wide writes what files have in full width as these tests have it.
func wide(s string) string {
	return strings.NewReplacer("（", "(", "）", ")", "＊", "*", "E-Mail", "EMail").Replace(s)
}

// The order of positions is asked once, and again only of a position that is new.
func TestOrderOfPositionsIsKept(t *testing.T) {
	files := exported(t, "freee.csv")
	l := expect.Value(organisation.Lay(files, organisation.Kept{}))(t)
	expect.That(t, l.Asks() && l.Organisation == nil, "nothing is asked")
	expect.Same(t, []organisation.Ranked{{Position: "代表取締役", Rank: 1, Count: 1}, {Position: "部長", Rank: 2, Count: 2},
		{Position: "課長", Rank: 3, Count: 1}}, l.Ranks)
	kept := organisation.Kept{Ranks: map[string]int{"代表取締役": 1, "部長": 2, "課長": 2}}
	chart := laid(t, kept, files...).Organisation.Chart(day("2026-04-01"))
	expect.Is(t, chart.HoldersOf("部長", "株式会社みどり/営業部")[0].Number, "E-2")
	files[0].Text = []byte(strings.Replace(string(files[0].Text), "課長", "グループ長", 1))
	l = expect.Value(organisation.Lay(files, kept))(t)
	asked := slices.DeleteFunc(l.Ranks, func(r organisation.Ranked) bool { return r.Known })
	expect.Same(t, []organisation.Ranked{{Position: "グループ長", Count: 1}}, asked)
}
