package web

import (
	"errors"
	"log/slog"
	"net/http"

	"ringi/shared/explain"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/slackapi"
)

// Errors that refuse a request, besides those that explain knows.
var (
	ErrNoPage       = errors.New("no such page")
	ErrNoID         = errors.New("an id that nothing can have")
	ErrExpired      = errors.New("deleted after its retention time")
	ErrDeletable    = errors.New("a conversation that is deleted, or that the viewer can't see")
	ErrAdminsOnly   = errors.New("for administrators")
	ErrSignedOut    = errors.New("nobody is signed in")
	ErrBadForm      = errors.New("the form carries no token of this session")
	ErrTooMany      = errors.New("too many sign-ins")
	ErrStaleSignIn  = errors.New("no sign-in of this browser's is under way")
	ErrDenied       = errors.New("the person did not allow it")
	ErrNewWorkspace = errors.New("a workspace that has asked for nothing yet")
	ErrNoAdmin      = errors.New("the Slack secret names no first administrator")
	ErrNoClient     = errors.New("the Slack secret has no client")
)

// faults maps errors to statuses and the keys of their texts. The first entry that an error matches counts.
var faults = []struct {
	err     error
	status  int
	says    string
	refused bool // somebody tried a forbidden act: logged
}{
	{ErrNoPage, http.StatusNotFound, "no_page", false},
	{ErrNoID, http.StatusNotFound, "no_page", true},
	{ErrExpired, http.StatusNotFound, "expired", false},
	{ErrDeletable, http.StatusNotFound, "deletable", true},
	{ErrAdminsOnly, http.StatusForbidden, "admins_only", true},
	{ErrSignedOut, http.StatusUnauthorized, "signed_out", true},
	{ErrBadForm, http.StatusForbidden, "bad_form", true},
	{ErrTooMany, http.StatusTooManyRequests, "too_many", true},
	{ErrStaleSignIn, http.StatusBadRequest, "stale_sign_in", true},
	{ErrDenied, http.StatusForbidden, "denied", false},
	{ErrNoClient, http.StatusServiceUnavailable, "no_client", false},
	{ErrNewWorkspace, http.StatusForbidden, "new_workspace", true},
	{ErrNoAdmin, http.StatusServiceUnavailable, "no_admin", false},
	{ErrNotOfUs, http.StatusForbidden, "not_of_us", true},
	{slackapi.ErrSignInRefused, http.StatusForbidden, "sign_in_refused", true},
	{auditlog.ErrBusy, http.StatusTooManyRequests, "exports_busy", false},
}

// FaultOf returns the status for an error, the key of its text, and whether it is logged as refused.
func FaultOf(err error) (status int, says string, refused bool) {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			return f.status, f.says, f.refused
		}
	}
	switch class := explain.ClassOf(err); class {
	case explain.NotFound:
		return http.StatusNotFound, "not_found", true
	case explain.NotAllowed:
		return http.StatusForbidden, "not_allowed", true
	case explain.Field, explain.MalformedForm, explain.BadInput:
		return http.StatusBadRequest, "bad_input", false
	case explain.Unverified, explain.Unavailable, explain.Unconfirmed, explain.ModelUnavailable:
		return http.StatusServiceUnavailable, "unavailable", false
	case explain.Conflict, explain.Changed, explain.Superseded, explain.Full:
		return http.StatusConflict, "conflict", false
	default:
		if class.Refusal() { // impossible in the subject's current state
			return http.StatusConflict, "conflict", false
		}
	}
	return http.StatusInternalServerError, "internal", false
}

// Fail answers with a page that explains the error.
func (c *Site) Fail(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	status, says, refused := FaultOf(err)
	switch {
	case refused:
		Refuse(r, v, err.Error())
	case status >= http.StatusInternalServerError:
		slog.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "tenant", v.Tenant, "err", err)
	}
	texts := v.Texts("fault")
	d := Document{Title: texts.In("title", says), Data: texts.In("text", says), Status: status}
	if err := c.Show(w, r, v, d, "home/fault"); err != nil {
		slog.ErrorContext(r.Context(), "an error page failed", "err", err)
		http.Error(w, d.Title, status)
	}
}
