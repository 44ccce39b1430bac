package web_test

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Filters count days, and pages show times, in one zone, tenancy.Zone, which the page names; no script converts times.
func TestDaysAndTimesAreOfOneZone(t *testing.T) {
	w := consoletest.Start(t)
	morning := w.Now().In(tenancy.Zone()).Truncate(time.Hour).AddDate(0, 0, 1)
	morning = time.Date(morning.Year(), morning.Month(), morning.Day(), 8, 30, 0, 0, tenancy.Zone()) // yesterday in London
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Title: "朝の依頼", After: morning.Sub(w.Now())})
	day, before := morning.Format(time.DateOnly), morning.AddDate(0, 0, -1).Format(time.DateOnly)
	b := w.As(webapi.Suzuki)
	b.Get("/console/audit?from="+day+"&to="+day).Says(t, http.StatusOK, "日本時間です").Holds(t, day+" 08:30")
	b.Get("/console/audit?from="+before+"&to="+before).Lacks(t, day+" 08:30")
	b.Get("/console/tasks").Holds(t, day+" 08:30")
	b.Get("/console/assets/console.js").Says(t, http.StatusOK).Lacks(t, "new Date(") // no times of its own
}

var ofFile = regexp.MustCompile(`{{define "([a-z-]+/[a-z-]+)"`)

// A page is parsed when it is first shown: here is where one that can't be is found.
func TestEveryPageIsParsed(t *testing.T) {
	var names []string
	for _, file := range expect.Value(fs.Glob(web.UI, "ui/*.html"))(t) {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(file, "ui/"), ".html"))
		for _, m := range ofFile.FindAllStringSubmatch(string(expect.Value(web.UI.ReadFile(file))(t)), -1) {
			names = append(names, m[1])
		}
	}
	expect.That(t, len(names) > 30, "only %v", names)
	for _, name := range names {
		expect.That(t, expect.Value(web.Parsed(name))(t).Lookup("layout") != nil, "%s is without its layout", name)
	}
	for _, name := range []string{"nothing", "task/nothing"} {
		expect.That(t, expect.Err(web.Parsed(name)) != nil, "the page %s, which isn't there, is parsed", name)
	}
}

// A phone shows each row of such a table as lines with the column's name before each cell, because the header is
// hidden.
func TestEveryCellOfAStackedTableIsNamed(t *testing.T) {
	cells := regexp.MustCompile(`<td[^>]*>`)
	seen := map[string]int{}
	for _, name := range expect.Value(fs.Glob(web.UI, "ui/*.html"))(t) {
		page := expect.Value(fs.ReadFile(web.UI, name))(t)
		for table := range strings.SplitSeq(string(page), "<table ") {
			class, _, _ := strings.Cut(table, ">")
			table, _, _ = strings.Cut(table, "</table>")
			if !strings.Contains(class, "stacked") {
				continue
			}
			seen[name]++
			for _, cell := range cells.FindAllString(table, -1) {
				expect.That(t, strings.Contains(cell, "data-label"), "%s: %s", name, cell)
			}
		}
	}
	expect.That(t, seen["ui/contest.html"]*seen["ui/kit.html"] > 0, "tables are clipped on a telephone: %v", seen)
}

