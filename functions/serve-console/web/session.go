package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/gateway"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
	"ringi/shared/words/language"
)

// Viewer is the person who opened a page. The zero value is not signed in.
type Viewer struct {
	Tenant string
	Team   string
	User   string // Slack user id
	Name   string
	Admin  bool
	Locale string // one of language.All
	Form   string // the token that the session's forms carry
}

// Actor returns the viewer as an actor of commits.
func (v *Viewer) Actor() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: v.User, Team: v.Team}
}

// Texts returns a catalog in the viewer's language.
func (v *Viewer) Texts(catalog string) Texts { return TextsOf(catalog, v.Locale) }

// Untitled returns the text shown for a missing title.
func (v *Viewer) Untitled() string { return v.Texts("layout").Say("untitled") }

// Names of cookies. Browsers accept the prefix __Host- only over TLS, for this host alone and for all paths.
const (
	SessionCookie = "ringi"
	localeCookie  = "ringi-language"
)

func cookieName(r *http.Request, name string) string {
	if gateway.IsLocal(r.Host) {
		return name
	}
	return "__Host-" + name
}

// SetCookie sets a cookie that lasts so long; a negative duration deletes it.
func SetCookie(w http.ResponseWriter, r *http.Request, name, value string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r, name), Value: value, Path: "/", MaxAge: int(lasts / time.Second),
		HttpOnly: true, Secure: !gateway.IsLocal(r.Host), SameSite: http.SameSiteLaxMode})
}

// CookieOf returns a cookie's value, or "".
func CookieOf(r *http.Request, name string) string {
	is, err := r.Cookie(cookieName(r, name))
	if err != nil {
		return ""
	}
	return is.Value
}

// LocaleOf returns the language that the person chose, or the first supported one of the browser's list.
func LocaleOf(r *http.Request) string {
	asked := CookieOf(r, localeCookie) + "," + r.Header.Get("Accept-Language")
	for part := range strings.SplitSeq(asked, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		if base, _, _ := strings.Cut(strings.ToLower(tag), "-"); slices.Contains(language.All, base) {
			return base
		}
	}
	return language.All[0]
}

// SwitchLanguage saves the chosen language in a cookie.
func (c *Site) SwitchLanguage(w http.ResponseWriter, r *http.Request) {
	if to := r.PathValue("locale"); slices.Contains(language.All, to) {
		SetCookie(w, r, localeCookie, to, 365*24*time.Hour)
	}
	http.Redirect(w, r, NextOf(r), http.StatusSeeOther)
}

// NextOf returns the console path to go to next: the one in the request, or the first page if there is none or it is
// not a page of the console. It logs the latter.
func NextOf(r *http.Request) string {
	asked := r.URL.Query().Get("next")
	to := LocalPath(asked, "")
	if to == "" && asked != "" {
		Refuse(r, &Viewer{}, "to go on to an address that is no page of the console")
	}
	return cmp.Or(to, first)
}

// SignedIn serves a route to people who are signed in and may open it.
func (c *Site) SignedIn(to Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if most := to.most(); r.ContentLength > most {
			http.Error(w, fmt.Sprintf("the body has more than %d bytes", most), http.StatusRequestEntityTooLarge)
			return
		}
		v, err := c.ViewerOf(w, r, to.Taken || r.Method != http.MethodGet)
		switch {
		case errors.Is(err, aggregate.ErrNotFound) && r.Method == http.MethodGet:
			if CookieOf(r, SessionCookie) != "" {
				Refuse(r, v, "the cookie is of no session")
			}
			http.Redirect(w, r, "/console/signin?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return
		case errors.Is(err, aggregate.ErrNotFound):
			err = ErrSignedOut
		case err == nil && to.Administrators && !v.Admin:
			err = ErrAdminsOnly
		case err == nil && r.Method != http.MethodGet:
			err = checkForm(w, r, v, to.most())
		}
		if err == nil {
			err = to.Serve(w, r.WithContext(slackapi.For(r.Context(), v.Tenant)), v)
		}
		if err != nil {
			c.Fail(w, r, v, err)
		}
	}
}

// Open serves a page to anybody.
func (c *Site) Open(serve Page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &Viewer{Locale: LocaleOf(r)}
		if err := serve(w, r, v); err != nil {
			c.Fail(w, r, v, err)
		}
	}
}

// Within counts an attempt to sign in or to install the app. It returns ErrTooMany if an address makes too many.
func (c *Site) Within(r *http.Request) error {
	within, err := c.Store.CountSignIn(r.Context(), r.RemoteAddr, c.Now())
	if err == nil && !within {
		err = ErrTooMany
	}
	return err
}

