package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
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
	if boot.IsLocal(r.Host) {
		return name
	}
	return "__Host-" + name
}

// SetCookie sets a cookie that lasts so long; a negative duration deletes it.
func SetCookie(w http.ResponseWriter, r *http.Request, name, value string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r, name), Value: value, Path: "/", MaxAge: int(lasts / time.Second),
		HttpOnly: true, Secure: !boot.IsLocal(r.Host), SameSite: http.SameSiteLaxMode})
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

// SwitchLanguage saves the chosen language in a cookie. A form that is sent here goes on to its page.
func (c *Site) SwitchLanguage(w http.ResponseWriter, r *http.Request) {
	if to := r.PathValue("locale"); slices.Contains(language.All, to) {
		SetCookie(w, r, localeCookie, to, 365*24*time.Hour)
	}
	status := map[string]int{http.MethodPost: http.StatusTemporaryRedirect}[r.Method]
	http.Redirect(w, r, NextOf(r), cmp.Or(status, http.StatusSeeOther))
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
		v, err := c.ViewerOf(w, r)
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
			err = readForm(w, r, to.most())
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

func readForm(w http.ResponseWriter, r *http.Request, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseMultipartForm(most); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return aggregate.Problem{Field: "form", Code: "can't be read"}
	}
	return nil
}

// SessionOf returns the session of a request's cookie, or aggregate.ErrNotFound.
func (c *Site) SessionOf(r *http.Request) (s store.Session, err error) {
	cookie := CookieOf(r, SessionCookie)
	if cookie == "" {
		return s, aggregate.ErrNotFound
	}
	secret, err := c.Own.SigningSecret(r.Context())
	if err != nil {
		return s, err
	}
	return store.OpenSession(cookie, secret, c.Now())
}

// KeepSession sets the session's cookie.
func (c *Site) KeepSession(w http.ResponseWriter, r *http.Request, s store.Session) error {
	secret, err := c.Own.SigningSecret(r.Context())
	if err != nil {
		return err
	}
	cookie, err := s.Signed(secret)
	if err == nil {
		SetCookie(w, r, SessionCookie, cookie, s.Ends().Sub(c.Now()))
	}
	return err
}

// ViewerOf returns the viewer of a request's session, or aggregate.ErrNotFound if nobody is signed in. Who is an
// administrator is read each time. Whether the person has signed out is read before something is changed, and whenever
// Slack is asked: a copy of the cookie shows pages for that long.
func (c *Site) ViewerOf(w http.ResponseWriter, r *http.Request) (*Viewer, error) {
	v := &Viewer{Locale: LocaleOf(r)}
	s, err := c.SessionOf(r)
	if err != nil {
		return v, err
	}
	if r.Method != http.MethodGet || s.MustAsk(c.Now()) {
		switch out, err := c.Store.SignedOut(r.Context(), s); {
		case err != nil:
			return v, err
		case out:
			return v, fmt.Errorf("who signed out: %w", aggregate.ErrNotFound)
		}
	}
	owner, err := c.Store.Tenant(r.Context(), s.Tenant)
	if err != nil {
		return v, fmt.Errorf("whose session it is: %w", err)
	}
	if s.MustAsk(c.Now()) {
		if s, err = c.still(w, r, s, owner); err != nil {
			return v, err
		}
	}
	v.Tenant, v.Team, v.User, v.Name = s.Tenant, s.Team, s.User, s.Name
	v.Admin = slices.Contains(owner.Admins, s.User)
	return v, nil
}

// still asks Slack about a session's person. It ends the sessions of a person who has left.
func (c *Site) still(w http.ResponseWriter, r *http.Request, s store.Session, owner tenancy.Tenant) (store.Session,
	error) {
	ctx := r.Context()
	name, err := c.Belongs(ctx, s.User, owner)
	switch {
	case errors.Is(err, ErrNotOfUs):
		slog.WarnContext(ctx, "a session of somebody who left ends", "tenant", s.Tenant, "user", s.User)
		return s, errors.Join(aggregate.ErrNotFound, c.Store.SignOut(ctx, s, c.Now()))
	case err != nil && s.Believed(c.Now()):
		slog.WarnContext(ctx, "Slack does not say who this is; believed for a while", "err", err)
		return s, nil
	case err != nil:
		return s, err
	}
	s.Name, s.AskedAt = name, c.Now()
	return s, c.KeepSession(w, r, s)
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

// Address returns the console's address as the browser sees it.
func Address(r *http.Request) string { return boot.Address(r.Host) }

// The largest bodies that are read, in bytes. MaxFile is for routes that take files: a request of Lambda's has at most
// 6 MB, in base64.
const (
	MaxBody = 1 << 20
	MaxFile = 4 << 20
)

// policy lets a page load its own script, style sheet and pictures, and forbids inline scripts and styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Safe adds to every answer the headers that forbid framing, content sniffing, referrers, caching and foreign scripts.
// It answers 403 to a change that another site's page requested.
func Safe(h http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Refuse(r, &Viewer{}, "a form of another site")
		http.Error(w, "this form came from another site", http.StatusForbidden)
	}))
	guarded := cross.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Permissions-Policy":         "camera=(), geolocation=(), microphone=()",
			"Cache-Control":              "no-store",
		} {
			w.Header().Set(name, value)
		}
		if !boot.IsLocal(r.Host) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		guarded.ServeHTTP(w, r)
	})
}

// first is the path of the console's first page; those of its others begin with it.
const first = "/console"

// LocalPath returns the path and query in text if it is one of the console's, else otherwise. It rejects "//host" and
// "/\host", which browsers read as addresses of other hosts.
func LocalPath(text, otherwise string) string {
	u, err := url.Parse(text)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" ||
		strings.ContainsAny(text, "\\\r\n\t") {
		return otherwise
	}
	clean := path.Clean(u.Path)
	if clean != first && !strings.HasPrefix(clean, first+"/") || strings.HasPrefix(u.Path, "//") {
		return otherwise
	}
	return (&url.URL{Path: clean, RawQuery: u.RawQuery}).String()
}
