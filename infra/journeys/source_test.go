package journeys

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Running a repository's tests leaves nothing of the interpreter behind, which nobody could read in a pull request.
func TestWhatTestsWereRunOnBecomesAPullRequest(t *testing.T) {
	expect.AtNight(t)
	beside(t)
	d := driver.Talk(t, running, webapi.Sato,
		"claude@shop: コマンド: sed -i 's, / 100, // 100,' shop/price.py; python3 -m unittest")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
	d.Shows("操作 #1 完了", "Ran 1 test")
	d.Rests()
	d.Reply("プルリクエストを開いて")
	d.Shows("操作 #2 の確認", "ファイルの変更* (1 件)", "shop/price.py")
}

// A CSV of Japanese Excel and a workbook are posted; the agent reads them, an approved command makes a report of one,
// and what can't be read is said.
func TestACSVBecomesAReport(t *testing.T) {
	beside(t)
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
