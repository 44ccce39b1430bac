package chat

import (
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// A conversation that begins from a repository ends in a draft pull request. Its tree, as git finds it, is the commit's
// with what people approved, and nothing else.
func TestAConversationEndsInAPullRequest(t *testing.T) {
	driver.Leave(t, running)
	repo := running.Vendors.GitHub.Find(vendors.ShopOwner, vendors.ShopName)
	first := shopCommit()
	d := driver.Talk(t, running, webapi.Sato, "claude@shop: ファイルを作って")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "hello.js"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	asks := d.Shows("操作 #2 の確認", "GitHub Actions はスキップするよう指定します", "ringi-demo/shop", "hello.js", "hello.test.js")
	desk := driver.SitDown(t, running, webapi.Sato)
	status, page := desk.Get(d.Page())
	expect.Is(t, status, http.StatusOK)
	expect.That(t, strings.Index(page, "GitHub Actions はスキップするよう指定します") < strings.Index(page, "hello.test.js"), "the page doesn't begin with it")
	expect.Has(t, page, "操作 #2: プルリクエストの下書き")
	_, waits := desk.Get("/console/approvals")
	expect.Has(t, waits, "プルリクエストの下書き: ringi-demo/shop ← shop · 新規 2 件: hello.js, hello.test.js")
	expect.Is(t, len(repo.Pulls()), 0, "before anybody approved")

	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("操作 #2 完了", "https://github.com/ringi-demo/shop/pull/1|ringi-demo/shop#1")
	d.Shows("完了しました: プルリクエストの下書き")
	_, page = desk.Get(d.Page())
	expect.Has(t, page, `href="https://github.com/ringi-demo/shop/pull/1"`)
	pulls := repo.Pulls()
	expect.Must(t, len(pulls) == 1, "%+v", pulls)
	p, x := pulls[0], d.Load().Actions[1]
	expect.That(t, p.Draft && p.Base == "main" && p.Head == conversation.BranchOf(x.SessionID, x.ActionID) && p.HeadSHA == x.Pushed.Commit, "%+v", p)

	dir := t.TempDir()
	expect.NoError(t, repo.Export(dir))
	gitIn(t, dir, "fsck", "--strict", "--no-dangling")
	expect.Is(t, gitIn(t, dir, "diff", "--name-status", first, p.HeadSHA), "A\thello.js\nA\thello.test.js\n")
	expect.Is(t, strings.TrimSpace(gitIn(t, dir, "rev-parse", p.HeadSHA+"^")), first)
	expect.Has(t, gitIn(t, dir, "log", "-1", "--format=%B", p.HeadSHA), "[skip ci]")
	for _, c := range d.Load().Actions[1].Gate.Acts {
		expect.Is(t, c.Hash, x.Payload.Hash())
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

// Where nothing has changed there is nothing to push, and that is said.
func TestWithoutAChangeThereIsNoPullRequest(t *testing.T) {
	d := begin(t, "claude@shop: プルリクエストを開いて")
	d.Shows("最初のコミットから何も変わっていない")
	expect.Is(t, len(d.Load().Actions), 0)
}

// Without a source there is nothing to push to, and that is said.
func TestWithoutASourceThereIsNoPullRequest(t *testing.T) {
	d := begin(t, "claude: プルリクエストを開いて")
	d.Shows("ここではプルリクエストを開けません")
}
