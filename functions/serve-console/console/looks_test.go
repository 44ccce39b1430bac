package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// chrome is the part of a phone's screen above what a page is about.
const chrome = `document.querySelector("main").getBoundingClientRect().top / innerHeight`

// look is a page in one of its states. A page of a form answers to the form that was sent.
type look struct {
	name, path string
	form       url.Values
	file       []byte // that is sent with the form
	nobody     bool   // is signed in
	daily      bool   // it is looked at by day, in one language
}

// TestLooksOfThePages: empty, full, refused and saved, nothing sticks out of a page, axe finds no
// serious problem, and on a phone the page begins in the first fifth of the screen. At night it looks at every form of
// every page, and with RINGI_SCREENSHOTS it takes pictures.
func TestLooksOfThePages(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	looks := map[*consoletest.World][]look{}
	for _, of := range []func(*consoletest.World) []look{emptyLooks, fullLooks, ruleLooks, requestLooks,
		decisionLooks, callLooks} {
		w := consoletest.New(t, db)
		looks[w] = of(w)
	}
	for _, locale := range language.All {
		for w, all := range looks {
			t.Run(fmt.Sprintf("%s, %d pages", locale, len(all)), func(t *testing.T) { looked(t, w, b, locale, all) })
		}
	}
}

// looked looks at pages in a language: at night at each, wide and narrow, light and dark; by day at every fourth.
func looked(t *testing.T, w *consoletest.World, b *browser.Browser, locale string, all []look) {
	pictures := os.Getenv("RINGI_SCREENSHOTS")
	byPath := map[string]look{}
	user, nobody := w.As(webapi.Suzuki), w.Browser()
	user.Locale, nobody.Locale = locale, locale
	address := served(t, func(r *http.Request) consoletest.Answer {
		x, known := byPath[r.URL.Path]
		by := user
		if x.nobody {
			by = nobody
		}
		switch {
		case x.file != nil:
			return by.Upload(x.path, x.form, x.file)
		case x.form != nil:
			return by.Post(x.path, x.form)
		case known:
			return by.Get(x.path)
		}
		return by.Get(r.URL.RequestURI())
	})
	tab := b.Open(t, address+"/console/assets/console.css",
		browser.Window{Width: 1440, Height: 900, Language: locale, Calm: true})
	for i, x := range all {
		english := locale == language.English
		if !expect.Long() && (x.daily && (i%2 == 1) != english || !x.daily &&
			i%4 != map[bool]int{true: 1, false: 3}[english]) {
			continue
		}
		byPath["/look/"+x.name] = x
		tab.Visit(address + "/look/" + x.name)
		tab.Until(`document.querySelector("h1") && !document.querySelector("[data-now]")`)
		for _, width := range []int64{1440, 390} {
			for _, dark := range []bool{false, true} {
				if !expect.Long() && ((width == 390) != (locale == language.English) || dark != (locale == language.English)) {
					continue
				}
				tab.Resize(browser.Window{Width: width, Height: map[bool]int64{true: 844, false: 900}[width == 390],
					Phone: width == 390, Dark: dark, Language: locale, Calm: true})
				looksGood(t, tab.For(t), fmt.Sprintf("%s-%s-%d-%s", x.name, locale, width,
					map[bool]string{true: "dark", false: "light"}[dark]), pictures)
			}
		}
	}
}

func looksGood(t *testing.T, tab *browser.Tab, name, pictures string) {
	failed := t.Failed()
	tab.Fits()
	tab.Accessible(t)
	if strings.Contains(name, "-390-") {
		share := browser.Read[float64](tab, chrome)
		expect.That(t, share <= 0.2, "the page begins at %.2f of the screen", share)
	}
	if !failed && t.Failed() {
		t.Logf("above: %s", name)
	}
	if pictures != "" {
		tab.Whole(filepath.Join(pictures, name+".png"))
	}
}

