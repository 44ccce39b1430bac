package main

import (
	"errors"
	"log/slog"
	"net/http"

	"ringi/shared/explain/auditlog"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/signin"
)

// What a request may be refused with, beside the errors that errorclass knows.
var (
	errNoPage       = errors.New("no such page")
	errAdminsOnly   = errors.New("for administrators")
	errSignedOut    = errors.New("nobody is signed in")
	errBadForm      = errors.New("the form carries no token of this session")
	errTooMany      = errors.New("too many sign-ins")
	errStaleSignIn  = errors.New("no sign-in of this browser's is under way")
	errDenied       = errors.New("the person did not allow it")
	errNewWorkspace = errors.New("a workspace that has asked for nothing yet")
	errNoAdmin      = errors.New("the Slack secret names no first administrator")
	errNoClient     = errors.New("the Slack secret has no client")
)

// faults say as what an error is answered, and under which key people are told about it. The first that an error is counts.
var faults = []struct {
	err     error
	status  int
	says    string
	refused bool // somebody tried what they may not: noted
}{
	{errNoPage, http.StatusNotFound, "no_page", false},
	{errAdminsOnly, http.StatusForbidden, "admins_only", true},
	{errSignedOut, http.StatusUnauthorized, "signed_out", true},
	{errBadForm, http.StatusForbidden, "bad_form", true},
	{errTooMany, http.StatusTooManyRequests, "too_many", true},
	{errStaleSignIn, http.StatusBadRequest, "stale_sign_in", true},
	{errDenied, http.StatusForbidden, "denied", false},
	{errNoClient, http.StatusServiceUnavailable, "no_client", false},
	{errNewWorkspace, http.StatusForbidden, "new_workspace", true},
	{errNoAdmin, http.StatusServiceUnavailable, "no_admin", false},
	{errNotOfUs, http.StatusForbidden, "not_of_us", true},
	{signin.ErrRefused, http.StatusForbidden, "sign_in_refused", true},
	{auditlog.ErrBusy, http.StatusTooManyRequests, "exports_busy", false},
}

// faultOf is as what an error is answered, and the key of what people are told about it.
func faultOf(err error) (status int, says string, refused bool) {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			return f.status, f.says, f.refused
		}
	}
	switch class := errorclass.Of(err); class {
	case errorclass.NotFound:
		return http.StatusNotFound, "not_found", true
	case errorclass.NotAllowed:
		return http.StatusForbidden, "not_allowed", true
	case errorclass.Field, errorclass.MalformedForm, errorclass.BadInput:
		return http.StatusBadRequest, "bad_input", false
	case errorclass.Unverified, errorclass.Unavailable, errorclass.Unconfirmed, errorclass.ModelUnavailable:
		return http.StatusServiceUnavailable, "unavailable", false
	case errorclass.Conflict, errorclass.Changed, errorclass.Superseded, errorclass.Full:
		return http.StatusConflict, "conflict", false
	default:
		if class.Refusal() { // as it stands by now, it can't be done
			return http.StatusConflict, "conflict", false
		}
	}
	return http.StatusInternalServerError, "internal", false
}

// fail answers with the page that says what is wrong.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *viewer, err error) {
	status, says, refused := faultOf(err)
	switch {
	case refused:
		refuse(r, v, err.Error())
	case status >= http.StatusInternalServerError:
		slog.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "tenant", v.Tenant, "err", err)
	}
	texts := v.texts("fault")
	d := document{Title: texts.In("title", says), Data: texts.In("text", says), Status: status}
	if err := c.show(w, r, v, d, "fault.html"); err != nil {
		slog.ErrorContext(r.Context(), "an error page failed", "err", err)
		http.Error(w, d.Title, status)
	}
}
