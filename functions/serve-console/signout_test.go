package main

import (
	"net/http"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/store/storetest"
)

// The request that signs out may be the one at which the cookie is due for a new one.
func TestSigningOutLeavesNoSessionBehind(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	b := w.as(workspace.Suzuki)
	w.Later(16 * time.Minute)
	a := b.post("/console/signout", nil)
	for _, line := range a.header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil || c.Value == "" {
			continue
		}
		other := w.browser()
		other.cookies["__Host-ringi"] = c.Value
		if a := other.get("/console/audit"); a.status == http.StatusOK {
			t.Errorf("the answer to signing out carries a cookie that is signed in: the audit log is shown to it")
		}
	}
}

// The cookie that was replaced is taken for a minute more, unless the person has signed out meanwhile.
func TestSigningOutEndsTheCookieBefore(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	b := w.as(workspace.Suzuki)
	old := b.cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	b.get("/console") // replaces it
	b.get("/console") // comes with the new one
	other := w.browser()
	other.cookies["__Host-ringi"] = old
	if a := other.get("/console/settings"); a.status != http.StatusOK {
		t.Fatalf("%d: what was under way fails", a.status)
	}
	w.Later(5 * time.Second)
	b.post("/console/signout", nil)
	other.cookies["__Host-ringi"] = old
	if a := other.get("/console/settings"); a.status != http.StatusSeeOther {
		t.Errorf("%d: the cookie before is taken after signing out", a.status)
	}
}
