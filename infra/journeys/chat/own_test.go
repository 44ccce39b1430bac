package chat

import (
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// A person's own repository, a CSV that the person attaches on the page and a command become a branch. The command of
// the pull request's page brings that to the person; until then the person's repository is as it was.
func TestAnOwnRepositoryGetsItsBranchByTheCommandOnThePage(t *testing.T) {
	driver.Leave(t, running)
	mine := filepath.Join(t.TempDir(), "stock")
	expect.NoError(t, os.Mkdir(mine, 0o755))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "S"}, {"config", "user.email", "s@example.com"}} {
		gitIn(t, mine, args...)
	}
	expect.NoError(t, os.WriteFile(filepath.Join(mine, "stock.csv"), []byte("りんご,3\n"), 0o644))
	gitIn(t, mine, "add", ".")
	gitIn(t, mine, "commit", "-q", "-m", "Begin")
	own := expect.Value(running.Vendors.Serve(mine, t.TempDir()))(t)
	driver.Settings(t, running, func(x *tenancy.Settings) { x.Sources = append(x.Sources, own.Source) })
	defer driver.Settings(t, running, func(x *tenancy.Settings) { x.Sources = x.Sources[:len(x.Sources)-1] })

	d := driver.Talk(t, running, webapi.Sato, "claude@stock: こんにちは")
	d.Shows("この会話は、次のファイルから始まります", "local/stock@"+own.Commit)
	said := `{"user":"` + webapi.Sato + `","channel":"` + d.Channel + `","thread_ts":"` + d.Root + `",
		"text":"コマンド: cat .ringi/in/more.csv >> stock.csv","files":[{"name":"more.csv","body":"` +
		base64.StdEncoding.EncodeToString([]byte("みかん,5\n")) + `"}]}`
	res := expect.Value(http.Post(running.URL+"/sandbox/say", "application/json", strings.NewReader(said)))(t)
	res.Body.Close()
	expect.Is(t, res.StatusCode, http.StatusOK)
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	d.Press(webapi.Sato, d.Shows("操作 #2 の確認", "+みかん,5"), card.ApproveAction)
	d.Shows("操作 #2 完了", "https://github.com/local/stock/pull/1|local/stock#1")
	expect.Is(t, gitIn(t, mine, "for-each-ref", "--format=%(refname)"), "refs/heads/main\n", "before anybody fetched")

	page := expect.Value(http.Get(running.VendorsURL + vendors.GitHubPages + "local/stock/pull/1"))(t)
	defer page.Body.Close()
	_, text, _ := strings.Cut(string(expect.Value(io.ReadAll(page.Body))(t)), `<pre id="fetch">`)
	text, _, _ = strings.Cut(text, "</pre>")
	out, err := exec.Command("sh", "-c", html.UnescapeString(text)).CombinedOutput()
	expect.Must(t, err == nil, "%s: %v: %s", text, err, out)
	branch := running.Vendors.GitHub.Find("local", "stock").Pulls()[0].Head
	expect.Is(t, gitIn(t, mine, "show", branch+":stock.csv"), "りんご,3\nみかん,5\n")
	expect.Is(t, gitIn(t, mine, "diff", "--name-only", "main", branch), "stock.csv\n")
}
