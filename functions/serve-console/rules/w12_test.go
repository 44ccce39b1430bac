package rules_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// The files of testdata/w12 are made by make.py from public pages:
//
//   - SmartHR: support.smarthr.jp/ja/help/articles/360026105994 (部署2 部署; / between the departments of a path; up to ten),
//     support.smarthr.jp/ja/help/articles/4403491370521 (社員番号 in column A, 部署1 部署, 役職1 役職),
//     knowledge.smarthr.jp/hc/ja/articles/360026106294 (在籍状況 在職中, 休職中, 退職済; 退職年月日 in the past with 在職中 is
//     somebody who works), help.claris.com/ja/connect-reference/content/smarthr.html (names of fields, forms of days),
//     public programs that read the export (ビジネスネーム：姓, 部署1..10 部署, 役職1..10 役職).
//   - Google Workspace: support.google.com/a/answer/7348070 and /cloudidentity/answer/40057 (/ is the top unit, /Sales),
//     gist.github.com/hokkai7go/fa1d716317e21f1f7816ecb5b67c5247 and two public programs (the header of 37 columns).
type meant struct {
	No, Name, Mail, Kind, Today string
	Posts                       []string
}

func w12(t *testing.T, name string) []byte {
	return expect.Value(os.ReadFile("testdata/w12/" + name))(t)
}

// w12Compare reports each difference of what stands from what is meant.
func w12Compare(t *testing.T, w *consoletest.World, name string) (wrong int) {
	var all []meant
	expect.NoError(t, json.Unmarshal(w12(t, name+".json"), &all))
	o, today := stands(w).Organisation, w.Console.Today()
	t.Logf("%s: today is %v", name, today)
	chart := o.Chart(today)
	bad := func(format string, args ...any) { wrong++; t.Errorf(name+": "+format, args...) }
	path := func(code string) string {
		var parts []string
		for _, d := range chart.Path(code) {
			if d.Code != organisation.Top || code == organisation.Top {
				parts = append([]string{cmp.Or(d.Name, d.Code)}, parts...)
			}
		}
		return strings.Join(parts, "/")
	}
	for _, m := range all {
		p, here := chart.Person(m.No)
		if got := o.Presence(m.No, today); string(got) != m.Today {
			bad("%s %s: want %s, got %q", m.No, m.Name, m.Today, got)
			continue
		}
		if is := o.Name(m.No, today); is != m.Name && m.Today != "left" && m.Today != "" {
			bad("%s: want name %q, got %q", m.No, m.Name, is)
		}
		if !here {
			continue
		}
		if string(p.Kind) != m.Kind {
			bad("%s %s: want kind %q, got %q", m.No, m.Name, m.Kind, p.Kind)
		}
		if strings.Join(p.Mails, ";") != m.Mail {
			bad("%s %s: want mail %q, got %q", m.No, m.Name, m.Mail, p.Mails)
		}
		var posts []string
		for _, x := range chart.Posts(m.No) {
			posts = append(posts, strings.TrimSpace(path(x.Department)+" "+x.Position))
		}
		var want []string
		for _, x := range m.Posts {
			want = append(want, strings.TrimSpace(x))
		}
		slices.Sort(posts[min(1, len(posts)):]) // the main one stays the first
		slices.Sort(want[min(1, len(want)):])
		if !slices.Equal(posts, want) {
			bad("%s %s: want posts %q, got %q", m.No, m.Name, want, posts)
		}
	}
	for _, p := range o.Everybody() {
		if !slices.ContainsFunc(all, func(m meant) bool { return m.No == p.Number }) {
			bad("nobody is meant by %s %s %q", p.Number, p.Name, p.Mails)
		}
	}
	var tree []string
	for _, d := range chart.Departments() {
		tree = append(tree, path(d.Code)+" ("+d.Code+")")
	}
	t.Logf("%s tree: %s", name, strings.Join(tree, "\n\t"))
	for _, g := range chart.Gaps() {
		t.Logf("%s gap: %+v", name, g)
	}
	for _, n := range []string{"0033", "0028", "0035", "0039", "0052", "0065", "0004"} {
		var above []string
		for _, s := range chart.ManagersAbove(n) {
			above = append(above, o.Name(s.Number, today))
		}
		t.Logf("%s above %s: %q", name, n, above)
	}
	return wrong
}

var w12Option = regexp.MustCompile(`(?s)<select.*?</select>`)

// w12Text shows of each choice what is chosen only.
func w12Text(a consoletest.Answer) string {
	a.Body = w12Option.ReplaceAllStringFunc(a.Body, func(s string) string {
		is := regexp.MustCompile(`<option[^>]* selected[^>]*>([^<]*)`).FindStringSubmatch(s)
		if is == nil {
			return "[none]"
		}
		return "[" + is[1] + "]"
	})
	_, text, _ := strings.Cut(a.Text(), "読み込む組織の確認")
	for _, field := range rankFields.FindAllStringSubmatch(a.Body, -1) {
		text += " rank=" + field[1]
	}
	return cmp.Or(text, a.Text())
}

