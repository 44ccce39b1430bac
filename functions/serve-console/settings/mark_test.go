package settings_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	standin "ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	serverPage = "/console/tools/servers/rooms"
	markPage   = "/console/tools/marks/"
)

func TestMarks(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an amount is marked": testMarked, "a refused mark is said and kept": testMarkRefused,
		"a mark is tried before it is saved": testMarkTried,
		"Ringi's own tools are marked":       testOwnMarked, "nobody's mark is lost": testMarkConflict,
		"what can't be marked has no page": testUnmarkable, "an argument tells kinds apart": testMarkOfKinds,
	})
}

// ordering allows the tool that orders, and returns its permission.
func ordering(w *consoletest.World, b *consoletest.Browser) tenancy.ToolPermission {
	w.T.Helper()
	hash := hashOn(b.Get(serverPage), standin.PlaceOrder)
	a := b.Post(serverPage, url.Values{
		"act": {"allow"}, "tool": {standin.PlaceOrder}, "effect": {"write"}, "hash": {hash},
	})
	expect.Same(w.T, a.Status, http.StatusSeeOther)
	return permission(w, standin.PlaceOrder)
}

// marks is a filled form of a tool's mark. more are fields and their values; "role /supplier" is that argument's.
func marks(p tenancy.ToolPermission, version string, more ...string) url.Values {
	f := url.Values{
		"act": {"save"}, "rev": {fmt.Sprint(p.Rev)}, "version": {version}, "currency": {"jpy "},
		"at":      {"/supplier", "/items/*/name", "/items/*/quantity", "/items/*/unit_price", "/currency", "/note"},
		"role":    {"", "", "times", "times", "currency", ""},
		"example": {`{"supplier":"Acme","items":[{"name":"PC","quantity":2,"unit_price":149000}],"currency":"JPY"}`},
	}
	for i := 0; i < len(more); i += 2 {
		field, at, ofRow := strings.Cut(more[i], " ")
		if !ofRow {
			f[field] = strings.Split(more[i+1], "|")
			continue
		}
		row := slices.Index(f["at"], at)
		f[field] = slices.Clone(f[field])
		f[field][row] = more[i+1]
	}
	return f
}

var (
	inputTag  = regexp.MustCompile(`<input[^>]*? name="([^"]+)"\s+value="([^"]*)"[^>]*>`)
	selectTag = regexp.MustCompile(`(?s)<select name="([^"]+)".*?</select>`)
	chosenTag = regexp.MustCompile(`<option value="([^"]*)" selected>`)
	optionTag = regexp.MustCompile(`<option value="([^"]*)"`)
)

// asSent is the form of a page as a browser sends it if nobody changes it.
func asSent(a consoletest.Answer) url.Values {
	f := url.Values{"act": {"save"}}
	for _, m := range inputTag.FindAllStringSubmatch(a.Body, -1) {
		if !strings.Contains(m[0], "checkbox") || strings.Contains(m[0], "checked") {
			f.Add(m[1], html.UnescapeString(m[2]))
		}
	}
	for _, m := range selectTag.FindAllStringSubmatch(a.Body, -1) {
		chosen := chosenTag.FindStringSubmatch(m[0])
		if chosen == nil {
			chosen = optionTag.FindStringSubmatch(m[0])
		}
		f.Add(m[1], html.UnescapeString(chosen[1]))
	}
	return f
}

// rowOf returns the row of an argument in a page's table.
func rowOf(a consoletest.Answer, at string) string {
	_, row, _ := strings.Cut(a.Body, `name="at" value="`+at+`"`)
	row, _, _ = strings.Cut(row, "</tr>")
	return html.UnescapeString(row)
}