func checkForm(w http.ResponseWriter, r *http.Request, v *Viewer, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	err := r.ParseMultipartForm(most)
	if err != nil && !errors.Is(err, http.ErrNotMultipart) ||
		!(records.Session{Form: v.Form}).FormIs(r.PostFormValue("form")) {
		return ErrBadForm
	}
	return nil
}

// ViewerOf returns the viewer of a request's session, or aggregate.ErrNotFound if nobody is signed in. If now is set,
// it reads the administrators from the tenant's row instead of the session.
func (c *Site) ViewerOf(w http.ResponseWriter, r *http.Request, now bool) (*Viewer, error) {
	v := &Viewer{Locale: LocaleOf(r)}
	cookie := CookieOf(r, SessionCookie)
	if cookie == "" {
		return v, aggregate.ErrNotFound
	}
	s, err := c.Store.Session(r.Context(), cookie, c.Now())
	if err != nil {
		return v, err
	}
	if s.Before != "" {
		if err := c.Store.CameSession(r.Context(), cookie, s); err != nil {
			return v, err
		}
	}
	if s, err = c.still(r.Context(), cookie, s, now); err != nil {
		return v, err
	}
	c.rotate(w, r, cookie, s)
	v.Tenant, v.Team, v.User, v.Name, v.Admin, v.Form = s.Tenant, s.Team, s.User, s.Name, s.Admin, s.Form
	return v, nil
}

// rotate replaces the session's cookie when it is due. Two concurrent requests may both replace it and one loses; that
// does no harm, because the old cookie is valid until the new one is first used.
func (c *Site) rotate(w http.ResponseWriter, r *http.Request, cookie string, s records.Session) {
	now := c.Now()
	if !s.MustRotate(now) {
		return
	}
	next := records.NewSecret()
	switch err := c.Store.RotateSession(r.Context(), cookie, next, s, now); {
	case err == nil:
		SetCookie(w, r, SessionCookie, next, s.Ends().Sub(now))
	case !errors.Is(err, aggregate.ErrConflict):
		slog.WarnContext(r.Context(), "the session keeps its cookie", "err", err)
	}
}

// still updates a session from Slack and the tenant's row. It ends the session of a person who has left.
func (c *Site) still(ctx context.Context, cookie string, s records.Session, now bool) (records.Session, error) {
	if !now && !s.MustAsk(c.Now()) {
		return s, nil
	}
	owner, err := c.Store.Tenant(ctx, s.Tenant)
	if err != nil {
		return s, fmt.Errorf("whose session it is: %w", err)
	}
	s.Admin = slices.Contains(owner.Admins, s.User)
	if !s.MustAsk(c.Now()) {
		return s, nil
	}
	name, err := c.Belongs(ctx, s.User, owner)
	switch {
	case errors.Is(err, ErrNotOfUs):
		slog.WarnContext(ctx, "a session of somebody who left ends", "tenant", s.Tenant, "user", s.User)
		return s, errors.Join(aggregate.ErrNotFound, c.Store.EndSession(ctx, cookie))
	case err != nil && s.Believed(c.Now()):
		slog.WarnContext(ctx, "Slack does not say who this is; believed for a while", "err", err)
		return s, nil
	case err != nil:
		return s, err
	}
	s.Name, s.AskedAt = name, c.Now()
	return s, c.Store.SawSession(ctx, cookie, s)
}

// Belongs returns the name of a full member of the tenant's workspace; for others ErrNotOfUs.
func (c *Site) Belongs(ctx context.Context, user string, owner tenancy.Tenant) (string, error) {
	u, err := c.Slack.User(slackapi.For(ctx, owner.ID), user)
	switch code := slackapi.Code(err); {
	case code == slackapi.CodeUserNotFound, code == slackapi.CodeUserNotVisible:
		return "", ErrNotOfUs
	case err != nil:
		return "", fmt.Errorf("who this is: %w", err)
	case u.Gone || u.Guest || !u.Of(owner.TeamID):
		return "", ErrNotOfUs
	}
	return u.Name, nil
}

// Address returns the console's address as the browser sees it. The Host header is safe to use: API Gateway answers
// only under its own name and configured domains.
func Address(r *http.Request) string {
	if gateway.IsLocal(r.Host) {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// StillAdmin reads the administrators from the tenant's row. SignedIn trusts the session on GET requests, so those that
// change something must call this.
func (c *Site) StillAdmin(ctx context.Context, v *Viewer) error {
	if v.User == "" {
		return nil // installing: Slack says who the person is
	}
	owner, err := c.Store.Tenant(ctx, v.Tenant)
	if err == nil && !slices.Contains(owner.Admins, v.User) {
		err = ErrAdminsOnly
	}
	return err
}
