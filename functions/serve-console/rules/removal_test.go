package rules_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/table"
)

func testAnOrganisationIsRemovedOnceItWasAsked(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	a := b.Get(page + "/remove")
	for _, text := range ja.List("about_lists", "removal") {
		a.Says(t, http.StatusOK, text)
	}
	b.Post(page+"/remove", url.Values{"rev": {"0"}}).Says(t, http.StatusConflict)
	expect.That(t, stands(w).Stands(), "what was not shown is removed")
	rev := hidden.FindStringSubmatch(a.Body)[2]
	b.Post(page+"/remove", url.Values{"rev": {rev}}).Says(t, http.StatusSeeOther).Leads(t,
		page+"?done=organisation-removed")
	expect.That(t, !stands(w).Stands() && stands(w).Rev == 2, "%+v", stands(w).OrganisationRow)
	b.Get(page+"?done=organisation-removed").Says(t, http.StatusOK, ja.Say("about"), "組織を削除しました。")
	b.Get("/console/audit").Says(t, http.StatusOK, "組織を削除した")
	savedOrganisation(t, b, staffFile)
}

// What can't be read doesn't stand in the way of what takes its place.
func testAnOrganisationThatCantBeReadMayBeChanged(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	_, err := w.Store.Table().Erase(t.Context(), tenancy.OrganisationPartition(w.Tenant.ID, stands(w).Version), nil)
	expect.NoError(t, err)
	w.Console.Organisations = store.OrganisationsOf(w.Store.Store)
	b.Get(page).Says(t, http.StatusOK, ja.Say("unread")).Holds(t, page+"/remove")
	b.Post(page, shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK,
		ja.Say("unread")))).
		Says(t, http.StatusSeeOther)
	b.Get(page).Says(t, http.StatusOK, "4 人")
}

// A process that died while it saved left a version behind.
func testWhatNeverStoodIsCleanedUp(t *testing.T, w *consoletest.World) {
	left := expect.Value(w.Store.BeginOrganisation(t.Context(), w.Tenant.ID, tenancy.OrganisationVersion{SHA256: "x"},
		w.Now().Add(-2*time.Hour)))(t)
	expect.Value(w.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.Table,
		Item: table.Key(tenancy.OrganisationPartition(w.Tenant.ID, left.Version), "BATCH#0001")}))(t)
	savedOrganisation(t, w.As(webapi.Suzuki), staffFile)
	all := expect.Value(w.Store.OrganisationVersions(t.Context(), w.Tenant.ID))(t)
	expect.That(t, len(all) == 1 && all[0].Version == stands(w).Version, "%+v", all)
	deleted := expect.Value(w.Store.Table().Erase(t.Context(), tenancy.OrganisationPartition(w.Tenant.ID,
		left.Version), nil))(t)
	expect.Is(t, deleted, 0)
}
