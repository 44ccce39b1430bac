package organisation_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/charset"
)

// exports are files of testdata/exports, what is said of them, and what is told of them besides who is in them.
type exports struct {
	files   string            // without their ends
	people  string            // the file of who is meant
	alter   []string          // pairs of what is replaced in the first file
	columns map[string]string // what an administrator says
	values  map[string]string
	split   string
	also    string // who is meant besides: rows of the file of people
	told    string // what the administrator is told
}

// exportedOn is the day on which the files were made.
var exportedOn = day("2026-11-27")

// seconded answers what SmartHR's and Google's files leave open.
var seconded = map[string]string{"employment 出向社員": "employee"}

// unsaid answers what files without employments leave open.
var unsaid = map[string]string{"employment ": "employee"}

func TestExportsAreReadRightOrSaid(t *testing.T) {
	const rehired = "rehired 坂本 彰 (0056)"
	for name, c := range map[string]exports{
		"SmartHR": {files: "smarthr", told: rehired},
		"hired again": {files: "smarthr", told: rehired,
			alter: []string{"1982/04/01,2022/03/31", "2022/04/01,2022/03/31"}},
		"on leave, and had retired": {files: "smarthr", told: rehired + "; rehired 山口 麻衣 (0025)",
			alter: []string{"2017/04/01,,,休職中", "2017/04/01,2016/03/31,自己都合,休職中"}},
		"a cell with a line break": {files: "smarthr", told: rehired,
			alter: []string{"機械の製造、販売,,代表取締役社長", "\"機械の製造、\n販売\",,代表取締役社長"}},
		"somebody without a number": {files: "smarthr", told: rehired + "; unnumbered s.hara@aoba-seiki.example",
			alter: []string{"\n0067,", "\n,"},
			also:  "0067\t\t\t\t\t\ns.hara@aoba-seiki.example\t原 俊\ts.hara@aoba-seiki.example\temployee\there\t*"},
		"blanks in paths": {files: "smarthr", told: rehired, alter: []string{"本部/", "本部 / ", "営業部/", "営業部 / ",
			"工場/", "工場 / ", "総務部/", "総務部 / "}},
		"Japanese days": {files: "smarthr", alter: []string{"2012/07/16", "平成24年7月16日", "2026/09/30", "2026年9月30日",
			"2015/04/01", "H27.4.1", "2022/03/31", ""}},
		"with codes": {files: "smarthr_codes", told: rehired,
			alter: []string{"María José", "Maria Jose"}},
		"departments of another file": {files: "smarthr smarthr_departments", told: rehired},
		"codes and departments": {files: "smarthr_codes smarthr_departments", told: rehired,
			alter: []string{"María José", "Maria Jose"}},
		"Google, units are departments": {files: "google_units"},
		"Google, everybody in one unit": {files: "google_flat"},
		"Google, units are for policies": {files: "google_policy",
			told: "Department, not Org Unit Path [Required] in 37 rows"},
		"Google, shared accounts are out": {files: "google_shared",
			values: map[string]string{"employment ": "ignored"}},
		"Google, one department differs": {files: "google_units",
			told: "Org Unit Path [Required] before Department in 1 rows",
			alter: []string{",技術本部,C100,True,True,本社,,,1.2GB,3GB,0.0GB,Unlimited,4.2GB,False,,False\n",
				",企画,C100,True,True,本社,,,1.2GB,3GB,0.0GB,Unlimited,4.2GB,False,,False\n"}},
		"a hospital, of freee": {files: "freee_hospital", people: "freee_hospital",
			told: "unnumbered komatsu@hospital.example"},
		"shops, of kaonavi": {files: "kaonavi_shops", people: "kaonavi_shops", told: "rehired 戸田 亘 (00009)"},
		"a trader, of Microsoft": {files: "entra_trading", people: "entra_trading", split: "/",
			told: "enabled 佐藤 亮 (T006); unnumbered ri@trading.example"},
		"accounts, of Microsoft":  {files: "entra_download", people: "entra_download", values: unsaid},
		"a template of Microsoft": {files: "entra_template", people: "entra_template", values: unsaid},
		"a template in Japanese": {files: "entra_template", people: "entra_template", values: unsaid,
			alter: []string{"Name [displayName] Required,User name", "名前 [displayName] 必須,ユーザー名",
				"Block sign in (Yes/No) [accountEnabled] Required", "サインインのブロック (はい/いいえ) [accountEnabled] 必須",
				",No,", ",いいえ,", ",Yes,", ",はい,", "Example: ", "例: "}},
		"posts of jinjer, each with names": {files: "jinjer_gauges jinjer_gauges_main jinjer_gauges_concurrent",
			people: "jinjer_gauges"},
		"a builder, of jinjer": {files: "jinjer_builder", people: "jinjer_builder", told: "rehired 木下 直 (2008)"},
	} {
		t.Run(name, func(t *testing.T) { c.check(t) })
	}
}