// The menu has eight entries, of which members see those that they may open, and a page below one of the menu leads
// back to that one.
func TestTheMenuHasEightEntries(t *testing.T) {
	w := consoletest.Start(t)
	menu := func(page consoletest.Answer) string {
		_, nav, _ := strings.Cut(page.Body, `<nav class="nav"`)
		nav, _, _ = strings.Cut(nav, "</nav>")
		return nav
	}
	admin, member := w.As(webapi.Suzuki), w.As(webapi.Sato)
	mark := admin.Get("/console/tools/marks/send_slack_dm").Holds(t, `<p class="crumb"><a href="/console/tools">`)
	all, own := menu(mark), menu(member.Get("/console"))
	expect.Is(t, strings.Count(all, `class="to"`), 8, "pages for administrators")
	expect.Is(t, strings.Count(own, `class="to"`), 4, "pages for members")
	expect.Has(t, all, `href="/console/integrations" aria-current="true"`)
	expect.Has(t, own, `href="/console" aria-current="page"`)
	admin.Get("/console/tools").Holds(t, `<a href="/console/tools" aria-current="page">`,
		`<a href="/console/integrations">`)
	for _, path := range []string{"/console", "/console/", "/console/audit"} {
		admin.Get(path).Lacks(t, `class="crumb"`)
	}
	expect.Is(t, menu(w.Browser().Get("/console/signin")), "", "nobody has a menu")
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// spread flattens a catalog, one line per text, to compare catalogs.
func spread(t web.Texts) map[string]string {
	all := map[string]string{}
	for key, value := range t {
		switch value := value.(type) {
		case string:
			all[key] = value
		case map[string]string:
			for name, text := range value {
				all[key+" "+name] = text
			}
		case map[string][]string:
			for name, list := range value {
				all[key+" "+name] = strings.Join(list, "\n")
			}
		}
	}
	delete(all, "locale")
	return all
}

// If somebody adds a language folder, this test names the texts that it lacks.
func TestEveryLanguageHasEveryText(t *testing.T) {
	for _, file := range expect.Value(filepath.Glob("texts/" + language.All[0] + "/*.yaml"))(t) {
		catalog := strings.TrimSuffix(filepath.Base(file), ".yaml")
		first := spread(web.TextsOf(catalog, language.All[0]))
		for _, locale := range language.All {
			texts := spread(web.TextsOf(catalog, locale))
			for _, key := range slices.Sorted(maps.Keys(first)) {
				expect.That(t, texts[key] != "", "%s/%s.yaml has no text for %s", locale, catalog, key)
				takes, want := placeholder.FindAllString(texts[key], -1), placeholder.FindAllString(first[key], -1)
				if slices.Sort(takes); !slices.Equal(takes, slices.Sorted(slices.Values(want))) {
					t.Errorf("%s/%s.yaml: %s takes %v, in the first language %v", locale, catalog, key, takes, want)
				}
				delete(texts, key)
			}
			expect.That(t, len(texts) == 0, "%s/%s.yaml alone has %v", locale, catalog, slices.Sorted(maps.Keys(texts)))
		}
	}
	for _, locale := range language.All {
		for _, kind := range circulation.Kinds {
			said := web.TextsOf("layout", locale).In("done", "act_"+kind.Verb)
			expect.That(t, said != "", "%s: nothing is said after %s", locale, kind.Kind)
		}
		files, want := expect.Value(filepath.Glob("texts/"+locale+"/*"))(t),
			expect.Value(filepath.Glob("texts/"+language.All[0]+"/*"))(t)
		expect.That(t, len(files) == len(want), "%s has %d files, the first language %d", locale, len(files), len(want))
	}
}

var (
	named = regexp.MustCompile(`(?:\.Texts|TextsOf)\(?\s*"([a-z-]+)"`)
	asks  = regexp.MustCompile(`(?:\.(?:Say|In|List)\(?\s*|web\.Choices\(\w+, |\.options\()"([a-z_]+)"`)
	heads = regexp.MustCompile(`\.Columns\(?((?:,?\s*(?:"#?[a-z_]+"|\(only \S+ "#?[a-z_]+"\)))+)`)
	head  = regexp.MustCompile(`"#?([a-z_]+)"`)
	// lists of names, of which some are those of texts, and names in tables of ways
	lists = regexp.MustCompile(`\[\]string\{(?:\s*"[a-z_]+",?)+|"via_[a-z]+"`)
	shown = regexp.MustCompile(`\$(?:w|l|r|tasks|drafts)\.([a-z_]+)`)
)

// handed are the catalogs that a package receives, besides those that it names.
var handed = map[string][]string{"../web": {"tasks", "agents", "calls", "task", "conversation"},
	"../web/ui/kit.html": {"route", "settings", "audit", "rules", "task", "conversation", "keys", "tasks",
		"agents", "calls", "contests"}}

// homeOf returns the catalog that a catalog has a text from: itself or the common one.
func homeOf(t *testing.T, catalog, key string) string {
	file := string(expect.Value(os.ReadFile("texts/" + language.All[0] + "/" + catalog + ".yaml"))(t))
	if strings.Contains("\n"+file, "\n"+key+":") {
		return catalog
	}
	return "common"
}

// Every text that a page uses exists in a catalog that its template or package names, or in the common one, and every
// text is used.
func TestPagesAskForTextsThatThereAre(t *testing.T) {
	used := map[string]bool{} // by catalog and key
	catalogs, keys, listed := maps.Clone(handed), map[string][]string{}, map[string][]string{}
	expect.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		page := strings.HasSuffix(path, ".html")
		if err != nil || d.IsDir() || !page && !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		where := path
		if !page {
			where = filepath.Join("../web", filepath.Dir(path))
		}
		text := string(expect.Value(os.ReadFile(path))(t))
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			catalogs[where] = append(catalogs[where], m[1])
		}
		for _, m := range asks.FindAllStringSubmatch(text, -1) {
			keys[where] = append(keys[where], m[1])
		}
		for _, m := range heads.FindAllStringSubmatch(text, -1) {
			for _, key := range head.FindAllStringSubmatch(m[1], -1) {
				keys[where] = append(keys[where], key[1])
			}
		}
		for _, m := range lists.FindAllString(text, -1) {
			for _, key := range head.FindAllStringSubmatch(m, -1) {
				listed[where] = append(listed[where], key[1])
			}
		}
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			if page {
				keys[where] = append(keys[where], m[1])
			}
		}
		return nil
	}))
	find := func(where, key string) (found bool) {
		for _, catalog := range catalogs[where] {
			if _, there := web.TextsOf(catalog, language.All[0])[key]; there {
				used[homeOf(t, catalog, key)+" "+key], found = true, true
			}
		}
		return found
	}
	for where, names := range listed {
		for _, key := range names {
			find(where, key)
		}
	}
	for where, all := range keys {
		for _, key := range all {
			expect.That(t, find(where, key), "%s asks for %q, which none of %v has", where, key, catalogs[where])
		}
	}
	for _, file := range expect.Value(filepath.Glob("texts/" + language.All[0] + "/*.yaml"))(t) {
		catalog := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for key := range web.TextsOf(catalog, language.All[0]) {
			if key != "locale" && homeOf(t, catalog, key) == catalog {
				expect.That(t, used[catalog+" "+key], "%s.yaml: nobody asks for %s", catalog, key)
			}
		}
	}
}

