package chat

import (
	"context"
	"net/http"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// A conversation begins with a repository's files; a command that people approve runs on them.
func TestAConversationBeginsWithARepositorysFiles(t *testing.T) {
	driver.Leave(t, running)
	d := driver.Talk(t, running, webapi.Sato, "claude@shop: コマンド: python3 -m unittest")
	sha := shopCommit()
	d.Shows("この会話は、次のファイルから始まります", "ringi-demo/shop@"+sha,
		"<https://github.com/ringi-demo/shop/tree/"+sha+"|ringi-demo/shop@"+sha[:7]+">")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "python3 -m unittest"), card.ApproveAction)
	d.Shows("操作 #1 失敗", "108.9 != 108")
	s := d.Load().Conversation
	expect.That(t, s.Source.State == conversation.SourceThere && s.Source.Commit == sha && s.WorkspacePath == "github.com/ringi-demo/shop@"+sha,
		"%+v", s)
	d.Reply("コマンド: ls tests")
	d.Press(webapi.Sato, d.Shows("操作 #2 の確認"), card.ApproveAction)
	d.Shows("操作 #2 完了", "test_price.py")
}

// Running a repository's tests leaves nothing of the interpreter behind, which nobody could read in a pull request.
func TestWhatTestsWereRunOnBecomesAPullRequest(t *testing.T) {
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

// Nobody begins with other files than were meant: a source that isn't theirs is said to be none.
func TestASourceThatIsNoneBeginsNoConversation(t *testing.T) {
	d := begin(t, "claude@shopp: 直して")
	d.Shows("「shopp」というソースは", "使えるソース: shop")
	_, err := d.Rows().Load(context.Background(), d.Ref())
	expect.That(t, err != nil, "a conversation has begun")
}

// Where GitHub fails the conversation goes on without files, and says so.
func TestWithoutGitHubAConversationGoesOnWithoutFiles(t *testing.T) {
	running.Vendors.Fail(vendors.GitHub, http.StatusNotFound, true)
	defer running.Vendors.Fail(vendors.GitHub, 0, false)
	d := begin(t, "claude@shop: こんにちは")
	d.Shows("GitHub にファイルの取得を拒否されました")
	d.Shows("デモのエージェントです")
	s := d.Load().Conversation
	expect.That(t, s.Source.State == conversation.SourceFailed && s.WorkspaceVersion == "" && s.WorkspacePath == "files",
		"%+v", s)
}
