// Package consoletest is a workspace with its console for tests: one table, a Slack, and browsers in which people sign
// in.
package consoletest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
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

	"ringi/functions/serve-console/console"
	"ringi/functions/serve-console/web"
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
const Host = "ringi.example"

// World is a workspace whose administrator is Suzuki, one table and a console.
type World struct {
	pipelinetest.Story
	Slack   *slacktest.Slack
	People  *Directory
	OIDC    *openID
	Own     *ownWorkspace
	Results storetest.Bucket
	Console *console.Console
	Tenant  tenancy.Tenant
	DB      *dynamodb.Client
	Table   string
	Said    int // messages, so that each has an id of its own
}

// Directory is Slack's, where a test may change somebody.
type Directory struct {
	people.Directory
	mu      sync.Mutex
	changed map[string]func(*slackapi.User) error
	Asked   int
	Called  map[string]string // what people call themselves by now
	Channel string            // what all channels are called by now
}

func (d *Directory) User(ctx context.Context, id string) (slackapi.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Asked++
	u, err := d.Directory.User(ctx, id)
	u.Name = cmp.Or(d.Called[id], u.Name)
	if change, ok := d.changed[id]; ok && err == nil {
		err = change(&u)
	}
	return u, err
}

func (d *Directory) Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) {
		for ch, err := range d.Directory.Channels(ctx, user, types...) {
			if ch.Name = cmp.Or(d.Channel, ch.Name); !yield(ch, err) {
				return
			}
		}
	}
}

// Become lets Slack say something else of a person from now on.
func (d *Directory) Become(id string, change func(*slackapi.User) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed[id] = change
}

// ownWorkspace is the deployment's own workspace, and the administrator whom its secret names.
type ownWorkspace struct {
	Team, Admin string
	Also        []string // teams that count as it too
	Install     string   // who may install the app, as the secret names them
}

func (o *ownWorkspace) Own(_ context.Context, tenant string) (bool, error) {
	return tenant == aggregate.TenantID(o.Team) || slices.ContainsFunc(o.Also, func(team string) bool { return tenant == aggregate.TenantID(team) }), nil
}

func (o *ownWorkspace) Tenant(context.Context) (string, error) {
	return aggregate.TenantID(o.Team), nil
}

func (o *ownWorkspace) TenantAdmin(context.Context) (string, error) {
	if o.Admin == "" {
		return "", secret.ErrMissing
	}
	return o.Admin, nil
}

func (o *ownWorkspace) MayInstall(_ context.Context, team string) (bool, error) {
	return o.Install == secret.AnyWorkspace || o.Install == team, nil
}

// openID is Slack's token endpoint, which says that whoever has a code is that person.
type openID struct {
	API    string
	Person map[string]string // the claims beside the usual ones
	now    func() time.Time
}

func (o *openID) Client(context.Context) (id, secret, api string, err error) {
	return "1.2", "s", o.API, nil
}

