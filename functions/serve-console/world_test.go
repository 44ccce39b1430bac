package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/people"
	"ringi/shared/slack/signin"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/contests"
	"ringi/shared/store/conversations"
	"ringi/shared/store/kinds"
	"ringi/shared/store/storetest"
	"ringi/shared/store/tasks"
	"ringi/shared/store/websession"
)

// host is where the console is.
const host = "ringi.example"

// world is a workspace whose administrator is Suzuki, one table and a console.
type world struct {
	pipelinetest.Story
	slack   *slacktest.Slack
	people  *directory
	oidc    *openID
	own     *ownWorkspace
	results storetest.Bucket
	c       *Console
	tenant  tenancy.Tenant
	db      *dynamodb.Client
	table   string
	said    int // messages, so that each has an id of its own
}

// directory is Slack's, where a test may change somebody.
type directory struct {
	people.Directory
	mu      sync.Mutex
	changed map[string]func(*slackapi.User) error
	asked   int
	called  map[string]string // what people call themselves by now
	channel string            // what all channels are called by now
}

func (d *directory) User(ctx context.Context, id string) (slackapi.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	u, err := d.Directory.User(ctx, id)
	u.Name = cmp.Or(d.called[id], u.Name)
	if change, ok := d.changed[id]; ok && err == nil {
		err = change(&u)
	}
	return u, err
}

func (d *directory) Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) {
		for ch, err := range d.Directory.Channels(ctx, user, types...) {
			if ch.Name = cmp.Or(d.channel, ch.Name); !yield(ch, err) {
				return
			}
		}
	}
}

// become lets Slack say something else of a person from now on.
func (d *directory) become(id string, change func(*slackapi.User) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed[id] = change
}

// ownWorkspace is the deployment's own workspace, and the administrator whom its secret names.
type ownWorkspace struct {
	team, admin string
	also        []string // teams that count as it too
	install     string   // who may install the app, as the secret names them
}

func (o *ownWorkspace) Own(_ context.Context, tenant string) (bool, error) {
	return tenant == aggregate.TenantID(o.team) || slices.ContainsFunc(o.also, func(team string) bool { return tenant == aggregate.TenantID(team) }), nil
}

func (o *ownWorkspace) Tenant(context.Context) (string, error) {
	return aggregate.TenantID(o.team), nil
}

func (o *ownWorkspace) TenantAdmin(context.Context) (string, error) {
	if o.admin == "" {
		return "", secret.ErrMissing
	}
	return o.admin, nil
}

func (o *ownWorkspace) MayInstall(_ context.Context, team string) (bool, error) {
	return o.install == secret.AnyWorkspace || o.install == team, nil
}

// openID is Slack's token endpoint, which says that whoever has a code is that person.
type openID struct {
	api    string
	person map[string]string // the claims beside the usual ones
	now    func() time.Time
}

func (o *openID) Client(context.Context) (id, secret, api string, err error) {
	return "1.2", "s", o.api, nil
}