func testMarked(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki)
	p := ordering(w, b)
	for _, locale := range language.All {
		b.Locale = locale
		words := web.TextsOf("tool-mark", locale)
		b.Get(serverPage).Holds(t, words.Say("unmarked"), markPage+standin.PlaceOrder)
		page := b.Get(markPage+standin.PlaceOrder).Says(t, http.StatusOK)
		expect.Has(t, rowOf(page, "/items/*/unit_price"), "items[] › unit_price", "price of one")
		page.Holds(t, words.In("whys", rules.WhyUnmarked), "place_order")
	}
	version := p.Pin.Version()
	a := b.Post(markPage+standin.PlaceOrder, marks(p, version))
	a.Says(t, http.StatusSeeOther).Leads(t, markPage+standin.PlaceOrder+"?done=saved")
	want := &rules.Mark{Version: version, How: rules.HowProduct,
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}, CurrencyAt: "/currency"}
	expect.Same(t, permission(w, standin.PlaceOrder).Mark, want)
	b.Get(serverPage).Holds(t, "items[] › quantity × items[] › unit_price (currency)")
	page := b.In("ja").Get(markPage+standin.PlaceOrder).Says(t, http.StatusOK, "¥298,000")
	expect.Has(t, rowOf(page, "/items/*/quantity"), `<option value="times" selected>`)
	log := w.Audited(store.AuditFilter{Action: tenancy.AuditToolPermissionUpdated})
	expect.Has(t, string(log[0].Details), `"mark":{"version":"`+version+`","how":"product"`)
	// what a page shows is what it saves
	b.Post(markPage+standin.PlaceOrder, asSent(page)).Says(t, http.StatusSeeOther)
	expect.Same(t, permission(w, standin.PlaceOrder).Mark, want)
	a = b.Post(markPage+standin.PlaceOrder, marks(permission(w, standin.PlaceOrder), version, "role", "|||||"))
	a.Says(t, http.StatusSeeOther)
	expect.That(t, permission(w, standin.PlaceOrder).Mark == nil, "the mark is still there")
}

// Rules tell calls apart by an argument with the role of a kind, under the name that its schema gives it.
func testMarkOfKinds(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki)
	p := ordering(w, b)
	kinds := func(more ...string) []rules.Label {
		more = append([]string{"role /note", "label"}, more...)
		b.Post(markPage+standin.PlaceOrder, marks(p, p.Pin.Version(), more...)).Says(t, http.StatusSeeOther)
		p = permission(w, standin.PlaceOrder)
		return p.Mark.LabelledBy
	}
	expect.Same(t, kinds(), []rules.Label{{Name: "note", Pointer: "/note"}})
	expect.Is(t, len(kinds("role /note", "")), 0)
	named := []rules.Label{{Name: "note", Pointer: "/note"}}
	expect.Same(t, kinds(), named)
	for _, locale := range language.All {
		page := b.In(locale).Get(markPage + standin.PlaceOrder)
		expect.Has(t, rowOf(page, "/note"), `<option value="label" selected>`,
			web.TextsOf("tool-mark", locale).In("roles", "label"))
	}
	b.Post(markPage+standin.PlaceOrder, asSent(b.Get(markPage+standin.PlaceOrder))).Says(t, http.StatusSeeOther)
	expect.Same(t, permission(w, standin.PlaceOrder).Mark.LabelledBy, named)
	five := marks(p, p.Pin.Version(), "role", "label|label|label|label|label|")
	b.In("ja").Post(markPage+standin.PlaceOrder, five).Says(t, http.StatusUnprocessableEntity, "種別は 4 個まで")
}

func testMarkRefused(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki)
	p := ordering(w, b)
	for says, change := range map[string][]string{
		"mixed":       {"role /items/*/quantity", "plus"},
		"pointers":    {"role /supplier", "times"},
		"currency_at": {"role /note", "currency"},
		"currency":    {"currency", "yen!", "role /currency", ""},
	} {
		for _, locale := range language.All {
			a := b.In(locale).Post(markPage+standin.PlaceOrder, marks(p, p.Pin.Version(), change...))
			words := web.TextsOf("tool-mark", locale)
			a.Says(t, http.StatusUnprocessableEntity)
			for _, want := range []string{words.Say("unfixed"), words.In("wrong", says)} {
				expect.That(t, strings.Contains(html.UnescapeString(a.Text()), want), "%s in %s: %v", says, locale, a)
			}
			if at, is := strings.CutPrefix(change[0], "role "); is {
				expect.Has(t, rowOf(a, at), `<option value="`+change[1]+`" selected>`)
			}
		}
	}
	expect.Same(t, permission(w, standin.PlaceOrder).Rev, p.Rev)
}

