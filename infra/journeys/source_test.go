package journeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/infra/local/driver"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Running a repository's tests leaves nothing of the interpreter behind, which nobody could read in a pull request.
func TestWhatTestsWereRunOnBecomesAPullRequest(t *testing.T) {
	expect.AtNight(t)
	driver.Leave(t, running)
	d := driver.Talk(t, running, webapi.Sato,
		"claude@shop: コマンド: sed -i 's, / 100, // 100,' shop/price.py; python3 -m unittest")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了", "Ran 1 test")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	d.Shows("操作 #2 の確認", "ファイルの変更* (1 件)", "shop/price.py")
}

func shopCommit() string {
	return running.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName).Ref(vendors.ShopRef)
}

// A conversation that begins from a repository ends in a draft pull request. Its tree, as git finds it, is the commit's
// with what people approved, and nothing else.
func TestAConversationEndsInAPullRequest(t *testing.T) {
	driver.Leave(t, running)
	repo := running.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
	first, opened := shopCommit(), len(repo.Pulls())
	number := strconv.Itoa(opened + 1)
	d := driver.Talk(t, running, webapi.Sato, "claude@shop: ファイルを作って")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "hello.js"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	asks := d.Shows("操作 #2 の確認", "GitHub Actions はスキップするよう指定します", "ringi-demo/shop", "hello.js", "hello.test.js")
	desk := driver.SitDown(t, running, webapi.Sato)
	status, page := desk.Get(d.Page())
	expect.Is(t, status, http.StatusOK)
	expect.That(t, strings.Index(page, "GitHub Actions はスキップするよう指定します") < strings.Index(page, "hello.test.js"),
		"the page doesn't begin with it")
	expect.Has(t, page, "操作 #2: プルリクエストの下書き")
	_, waits := desk.Get("/console")
	expect.Has(t, waits, "プルリクエストの下書き</span>")
	expect.Is(t, len(repo.Pulls()), opened, "before anybody approved")

	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("操作 #2 完了", "https://github.com/ringi-demo/shop/pull/"+number+"|ringi-demo/shop#"+number)
	d.Shows("完了しました。")
	_, page = desk.Get(d.Page())
	expect.Has(t, page, `href="https://github.com/ringi-demo/shop/pull/`+number+`"`)
	pulls := repo.Pulls()
	expect.Must(t, len(pulls) == opened+1, "%+v", pulls)
	p, x := pulls[opened], d.Load().Actions[1]
	expect.That(t, p.Draft && p.Base == "main" && p.Head == conversation.BranchOf(x.SessionID, x.ActionID) &&
		p.HeadSHA == x.Pushed.Commit, "%+v", p)

	dir := repo.Dir()
	gitIn(t, dir, "fsck", "--strict", "--no-dangling")
	expect.Is(t, gitIn(t, dir, "diff", "--name-status", first, p.HeadSHA), "A\thello.js\nA\thello.test.js\n")
	expect.Is(t, strings.TrimSpace(gitIn(t, dir, "rev-parse", p.HeadSHA+"^")), first)
	expect.Has(t, gitIn(t, dir, "log", "-1", "--format=%B", p.HeadSHA), "[skip ci]")
	for _, c := range d.Load().Actions[1].Gate.Acts {
		expect.Is(t, c.Hash, x.Sum())
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "safe.directory=*"}, args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	expect.Must(t, err == nil, "git %v: %v\n%s", args, err, &said)
	return string(out)
}

// A CSV of Japanese Excel and a workbook are posted; the agent reads them, an approved command makes a report of one,
// and what can't be read is said.
func TestACSVBecomesAReport(t *testing.T) {
	driver.Leave(t, running)
	d := begin(t, "codex: ファイルを見せて")
	d.Shows("見つかりませんでした")
	posted := func(name string) webapi.File {
		return webapi.File{Name: name, MIMEType: "application/octet-stream",
			Body: expect.Value(os.ReadFile("../../functions/read-file/testdata/" + name))(t)}
	}
	d.Attach("sjis.csv.txt を読んで", posted("sjis.csv"), posted("sales.xlsx"), posted("old.xls"))
	d.Shows("添付ファイルについてのお知らせです。", "old.xls", "Office の古い形式です")
	d.Reply("ファイルを見せて")
	d.Shows("ファイルを読みました", ".ringi/in/sjis.csv.txt", ".ringi/in/sales.xlsx.txt")
	d.Reply(".ringi/in/sales.xlsx.txt を読んで")
	d.Shows("--- sheet 1 of 2: 売上 ---", "2026/04/01")
	d.Reply("コマンド: cut -d, -f1 .ringi/in/sjis.csv.txt > report.txt && cat report.txt")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "report.txt"), card.ApproveAction)
	d.Shows("操作 #1 完了", "㈱山田")
	s := d.Rests().Conversation
	expect.That(t, len(s.Attached) == 3 && s.AttachmentsVersion != "" && s.WorkspaceVersion != "", "%+v", s)
	d.Reply("ファイルを見せて")
	d.Shows("report.txt", files.AttachedFolder+"/sjis.csv")
	status, page := driver.SitDown(t, running, webapi.Sato).Get(d.Page())
	expect.That(t, status == http.StatusOK && strings.Contains(page, "<bdi>sjis.csv</bdi>") &&
		strings.Contains(page, "Office の古い形式です"), "the page is %d, or lacks a file, or why one wasn't read", status)
}

