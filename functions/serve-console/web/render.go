package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

//go:embed ui
var ui embed.FS

// Document is a page's content within the layout.
type Document struct {
	Title   string // empty: that of the menu's entry
	Version int    // of what the title names; 0: it has none
	Here    string // the page's menu entry
	Form    string // the address of the form “draft”, which isn't saved yet: it goes along into the other language
	Data    any
	Status  int    // 200 unless set
	After   string // follows the notice, if there is one
	Up      *View  // the page that this one belongs to, if the menu doesn't have it
}

// sheet is a document with what the layout needs.
type sheet struct {
	Document
	Viewer *Viewer
	Menu   []entry
	Beside []entry // pages beside this one
	Above  *entry  // the page of the menu that this one belongs to; nil: it is that page
	Notice string
	Warns  bool   // something is left to do elsewhere
	Other  string // the address of the page in the other language
	Assets string // hash of the assets, so that browsers reload changed ones
}

// Texts returns a catalog in the viewer's language.
func (s sheet) Texts(catalog string) Texts { return s.Viewer.Texts(catalog) }

// Conflict reports whether somebody else saved what a form was about meanwhile.
func (s sheet) Conflict() bool { return s.Status == http.StatusConflict }

// entry is a page that the menu leads to. Beside are the pages beside it, itself the first, if there are any.
type entry struct {
	Key, Path, Text string
	Here            bool
	Beside          []entry
}

// sections are the menu's entries: each leads to the first of its pages that the viewer may open.
var sections = [][]string{{"home"}, {"tasks"}, {"agents", "calls", "keys"}, {"contests"},
	{"rules", "organisation", "stand-ins"}, {"integrations", "tools"}, {"audit", "figures"}, {"settings"}}

// ofMembers are the pages of the menu that members may open, too.
var ofMembers = []string{"home", "tasks", "agents", "calls", "stand-ins"}

// menu returns what a viewer may open, with the page that is open.
func menu(v *Viewer, here string) (all []entry) {
	words := v.Texts("layout")
	for _, section := range sections {
		var pages []entry
		for _, key := range section {
			e := entry{Key: key, Path: "/console/" + key, Text: words.In("menu_pages", key), Here: key == here}
			if key == "home" {
				e.Path = "/console"
			}
			if v.Admin || slices.Contains(ofMembers, key) {
				pages = append(pages, e)
			}
		}
		if len(pages) == 0 {
			continue
		}
		first := pages[0]
		first.Here = slices.ContainsFunc(pages, func(e entry) bool { return e.Here })
		first.Text = cmp.Or(words.In("menu_sections", first.Key), first.Text)
		if len(pages) > 1 {
			first.Beside = pages
		}
		all = append(all, first)
	}
	return all
}

// within returns the pages beside the one that is open, or that page itself if this one stands below it.
func within(menu []entry, d Document, r *http.Request) (beside []entry, above *entry) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	for _, section := range menu {
		for _, e := range append(section.Beside, section) {
			if e.Key != d.Here {
				continue
			}
			below := e.Path != path
			if r.Method == http.MethodPost { // a form may be answered by the page above it
				below = d.Title != e.Text
			}
			if below {
				return nil, &e
			}
			return section.Beside, nil
		}
	}
	return nil, nil
}

var pages sync.Map

// parts are what several pages have: the layout, and the kit of forms and lists.
var parts = []string{"layout", "kit"}

// page returns a page with the parts: "contest" is what contest.html defines as main, "contest/sent" what it defines by
// that name. It is parsed when it is first shown: all pages together would take longer than the start of the function.
func page(name string) (*template.Template, error) {
	if t, known := pages.Load(name); known {
		return t.(*template.Template), nil
	}
	t := template.New("").Funcs(pageFuncs).Option("missingkey=error")
	file, _, several := strings.Cut(name, "/")
	for _, part := range append(slices.Clone(parts), file) {
		text, err := ui.ReadFile("ui/" + part + ".html")
		if err == nil {
			_, err = t.New(part).Parse(unindented(string(text)))
		}
		if err != nil {
			return nil, fmt.Errorf("read the page %s: %w", name, err)
		}
	}
	if several {
		main := t.Lookup(name)
		if main == nil {
			return nil, fmt.Errorf("the file of the page %s has none of that name", name)
		}
		if _, err := t.AddParseTree("main", main.Tree); err != nil {
			return nil, fmt.Errorf("read the page %s: %w", name, err)
		}
	}
	pages.Store(name, t)
	return t, nil
}

