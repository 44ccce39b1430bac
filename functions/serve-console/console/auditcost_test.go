package console_test

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// The audit log makes one call for what all requests of a page are called, however many there are.
func TestTheAuditLogNamesItsRequestsInOneCall(t *testing.T) {
	db := storetest.Start(t)
	w, h := consoletest.New(t, db), &heard{}
	cfg := db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	plain := w.Console.Store
	counted := web.RowsOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).KindStore.Store)
	day := w.Now().In(tenancy.Zone()).Format("2006-01-02")
	for _, n := range []int{1, 5} {
		for w.Console.Store = plain; n > 0; n-- {
			w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "勤怠集計"})
		}
		w.Console.Store = counted
		b := w.As(webapi.Suzuki)
		h.take()
		b.Get("/console/audit?from="+day+"&to="+day).Says(t, http.StatusOK, "勤怠集計")
		calls, _ := h.take()
		expect.Same(t, []string{"BatchGetItem", "GetItem", "Query"}, calls)
	}
}
