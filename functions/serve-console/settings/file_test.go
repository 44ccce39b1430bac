package settings_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func testNoSettingBecomesMarkup(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const evil = `"><script>alert(1)</script>`
	f := opened(w)
	for name := range f {
		if name != "rev" {
			f.Set(name, evil)
		}
	}
	b.Post(formPage, f).Says(t, http.StatusUnprocessableEntity).Lacks(t, "<script>alert")
	b.Post("/console/settings/import", url.Values{"text": {"name: '</textarea>" + evil + "'\nx: 1"}}).
		Says(t, http.StatusUnprocessableEntity).Lacks(t, "<script>alert")
	b.Post(formPage, opened(w, "name", evil)).Says(t, http.StatusSeeOther)
	expect.That(t, !strings.Contains(b.Get(logPage).Body, "<script>alert"), "markup in the log")
}

// testRulesTravelAsAFile: in the same file. What is wrong with them is said with its line.
func testRulesTravelAsAFile(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	send := func(text string) consoletest.Answer {
		return b.Post("/console/settings/import", url.Values{"text": {text}})
	}
	stored := func() []rules.Rule { return expect.Value(w.Store.RulesRow(t.Context(), w.Tenant.ID))(t).Rules.Rules }
	const text = "rules:\n  - name: 小額\n    below: 100000\n    currency: JPY\n    tools: [send_slack_dm, " +
		"https://rooms.example.com/mcp book]\n    labels: {費目: [旅費]}\n    stages:\n      - name: 上長\n        " +
		"need: 1\n        superior: 1\n        people: [" + webapi.Tanaka + "]\n  - name: そのほか\n    refuse: 総務へ"
	send(text).Leads(t, formPage+"?done=saved")
	all := stored()
	expect.Must(t, len(all) == 2, "%+v", all)
	expect.Same(t, all[0].Conditions, rules.Conditions{Below: "100000", Currency: "JPY", Labels: map[string][]string{
		"費目": {"旅費"}}, Tools: []rules.Tool{{Name: "send_slack_dm"}, {Address: "https://rooms.example.com/mcp",
		Name: "book"}}})
	file := b.Get("/console/settings.yaml")
	expect.Has(t, file.Body, "- https://rooms.example.com/mcp book", webapi.Tanaka+" # 田中 恵", "id: "+all[0].ID)
	for _, same := range []string{file.Body, "max_versions: 4\n"} {
		send(same).Leads(t, formPage+"?done=saved")
		expect.Same(t, stored(), all)
	}
	send(strings.Replace(file.Body, "100000", "200000", 1)).Leads(t, formPage+"?done=saved")
	expect.Is(t, stored()[0].Below, "200000")
	for wrong, says := range map[string]string{
		"rules:\n  - name: x\n    whom: y\n":                               "3 行目: rules[0].whom",
		"rules:\n  - name: x\n    refuse: y\n    from: abc\n":              "4 行目: rules[0].from",
		"rules:\n  - name: x\n    refuse: y\n  - name: x\n    refuse: z\n": "rules[1].name",
	} {
		send(wrong).Says(t, http.StatusUnprocessableEntity, says)
	}
}

func testSettingsTravelAsAFile(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Post(formPage, opened(w, "approvers.users", webapi.Sato, "approvers.mode", "list", "max_versions",
		"7")).Says(t, http.StatusSeeOther)
	file := b.Get("/console/settings.yaml")
	expect.Must(t, file.Status == http.StatusOK && strings.Contains(file.Header.Get("Content-Disposition"),
		"attachment") && strings.Contains(file.Body, "- "+webapi.Sato+" # 佐藤 花子") &&
		!strings.Contains(file.Body, "\nslug:"), "%d %s", file.Status, file.Body)
	was := w.SettingsNow()
	b.Post("/console/settings/import", url.Values{"text": {file.Body}}).Leads(t, formPage+"?done=saved")
	diff := tenancy.Differences(was, w.SettingsNow())
	expect.That(t, diff == nil, "the file of the settings changes %v", diff)
	text := strings.ReplaceAll(strings.ReplaceAll(file.Body, "max_versions: 7", "max_versions: 3"), "\n", "\r\n")
	b.Post("/console/settings/import", url.Values{"text": {text}}).Leads(t, formPage+"?done=saved") // as browsers send it
	expect.Is(t, w.SettingsNow().MaxVersions, 3)
}