func (o *openID) token(w http.ResponseWriter, r *http.Request) {
	claims := map[string]any{"iss": "https://slack.com", "aud": "1.2", "exp": o.now().Add(5 * time.Minute).Unix(), "nonce": r.PostFormValue("code")}
	for name, value := range o.person {
		claims[name] = value
	}
	b, _ := json.Marshal(claims)
	json.NewEncoder(w).Encode(map[string]any{"ok": true, "access_token": "x", "token_type": "Bearer", "id_token": "e30." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"})
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	_, table := db.Store(t)
	all := store.New(db.DB, table, kinds.All()...)
	s := tasks.Of(all)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki, Team: slacktest.Team, Member: true}
	w := &world{Story: pipelinetest.Story{T: t, Store: s, By: by}, slack: slacktest.Start(t), results: storetest.Bucket{}, db: db.DB, table: table}
	w.StartClock()
	w.people = &directory{Directory: w.slack.Client, changed: map[string]func(*slackapi.User) error{}, called: map[string]string{}}
	w.oidc, w.own = &openID{now: w.Now}, &ownWorkspace{team: slacktest.Team, install: secret.AnyWorkspace}
	server := httptest.NewServer(http.HandlerFunc(w.oidc.token))
	t.Cleanup(server.Close)
	w.oidc.api = server.URL + "/api/"
	w.c = &Console{
		Store: RowsOf(all), Results: w.results, Exports: &exporter{}, Slack: w.people, Listing: w.slack.Client, People: &people.People{Slack: w.people, Now: w.Now},
		Sessions: conversations.Of(all), Contests: contests.Of(all, w.results), Own: w.own, SignIn: &signin.Slack{App: w.oidc, HTTP: server.Client(), Now: w.Now}, Now: w.Now,
	}
	w.c.Links, w.c.Sessions.Now, w.c.Contests.Now = w.slack.Client, w.Now, w.Now
	w.tenant = w.found(slacktest.Team, workspace.Suzuki)
	return w
}

// found makes a workspace known.
func (w *world) found(team string, admins ...string) tenancy.Tenant {
	w.T.Helper()
	t := tenancy.Tenant{ID: aggregate.TenantID(team), Name: team, Slug: strings.ToLower(team), TeamID: team, Admins: admins}
	return expect.Value(w.Store.Bootstrap(w.T.Context(), t, w.Now()))(w.T)
}

// ask receives a request of Sato's in #人事.
func (w *world) ask() {
	w.T.Helper()
	ts := w.slack.Say(w.T, workspace.Sato, workspace.HR, "今月の勤怠をまとめて")
	w.Receive(task.Request{User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
}

// browser is one with its cookies.
type browser struct {
	w       *world
	host    string
	locale  string
	cookies map[string]string
	form    string       // of its session
	over    http.Handler // where it asks; nil is the console
}

// browser is one in which nobody has signed in.
func (w *world) browser() *browser {
	return &browser{w: w, host: host, locale: "ja", cookies: map[string]string{}}
}

// as is a browser in which somebody of the workspace has signed in.
func (w *world) as(user string) *browser { w.T.Helper(); return w.of(w.tenant, user) }

// of is a browser in which somebody of a workspace has signed in.
func (w *world) of(t tenancy.Tenant, user string) *browser {
	w.T.Helper()
	cookie, b := websession.Secret(), w.browser()
	admin := false
	for _, id := range t.Admins {
		admin = admin || id == user
	}
	s := websession.New(t.ID, t.TeamID, user, user, admin, w.Now())
	expect.NoError(w.T, websession.Of(w.Store.Table()).BeginWebSession(w.T.Context(), cookie, s))
	b.cookies["__Host-ringi"], b.form = cookie, s.Form
	return b
}

// answer is what a browser got.
type answer struct {
	status int
	to     string // where it is led
	body   string
	header http.Header
}

// text is what the page says, without its markup.
func (a answer) text() string {
	_, main, _ := strings.Cut(a.body, "<main")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<main"+main, " ")), " ")
}

func (b *browser) get(path string) answer { return b.send("GET", path, nil) }

// post sends a form with the session's token.
func (b *browser) post(path string, form url.Values) answer {
	full := url.Values{"form": {b.form}}
	for name, values := range form {
		full[name] = values
	}
	return b.send("POST", path, full)
}

func (b *browser) send(method, path string, form url.Values) answer {
	r := httptest.NewRequestWithContext(b.w.T.Context(), method, "https://"+b.host+path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = b.host, "192.0.2.7"
	r.Header.Set("Accept-Language", b.locale)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	to := b.over
	if to == nil {
		to = b.w.c.Handler()
	}
	to.ServeHTTP(rec, r)
	out := rec.Result()
	for _, c := range out.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return answer{status: out.StatusCode, to: out.Header.Get("Location"), body: rec.Body.String(), header: out.Header}
}

// logged is what is logged from now to the test's end.
func logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	return &b
}
