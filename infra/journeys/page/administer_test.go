package page

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// administering is an administrator at the console, on a desktop or a phone.
type administering struct {
	t   *testing.T
	tab *browser.Tab
	at  string // the window's name, for screenshots
}

// visit opens a page by its address, and waits until it has loaded.
func (a administering) visit(path string) {
	a.t.Helper()
	a.tab.Visit(running.URL + path)
	a.tab.Until(`document.querySelector("main h1")`)
}

// look checks that people can read the page.
func (a administering) look(name string) {
	a.t.Helper()
	looks(a.t, a.tab, a.at+"-"+name)
}

// shows waits until an element has each of these texts.
func (a administering) shows(selector string, texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		a.tab.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%s))`, selector,
			browser.Quote(text)))
	}
}

// TestAnAdministratorChangesWhatHolds: each act of the administrators' pages, done and refused, on a desktop in
// Japanese and on a phone in English.
func TestAnAdministratorChangesWhatHolds(t *testing.T) {
	driver.Leave(t, running)
	t.Parallel()
	b := browser.Start(t)
	for i, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			if i > 0 {
				expect.AtNight(t)
			}
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console/settings")
			for _, act := range []struct {
				name string
				do   func(administering, int)
			}{
				{"settings", changesSettings}, {"administrators", changesAdministrators}, {"tools", limitsTools},
				{"servers", allowsToolsOfServers},
			} {
				t.Run(act.name, func(t *testing.T) { act.do(administering{t, tab.For(t), w.name}, i) })
			}
		})
	}
}

// changesSettings types two invalid values and sees an error at each field, then two valid ones, and another one
// by itself.
func changesSettings(a administering, i int) {
	versions, days, kept := fmt.Sprint(4+i), fmt.Sprint(30+i), fmt.Sprint(60+i)
	const save = ".save .button-primary"
	a.visit("/console/settings")
	a.tab.Until(`!!document.getElementById("s-max-versions")`)
	a.tab.Type("#s-max-versions", "0")
	a.tab.Type("#s-approval-timeout-hours", "two")
	a.tab.Press(save)
	a.tab.Until(`document.querySelectorAll("#problems li").length === 2`)
	for field, says := range map[string][2]string{
		"s-max-versions":           {"1〜50 を入力してください。", "Enter 1–50."},
		"s-approval-timeout-hours": {"整数を入力してください。", "whole number"},
	} {
		a.shows(`.setting:has(#`+field+`) .problem`, says[i])
		a.tab.Until(fmt.Sprintf(`document.getElementById(%q).matches("[aria-invalid=true]") && `+
			`document.querySelector('#problems a[href$="#%s"]')`, field, field))
	}
	a.tab.Until(`document.getElementById("s-max-versions").value === "0" && ` +
		`document.getElementById("s-approval-timeout-hours").value === "two"`)
	a.look("settings-refused")
	a.tab.Press(`#problems a[href$="#s-approval-timeout-hours"]`)
	a.tab.Until(`location.hash === "#s-approval-timeout-hours"`)
	a.tab.Type("#s-max-versions", versions)
	a.tab.Type("#s-approval-timeout-hours", days)
	a.tab.Press(save)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	a.tab.Until(fmt.Sprintf(`document.getElementById("s-max-versions").value === %q && `+
		`document.getElementById("s-approval-timeout-hours").value === %q`, versions, days))
	a.visit("/console/settings")
	a.tab.Type("#s-retain-results-days", kept)
	a.tab.Press(save)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	a.tab.Press(`a[href="/console/audit?action=settings.updated"]`)
	a.tab.Until(`location.pathname === "/console/audit" && document.querySelector("table.audit details")`)
	a.tab.Press("table.audit tbody tr:first-child summary")
	a.shows("table.audit tbody tr:first-child", "鈴木", "→ "+kept, [2]string{"結果の保存期間", "Keep results for"}[i])
	a.tab.Press("table.audit tbody tr:nth-child(2) summary")
	a.shows("table.audit tbody tr:nth-child(2)", "鈴木", "→ "+versions, "→ "+days)
	a.look("settings-in-the-log")
}

