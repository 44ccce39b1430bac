package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// send calls the page's own API and decodes the answer.
func (w *world) send(t *testing.T, method, path, kind, body string) (int, map[string]any) {
	t.Helper()
	req := expect.Value(http.NewRequestWithContext(context.Background(), method, w.url+"/sandbox/"+path,
		strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", kind)
	resp := expect.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := expect.Value(io.ReadAll(resp.Body))(t)
	var out map[string]any
	// Some errors are plain text, of which only the status is compared.
	_ = json.Unmarshal(text, &out)
	return resp.StatusCode, out
}

func TestPageSays(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		name, kind, body string
		status           int
		text             string
	}{
		{"a mention by name", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR +
			`","text":" @Ringi a<b & @鈴木 一郎 "}`, 200, "<@" + webapi.Bot + "> a&lt;b &amp; <@" + webapi.Suzuki + ">"},
		{"a form of another site", "text/plain", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"x"}`,
			415, ""},
		{"nothing", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"  "}`, 422, ""},
		{"too much", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"` +
			strings.Repeat("あ", 12001) + `"}`, 422, ""},
		{"outside of the channel", "application/json", `{"user":"` + webapi.Stranger + `","channel":"` + webapi.HR +
			`","text":"x"}`, 409, ""},
		{"nonsense", "application/json", `[`, 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(w.Messages(webapi.HR, ""))
			status, answer := w.send(t, http.MethodPost, "say", tt.kind, tt.body)
			expect.Must(t, status == tt.status, "status %d %v, want %d", status, answer, tt.status)
			all := w.Messages(webapi.HR, "")
			if tt.text == "" {
				expect.That(t, len(all) == before, "a message was posted")
				return
			}
			expect.Same(t, tt.text, all[len(all)-1].Text)
		})
	}
}

func TestPageShowsEachPersonTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.post(t, webapi.Sato, slack.MsgOptionText("for you", false))
	expect.Value(w.slack.PostEphemeral(webapi.HR, webapi.Suzuki, slack.MsgOptionText("psst", false)))(t)
	for _, tt := range []struct {
		user               string
		channels, whispers int
	}{{webapi.Sato, 3, 0}, {webapi.Suzuki, 3, 1}, {webapi.Guest, 2, 0}, {webapi.Stranger, 1, 0}} {
		status, state := w.send(t, http.MethodGet, "state?user="+tt.user, "", "")
		channels, _ := state["channels"].([]any)
		whispers, _ := state["ephemerals"].([]any)
		expect.That(t, status == 200 && len(channels) == tt.channels && len(whispers) == tt.whispers,
			"%s: status %d, %d channels, %d whispers; want %d "+
				"and %d", tt.user, status, len(channels), len(whispers), tt.channels, tt.whispers)
		mine := at(state, "messages", webapi.DirectMessage(webapi.Sato), 0, "text")
		expect.That(t, (mine == "for you") == (tt.user == webapi.Sato), "%s sees 佐藤's direct messages: %v", tt.user, mine)
	}
	status, _ := w.send(t, http.MethodGet, "state?user=U404", "", "")
	expect.That(t, status == 409, "an unknown person: status %d", status)
}

func TestPageReachesItsHooks(t *testing.T) {
	failing := false
	w := newWorld(t, func(o *sandbox.Options) {
		o.FailWrites = func(on bool) { failing = on }
		o.Run = func(_ context.Context, task string) (any, error) {
			if task == "gone" {
				return nil, errors.New("no such task")
			}
			return map[string]any{"asked": task}, nil
		}
	})
	_, got := w.send(t, http.MethodGet, "run?task=01J", "", "")
	expect.That(t, got["asked"] == "01J", "run = %v", got)
	status, _ := w.send(t, http.MethodGet, "run?task=gone", "", "")
	expect.That(t, status == 500, "a hook that fails: %d", status)
	status, _ = w.send(t, http.MethodPut, "toggles", "application/json", `{"fail_writes":true}`)
	expect.That(t, status == 200 && failing, "tools: %d %v", status, failing)
	status, _ = newWorld(t).send(t, http.MethodGet, "run?task=01J", "", "")
	expect.That(t, status == 404, "run without a hook: %d", status)
}

// speaks tells the sandbox a page's language.
func (w *world) speaks(t *testing.T, user, language string) {
	t.Helper()
	status, answer := w.send(t, http.MethodPut, "language", "application/json",
		`{"user":"`+user+`","language":"`+language+`"}`)
	expect.Must(t, status == 200, "%d %v", status, answer)
}