// Anybody may choose a name that is taken.
func TestPeopleHaveTheirIDsWhereTwoHaveOneName(t *testing.T) {
	named := web.Named(map[string]string{"U1PERSON": "佐藤 花子", "U2PERSON": "佐藤 花子", "U3PERSON": "田中 恵",
		"U4PERSON": "U4PERSON"})
	expect.Same(t, "@佐藤 花子 (U1PERSON) が @佐藤 花子 (U2PERSON) に、@田中 恵 が @U4PERSON と @U5PERSON に",
		web.Mentions("<@U1PERSON> が <@U2PERSON> に、<@U3PERSON> が <@U4PERSON> と <@U5PERSON> に", named))
}

// Pages in English have no Japanese but the name of the other language.
func TestEnglishTextsAreEnglish(t *testing.T) {
	files := expect.Value(filepath.Glob("texts/" + language.English + "/*.yaml"))(t)
	expect.That(t, len(files) > 20, "only %d catalogs", len(files))
	for _, path := range files {
		for line := range strings.Lines(string(expect.Value(os.ReadFile(path))(t))) {
			expect.That(t, !expect.Japanese(line) || strings.HasPrefix(line, "other_language: "), "%s: %s", path, line)
		}
	}
}

// codes are where a problem gets its code: by an argument of a function, or in a value.
var codes = regexp.MustCompile(`(?:Unless|unless|add|fault)\([^\n]*?, "([a-z_]+)"(?:, [A-Z0-9f][^"\n]*)?\)|` +
	`Code: "([a-z_]+)"|wrong\([^\n]*"(csv_[a-z_]+)"`)

// Each problem that a validator finds is said in each language, and no sentence is left that none finds.
func TestEachProblemIsSaid(t *testing.T) {
	found, literals := map[string]bool{}, ""
	for _, dir := range []string{"shared/domain/rules",
		"shared/domain/tenancy", "shared/store", "shared/slack/people", "shared/tool/mcp", "functions/serve-console/web",
		"functions/serve-console/settings"} {
		for _, file := range expect.Value(filepath.Glob("../../../" + dir + "/*.go"))(t) {
			if text := string(expect.Value(os.ReadFile(file))(t)); !strings.HasSuffix(file, "_test.go") {
				literals += text
				for _, m := range codes.FindAllStringSubmatch(text, -1) {
					found[m[1]+m[2]+m[3]] = true
				}
			}
		}
	}
	expect.That(t, len(found) >= 60, "only %d codes are found", len(found))
	for _, locale := range language.All {
		said, _ := web.TextsOf("problems", locale)["problems"].(map[string]string)
		for code := range found {
			expect.That(t, said[code] != "", "%s says nothing of %s", locale, code)
		}
		for code := range said {
			expect.That(t, strings.Contains(literals, `"`+code+`"`), "%s: nothing is %s", locale, code)
		}
	}
}

// TestADifferenceHasBothTextsWhole: whatever is marked, both texts can be read from it line by line.
func TestADifferenceHasBothTextsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("あいa🏆\u3099")), 0, 4, -1), 1, 5).
				Draw(t, "lines"), "\n")
		})
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		var was, is []string
		for _, x := range web.Diff(before, after) {
			line := x.Text + x.Mark + x.Rest
			if x.Change != web.Added {
				was = append(was, line)
			}
			if x.Change != web.Removed {
				is = append(is, line)
			}
		}
		expect.Is(t, strings.Join(was, "\n"), before)
		expect.Is(t, strings.Join(is, "\n"), after)
	})
	all := web.Diff("対象: 営業部の全員", "対象: 人事部の全員")
	expect.Same(t, all, []web.Line{{Change: web.Removed, Text: "対象: ", Mark: "営業", Rest: "部の全員"},
		{Change: web.Added, Text: "対象: ", Mark: "人事", Rest: "部の全員"}})
}