// changesAdministrators makes a person an administrator, who reads the log, and removes them, after which their acts
// are refused at once. A guest can't be chosen, and the last administrator can't be removed.
func changesAdministrators(a administering, i int) {
	user, name := [2]string{webapi.Tanaka, webapi.Sato}[i], [2]string{"田中", "佐藤"}[i]
	button := func(id string) string {
		return fmt.Sprintf(`form[action="/console/settings/admins"]:has(input[name="id"][value="%s"]) button`, id)
	}
	a.visit("/console/settings/admins")
	a.tab.Press(button(webapi.Suzuki))
	a.shows(".problem[role=alert]", [2]string{"管理者は 1 人以上必要です。", "At least one administrator"}[i])
	a.tab.Until(fmt.Sprintf(`!document.querySelector('#people [value="%s"]') && `+
		`document.querySelector('#people [value="%s"]').text.includes(%q)`, webapi.Guest, user, name))
	a.tab.Type(`main input[list="people"]`, user)
	a.tab.Press(`main form.search button`)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	a.look("administrators")
	r := read(a.t, user)
	r.get("/console/audit/file.csv")
	a.tab.Press(button(user) + `[value="remove"]`)
	a.tab.Until(`!document.querySelector('` + button(user) + `')`)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	answer := expect.Value(r.http.Get(running.URL + "/console/audit/file.csv"))(a.t)
	answer.Body.Close()
	expect.That(a.t, answer.StatusCode == http.StatusForbidden,
		"who is no administrator any more takes the log away: %d", answer.StatusCode)
}

// limitsTools forbids a tool that no running request needs, and limits another after trying an invalid limit.
func limitsTools(a administering, i int) {
	tool, allowed := `details[id="list_departments"] `, [2]string{"false", "true"}[i]
	a.visit("/console/tools")
	a.tab.Press(tool + "summary")
	a.tab.Press(tool + fmt.Sprintf(`input[name="allowed"][value="%s"]`, allowed))
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(`location.hash === "#list_departments" && document.querySelector(".notice:not([hidden])")`)
	a.shows(tool+"summary", [2]string{"許可しない", "Allowed"}[i])

	tool = `details[id="send_slack_dm"] `
	bound := `[id="b-send_slack_dm-recipients"]`
	a.tab.Press(tool + "summary")
	a.tab.Type(bound, "somebody")
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(fmt.Sprintf(`document.querySelector('%s[open] [role=alert]') && `+
		`document.querySelector('%s[aria-invalid=true]').value === "somebody"`, strings.TrimSpace(tool), bound))
	a.look("tools-refused")
	recipients := webapi.Sato + [2]string{"\n" + webapi.Tanaka, ""}[i]
	a.tab.Type(bound, recipients)
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(`location.hash === "#send_slack_dm" && document.querySelector(".notice:not([hidden])")`)
	a.tab.Until(fmt.Sprintf(`document.querySelector('%s').value === %s`, bound, browser.Quote(recipients)))
	a.tab.Press(tool + "summary")
	a.tab.Type(bound, "")
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(fmt.Sprintf(`!document.querySelector('%s[open]') && document.querySelector('%s').value === ""`,
		strings.TrimSpace(tool), bound))
}

// allowsToolsOfServers allows a server's tool as it is, until it changes.
func allowsToolsOfServers(a administering, _ int) {
	tool := `details[id="rooms.house_rules"] `
	a.visit("/console/tools/servers/rooms")
	a.tab.Press(tool + "summary")
	a.look("server")
	a.tab.Press(tool + `input[name="effect"][value="read"]`)
	a.tab.Press(tool + `button[value="allow"]`)
	a.tab.Until(`document.querySelector(".notice:not([hidden])") && document.querySelector('` + tool + `.badge-good')`)
	a.tab.Press(tool + "summary")
	expect.That(a.t, a.tab.Agree(tool+`button[value="forbid"]`) != "", "nothing was asked")
	a.tab.Until(`document.querySelector(".notice:not([hidden])") && !document.querySelector('` + tool + `.badge-good')`)
}

// reader reads pages without JavaScript.
type reader struct {
	t    *testing.T
	http *http.Client
}

// read signs a person in without JavaScript.
func read(t *testing.T, user string) reader {
	t.Helper()
	r := reader{t, &http.Client{Jar: expect.Value(cookiejar.New(nil))(t)}}
	page := r.get("/console/signin/begin?next=/console/audit")
	link := regexp.MustCompile(`href="([^"]*user=` + user + `[^"]*)"`).FindStringSubmatch(page)
	expect.Must(t, link != nil, "nobody is %s at %s", user, page)
	r.get(html.UnescapeString(link[1]))
	return r
}

func (r reader) get(path string) string {
	r.t.Helper()
	to := expect.Value(url.Parse(running.URL))(r.t)
	return r.text(expect.Value(r.http.Get(expect.Value(to.Parse(path))(r.t).String()))(r.t))
}

func (r reader) text(a *http.Response) string {
	r.t.Helper()
	defer a.Body.Close()
	body := string(expect.Value(io.ReadAll(a.Body))(r.t))
	expect.Must(r.t, a.StatusCode == http.StatusOK, "%s: %d %s", a.Request.URL, a.StatusCode, body)
	return body
}