func w12Through(t *testing.T, w *consoletest.World, name, file string, alter func([]byte) []byte,
	change func(form url.Values)) {
	b := w.As(webapi.Suzuki)
	text := w12(t, file+".csv")
	if alter != nil {
		text = alter(text)
	}
	files := map[string][]byte{file + ".csv": text}
	if strings.HasSuffix(name, "with master") {
		files["smarthr_departments.csv"] = w12(t, "smarthr_departments.csv")
	}
	a := b.UploadAll(page, url.Values{"act": {"show"}}, files)
	t.Logf("%s FIRST: %v", name, w12Text(a))
	for i := 0; i < 3 && !strings.Contains(a.Body, `value="save"`) && (a.Status == http.StatusOK || change != nil); i++ {
		form := answers(a, "show")
		if change != nil {
			change(form)
		}
		a = b.Post(page, form)
		t.Logf("%s NEXT: %v", name, w12Text(a))
	}
	if change != nil && strings.Contains(a.Body, `value="save"`) {
		form := answers(a, "show")
		change(form)
		a = b.Post(page, form)
		t.Logf("%s AGAIN: %v", name, w12Text(a))
	}
	if !strings.Contains(a.Body, `value="save"`) {
		t.Errorf("%s can't be saved as it was exported", name)
		return
	}
	b.Post(page, answers(a, "save")).Says(t, http.StatusSeeOther)
	t.Logf("%s: %d differ", name, w12Compare(t, w, file))
	t.Logf("%s HERE: %v", name, w12Text(b.Get(page)))
	if name == "smarthr" {
		for _, n := range []string{"0025", "0056", "0062", "0037", "0066"} {
			t.Logf("%s PERSON %s: %v", name, n, w12Text(b.Get(page+"?number="+n)))
		}
	}
}

func w12Secondee(t *testing.T, more ...string) func(form url.Values) {
	return func(form url.Values) {
		for i := 0; i < len(more); i += 3 {
			keys, as := map[string][2]string{"column": {"column", "column_as"}, "value": {"value", "value_as"},
				"rank": {"position", "rank"}}[more[i]], more[i+2]
			for j, k := range form[keys[0]] {
				if k == more[i+1] {
					form[keys[1]][j] = as
				}
			}
		}
		for i, k := range form["value"] {
			if strings.HasPrefix(k, "employment 出向社員") {
				form["value_as"][i] = "employee"
			}
		}
	}
}

func TestW12(t *testing.T) {
	run := func(name, file string, alter func([]byte) []byte, more ...string) {
		t.Run(name, func(t *testing.T) {
			consoletest.Each(t, consoletest.Cases{"x": func(t *testing.T, w *consoletest.World) {
				w12Through(t, w, name, file, alter, w12Secondee(t, more...))
			}})
		})
	}
	replace := func(pairs ...string) func([]byte) []byte {
		return func(b []byte) []byte {
			for i := 0; i < len(pairs); i += 2 {
				expect.That(t, bytes.Contains(b, []byte(pairs[i])), "%q isn't there", pairs[i])
				b = bytes.ReplaceAll(b, []byte(pairs[i]), []byte(pairs[i+1]))
			}
			return b
		}
	}
	run("smarthr", "smarthr", nil)
	run("smarthr utf8", "smarthr_utf8", nil)
	// 再雇用 and 再入社: the day of the first retirement stays where it was.
	run("smarthr rehired", "smarthr_utf8", replace("1982/04/01,2022/03/31", "2022/04/01,2022/03/31"))
	// 社員番号 may be empty in SmartHR.
	// Somebody on leave has a day of an earlier retirement, too.
	run("smarthr on leave", "smarthr_utf8", replace("2017/04/01,,,休職中", "2017/04/01,2016/03/31,自己都合,休職中"))
	// A cell with a line break moves no row.
	run("smarthr line break", "smarthr_utf8", replace("機械の製造、販売,,代表取締役社長", "\"機械の製造、\n販売\",,代表取締役社長"))
	run("smarthr no number", "smarthr_utf8", replace("\n0067,", "\n,"))
	// The older help writes blanks around the slash.
	run("smarthr blanks", "smarthr_utf8", replace("本部/", "本部 / ", "営業部/", "営業部 / ", "工場/", "工場 / ", "総務部/", "総務部 / "))
	// Japanese forms of days, as help.claris.com has them.
	run("smarthr days", "smarthr_utf8", replace("2012/07/16", "平成24年7月16日", "2026/09/30", "2026年9月30日",
		"2015/04/01", "H27.4.1", "2022/03/31", ""))
	run("smarthr ranked", "smarthr", nil, "rank", "支店長", "5", "rank", "工場長", "5")
	run("smarthr codes", "smarthr_codes", nil)
	run("smarthr with master", "smarthr_utf8", nil)
	run("smarthr codes with master", "smarthr_codes", nil)
	// Who has no Employee Type is left out: shared accounts, where people have one.
	run("google_shared, empty type left out", "google_shared", nil, "value", "employment ", "ignored")
	// Nobody has an Employee Type, as in most tenants.
	run("google_shared, no types", "google_shared", replace(",正社員,", ",,", ",役員,", ",,", ",出向社員,", ",,", ",嘱託社員,", ",,",
		",契約社員,", ",,", ",業務委託,", ",,", ",派遣社員,", ",,"), "value", "employment ", "employee")
	run("google_policy, units not read", "google_policy", nil, "column", "orgunitpath", "ignored")
	for _, name := range []string{"google_units", "google_shared", "google_flat", "google_policy"} {
		run(name, name, nil)
	}
}
