package tenancy

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAVendorsClientIsSavedWithItsIdInTheLogAndNeverItsSecret(t *testing.T) {
	first := VendorClient{TenantID: "T1", Provider: "freee", ClientID: "one", Sealed: "v1.sealed"}
	saved, c, err := first.Save(VendorClient{}, person, now)
	if err != nil || saved.Rev != 1 || c.Writes[0].Over != 0 || saved.UpdatedBy != person.ID {
		t.Fatalf("%+v, %v", saved, err)
	}
	next := saved
	next.ClientID = "two"
	for name, test := range map[string]struct {
		was, x VendorClient
		want   string
	}{
		"first": {VendorClient{}, first, `"one"`}, "another": {saved, next, `"two"`}, "another secret": {saved, saved, `"clients.freee"`},
	} {
		_, c, err := test.x.Save(test.was, person, now)
		if err != nil || len(c.Audit) != 1 || !strings.Contains(string(c.Audit[0].Details), test.want) || strings.Contains(string(c.Audit[0].Details), "sealed") {
			t.Errorf("%s: %+v, %v", name, c.Audit, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 513)} {
		first.ClientID = id
		_, _, err := first.Save(VendorClient{}, person, now)
		expect.That(t, fieldOf(err) == "client_id", "%d bytes: %v", len(id), err)
	}
	if _, _, err := saved.Save(saved, aggregate.System(), now); err == nil {
		t.Error("nobody saved it")
	}
}