// An agent lists, reads and searches the conversation's files without anybody's approval; the page says what it read.
func TestAnAgentReadsFilesByItself(t *testing.T) {
	d := begin(t, "codex: ファイルを見せて")
	d.Shows("見つかりませんでした")
	d.Reply("ファイルを作って")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	d.Shows("完了しました。")
	d.Reply("ファイルを見せて")
	d.Shows("ファイルを読みました", "hello.test.js")
	d.Reply("greets を検索して")
	d.Shows("hello.test.js:5:")
	d.Reply("hello.js を読んで")
	d.Shows("1: exports.hello")
	a := d.Rests()
	expect.That(t, len(a.Actions) == 1 && a.Conversation.Reading == nil, "%+v", a.Conversation)
	status, page := driver.SitDown(t, running, webapi.Sato).Get(d.Page())
	expect.That(t, status == http.StatusOK && strings.Contains(page, "エージェントが読んだファイル (1)") &&
		strings.Contains(page, "<code>hello.js</code>"), "the page is %d, or lacks what was read", status)
}

// bearing sends a key with each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// An outside agent reads at once. What it writes a person stamps, once the agent has gone, and it is made once: a
// repeat gets its end.
func TestAnOutsideAgentAsksByMCPAndAPersonStamps(t *testing.T) {
	driver.Leave(t, running)
	secret := driver.Key(t, running, "夜間バッチ", "send_slack_dm", "list_employees")
	client := mcp.NewClient(&mcp.Implementation{Name: "journey", Version: "1"}, nil)
	agent := expect.Value(client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: running.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearing(secret)}}, nil))(t)
	calls := func(tool string, arguments map[string]any) (text string, got struct{ ID, Status, Page string }) {
		out := expect.Value(agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments}))(t)
		text = out.Content[0].(*mcp.TextContent).Text
		_ = json.Unmarshal([]byte(text), &got)
		return text, got
	}
	text, _ := calls("list_employees", map[string]any{"department": nil, "status": "all"})
	expect.Has(t, text, "entry_date")

	const said = "夜間バッチが終わりました。"
	message := map[string]any{"recipient": webapi.Tanaka, "text": said, "details": []any{}}
	text, asked := calls("send_slack_dm", message)
	expect.Must(t, asked.Status == "pending", "%s", text)
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Timeout: time.Minute}
	asks := d.Shows("外部エージェント", "夜間バッチ", said)
	told := func() (n int) {
		for _, m := range running.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), "") {
			if strings.Contains(m.Text+driver.Face(m), said) {
				n++
			}
		}
		return n
	}
	expect.Is(t, told(), 0)
	d.Press(webapi.Suzuki, asks, "approve_call")
	d.Eventually("the call is made", func() bool { return told() == 1 })
	var end struct{ ID, Status, Page string }
	d.Eventually("a repeat gets the end", func() bool {
		text, end = calls("send_slack_dm", message)
		return end.Status == "succeeded"
	})
	expect.That(t, end.ID == asked.ID && told() == 1, "%s, told %d times", text, told())
}

// hook is an agent's question before a command, by what infra/gate gives to strangers.
type hook struct {
	*exec.Cmd
	out, says bytes.Buffer
}

// asking starts the question. An agent that goes before the answer is a process that is killed.
func asking(t *testing.T, secret, command string) *hook {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no python3")
	}
	expect.NoError(t, err)
	root := expect.Value(process.ModuleRoot())(t)
	h := &hook{Cmd: exec.CommandContext(t.Context(), python, filepath.Join(root, "infra/gate/ask.py"), "--hook")}
	h.Env = append(os.Environ(), "RINGI_URL="+running.URL, "RINGI_KEY="+secret)
	h.Stdin = strings.NewReader(`{"tool_name":"Bash","cwd":"/srv","tool_input":{"command":"` + command + `"}}`)
	h.Stdout, h.Stderr = &h.out, &h.says
	expect.NoError(t, h.Start())
	return h
}

func (h *hook) ends(t *testing.T) (code int, says string) {
	t.Helper()
	var failed *exec.ExitError
	err := h.Wait()
	expect.Must(t, err == nil || errors.As(err, &failed), "%v", err)
	return h.ProcessState.ExitCode(), h.out.String() + h.says.String()
}

// An agent elsewhere is refused once and learns why, asks for less, and is gone when that is stamped. Its repeat runs,
// once.
func TestAnAgentElsewhereIsRefusedAndThenStampedWhenItHasGone(t *testing.T) {
	driver.Leave(t, running)
	secret := driver.Key(t, running, "保守のエージェント", "Bash")
	d := &driver.Dialogue{T: t, S: running, User: webapi.Sato, Channel: webapi.HR, Timeout: time.Minute}

	first := asking(t, secret, "rm -r /srv/reports")
	const why = "今月分は残してください"
	begins := d.Shows("保守のエージェント", "rm -r /srv/reports")
	d.Reject(webapi.Suzuki, begins, why)
	code, says := first.ends(t)
	for code == 2 && !strings.Contains(says, why) { // it didn't wait so long on this machine
		code, says = asking(t, secret, "rm -r /srv/reports").ends(t)
		expect.Must(t, t.Context().Err() == nil, "%s", says)
	}
	expect.Is(t, code, 2, says)

	d.Root = begins.TS // where the key's calls of the day stand
	second := asking(t, secret, "rm -r /srv/reports/2025")
	asks := d.Shows("保守のエージェント", "rm -r /srv/reports/2025")
	expect.NoError(t, second.Process.Kill())
	_ = second.Wait()
	d.Press(webapi.Suzuki, asks, "approve_call")
	d.Eventually("a repeat may run", func() bool {
		code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
		return code == 0
	})
	expect.Has(t, says, `"allow"`)
	code, says = asking(t, secret, "rm -r /srv/reports/2025").ends(t)
	expect.Is(t, code, 2, "it ran twice by one stamp: %s", says)
	expect.Has(t, says, "used, once")
}