func testAFilesMistakesAreNamedWithTheirLines(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for text, want := range map[string]string{
		"max_opne_tasks: 1":  "1 行目: max_opne_tasks: " + ja.Rule("unknown"),
		"\nmax_versions: 99": "1 行目: バージョンの上限: 1〜50 を入力してください。",
		"approvers:\n  users:\n  - " + webapi.Guest +
			" # 高橋\n  - U0ELSEWHERE # 田中 恵": "4 行目: 承認者 (2): U0ELSEWHERE: " + ja.Rule("outsider"),
		"a: [":                         ja.Rule("yaml"),
		strings.Repeat("x: 1\n", 5000): ja.Say("more_problems", "n", "4,900"),
	} {
		b.Post("/console/settings/import", url.Values{"text": {text}}).Says(t, http.StatusUnprocessableEntity, want)
	}
}

func testAdmins(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	admins := func() tenancy.Tenant { return expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t) }
	send := func(act, id string) consoletest.Answer {
		return b.Post("/console/settings/admins", url.Values{"act": {act}, "id": {id}, "rev": {fmt.Sprint(admins().Rev)}})
	}
	b.Get("/console/settings/admins").Says(t, http.StatusOK, "鈴木 一郎").Holds(t, `<option value="`+webapi.Sato+`">佐藤 花子<`)
	for id, act := range map[string]string{webapi.Guest: "add", webapi.Stranger: "add", webapi.Bot: "add", "@sato": "add",
		"": "add", webapi.Suzuki: "remove", webapi.Sato: "x"} {
		send(act, id).Says(t, http.StatusUnprocessableEntity)
	}
	old := url.Values{"act": {"add"}, "id": {webapi.Tanaka}, "rev": {fmt.Sprint(admins().Rev)}}
	send("add", webapi.Sato).Says(t, http.StatusSeeOther)
	b.Post("/console/settings/admins", old).Says(t, http.StatusUnprocessableEntity) // over another's
	expect.Same(t, admins().Admins, []string{webapi.Suzuki, webapi.Sato})
	b.Get(logPage).Says(t, http.StatusOK, "管理者", "鈴木 一郎 (U0SANDSUZU)", "佐藤 花子")
	send("remove", webapi.Suzuki).Says(t, http.StatusSeeOther)
	send("add", webapi.Suzuki).Says(t, http.StatusForbidden) // who is no administrator any more
	expect.Same(t, admins().Admins, []string{webapi.Sato})
}

func nobody(id string) string { return id }

func TestSettingsComeBackFromTheirFile(t *testing.T) {
	for name, is := range map[string]tenancy.Settings{"the defaults": tenancy.DefaultSettings(),
		"all others": storetest.Changed(t)} {
		names := map[string]string{"U0SATO": "佐藤 花子\n- U0EVIL", "S0HR": "人事 # 承認者"}
		text := expect.Value(settings.WriteYAML(is, nil, "株式会社りんぎ\nslug: evil",
			func(id string) string { return cmp.Or(names[id], id) }))(t)
		over := tenancy.DefaultSettings()
		over.Approvers.Users, over.MaxVersions = []string{"U0OTHER"}, 9
		got, faults := settings.ReadYAML(text, over, nil)
		expect.Must(t, len(faults) == 0, "%s: %+v in\n%s", name, faults, text)
		diff := tenancy.Differences(is, got.Settings)
		expect.That(t, diff == nil, "%s: %+v in\n%s", name, diff, text)
		expect.That(t, len(is.Approvers.Users) == 0 || got.Line("approvers.users[1]") != 0 &&
			strings.Contains(string(text), "# 佐藤 花子 - U0EVIL\n"), "%s: %s", name, text)
	}
}

// filled sets every field below a value, whatever it is.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if x, is := v.Addr().Interface().(*rules.Tool); is {
			*x = rules.Tool{Address: "https://rooms.example.com/mcp", Name: "book: # 1"}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				filled(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			filled(v.Index(i))
		}
	case reflect.Map:
		of := reflect.New(v.Type().Elem()).Elem()
		filled(of)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("no: # 1\n- x"), of)
	case reflect.String:
		v.SetString("no: # 1\n- x")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// A field that rules gain travels in their file.
func TestEveryFieldOfRulesTravels(t *testing.T) {
	var all []rules.Rule
	filled(reflect.ValueOf(&all).Elem())
	named := func(string) string { return "佐藤\n- U0EVIL" }
	text := expect.Value(settings.WriteYAML(tenancy.DefaultSettings(), all, "x\nrev: 3", named))(t)
	back, faults := settings.ReadYAML(text, tenancy.DefaultSettings(), nil)
	expect.That(t, len(faults) == 0, "%+v in\n%s", faults, text)
	expect.Same(t, all, back.Rules)
}

