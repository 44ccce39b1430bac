package web

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestACellIsNoFormula(t *testing.T) {
	for _, s := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "　＝1",
		"＝1", "＋1", "－1",
		"＠x", "\ufeff=1", "\x00=1", "|calc", "%0A", "\tx"} {
		got := literal(s)
		expect.That(t, strings.HasPrefix(got, "'"), "%q stands as %q", s, got)
	}
	for _, s := range []string{"", "U1", "2026-04-18", "却下=理由", "a@b", "'=1"} {
		expect.Is(t, literal(s), s)
	}
	cells := []string{"=1+1", "-1+2", "--1", "-5", "-1.5", "田中", "a\"b,c\nd", ""}
	text, marked := strings.CutPrefix(string(CSV([][]string{cells, cells})), "\ufeff")
	expect.That(t, marked, "Excel takes the file for another encoding")
	rows := expect.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	want := []string{"'=1+1", "'-1+2", "'--1", "-5", "-1.5", "田中", "a\"b,c\nd", ""} // a signed number is none
	expect.Same(t, rows, [][]string{want, want})
}

// A text in a cell is no result of an earlier step, whatever it says.
func TestACellTellsATextFromAResult(t *testing.T) {
	drawn := func(value string) string {
		writes, _ := explain.Effects("ja", []task.Step{{StepID: "s1", Order: 1, Tool: "srv.look", Access: aggregate.Read},
			{StepID: "s2", Order: 2, Tool: "srv.tool", Access: aggregate.Write,
				ToolInput: aggregate.JSON(`{"list":[{"k":"x","v":` + value + `},{"k":"y","v":"z z"}]}`)}})
		r := Reader{Locale: "ja", Person: strings.Clone}
		return fmt.Sprint(r.rest(writes[0].Rest)[0].Rows.Rows)
	}
	for text, ref := range map[string]string{"total": "s1.result.total", "account no": "s1.result.account_no",
		"1 件目": "s1.result.0", "ステップ1の結果": "s1.result"} {
		got, other := drawn(`"`+text+`"`), drawn(`{"$ref":"`+ref+`"}`)
		expect.That(t, got != other, "%q and %q are both %s", text, ref, got)
	}
}

// LibreOffice also splits cells at semicolons and tabs, Excel at semicolons in locales with decimal commas: text after
// these signs must not begin another cell.
func TestNoSignWithinACellBeginsAnother(t *testing.T) {
	for _, s := range []string{"a;=cmd|'/C calc'!A1", "a\t=1+1", "a|=1", `a";=1`} {
		file := string(CSV([][]string{{s, ""}}))
		expect.Is(t, file, "\ufeff\""+strings.ReplaceAll(s, `"`, `""`)+`",""`+"\r\n", "%q stands", s)
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, byteOrderMark)))
		r.Comma = ';'
		row, err := r.Read()
		expect.That(t, err != nil || len(row) <= 1, "%q is %d cells to a program that splits at semicolons", s, len(row))
	}
}

