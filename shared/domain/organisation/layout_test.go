package organisation_test

import (
	"fmt"
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
		text, encoding := charset.Decode(file)
		expect.Must(t, encoding != "", "%s is in no encoding", name)
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
	l, err := organisation.Lay(files, kept, 0)
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
	l := expect.Value(organisation.Lay(files, organisation.Kept{}, 0))(t)
	expect.That(t, l.Asks() && l.Organisation == nil, "nothing is asked")
	expect.Same(t, []organisation.Ranked{{Position: "代表取締役", Rank: 1, Count: 1}, {Position: "部長", Rank: 2, Count: 2},
		{Position: "課長", Rank: 3, Count: 1}}, l.Ranks)
	kept := organisation.Kept{Ranks: map[string]int{"代表取締役": 1, "部長": 2, "課長": 2}}
	chart := laid(t, kept, files...).Organisation.Chart(day("2026-04-01"))
	expect.Is(t, chart.HoldersOf("部長", "株式会社みどり/営業部")[0].Number, "E-2")
	files[0].Text = []byte(strings.Replace(string(files[0].Text), "課長", "グループ長", 1))
	l = expect.Value(organisation.Lay(files, kept, 0))(t)
	asked := slices.DeleteFunc(l.Ranks, func(r organisation.Ranked) bool { return r.Known })
	expect.Same(t, []organisation.Ranked{{Position: "グループ長", Count: 1}}, asked)
}

// Positions are proposed as most companies rank them; whoever stands in for somebody stands below.
func TestUsualPositionsAreProposed(t *testing.T) {
	for i, group := range [][]string{{"取締役会長"}, {"代表取締役社長", "理事長"}, {"副社長", "副会長"}, {"本部長", "支社長"},
		{"部長", "支店長", "東京支店長", "工場長", "営業部長", "取締役営業部長", "院長", "校長", "園長", "副本部長", "総支配人"},
		{"次長", "室長", "社長室長", "部長代理", "部長補佐", "副部長", "副支店長", "副工場長", "教頭", "副院長"},
		{"課長", "店長", "営業所長", "センター長", "支配人", "場長", "駅長", "看護師長", "エリアマネージャー", "室長代理"},
		{"課長代理", "副店長", "副所長", "店長代理", "副センター長"}, {"係長", "チームリーダー"}, {"主任", "班長"}} {
		for _, position := range group {
			file := named("", "社員番号,氏名,部署,役職\n1,A,X,取締役会長\n2,B,X,社長\n3,C,X,副社長\n4,D,X,本部長\n5,E,X,部長\n6,F,X,次長\n"+
				"7,G,X,課長\n8,H,X,課長代理\n9,I,X,係長\n10,J,X,主任\n11,K,X,"+position+"\n")
			l := expect.Value(organisation.Lay([]organisation.File{file}, organisation.Kept{}, 0))(t)
			at := slices.IndexFunc(l.Ranks, func(r organisation.Ranked) bool { return r.Position == position })
			expect.Is(t, l.Ranks[at].Rank, i+1, "%s", position)
		}
	}
	for _, position := range []string{"秘書", "次席", "Accountant", "submanager"} {
		file := named("", "社員番号,氏名,部署,役職\n1,A,X,"+position+"\n")
		l := expect.Value(organisation.Lay([]organisation.File{file}, organisation.Kept{}, 0))(t)
		expect.Is(t, l.Ranks[0].Rank, 0, "%s", position)
	}
}

// Problems name the columns as the file does, and no page shows the cells of secrets.
func TestProblemsNameTheFilesOwnHeaders(t *testing.T) {
	file := named("", "社員番号,姓,名,部署1 部署,役職1 役職,部署2 部署,役職2 役職,入社年月日,退職年月日,メールアドレス,パスワード\n"+
		"1,青木,誠,A,#REF!,,,2026-13-01,2026-04-01,x,p\n,井上,花,A,部長,B,"+strings.Repeat("長", 51)+",,,,q\n"+
		"3,上田,健,A,,B,#N/A,2026-04-02,2026-04-01,,r\n")
	l, err := organisation.Lay([]organisation.File{file}, employees, 0)
	var got []string
	for _, p := range err.(organisation.Problems).Listed {
		got = append(got, fmt.Sprint(p.Row, p.Header, " ", p.Rule))
	}
	expect.Same(t, []string{"2メールアドレス mail", "2役職1 役職 formula", "2入社年月日 date", "3社員番号 required", "3役職2 役職 length",
		"4役職2 役職 formula", "4退職年月日 order"}, got)
	expect.Is(t, l.Sheets[0].Columns[10].Example, "")
	expect.Is(t, l.Sheets[0].Columns[9].Example, "x")
}
