package web_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

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
			if len(texts) > 0 {
				t.Errorf("%s/%s.yaml alone has %v", locale, catalog, slices.Sorted(maps.Keys(texts)))
			}
		}
	}
	for _, locale := range language.All {
		if files, want := expect.Value(filepath.Glob("texts/"+locale+"/*"))(t), expect.Value(filepath.Glob("texts/"+language.All[0]+"/*"))(t); len(files) != len(want) {
			t.Errorf("%s has %d files, the first language %d", locale, len(files), len(want))
		}
	}
}

var (
	named = regexp.MustCompile(`(?:\.Texts|TextsOf)\(?\s*"([a-z-]+)"`)
	asked = regexp.MustCompile(`(?:\.(?:Say|In|List)\(?\s*|web\.Choices\(\w+, )"([a-z_]+)"`)
	heads = regexp.MustCompile(`\.Columns((?:\s+(?:"#?[a-z_]+"|\(only \S+ "#?[a-z_]+"\)))+)`)
	head  = regexp.MustCompile(`"#?([a-z_]+)"`)
	shown = regexp.MustCompile(`\$(?:w|l|r|tasks|drafts)\.([a-z_]+)`)
)

// handed are the catalogs that a package receives, besides those that it names.
var handed = map[string][]string{"../subject": {"task", "conversation"}, "../web": {"tasks", "agents", "approvals"},
	"../web/ui/route.html": {"route"}, "../web/ui/kit.html": {"settings", "rules"}}

// Every text that a page uses exists in a catalog that its template or package names, and every text is used.
func TestPagesAskForTextsThatThereAre(t *testing.T) {
	used := map[string]bool{} // by catalog and key
	catalogs, keys := maps.Clone(handed), map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
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
		for _, m := range asked.FindAllStringSubmatch(text, -1) {
			keys[where] = append(keys[where], m[1])
		}
		for _, m := range heads.FindAllStringSubmatch(text, -1) {
			for _, key := range head.FindAllStringSubmatch(m[1], -1) {
				keys[where] = append(keys[where], key[1])
			}
		}
		for _, m := range shown.FindAllStringSubmatch(text, -1) {
			if page {
				keys[where] = append(keys[where], m[1])
			}
		}
		return nil
	})
	expect.NoError(t, err)
	for where, asks := range keys {
		for _, key := range asks {
			found := false
			for _, catalog := range catalogs[where] {
				if _, there := web.TextsOf(catalog, language.All[0])[key]; there {
					used[catalog+" "+key], found = true, true
				}
			}
			if !found {
				t.Errorf("%s asks for %q, which none of %v has", where, key, catalogs[where])
			}
		}
	}
	for _, file := range expect.Value(filepath.Glob("texts/" + language.All[0] + "/*.yaml"))(t) {
		catalog := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for key := range web.TextsOf(catalog, language.All[0]) {
			expect.That(t, key == "locale" || used[catalog+" "+key], "%s.yaml: nobody asks for %s", catalog, key)
		}
	}
}

func TestTextsTakeTheirValuesByName(t *testing.T) {
	texts := web.Texts{"row": "{n} of {all}", "of": map[string]string{"none": "nobody", "x": "{who}, {who}"}}
	for got, want := range map[string]string{
		texts.Say("row", "all", 9, "n", 3): "3 of 9", texts.Say("row"): "{n} of {all}", texts.Say("rows"): "",
		texts.In("of", ""): "nobody", texts.In("of", "x", "who", "A"): "A, A", texts.In("of", "y"): "", texts.In("row", "x"): "",
	} {
		expect.That(t, got == want, "%q is not %q", got, want)
	}
}
