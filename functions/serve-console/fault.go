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

// faults say what people are told about an error, and as what it is answered. The first that an error is counts.
var faults = []struct {
	err     error
	status  int
	says    func(faultTexts) sentence
	refused bool // somebody tried what they may not: noted
}{
	{errNoPage, http.StatusNotFound, func(t faultTexts) sentence { return t.NoPage }, false},
	{errAdminsOnly, http.StatusForbidden, func(t faultTexts) sentence { return t.AdminsOnly }, true},
	{errSignedOut, http.StatusUnauthorized, func(t faultTexts) sentence { return t.SignedOut }, true},
	{errBadForm, http.StatusForbidden, func(t faultTexts) sentence { return t.BadForm }, true},
	{errTooMany, http.StatusTooManyRequests, func(t faultTexts) sentence { return t.TooMany }, true},
	{errStaleSignIn, http.StatusBadRequest, func(t faultTexts) sentence { return t.StaleSignIn }, true},
	{errDenied, http.StatusForbidden, func(t faultTexts) sentence { return t.Denied }, false},
	{errNoClient, http.StatusServiceUnavailable, func(t faultTexts) sentence { return t.NoClient }, false},
	{errNewWorkspace, http.StatusForbidden, func(t faultTexts) sentence { return t.NewWorkspace }, true},
	{errNoAdmin, http.StatusServiceUnavailable, func(t faultTexts) sentence { return t.NoAdmin }, false},
	{errNotOfUs, http.StatusForbidden, func(t faultTexts) sentence { return t.NotOfUs }, true},
	{signin.ErrRefused, http.StatusForbidden, func(t faultTexts) sentence { return t.SignInRefused }, true},
	{auditlog.ErrBusy, http.StatusTooManyRequests, func(t faultTexts) sentence { return t.ExportsBusy }, false},
}

// of is what people are told about an error.
func (t faultTexts) of(err error) (status int, says sentence, refused bool) {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			return f.status, f.says(t), f.refused
		}
	}
	switch class := errorclass.Of(err); class {
	case errorclass.NotFound:
		return http.StatusNotFound, t.NotFound, true
	case errorclass.NotAllowed:
		return http.StatusForbidden, t.NotAllowed, true
	case errorclass.Field, errorclass.MalformedForm, errorclass.BadInput:
		return http.StatusBadRequest, t.BadInput, false
	case errorclass.Unverified, errorclass.Unavailable, errorclass.Unconfirmed, errorclass.ModelUnavailable:
		return http.StatusServiceUnavailable, t.Unavailable, false
	case errorclass.Conflict, errorclass.Changed, errorclass.Superseded, errorclass.Full:
		return http.StatusConflict, t.Conflict, false
	default:
		if class.Refusal() { // as it stands by now, it can't be done
			return http.StatusConflict, t.Conflict, false
		}
	}
	return http.StatusInternalServerError, t.Internal, false
}

// fail answers with the page that says what is wrong.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *viewer, err error) {
	status, says, refused := faultWords.In(v.Locale).of(err)
	switch {
	case refused:
		refuse(r, v, err.Error())
	case status >= http.StatusInternalServerError:
		slog.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "tenant", v.Tenant, "err", err)
	}
	d := document{Title: says.Title, Words: says, Status: status}
	if err := c.show(w, r, v, d, "fault.html"); err != nil {
		slog.ErrorContext(r.Context(), "an error page failed", "err", err)
		http.Error(w, says.Title, status)
	}
}
