package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// TestLooksOfRules is TestLooksOfThePagesThatAdministratorsRead for the rules of circulation.
func TestLooksOfRules(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	w, empty := consoletest.New(t, db), consoletest.New(t, db)
	looks := ruleLooks(w)
	for _, locale := range language.All {
		t.Run(locale, func(t *testing.T) {
			looked(t, empty, b, locale, []look{{name: "rules-none", path: rulesPath}})
			looked(t, w, b, locale, looks)
		})
	}
}

// TestTheSentenceOfARuleIsBuiltLive: what is chosen shows in the sentence above the form, without a reload; the same
// button does it where there is no script.
func TestTheSentenceOfARuleIsBuiltLive(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	form := b.Post(rulesPath, b.Get(rulesPath).Hidden("act", "begin.writes"))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer := form
		switch {
		case r.Method == http.MethodPost:
			expect.NoError(t, r.ParseForm())
			answer = b.Post(r.URL.Path, r.PostForm)
		case r.URL.Path != "/":
			answer = b.Get(r.URL.RequestURI())
		}
		rw.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		rw.WriteHeader(answer.Status)
		io.WriteString(rw, answer.Body)
	}))
	t.Cleanup(server.Close)
	tab := browser.Start(t).Open(t, server.URL, browser.Window{Width: 1000, Height: 800, Language: "ja"})
	tab.Eval(`window.same = true; const least = document.querySelector("#at-least"); least.value = "10万"; least.dispatchEvent(new Event("change", {bubbles: true}))`)
	tab.Until(`document.querySelector("#says").innerText.includes("10万円以上 (または金額不明)の外部への書き込み") && window.same`)
	tab.Eval(`const kind = document.querySelector("#kind-0"); kind.value = "channel"; kind.dispatchEvent(new Event("change", {bubbles: true}))`)
	tab.Until(`document.querySelector("#says").innerText.includes("チャンネルのだれか 1 人") && window.same`)
	tab.Until(`getComputedStyle(document.querySelector(".of-people")).display === "none" && document.querySelector("#at-least").value === "10万"`)
}

const rulesPath = "/console/rules"

// ruleLooks gives a workspace rules of circulation, and returns their pages.
func ruleLooks(w *consoletest.World) []look {
	const path = rulesPath
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka, Team: w.Tenant.TeamID, Member: true}
	_, _, err := w.Store.SaveRules(w.T.Context(), w.Tenant.ID, someRules(), 0, nil, by, w.Now())
	expect.NoError(w.T, err)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
	rule := b.Post(path, list.Hidden("act", "edit.0"))
	three := []string{"name", "10万円以上の外部書き込み", "use", "some", "tools", "| send_slack_dm", "at_least", "100000", "outcome", "route",
		"stages.0.name", "部長", "stages.0.kind", "people", "stages.0.people", "|" + webapi.Suzuki + "|" + webapi.Guest,
		"stages.0.need", "x", "stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "again", "find.stages.0.people", "a", "stages.1.was", "new", "stages.1.kind", "channel",
		"stages.1.name", "", "find.channels", "general", "to", "within", "hands", "9"}
	changed := b.Post(path, list.Hidden("act", "down.0", "floor.stamps", "2"))
	low := b.Post(path, list.Hidden("floor.stamps", "5", "floor.hands_from", "0", "act", "look"))
	fine := b.Post(path, list.Hidden("act", "delete.1"))
	return []look{
		{name: "rules", path: path}, {name: "rule", path: path, form: list.Hidden("act", "edit.0")},
		{name: "rule-new", path: path, form: list.Hidden("act", "add")},
		{name: "rule-searched", path: path + "/rule", form: rule.Hidden(append(three, "act", "search")...)},
		{name: "rule-wrong", path: path + "/rule", form: rule.Hidden(append(three, "act", "keep")...)},
		{name: "rule-last", path: path, form: list.Hidden("act", "edit.writes")},
		{name: "rule-later", path: path, form: list.Hidden("act", "edit.2")},
		{name: "rules-tried", path: path, form: changed.Hidden("act", "try", "try.tool", " send_slack_dm", "try.amount", "5万", "try.who", "佐藤",
			"try.place", webapi.HR)},
		{name: "rules-unsaved", path: path, form: list.Hidden("act", "down.0")},
		{name: "rules-wrong", path: path, form: low.Hidden("floor.stamps", "5", "floor.hands_from", "0", "act", "check")},
		{name: "rules-check", path: path, form: fine.Hidden("act", "check")},
		{name: "settings-ruled", path: "/console/settings"},
		{name: "rules-end", path: path, form: list.Hidden("act", "end")},
		{name: "rules-import", path: path + "/import", form: list.Hidden("text", "form: 2\nrules:\n- name: x\n  whom: y\n- name: x\n")},
	}
}

// someRules are rules of each kind, one of which an earlier one covers.
func someRules() *rules.Rules {
	people := func(name string, need int, users ...string) rules.Stage {
		return rules.Stage{Name: name, Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: need, Empty: rules.EmptyRefuse}
	}
	steps := []rules.Kind{rules.KindSteps}
	writing := &rules.Tools{Use: rules.UseWriting}
	return &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1, HandsFrom: &rules.Money{Value: "1000000", Currency: "JPY"}}, Rules: []rules.Rule{
		{ID: aggregate.NewID(), Name: "10万円以上の外部書き込み", When: rules.Conditions{Kinds: steps, Tools: writing,
			Amount: &rules.Between{AtLeast: "100000", Currency: "JPY"}}, Outcome: rules.Outcome{Route: &rules.Policy{
			Stages: []rules.Stage{people("部長", 1, webapi.Suzuki), people("経理", 2, webapi.Tanaka, webapi.Alex, webapi.Sato),
				people("総務", 0, webapi.Guest)}, Readers: &rules.Readers{People: []string{webapi.Alex}}}}},
		{ID: aggregate.NewID(), Name: "社外への送信", When: rules.Conditions{Kinds: steps, Tools: writing,
			Places:       &rules.Places{Channels: []string{webapi.HR}},
			Destinations: &rules.Destinations{Go: rules.GoOutside, List: []string{"example.com"}}},
			Outcome: rules.Outcome{Refuse: "社外への送信は総務部に依頼してください。"}},
		{ID: aggregate.NewID(), Name: "営業部の少額", When: rules.Conditions{Requester: &rules.Requester{Departments: []string{"営業部"}},
			Tools:  &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{{Name: "send_slack_dm"}, {Address: "https://rooms.example.com/mcp", Name: "book"}}},
			Amount: &rules.Between{Below: "50000", Currency: "JPY"}}, Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "上長", Who: rules.Who{Kind: rules.WhoManager, Level: 1}, Need: 1, Empty: rules.EmptyUp}, people("経理", 1,
				webapi.Tanaka)}}}},
		{ID: aggregate.NewID(), Name: "50万円以上", When: rules.Conditions{Kinds: steps, Tools: writing,
			Amount: &rules.Between{AtLeast: "500000", Currency: "JPY"}}, Outcome: rules.Outcome{Route: &rules.Policy{
			Stages: []rules.Stage{people("部長", 1, webapi.Suzuki), people("社長", 1, webapi.Alex)}}}},
		{ID: aggregate.NewID(), Name: "外部への書き込み", When: rules.Conditions{Kinds: steps, Tools: writing,
			Amount: &rules.Between{Below: "100000", Currency: "JPY"}},
			Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{people("承認者", 1, webapi.Suzuki, webapi.Tanaka)}}}},
	}}
}