// unindented leaves out what is before each line: of a page of sixty steps it would be an eighth.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, " "))
	}
	return b.String()
}

// pageFuncs are what templates may call.
var pageFuncs = template.FuncMap{
	"when": when, "exactly": exactly, "count": Count,
	"count64": func(n int) string { return Count(int64(n)) },
	"pair":    func(a, b any) pair { return pair{a, b} },
	"fields":  fields, "typed": typed, "hinted": hinted, "faulty": faulty,
	"badge":   func(status any) string { return Badge(fmt.Sprint(status)) },
	"spelled": language.Spelled, "spelledLine": language.OneLine, "oneLine": language.ForeignLine,
	"coded": func(s string) bool { return coded.Get().MatchString(s) },
	"prose": card.Prose, "spent": Spent,
	"first": func(all []Fault) []Fault { return all[:min(len(all), mostFaults)] },
	"more":  func(all []Fault) string { return Count(int64(max(0, len(all)-mostFaults))) },
	"brief": func(s string) string { return language.ForeignLine(language.Beginning(s, mostBrief)) },
}

// coded matches a hash and an id, which nobody reads.
var coded = language.Regexp{Text: `^([0-9a-f]{64}|[0-9A-HJKMNP-TV-Z]{26})$`}

// mostBrief is how many characters a page shows of a text that stands elsewhere.
const mostBrief = 200

// pair passes two values to a nested template.
type pair struct{ A, B any }

// fields are hidden fields of a form by their names and values.
func fields(all ...any) (out []pair) {
	for i := 0; i+1 < len(all); i += 2 {
		out = append(out, pair{all[i], all[i+1]})
	}
	return out
}

// minute is how a time is written without its seconds.
const minute = "2006-01-02 15:04"

// Minute writes a time in the tenant's zone, as texts have it.
func Minute(t time.Time) string { return t.In(tenancy.Zone()).Format(minute) }

// when formats a time in the tenant's zone, which the page names at its end.
func when(t time.Time) template.HTML { return written(t, minute) }

// exactly formats a time with its seconds.
func exactly(t time.Time) template.HTML { return written(t, time.DateTime) }

func written(t time.Time, layout string) template.HTML {
	if t.IsZero() {
		return ""
	}
	exact, shown := t.UTC().Format(time.RFC3339), t.In(tenancy.Zone()).Format(layout)
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, exact, shown))
}

// Count formats a number with separators between thousands.
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Count(n/1000), n%1000)
}

func (c *Site) Show(w http.ResponseWriter, r *http.Request, v *Viewer, d Document, name string) error {
	t, err := page(name)
	if err != nil {
		return err
	}
	d.Title = cmp.Or(d.Title, v.Texts("layout").In("menu_pages", d.Here))
	var b bytes.Buffer
	s := sheet{Document: d, Viewer: v, Assets: assets().version, Other: otherLanguage(r, v, d.Form)}
	if v.User != "" {
		s.Menu = menu(v, d.Here)
		s.Beside, s.Above = within(s.Menu, d, r)
	}
	done := r.URL.Query().Get("done")
	s.Notice, s.Warns = v.Texts("layout").In("done", done), done == "not-revoked"
	if err := t.ExecuteTemplate(&b, "layout", s); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", v.Locale)
	w.WriteHeader(cmp.Or(d.Status, http.StatusOK))
	_, err = b.WriteTo(w)
	return err
}

func otherLanguage(r *http.Request, v *Viewer, form string) string {
	other := language.All[(slices.Index(language.All, v.Locale)+1)%len(language.All)]
	next := cmp.Or(form, "/console")
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	return "/console/language/" + other + "?next=" + url.QueryEscape(next)
}