func testMarkTried(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki).In(language.English)
	p := ordering(w, b)
	words := web.TextsOf("tool-mark", language.English)
	for arguments, want := range map[string]string{
		`{"supplier":"Acme","items":[{"quantity":3,"unit_price":"1,000,000"}],"currency":"JPY"}`: "¥3,000,000",
		`{"supplier":"Acme","items":[{"quantity":1,"unit_price":0.5}],"currency":"JPY"}`:         "¥0.5",
		`{"supplier":"Acme","items":[],"currency":"JPY"}`: words.In("whys",
			rules.WhyRows),
		`{"supplier":"Acme","items":{"$ref":"step-1.result.items"},"currency":"JPY"}`: words.In("whys", rules.WhyReference),
		`{"supplier":`: words.In("whys", rules.WhyArguments),
	} {
		a := b.Post(markPage+standin.PlaceOrder, marks(p, p.Pin.Version(), "act", "try", "example", arguments))
		expect.That(t, strings.Contains(html.UnescapeString(a.Says(t, http.StatusOK).Text()), want), "%s: %v", arguments, a)
		a.Holds(t, html.EscapeString(arguments))
	}
	expect.That(t, permission(w, standin.PlaceOrder).Mark == nil, "trying saved")
}

func testOwnMarked(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const name = "send_slack_dm"
	page := b.Get(markPage+name).Says(t, http.StatusOK).Holds(t, "A Slack user id or an e-mail address.")
	version := hiddenIn(page, "version")
	f := url.Values{"act": {"save"}, "rev": {fmt.Sprint(permission(w, name).Rev)}, "version": {version},
		"at": {"/recipient"}, "role": {"label"}}
	b.Post(markPage+name, f).Says(t, http.StatusSeeOther)
	p := permission(w, name)
	c := p.Call(version, aggregate.Write, `{"recipient":"U0SATO"}`, p.Mark)
	expect.Same(t, c, rules.Call{Tool: rules.Tool{Name: name}, Access: aggregate.Write, Amount: rules.Nothing(),
		Labels: map[string][]string{"recipient": {"U0SATO"}}})
	words := web.TextsOf("tool-mark", "ja")
	b.Get("/console/tools").Holds(t, words.In("sums", rules.HowNothing))
}

// hiddenIn returns the value of a hidden input.
func hiddenIn(a consoletest.Answer, name string) string {
	_, rest, _ := strings.Cut(a.Body, `name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func testMarkConflict(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki)
	p := ordering(w, b)
	was := marks(p, p.Pin.Version(), "currency", "usd", "role /currency", "")
	b.Post(markPage+standin.PlaceOrder, marks(p, p.Pin.Version(), "role /currency", "")).Says(t, http.StatusSeeOther)
	for name, f := range map[string]url.Values{
		"saved in between":   was,
		"of another version": marks(permission(w, standin.PlaceOrder), "other", "currency", "usd", "role /currency", ""),
	} {
		a := b.Post(markPage+standin.PlaceOrder, f)
		words := web.TextsOf("tool-mark", "ja")
		conflicts := a.Status == http.StatusConflict && strings.Contains(a.Text(), words.Say("conflict"))
		expect.That(t, conflicts, "%s: %v", name, a)
		a.Holds(t, `value="USD"`)
	}
	expect.Is(t, permission(w, standin.PlaceOrder).Mark.Currency, "JPY")
}

func testUnmarkable(t *testing.T, w *consoletest.World) {
	rooms(w)
	b := w.As(webapi.Suzuki)
	for _, name := range []string{"list_employees", "no_tool", standin.PlaceOrder, "other.tool"} {
		b.Get(markPage+name).Says(t, http.StatusNotFound)
		b.Post(markPage+name, marks(tenancy.ToolPermission{}, "v")).Says(t, http.StatusNotFound)
	}
}

func TestEveryReasonOfAnUnknownAmountHasWords(t *testing.T) {
	for _, locale := range language.All {
		words := web.TextsOf("tool-mark", locale)
		for _, why := range rules.Whys {
			expect.That(t, words.In("whys", why) != "", "%s has no words for %s", locale, why)
		}
	}
}