func TestWhatAFileDoesNotNameStays(t *testing.T) {
	over := storetest.Changed(t)
	over.Approvers.Users, over.Approvers.Usergroups = []string{"U0SATO", "U0SUZUKI"}, []string{"S0HR"}
	got, faults := settings.ReadYAML([]byte("max_versions: 4\napprovers:\n  users: []\n"), over, nil)
	expect.That(t, len(faults) == 0 && got.Settings.MaxVersions == 4 && len(got.Settings.Approvers.Users) == 0 &&
		got.Settings.Approvers.Usergroups[0] == "S0HR" && len(over.Approvers.Users) == 2, "%+v, %v", got.Settings, faults)
}

func TestAFileMayHaveTheSpecificationsOwnNames(t *testing.T) {
	file, faults := settings.ReadYAML([]byte("aiSessions: {cache: {enabled: true}}\naiAgents:\n  - id: a\n    "+
		"provider: openai\n    capabilities: [code]\n    isDefault: true\n    authRef: mine\n"),
		tenancy.DefaultSettings(), nil)
	s := file.Settings
	expect.That(t, len(faults) == 0 && s.AISessions.Cache.Enabled && len(s.Agents) == 1 && s.Agents[0].IsDefault &&
		s.Agents[0].AuthRef == "mine" && s.Validate() == nil && file.Line("agents[0].auth_ref") == 7, "%+v %v", s, faults)
}

func TestAllThatIsWrongWithAFileIsSaidWithItsLine(t *testing.T) {
	for text, want := range map[string][]string{
		"max_opne_tasks: 1\nmax_versions: no\nmax_versions: 3\n": {"max_opne_tasks unknown 1", "max_versions whole 2",
			"max_versions twice 3"},
		"approvers:\n  people: [U1]\n  users: U1\n  mode: [list]": {"approvers.people unknown 2", "approvers.users list 3",
			"approvers.mode text 4"},
		"mcp_servers:\n  - name: a\n    token: x\n  - b": {"mcp_servers[0].url address 2",
			"mcp_servers[0].token unknown 3", "mcp_servers[1] fields 4"},
		"locale: yes\nallow_self_approval: yes\nname: null": {"locale one_of 1", "allow_self_approval flag 2", "name text 3"},
		"max_versions: 1_0\nmax_cost_usd: \"5\"":            {"max_versions whole 1", "max_cost_usd number 2"},
		"name: &a x\nmodel: *a":                             {"name alias 1", "model alias 2"},
		"approvers: {users: [[U1]]}":                        {"approvers.users[0] text 1"},
		"Rev: 3\nrev: 4\n? [a]\n: 1":                        {"Rev unknown 1", "rev unknown 2", " unknown 3"},
		"name: [":                                           {" yaml 1"},
		"- a":                                               {" fields 1"},
		"":                                                  {" fields 1"},
		"aiAgents:\n  - isDefault: true\n    is_default: true\n    metadata:\n      a: [1]\n      b: 1\n      b: x\n    " +
			"secret: x\nagents: []": {
			"agents[0].is_default twice 3", "agents[0].metadata.a text 5", "agents[0].metadata.b twice 7",
			"agents[0].secret unknown 8", "agents twice 9"},
		"ai_sessions: {cache: true}":             {"ai_sessions.cache fields 1"},
		strings.Repeat("#", settings.MaxBytes+1): {" yaml_size 0"},
	} {
		_, faults := settings.ReadYAML([]byte(text), storetest.Changed(t), nil)
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%s %s %d", f.Field, f.Code, f.Line))
		}
		expect.That(t, slices.Equal(got, want), "%.60q: %q, want %q", text, got, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("max_versions: 4\napprovers:\n  users: [U1] # 佐藤\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("rules:\n- name: x\n  from: 1\n  labels: {a: [b]}\n  stages: [{name: y, people: [U1]}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, faults := settings.ReadYAML(text, storetest.Changed(t), nil)
		if len(faults) > 0 {
			return
		}
		again := expect.Value(settings.WriteYAML(file.Settings, file.Rules, "", nobody))(t)
		back, faults := settings.ReadYAML(again, tenancy.DefaultSettings(), nil)
		diff := tenancy.Differences(file.Settings, back.Settings)
		third := expect.Value(settings.WriteYAML(back.Settings, back.Rules, "", nobody))(t)
		expect.That(t, len(faults) == 0 && diff == nil && bytes.Equal(again, third), "%v %v of %q, then %q", faults, diff,
			again, third)
	})
}