// Done redirects to a page that shows a notice: one of the layout's texts.
func (c *Site) Done(w http.ResponseWriter, r *http.Request, to, notice string) error {
	u, err := url.Parse(to)
	if err != nil {
		return fmt.Errorf("lead to %.80q: %w", to, err)
	}
	q := u.Query()
	q.Set("done", notice)
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
	return nil
}

type asset struct {
	kind string
	body []byte
}

type assetSet struct {
	files   map[string]asset
	version string
}

// assets has the files that pages load: one script, one style sheet, and the tab's icon.
var assets = sync.OnceValue(func() assetSet {
	whole, _ := ui.ReadFile("ui/console.css") // embedded: it is there
	css, _ := ui.ReadFile("ui/pages.css")
	css = append(whole, css...)
	js, _ := ui.ReadFile("ui/console.js")
	icon, _ := ui.ReadFile("ui/icon.svg")
	sum := sha256.Sum256(slices.Concat(css, js, icon))
	return assetSet{version: hex.EncodeToString(sum[:6]), files: map[string]asset{
		"console.css": {"text/css; charset=utf-8", css},
		"console.js":  {"text/javascript; charset=utf-8", js},
		"icon.svg":    {"image/svg+xml", icon},
	}}
})

func ServeAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets().files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // its address has its hash
	w.Write(a.body)
}

// Badge returns a status's colour, which shows whether the reader must do something.
func Badge(status string) string {
	switch status {
	case "completed", "done", "open", "closed", "ended", "succeeded", "granted", string(aggregate.Approved):
		return "badge-good"
	case "failed", "failing", "abandoned", "not_drafted", "to_retry", "rejected", "denied", "refused", "unknown":
		return "badge-bad"
	case "waits", string(aggregate.PendingApproval), "waiting", "partial_failure":
		return "badge-wait"
	case "running", "executing", "drafting", "generating", "pending":
		return "badge-calm"
	}
	return ""
}

// TimeOf returns a row's optional time; the zero time if it is missing.
func TimeOf(t *time.Time) (out time.Time) {
	if t != nil {
		out = *t
	}
	return out
}

// Spent says what calls of models cost, some of which may have no known price: of those only the tokens are known.
func Spent(locale string, known aggregate.MicroUSD, unpriced int) string {
	words, cost := TextsOf("layout", locale), "$"+known.String()
	switch {
	case unpriced == 0:
		return cost
	case known == 0:
		return words.Say("price_unknown")
	}
	return words.Say("price_at_least", "cost", cost)
}

// Change says whether a line was added, removed, or neither.
type Change string

const (
	Same    Change = ""
	Added   Change = "added"
	Removed Change = "removed"
)

type Line struct {
	Change           Change
	Text, Mark, Rest string // Mark is what differs from the line that stood, or stands, in its place
}

// Diff returns the lines of two texts: what is removed from before, added by after, or in both.
func Diff(before, after string) (out []Line) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	say := func(c Change, lines []string) {
		out = append(out, Each(lines, func(text string) Line { return Line{Change: c, Text: text} })...)
	}
	at := 0
	for _, s := range files.Compare(a, b) {
		say(Same, a[at:s.X0])
		was, is := a[s.X0:s.X1], b[s.Y0:s.Y1]
		for len(was) == len(is) && len(was) > 0 { // each beside what it became
			out = append(out, replaced(was[0], is[0])...)
			was, is = was[1:], is[1:]
		}
		say(Removed, was)
		say(Added, is)
		at = s.X1
	}
	say(Same, a[at:])
	return out
}

// replaced returns a line and what it became, with what differs between their beginnings and ends marked.
func replaced(was, is string) []Line {
	x, y := []rune(was), []rune(is)
	first, last := files.Alike(x, y)
	of := func(c Change, line []rune) Line {
		return Line{c, string(line[:first]), string(line[first : len(line)-last]), string(line[len(line)-last:])}
	}
	return []Line{of(Removed, x), of(Added, y)}
}