// Slack tells apps a person's locale (docs.slack.dev, reference/methods/users.info); here it is their page's language.
func TestAPersonSpeaksTheirPagesLanguage(t *testing.T) {
	w := newWorld(t)
	for language, locale := range map[string]string{"en": "en-US", "ja": "ja-JP"} {
		w.speaks(t, webapi.Sato, language)
		u := expect.Value(w.slack.GetUserInfo(webapi.Sato))(t)
		expect.Is(t, u.Locale, locale, "the locale of somebody whose page is in %s", language)
	}
	for body, want := range map[string]int{
		`{"user":"` + webapi.Sato + `","language":"fr"}`: 422, `{"user":"U0NOBODY","language":"en"}`: 409, `[`: 400,
	} {
		status, answer := w.send(t, http.MethodPut, "language", "application/json", body)
		expect.That(t, status == want && (want != 422 || answer["error"] == `language: one of en, ja, not "fr"`),
			"%s: %d %v", body, status, answer)
	}
}

// sent is what the page sends to attach files.
func sent(t *testing.T, channel, text string, files ...map[string]any) string {
	return string(raw(t, map[string]any{"user": webapi.Sato, "channel": channel, "text": text, "files": files}))
}

func file(name, body string) map[string]any {
	return map[string]any{"name": name, "body": []byte(body)}
}

func TestAFileThatIsAttachedOnThePageReachesTheApp(t *testing.T) {
	w := newWorld(t)
	dm := webapi.DirectMessage(webapi.Sato)
	status, answer := w.send(t, http.MethodPost, "say", "application/json",
		sent(t, dm, "claude: read them", file("売上.csv", "a,b\n1,2\n"), file("note", "plain"), file("x.bin", "\xff\x00")))
	expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
	expect.Eventually(t, "the event", func() bool { return len(w.app.events()) == 1 })
	e := w.app.events()[0].body["event"]
	expect.Is(t, at(e, "subtype"), any("file_share"), "the event's subtype")
	for i, want := range []struct{ name, kind, body string }{
		{"売上.csv", "text/csv", "a,b\n1,2\n"}, {"note", "text/plain", "plain"}, {"x.bin", "application/octet-stream",
			"\xff\x00"},
	} {
		id, _ := at(e, "files", i, "id").(string)
		info, _, _, err := w.slack.GetFileInfo(id, 0, 0)
		expect.NoError(t, err)
		expect.Is(t, info.Name, want.name)
		expect.Is(t, strings.TrimSuffix(info.Mimetype, "; charset=utf-8"), want.kind, want.name)
		var got strings.Builder
		expect.NoError(t, w.slack.GetFile(info.URLPrivateDownload, &got))
		expect.Is(t, got.String(), want.body, want.name)
	}
}

// Slack tells of a mention with files twice: as app_mention without the subtype that the message's own event has.
func TestAMentionWithAFileIsTwoEvents(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Attach(webapi.Sato, webapi.HR, "", sandbox.Mention("集計して"),
		webapi.File{Name: "a.csv", Body: []byte("1\n")}))(t)
	expect.Eventually(t, "both events", func() bool {
		return len(w.app.events()) == 1 && len(w.app.requests(inChannels)) == 1
	})
	own := w.app.requests(inChannels)[0].body["event"]
	expect.That(t, at(own, "subtype") == "file_share" && at(own, "ts") == ts && at(own, "files", 0, "name") == "a.csv",
		"%v", own)
	e := w.app.events()[0].body["event"]
	_, has := e.(map[string]any)["subtype"]
	expect.That(t, at(e, "type") == "app_mention" && at(e, "ts") == ts && at(e, "files", 0, "name") == "a.csv" && !has,
		"%v", e)
}

// A message may be files alone, as in Slack.
func TestAMessageMayBeFilesAlone(t *testing.T) {
	w := newWorld(t)
	dm := webapi.DirectMessage(webapi.Sato)
	status, answer := w.send(t, http.MethodPost, "say", "application/json", sent(t, dm, " ", file("a.csv", "1\n")))
	expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
	all := w.Messages(dm, "")
	expect.That(t, len(all) == 1 && all[0].Text == "" && all[0].Blocks == nil && len(all[0].Files) == 1, "%+v", all)
}

func TestFilesThatCannotBeAttachedAreRefused(t *testing.T) {
	w := newWorld(t)
	many := make([]map[string]any, 11)
	for i := range many {
		many[i] = file("a", "1")
	}
	half := strings.Repeat("x", 17<<20)
	for want, files := range map[string][]map[string]any{
		"files: a message has at most 10 files, not 11":           many,
		"files[1]: b.csv is empty":                                {file("a.csv", "1"), file("b.csv", "")},
		"files[0]: its name has 1 to 255 characters, not 0":       {file("", "1")},
		"files[0]: its name has 1 to 255 characters, not 256":     {file(strings.Repeat("あ", 256), "1")},
		"files[1]: with b.bin the files have over 32 MB together": {file("a.bin", half), file("b.bin", half)},
	} {
		status, answer := w.send(t, http.MethodPost, "say", "application/json", sent(t, webapi.HR, "x", files...))
		expect.That(t, status == http.StatusUnprocessableEntity && answer["error"] == want, "status %d: %v, want %s", status,
			answer["error"], want)
	}
	status, _ := w.send(t, http.MethodPost, "say", "text/plain", sent(t, webapi.HR, "x", file("a", "1")))
	expect.Is(t, status, http.StatusUnsupportedMediaType, "another site's form")
	expect.Is(t, len(w.Messages(webapi.HR, "")), 0, "messages")
}