// emptyLooks are pages of a workspace in which nothing happened.
func emptyLooks(w *consoletest.World) (all []look) {
	for _, name := range []string{"audit", "settings", "integrations", "tools", "organisation",
		"contests", "agents", "tasks",
		"stand-ins"} {
		all = append(all, look{name: name + "-empty", path: "/console/" + name})
	}
	refused := w.As(webapi.Suzuki).Get(approvalPage).Hidden()
	for name, value := range map[string]string{"rev": fmt.Sprint(w.SettingsNow().Rev), "act": "save",
		"max_versions": "0", "fiscal_year_month": "x"} {
		refused.Set(name, value)
	}
	all = append(all, look{name: "tool-mark-empty", path: "/console/tools/marks/send_slack_dm"})
	return append(all, look{name: "home-empty", path: "/console"},
		look{name: "audit-refused", path: "/console/audit?from=yesterday"},
		look{name: "settings-refused", path: approvalPage, form: refused},
		look{name: "settings-saved", path: approvalPage + "?done=saved"},
		look{name: "signin", path: "/console/signin", nobody: true}, look{name: "signin-refused",
			path: "/console/signin/done?error=access_denied&state=x", nobody: true},
		look{name: "not-there", path: "/console/tasks/01NOTHERE"},
		look{name: "rules-none", path: rulesPath})
}

const rulesPath, approvalPage = "/console/rules", "/console/settings"

// ruleLooks gives a workspace rules of circulation, and returns their pages.
func ruleLooks(w *consoletest.World) []look {
	const path = rulesPath
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka, Team: w.Tenant.TeamID, Member: true}
	saved, _, err := w.Store.SaveRules(w.T.Context(), w.Tenant.ID, someRules(), 0, nil, by, w.Now())
	expect.NoError(w.T, err)
	limited := maps.Clone(refusedStandIn)
	limited["rules"] = []string{saved.Rules[0].ID}
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	rule := b.Post(path, list.Hidden("act", "edit.0"))
	three := []string{"name", "10万円以上の外部書き込み", "use", "some", "tools", "|send_slack_dm", "from", "100000", "asks",
		"steps|call", "stages.0.name", "部長", "stages.0.who", "user:" + webapi.Suzuki + "|user:" + webapi.Guest,
		"stages.0.need", "x", "stages.1.name", "", "stages.1.who", "channel:"}
	changed := b.Post(path, list.Hidden("act", "down.0"))
	twice := expect.Value(json.Marshal(map[string]any{"Rev": 1, "Rules": append(saved.Rules, saved.Rules[0])}))(w.T)
	return []look{
		{name: "rules", path: path}, {name: "rule", path: path, form: list.Hidden("act", "edit.0")},
		{name: "rule-new", path: path, form: list.Hidden("act", "add")},
		{name: "rule-wrong", path: path + "/rule", form: rule.Hidden(append(three, "act", "keep")...)},
		{name: "rule-later", path: path, form: list.Hidden("act", "edit.2")},
		{name: "rules-tried", path: path, form: changed.Hidden("act", "try", "try.tool", "send_slack_dm", "try.amount",
			"50,000", "try.who", "佐藤",
			"try.place", webapi.HR)},
		{name: "rules-unsaved", path: path, form: list.Hidden("act", "down.0")},
		{name: "rules-wrong", path: path, form: list.Hidden("act", "save", "draft", web.Packed(twice))},
		{name: "settings-ruled", path: approvalPage},
		{name: "stand-ins-refused", path: "/console/stand-ins", form: limited},
	}
}

