package journeys

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// A quotation of the form stands under the effect, is in what people stamp, and stands on the page and in
// the register with its hash. What isn't attached is told where people stamp.
func TestAQuotationIsStampedAndStaysOpen(t *testing.T) {
	s := start(t)
	pdf, other := "%PDF-1.7 quotation", "MZ\x90\x00\x03"
	d := driver.AskWithFiles(t, s, webapi.Sato, "複合機の入れ替え", driver.FormFile{Name: "見積書.pdf", Body: []byte(pdf)},
		driver.FormFile{Name: "装置.txt", Body: []byte(other)})
	sum := aggregate.HashOf(pdf)
	d.Card(driver.TaskCard, "📄 添付: 「見積書.pdf」 (18 B)")
	d.Card(driver.TaskCard, "⚠️ 添付されていません: 「装置.txt」 (承認する人は開けません)。添付できるのは pdf, png")
	d.Click(webapi.Suzuki, driver.TaskCard, "approve_process")
	a := d.Until("recorded", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	expect.Has(t, a.Enclosed(), `"kind":"pdf","bytes":18,"sha256":"`+sum+`"`)
	desk := driver.SitDown(t, s, administrator.ID)
	page := "/console/tasks/" + d.Ref.ID
	for path, want := range map[string]string{page: page + "/files/" + sum, page + "/files/" + sum: pdf,
		"/console/audit/register.csv?year=" + a.Head.Glance.Number[:4]: "SHA-256 " + sum} {
		status, body := desk.Get(path)
		expect.That(t, status == http.StatusOK && strings.Contains(body, want), "%s: %d, without %s", path, status, want)
	}
	status, _ := desk.Get(page + "/files/" + aggregate.HashOf(other))
	expect.Is(t, status, http.StatusNotFound, "what isn't attached is served to nobody")
}

// A file in which a scanner found a threat is neither served nor stamped, as its tag says; it can be rejected.
func TestAFileWithAThreatIsNotStamped(t *testing.T) {
	s := start(t)
	d := driver.AskWithFiles(t, s, webapi.Sato, "倉庫の賃貸", driver.FormFile{Name: "契約.pdf", Body: []byte("%PDF-1.7 bad")})
	d.Card(driver.TaskCard, "📄 添付: 「契約.pdf」")
	sum := aggregate.HashOf("%PDF-1.7 bad")
	kept := large.Store{Bucket: large.BucketAt(s.AWS, s.BucketName)}
	expect.NoError(t, kept.Scanned(t.Context(), d.Ref, sum))
	tag(t, s, "attached/"+d.Ref.Tenant+"/"+d.Ref.ID+"/"+sum, "GuardDutyMalwareScanStatus", "THREATS_FOUND")
	expect.NoError(t, kept.Attach(t.Context(), d.Ref, sum)) // as a run that begins again does
	d.Click(webapi.Suzuki, driver.TaskCard, "approve_process")
	d.Eventually("the person is told", func() bool {
		return strings.Contains(strings.Join(d.Told(webapi.Suzuki), "\n"), "ウイルス検査")
	})
	expect.Is(t, d.Load().Process().Status, aggregate.PendingApproval)
	status, _ := driver.SitDown(t, s, administrator.ID).Get("/console/tasks/" + d.Ref.ID + "/files/" + sum)
	expect.Is(t, status, http.StatusForbidden)
}

// tag gives an object of the bucket a tag, as a scanner does.
func tag(t *testing.T, s *stack.Stack, key, name, value string) {
	t.Helper()
	client := s3.NewFromConfig(s.AWS, func(o *s3.Options) { o.UsePathStyle = true })
	_, err := client.PutObjectTagging(t.Context(), &s3.PutObjectTaggingInput{Bucket: &s.BucketName, Key: &key,
		Tagging: &types.Tagging{TagSet: []types.Tag{{Key: &name, Value: &value}}}})
	expect.NoError(t, err)
}