// What the app or a person shared can be saved. It is never shown as a page of the sandbox's.
func TestSharedFilesCanBeSaved(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Attach(webapi.Sato, webapi.HR, "", "x",
		webapi.File{Name: "表 1.html", Body: []byte("<script>")}))(t)
	m := expect.Value(w.Workspace().Message(webapi.HR, ts, ""))(t)
	res := expect.Value(http.Get(w.url + "/sandbox/files/" + m.Files[0].ID))(t)
	defer res.Body.Close()
	expect.Is(t, string(expect.Value(io.ReadAll(res.Body))(t)), "<script>")
	expect.Is(t, res.Header.Get("Content-Type"), "application/octet-stream")
	expect.Is(t, res.Header.Get("Content-Disposition"), "attachment; filename*=utf-8''%E8%A1%A8%201.html")
	none := expect.Value(http.Get(w.url + "/sandbox/files/F0NONE"))(t)
	none.Body.Close()
	expect.Is(t, none.StatusCode, http.StatusNotFound)
}

func TestAPersonAttachesFilesInTheBrowser(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	w := newWorld(t)
	p := browser.Open(t, w.url, 390, 844)
	chooses := func(files ...[2]any) { // in the dialog that the browser opens
		p.Eval(`(() => {
			const files = new DataTransfer();
			for (const [name, size] of ` + string(raw(t, files)) + `) files.items.add(new File(["x".repeat(size)], name));
			const input = document.querySelector(".composer input[type=file]");
			input.files = files.files;
			input.dispatchEvent(new Event("change"));
		})()`)
	}
	p.Until(`document.querySelector(".send")?.disabled`)
	chooses([2]any{"売上.csv", 1500}, [2]any{strings.Repeat("long", 40) + ".csv", 3})
	p.Until(`document.querySelector(".chosen-files li")?.textContent === "売上.csv1.5 KB"`)
	p.Fits()
	p.Accessible(t)
	p.Click(`.chosen-files li:last-child button`)
	chooses(slices.Repeat([][2]any{{"more.csv", 1}}, 10)...)
	p.Click(".send")
	p.Until(`document.querySelectorAll(".chosen-files li").length === 11 && ` +
		`document.body.textContent.includes("送信できませんでした")`) // and they are still there
	p.Click(`.chosen-files li:last-child button`)
	p.Click(".send")
	p.Until(`document.querySelectorAll(".shared-files a").length === 10 && !document.querySelector(".chosen-files li")`)
	p.Fits()
	name, body := p.Download(t.TempDir(), ".shared-files a")
	expect.That(t, name == "売上.csv" && string(body) == strings.Repeat("x", 1500), "%s has %d bytes", name, len(body))
}

// What a person types reaches the app as Slack's clients send it, by messages that users of public clients recorded.
func TestWhatIsTypedIsSentAsSlackSendsIt(t *testing.T) {
	w := newWorld(t)
	for typed, text := range map[string]string{
		"a & b < c > d": "a &amp; b &lt; c &gt; d",
		"sato@example.com に(h@h.pl)": "<mailto:sato@example.com|sato@example.com> " +
			"に(<mailto:h@h.pl|h@h.pl>)",
		"x@sato.example.com":    "<mailto:x@sato.example.com|x@sato.example.com>",
		"*対象*:\n- 営業 🙏\n> `人事`": "*対象*:\n- 営業 🙏\n&gt; `人事`",
		"https://e.example/a_b_c?x=1&y=2。 and https://e.example/.": "<https://e.example/a_b_c?x=1&amp;y=2>。 and " +
			"<https://e.example/>.",
		"@佐藤 花子さん @sato #人事 @satonaka": "<@" + webapi.Sato + ">さん <@" + webapi.Sato + "> <#" + webapi.HR +
			"|人事> @satonaka",
	} {
		status, answer := w.send(t, http.MethodPost, "say", "application/json",
			string(raw(t, map[string]any{"user": webapi.Sato, "channel": webapi.HR, "text": typed})))
		expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
		all := w.Messages(webapi.HR, "")
		expect.Is(t, all[len(all)-1].Text, text)
	}
}