func (o *openID) token(w http.ResponseWriter, r *http.Request) {
	claims := map[string]any{"iss": "https://slack.com", "aud": "1.2", "exp": o.now().Add(5 * time.Minute).Unix(), "nonce": r.PostFormValue("code")}
	for name, value := range o.Person {
		claims[name] = value
	}
	b, _ := json.Marshal(claims)
	json.NewEncoder(w).Encode(map[string]any{"ok": true, "access_token": "x", "token_type": "Bearer", "id_token": "e30." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"})
}

// Cases are tests by what they show, each of which has a workspace of its own.
type Cases map[string]func(*testing.T, *World)

// Each runs cases.
func Each(t *testing.T, all Cases) {
	db := storetest.Start(t)
	for name, run := range all {
		t.Run(name, func(t *testing.T) { run(t, New(t, db)) })
	}
}

// Start is the workspace of a test that needs one.
func Start(t *testing.T) *World { return New(t, storetest.Start(t)) }

// New is a workspace with a table of its own.
func New(t *testing.T, db *storetest.Server) *World {
	t.Helper()
	_, table := db.Store(t)
	all := store.New(db.DB, table, kinds.All()...)
	s := tasks.Of(all)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki, Team: slacktest.Team, Member: true}
	w := &World{Story: pipelinetest.Story{T: t, Store: s, By: by}, Slack: slacktest.Start(t), Results: storetest.Bucket{}, DB: db.DB, Table: table}
	w.StartClock()
	w.People = &Directory{Directory: w.Slack.Client, changed: map[string]func(*slackapi.User) error{}, Called: map[string]string{}}
	w.OIDC, w.Own = &openID{now: w.Now}, &ownWorkspace{Team: slacktest.Team, Install: secret.AnyWorkspace}
	server := httptest.NewServer(http.HandlerFunc(w.OIDC.token))
	t.Cleanup(server.Close)
	w.OIDC.API = server.URL + "/api/"
	w.Console = &console.Console{
		Site: web.Site{
			Store: web.RowsOf(all), Results: w.Results, Slack: w.People, Listing: w.Slack.Client,
			People: &people.People{Slack: w.People, Now: w.Now},
			Own:    w.Own, Now: w.Now,
		},
		Exports: &Exporter{}, Conversations: conversations.Of(all), Contests: contests.Of(all, w.Results),
		SignIn: &signin.Slack{App: w.OIDC, HTTP: server.Client(), Now: w.Now},
	}
	w.Console.Links, w.Console.Conversations.Now, w.Console.Contests.Now = w.Slack.Client, w.Now, w.Now
	w.Tenant = w.Found(slacktest.Team, workspace.Suzuki)
	return w
}

// Found makes a workspace known.
func (w *World) Found(team string, admins ...string) tenancy.Tenant {
	w.T.Helper()
	t := tenancy.Tenant{ID: aggregate.TenantID(team), Name: team, Slug: strings.ToLower(team), TeamID: team, Admins: admins}
	return expect.Value(w.Store.Bootstrap(w.T.Context(), t, w.Now()))(w.T)
}

// Ask receives a request of Sato's in #人事.
func (w *World) Ask() {
	w.T.Helper()
	ts := w.Slack.Say(w.T, workspace.Sato, workspace.HR, "今月の勤怠をまとめて")
	w.Receive(task.Request{User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
}

// Browser is one with its cookies.
type Browser struct {
	World   *World
	user    string // who has signed in, empty for nobody
	host    string
	Locale  string
	Cookies map[string]string
	Form    string       // of its session
	Over    http.Handler // where it asks; nil is the console
}

// Browser is one in which nobody has signed in.
func (w *World) Browser() *Browser {
	return &Browser{World: w, host: Host, Locale: "ja", Cookies: map[string]string{}}
}

// As is a browser in which somebody of the workspace has signed in.
func (w *World) As(user string) *Browser { w.T.Helper(); return w.Of(w.Tenant, user) }

// Of is a browser in which somebody of a workspace has signed in.
func (w *World) Of(t tenancy.Tenant, user string) *Browser {
	w.T.Helper()
	cookie, b := websession.Secret(), w.Browser()
	admin := false
	for _, id := range t.Admins {
		admin = admin || id == user
	}
	s := websession.New(t.ID, t.TeamID, user, user, admin, w.Now())
	expect.NoError(w.T, websession.Of(w.Store.Table()).BeginSession(w.T.Context(), cookie, s))
	b.Cookies["__Host-ringi"], b.Form, b.user = cookie, s.Form, user
	return b
}

// Answer is what a browser got.
type Answer struct {
	Asked  string // for what, by whom
	Status int
	To     string // where it is led
	Body   string
	Header http.Header
}

// Text is what the page says, without its markup.
func (a Answer) Text() string {
	_, main, _ := strings.Cut(a.Body, "<main")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<main"+main, " ")), " ")
}

func (b *Browser) Get(path string) Answer { return b.Send("GET", path, nil) }

// Post sends a form with the session's token.
func (b *Browser) Post(path string, form url.Values) Answer {
	full := url.Values{"form": {b.Form}}
	for name, values := range form {
		full[name] = values
	}
	return b.Send("POST", path, full)
}

func (b *Browser) Send(method, path string, form url.Values) Answer {
	r := httptest.NewRequestWithContext(b.World.T.Context(), method, "https://"+b.host+path, strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = b.host, "192.0.2.7"
	r.Header.Set("Accept-Language", b.Locale)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	to := b.Over
	if to == nil {
		to = b.World.Console.Handler()
	}
	to.ServeHTTP(rec, r)
	out := rec.Result()
	for _, c := range out.Cookies() {
		if c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
		} else {
			b.Cookies[c.Name] = c.Value
		}
	}
	asked := fmt.Sprintf("%s %s %.300s by %s in %s", method, path, form.Encode(), b.user, b.Locale)
	return Answer{Asked: asked, Status: out.StatusCode, To: out.Header.Get("Location"), Body: rec.Body.String(), Header: out.Header}
}

// Logged collects the log until the test ends.
func Logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	return &b
}

// SettingsNow are the workspace's.
func (w *World) SettingsNow() tenancy.Settings {
	w.T.Helper()
	return expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T)
}
