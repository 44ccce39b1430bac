package sandbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

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

// choose is a person's choice of files in the dialog that the browser opens.
const choose = `(() => {
  const files = new DataTransfer();
  for (const [name, size] of %s) files.items.add(new File(["x".repeat(size)], name));
  const input = document.querySelector(".composer input[type=file]");
  input.files = files.files;
  input.dispatchEvent(new Event("change"));
})()`

func chooses(p *browser.Tab, t *testing.T, files ...[2]any) {
	p.Eval(strings.Replace(choose, "%s", string(expect.Value(json.Marshal(files))(t)), 1))
}

func TestAPersonAttachesFilesInTheBrowser(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		w := newWorld(t)
		p := browser.Open(t, w.url, size[0], size[1])
		p.Until(`document.querySelector(".composer .clip")?.getAttribute("aria-label") === "ファイルを添付"`)
		p.Until(`document.querySelector(".send").disabled`)
		chooses(p, t, [2]any{"売上.csv", 1500}, [2]any{"empty.txt", 0}, [2]any{strings.Repeat("long", 40) + ".csv", 3})
		p.Until(`document.querySelectorAll(".chosen-files li").length === 2 && !document.querySelector(".send").disabled`)
		p.Until(`document.querySelector(".chosen-files li").textContent === "売上.csv1.5 KB"`)
		p.Until(`document.body.textContent.includes("empty.txt は空のため添付できません")`)
		p.Fits()
		p.Accessible(t)
		p.Click(`.chosen-files li:last-child button`)
		p.Until(`document.querySelectorAll(".chosen-files li").length === 1`)
		eleven := make([][2]any, 10)
		for i := range eleven {
			eleven[i] = [2]any{"more.csv", 1}
		}
		chooses(p, t, eleven...)
		p.Until(`document.querySelectorAll(".chosen-files li").length === 10 && ` +
			`document.body.textContent.includes("ファイルは 10 個までです")`)
		p.Click(".send")
		p.Until(`document.querySelectorAll(".shared-files a").length === 10 && !document.querySelector(".chosen-files li")`)
		p.Until(`document.querySelector(".shared-files a").download === "売上.csv"`)
		p.Fits()
		p.Accessible(t)
		name, body := p.Download(t.TempDir(), ".shared-files a")
		expect.That(t, name == "売上.csv" && string(body) == strings.Repeat("x", 1500), "%s has %d bytes", name, len(body))

		p.Click(`.msg [data-focus="more"]`)
		p.Click(`[role="menuitem"][data-id="forward"]`)
		p.Until(`document.querySelector("dialog.forward h2").textContent === "転送" && ` +
			`document.activeElement.matches("dialog.forward *")`)
		p.Fits()
		p.Accessible(t)
		dm := webapi.DirectMessage(webapi.Sato)
		p.Eval(`document.querySelector("#forward-to").value = "` + dm + `"`)
		p.Eval(`document.querySelector("dialog.forward textarea").focus()`)
		p.Keys("これをお願いします")
		p.Click("dialog.forward .send")
		p.Until(`document.querySelectorAll(".forwarded .shared-files a").length === 10 && !document.querySelector("dialog")`)
		p.Until(`document.querySelector(".forwarded .name").textContent === "佐藤 花子"`)
		p.Fits()
		p.Accessible(t)
		all := w.Messages(dm, "")
		expect.That(t, len(all) == 1 && all[0].Text == "これをお願いします" && len(all[0].Attachments) == 1, "%+v", all)
	}
}

func said(text string) string {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": text})
	return string(raw)
}

// typed are texts that a person types, with the text and the elements that Slack's clients send for them, by messages
// that users of public clients recorded.
var typed = []struct{ name, typed, text, elements string }{
	{"words", "a & b < c > d", "a &amp; b &lt; c &gt; d", said("a & b < c > d")},
	{"a mail address", "sato@example.com に(h@h.pl)",
		"<mailto:sato@example.com|sato@example.com> に(<mailto:h@h.pl|h@h.pl>)",
		`{"type":"link","url":"mailto:sato@example.com","text":"sato@example.com"},` + said(" に(") +
			`,{"type":"link","url":"mailto:h@h.pl","text":"h@h.pl"},` + said(")")},
	{"a mail address that a person's handle stands in", "x@sato.example.com",
		"<mailto:x@sato.example.com|x@sato.example.com>",
		`{"type":"link","url":"mailto:x@sato.example.com","text":"x@sato.example.com"}`},
	{"addresses", "https://e.example/a_b_c?x=1&y=2。 and https://e.example/.",
		"<https://e.example/a_b_c?x=1&amp;y=2>。 and <https://e.example/>.",
		`{"type":"link","url":"https://e.example/a_b_c?x=1&y=2"},` + said("。 and ") +
			`,{"type":"link","url":"https://e.example/"},` + said(".")},
	{"lines and marks", "*対象*:\n- 営業 🙏\n> `人事`", "*対象*:\n- 営業 🙏\n&gt; `人事`", said("*対象*:\n- 営業 🙏\n> `人事`")},
	{"mentions", "@佐藤 花子さん @sato #人事 @here @hr-approvers @hereafter",
		"<@" + webapi.Sato + ">さん <@" + webapi.Sato + "> <#" + webapi.HR + "|人事> <!here> <!subteam^" +
			webapi.Approvers + "|@hr-approvers> @hereafter",
		`{"type":"user","user_id":"` + webapi.Sato + `"},` + said("さん ") + `,{"type":"user","user_id":"` +
			webapi.Sato + `"},` + said(" ") + `,{"type":"channel","channel_id":"` + webapi.HR + `"},` + said(" ") +
			`,{"type":"broadcast","range":"here"},` + said(" ") + `,{"type":"usergroup","usergroup_id":"` +
			webapi.Approvers + `"},` + said(" @hereafter")},
}

// What a person types reaches the app as Slack's clients send it: text and blocks say the same.
func TestWhatIsTypedIsSentAsSlackSendsIt(t *testing.T) {
	w := newWorld(t)
	for _, tt := range typed {
		t.Run(tt.name, func(t *testing.T) {
			status, answer := w.send(t, http.MethodPost, "say", "application/json",
				string(raw(t, map[string]any{"user": webapi.Sato, "channel": webapi.HR, "text": tt.typed})))
			expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
			all := w.Messages(webapi.HR, "")
			m := all[len(all)-1]
			expect.Is(t, m.Text, tt.text)
			var sent struct{ Blocks any }
			expect.NoError(t, json.Unmarshal(raw(t, m), &sent))
			var elements any
			expect.NoError(t, json.Unmarshal([]byte("["+tt.elements+"]"), &elements))
			diff := cmp.Diff(elements, at(sent.Blocks, 0, "elements", 0, "elements"))
			expect.That(t, diff == "", "elements (-want +got):\n%s", diff)
		})
	}
}
