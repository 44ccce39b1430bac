package task_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

var quotation = []byte("%PDF-1.7 quotation")

func TestFilesOfARequest(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"stand beside what they are for, and in the register and its file": testFilesShown,
		"are served to who may read the request, and run nothing":          testFilesServed,
		"with a threat are neither served nor stamped":                     testFilesThreat,
	})
}

func testFilesShown(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": quotation, "<b>.csv": []byte("a,b\n")})
	sum := aggregate.HashOf(string(quotation))
	page := b.Get(w.TaskPage())
	page.Holds(t, `href="`+w.TaskPage()+"/files/"+sum+`" download><bdi>見積書.pdf</bdi>`, "&lt;b&gt;.csv",
		`/files/`+sum+`?view"`)
	expect.That(t, strings.Count(page.Body, "見積書.pdf") >= 2, "it stands beside the effect and in the request")
	expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusSeeOther)
	number := fmt.Sprintf("%d-000001", w.MatterRecorded())
	b.Get("/console/tasks").Says(t, http.StatusOK, "決裁番号 "+number)
	b.Get("/console/figures").Says(t, http.StatusOK, "依頼 1", "人による承認 1", "決定までの時間")
	b.Get("/console/audit/register.csv?year="+number[:4]).Holds(t, number, `"添付ファイル"`, "「見積書.pdf」 (18 B、SHA-256 "+sum+")")
}

func testFilesServed(t *testing.T, w *consoletest.World) {
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": quotation, "a.txt": []byte("<html><script>")})
	b, sum := w.As(webapi.Suzuki), aggregate.HashOf(string(quotation))
	for path, want := range map[string]string{sum: "attachment; filename", sum + "?view": "inline; filename",
		aggregate.HashOf("<html><script>") + "?view": "attachment; filename"} {
		a := b.Get(w.TaskPage() + "/files/" + path)
		expect.Is(t, a.Status, 200)
		expect.Has(t, a.Header.Get("Content-Disposition"), want)
		expect.Has(t, a.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'")
		expect.Is(t, a.Header.Get("X-Content-Type-Options"), "nosniff")
	}
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+aggregate.HashOf("<html><script>")).Header.Get("Content-Type"),
		"text/plain; charset=utf-8")
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+sum).Body, string(quotation))
	b.Get(w.TaskPage()+"/files/"+aggregate.HashOf("other")).Says(t, http.StatusNotFound)
	stranger := w.As(webapi.Alex)
	expect.Is(t, stranger.Get(w.TaskPage()).Status, http.StatusNotFound)
	stranger.Get(w.TaskPage()+"/files/"+sum).Says(t, http.StatusNotFound).Lacks(t, "quotation")
}

func testFilesThreat(t *testing.T, w *consoletest.World) {
	w.MatterAskedWith(map[string][]byte{"a.csv": []byte("a," + storetest.Infected + "\n"), "b.csv": []byte("b,1\n")})
	b, sum := w.As(webapi.Suzuki), aggregate.HashOf("a,"+storetest.Infected+"\n")
	b.Get(w.TaskPage()+"/files/"+sum).Says(t, http.StatusForbidden, "ウイルス検査")
	b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Says(t, http.StatusForbidden, "承認できません")
	expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, "危険なファイルです")).Status, http.StatusSeeOther)
}