// check lays the files together as an administrator does who answers what has to be answered.
func (c exports) check(t *testing.T) {
	files := c.read(t)
	kept := organisation.Kept{Columns: c.columns, Split: c.split, Values: maps.Clone(seconded), Ranks: map[string]int{}}
	maps.Copy(kept.Values, c.values)
	l, err := organisation.Lay(files, kept, exportedOn)
	expect.Must(t, err == nil, "%v", err)
	for _, r := range l.Ranks {
		kept.Ranks[r.Position] = r.Rank
	}
	l, err = organisation.Lay(files, kept, exportedOn)
	expect.Must(t, err == nil && !l.Asks(), "%v: missing %v, values %v", err, l.Missing, l.Values)
	people, _, _ := strings.Cut(strings.Split(c.files, " ")[0], "_")
	if c.people != "" {
		people = c.people
	}
	rows := strings.Split(strings.TrimSpace(string(expect.Value(os.ReadFile(
		filepath.Join("testdata/exports", people+".people.tsv")))(t))), "\n")[1:]
	meant := map[string]string{}
	for _, row := range append(rows, strings.Split(c.also, "\n")...) {
		number, rest, _ := strings.Cut(row, "\t")
		meant[number] = rest
	}
	delete(meant, "")
	for _, p := range l.Organisation.Everybody() {
		_, ok := meant[p.Number]
		expect.That(t, ok, "nobody is meant by %s %s", p.Number, p.Name)
	}
	for number, want := range meant {
		expect.Is(t, seenOf(l.Organisation, number, strings.Split(want, "\t")), want, "%s", number)
	}
	expect.Is(t, strings.Join(doubts(l), "; "), c.told)
}

func (c exports) read(t *testing.T) (all []organisation.File) {
	for i, name := range strings.Fields(c.files) {
		file := expect.Value(os.ReadFile(filepath.Join("testdata/exports", name+".csv")))(t)
		text, encoding := charset.Decode(file)
		expect.Must(t, encoding != "", "%s is in no encoding", name)
		for j := 0; i == 0 && j < len(c.alter); j += 2 {
			expect.Must(t, strings.Contains(text, c.alter[j]), "%q isn't there", c.alter[j])
			text = strings.ReplaceAll(text, c.alter[j], c.alter[j+1])
		}
		all = append(all, organisation.File{Name: name + ".csv", Text: []byte(text)})
	}
	return all
}

// seenOf writes who somebody is as the file of people has it. Of those who aren't there it takes what nobody can see.
func seenOf(o *organisation.Organisation, number string, want []string) string {
	chart, presence := o.Chart(exportedOn), string(o.Presence(number, exportedOn))
	p, here := chart.Person(number)
	if !here && len(want) == 5 {
		return strings.Join([]string{want[0], want[1], want[2], presence, want[4]}, "\t")
	}
	var posts []string
	for _, x := range chart.Posts(number) {
		var path []string
		for _, d := range chart.Path(x.Department) {
			if d.Code != organisation.Top || x.Department == organisation.Top {
				path = append(path, cmp.Or(d.Name, d.Code))
			}
		}
		slices.Reverse(path)
		posts = append(posts, strings.TrimSpace(strings.Join(path, "/")+" "+x.Position))
	}
	slices.Sort(posts[min(1, len(posts)):])
	return strings.Join([]string{p.Name, strings.Join(p.Mails, ";"), string(p.Kind), presence,
		strings.Join(posts, "; ")}, "\t")
}

// doubts are what an administrator is told of files that say two things.
func doubts(l *organisation.Laid) (all []string) {
	for word, who := range map[string][]string{"unnumbered": l.Unnumbered, "rehired": l.Rehired, "enabled": l.Enabled,
		"placed": l.Placed, "unposted": l.Unposted, "spelled": l.Spelled, "elsewhere": l.Elsewhere, "alike": l.Alike} {
		for _, x := range who {
			all = append(all, word+" "+x)
		}
	}
	for _, s := range l.Sheets {
		for _, d := range s.Doubts {
			how := " before "
			if d.Dropped {
				how = ", not "
			}
			all = append(all, d.Used+how+d.Other+" in "+strconv.Itoa(len(d.Rows))+" rows")
		}
	}
	slices.Sort(all)
	return all
}