func FuzzACellIsNoFormula(f *testing.F) {
	f.Add("=1")
	f.Fuzz(func(t *testing.T, s string) {
		got := literal(s)
		first := strings.TrimLeftFunc(got, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		expect.That(t, first == "" || !strings.ContainsRune("=+-@", []rune(first)[0]), "%q stands as %q", s, got)
	})
}

// A conflict with another decision, or an act that is impossible now, is not logged as a fault of Ringi's.
func TestWhatAPageIsAnsweredAs(t *testing.T) {
	for _, tt := range []struct {
		err     error
		status  int
		says    string
		refused bool
	}{
		{aggregate.ErrNotFound, http.StatusNotFound, "not_found", true},
		{errors.Join(aggregate.ErrDecided{}, aggregate.ErrNotFound), http.StatusConflict, "conflict", false},
		{aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}, http.StatusForbidden, "not_allowed", true},
		{aggregate.ErrConflict, http.StatusConflict, "conflict", false},
		{aggregate.ErrUncovered, http.StatusConflict, "conflict", false},
		{task.ErrMaxRetries, http.StatusConflict, "conflict", false},
		{aggregate.ErrFull{}, http.StatusConflict, "conflict", false},
		{aggregate.Problem{Field: "slug"}, http.StatusBadRequest, "bad_input", false},
		{aggregate.ErrUnconfirmed, http.StatusServiceUnavailable, "unavailable", false},
		{explain.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", false},
		{explain.ErrModelUnavailable, http.StatusServiceUnavailable, "unavailable", false},
		{errors.New("a bug"), http.StatusInternalServerError, "internal", false},
		{ErrNoPage, http.StatusNotFound, "no_page", false},
		{fmt.Errorf("%w: %w", ErrExpired, aggregate.ErrNotFound), http.StatusNotFound, "expired", false},
		{fmt.Errorf("%w: %w", ErrDeletable, aggregate.ErrNotFound), http.StatusNotFound, "deletable", true},
	} {
		status, says, refused := FaultOf(fmt.Errorf("save it: %w", tt.err))
		expect.That(t, status == tt.status && says == tt.says && refused == tt.refused,
			"%v: %d %q, noted %t; want %d %q", tt.err, status, says, refused, tt.status, tt.says)
	}
}

func TestEveryFaultHasItsWords(t *testing.T) {
	source := string(expect.Value(os.ReadFile("site.go"))(t))
	all := regexp.MustCompile(`http\.Status\w+, "(\w+)"`).FindAllStringSubmatch(source, -1)
	expect.That(t, len(all) > 20, "%d faults", len(all))
	for _, f := range all {
		for _, locale := range language.All {
			words := TextsOf("fault", locale)
			expect.That(t, words.In("title", f[1]) != "" && words.In("text", f[1]) != "", "%s has no words for %s", locale, f[1])
		}
	}
}

// Where a price isn't known, no page says that nothing was spent.
func TestAnUnknownPriceIsNoZero(t *testing.T) {
	for want, got := range map[string]string{"料金不明": Spent("ja", 0, 2), "$0.0056 以上": Spent("ja", 5600, 1),
		"$0.0056": Spent("ja", 5600, 0), "$0.00": Spent("ja", 0, 0)} {
		expect.Is(t, got, want)
	}
}

func TestTextsTakeTheirValuesByName(t *testing.T) {
	texts := Texts{"row": "{n} of {all}", "of": map[string]string{"none": "nobody", "x": "{who}, {who}"}}
	for got, want := range map[string]string{
		texts.Say("row", "all", 9, "n", 3): "3 of 9", texts.Say("row"): "{n} of {all}", texts.Say("rows"): "",
		texts.In("of", ""): "nobody", texts.In("of", "x", "who", "A"): "A, A", texts.In("of", "y"): "", texts.In("row",
			"x"): "",
	} {
		expect.That(t, got == want, "%q is not %q", got, want)
	}
}

// Exported for the tests of the pages.
var (
	UI     = ui
	Parsed = page
)

func TestPagesAreSafeInABrowser(t *testing.T) {
	page := Safe(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	for _, tt := range []struct {
		method, host, site, origin string
		want                       int
	}{
		{"GET", "ringi.example", "cross-site", "", 200},
		{"POST", "ringi.example", "same-origin", "https://ringi.example", 200},
		{"POST", "ringi.example", "cross-site", "https://evil.example", 403},
		{"POST", "ringi.example", "same-site", "https://evil.ringi.example", 403},
		{"POST", "ringi.example", "", "https://evil.example", 403}, // an old browser's
		{"POST", "127.0.0.1:7777", "same-origin", "http://127.0.0.1:7777", 200},
	} {
		log.Reset()
		r := httptest.NewRequest(tt.method, "http://"+tt.host+"/console/", nil)
		r.Header.Set("Sec-Fetch-Site", tt.site)
		r.Header.Set("Origin", tt.origin)
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		strict, csp := w.Header().Get("Strict-Transport-Security") != "", w.Header().Get("Content-Security-Policy")
		expect.That(t, w.Code == tt.want && strict == (tt.host == "ringi.example"), "%+v: %d, %v", tt, w.Code, w.Header())
		expect.That(t, strings.Contains(log.String(), "msg=refused") == (tt.want == http.StatusForbidden), "%s", &log)
		expect.That(t, !strings.Contains(csp, "unsafe") && strings.Contains(csp, "default-src 'none'") &&
			strings.Contains(csp, "frame-ancestors 'none'"), "the policy is %q", csp)
	}
}

func TestNobodyIsLedElsewhere(t *testing.T) {
	for text, want := range map[string]string{
		"/console/tasks?status=done": "/console/tasks?status=done", "/console/tasks/01ARZ": "/console/tasks/01ARZ",
		"/console/": "/console",
		"":          "/else", "https://evil.example/console/": "/else", "//evil.example/console/": "/else",
		"/\\evil.example": "/else", "/console/../slack/events": "/else",
		"javascript:alert(1)": "/else", "/consoles": "/else", "/console//evil.example": "/console/evil.example",
		"/console/\r\nSet-Cookie: a=1": "/else",
		"https:/console/":              "/else", "///evil.example": "/else", "/console/%2e%2e/slack": "/else",
		"/console\t/": "/else",
	} {
		got := LocalPath(text, "/else")
		expect.That(t, got == want, "%q leads to %q, want %q", text, got, want)
	}
}

// The marks of what nobody sees are those of values, and don't depend on the blanks between members.
func TestJSONIsSpelledWhateverStandsBetweenItsMembers(t *testing.T) {
	for _, text := range []string{"{\"אב\"\n:100,\"b\":\"x  y\"}", "{\r\n  \"אב\":\t100,  \"b\": \"x  y\" }"} {
		expect.Is(t, Exactly(text), "{\n  \"אב⟨U+05D1⟩\": 100,\n  \"b\": \"x␣␣y\"\n}", text)
	}
	expect.Is(t, Exactly("no  JSON"), "no␣␣JSON")
}
