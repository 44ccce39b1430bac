package integrations_test

import (
	"net/http"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// The request that signs out may be the one that renews the cookie.
func TestSigningOutLeavesNoSessionBehind(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	w.Later(16 * time.Minute)
	a := b.Post("/console/signout", nil)
	for _, line := range a.Header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil || c.Value == "" {
			continue
		}
		other := w.Browser()
		other.Cookies["__Host-ringi"] = c.Value
		expect.That(t, other.Get("/console/audit").Status != http.StatusOK,
			"the answer to signing out carries a cookie that is signed in: the audit log is shown to it")
	}
}

// A replaced cookie stays valid for a minute, unless the person signs out.
func TestSigningOutEndsTheCookieBefore(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	b.Get("/console") // replaces it
	b.Get("/console") // comes with the new one
	other := w.Browser()
	other.Cookies["__Host-ringi"] = old
	other.Get("/console/settings").Says(t, http.StatusOK)
	w.Later(5 * time.Second)
	b.Post("/console/signout", nil)
	other.Cookies["__Host-ringi"] = old
	other.Get("/console/settings").Says(t, http.StatusSeeOther)
}