// someRules are rules of each kind, one of which an earlier one covers.
func someRules() *rules.Rules {
	people := func(name string, need int, users ...string) rules.Stage {
		return rules.Stage{Name: name, Who: rules.Who{People: users}, Need: need}
	}
	steps := []rules.Kind{rules.KindSteps}
	return &rules.Rules{Rules: []rules.Rule{
		{ID: aggregate.NewID(), Name: "10万円以上の外部書き込み", Conditions: rules.Conditions{Asks: steps, From: "100000",
			Currency: "JPY"}, Outcome: rules.Outcome{
			Stages: []rules.Stage{people("部長", 1, webapi.Suzuki), people("経理", 2, webapi.Tanaka, webapi.Alex, webapi.Sato),
				people("総務", 0, webapi.Guest)}, Tells: webapi.HR}},
		{ID: aggregate.NewID(), Name: "社外への送信", Conditions: rules.Conditions{Asks: steps, Channels: []string{webapi.HR}},
			Outcome: rules.Outcome{Refuse: "社外への送信は総務部に依頼してください。"}},
		{ID: aggregate.NewID(), Name: "営業部の少額",
			Conditions: rules.Conditions{Departments: []string{"営業部"}, Only: true,
				Tools: []rules.Tool{{Name: "send_slack_dm"}, {Address: "https://rooms.example.com/mcp", Name: "book"}},
				Below: "50000", Currency: "JPY"}, Outcome: rules.Outcome{Stages: []rules.Stage{
				{Name: "上長", Who: rules.Who{Superior: 1}, Need: 1}, people("経理", 1, webapi.Tanaka)}}},
		{ID: aggregate.NewID(), Name: "50万円以上", Conditions: rules.Conditions{Asks: steps, From: "500000", Currency: "JPY"},
			Outcome: rules.Outcome{Stages: []rules.Stage{people("部長", 1, webapi.Suzuki), people("社長", 1, webapi.Alex)}}},
		{ID: aggregate.NewID(), Name: "外部への書き込み", Conditions: rules.Conditions{Asks: steps, Below: "100000", Currency: "JPY"},
			Outcome: rules.Outcome{Stages: []rules.Stage{people("承認者", 1, webapi.Suzuki, webapi.Tanaka)}}},
	}}
}

// turnLooks are pages of gates under a rule as Suzuki reads them: at their turn, at others', and after they acted.
func turnLooks(w *consoletest.World) []look {
	two := consoletest.Desk("経理", 2, webapi.Tanaka, webapi.Suzuki, "U0TAKADA", webapi.Alex)
	act := func(user string, do aggregate.Act, reason string) { w.As(user).Acts(do, reason) }
	opened := func(stages ...circulation.Stage) string {
		w.Ask()
		w.PlannedOnRoute(tenancy.DefaultSettings(), consoletest.Along(stages...), steps()...)
		return w.TaskPage()
	}
	mine := opened(consoletest.ThreeStages()...)
	others := opened(consoletest.Desk("課長", 1, webapi.Tanaka), two, consoletest.Desk("部長", 1, webapi.Alex))
	stamped := opened(two, consoletest.Desk("部長", 1, webapi.Alex))
	act(webapi.Tanaka, aggregate.ActApprove, "")
	round := opened(consoletest.Desk("課長", 1, webapi.Tanaka), two)
	act(webapi.Tanaka, aggregate.ActApprove, "")
	act(webapi.Alex, aggregate.ActReject, "宛名が違います。部署ごとに分けて、営業部の分だけを先に送ってください。")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.FinishedOnRoute(w.SettingsNow(), consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), two), steps(),
		"宛名を直しました。")
	denied := opened(consoletest.ThreeStages()...)
	act(webapi.Suzuki, aggregate.Act("deny"), "この依頼は、来期の予算で出し直してください。")
	return []look{
		{name: "turn-mine", path: mine}, {name: "turn-others", path: others}, {name: "turn-two-of-three", path: stamped},
		{name: "turn-round", path: round}, {name: "turn-denied", path: denied + "?done=act_deny"},
	}
}

// served answers a real browser by what a function answers, until the test is over. It returns its address.
func served(t *testing.T, answer func(r *http.Request) consoletest.Answer) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.NoError(t, r.ParseForm())
		a := answer(r)
		w.Header().Set("Content-Type", a.Header.Get("Content-Type"))
		w.WriteHeader(a.Status)
		io.WriteString(w, a.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
