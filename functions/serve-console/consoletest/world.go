// Package consoletest gives tests a workspace with its console: one table, a fake Slack, and browsers that sign in.
package consoletest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
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
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const Host = "ringi.example"

// World is a workspace with one table and a console; Suzuki is its administrator.
type World struct {
	ringitest.Story
	Slack   *ringitest.Slack
	People  *Directory
	OIDC    *openID
	Own     *ownWorkspace
	Results storetest.Bucket
	Console *console.Console
	Tenant  tenancy.Tenant
	DB      *dynamodb.Client
	Table   string
	Said    int // messages so far: gives each its own id
}

// Directory is Slack's list of people; tests may change it.
type Directory struct {
	web.Slack
	mu      sync.Mutex
	changed map[string]func(*slackapi.User) error
	Asked   int
	Called  map[string]string // names that people changed to, by id
	Channel string            // new name of all channels, if set
}

func (d *Directory) User(ctx context.Context, id string) (slackapi.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Asked++
	u, err := d.Slack.User(ctx, id)
	u.Name = cmp.Or(d.Called[id], u.Name)
	if change, ok := d.changed[id]; ok && err == nil {
		err = change(&u)
	}
	return u, err
}

func (d *Directory) Channels(ctx context.Context, user string, types ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) {
		for ch, err := range d.Slack.Channels(ctx, user, types...) {
			if ch.Name = cmp.Or(d.Channel, ch.Name); !yield(ch, err) {
				return
			}
		}
	}
}

// Become changes what Slack says about a person from now on.
func (d *Directory) Become(id string, change func(*slackapi.User) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed[id] = change
}

// ownWorkspace is the deployment's own workspace with the administrator whom its secret names.
type ownWorkspace struct{ Team, Admin string }

func (o *ownWorkspace) Serves(_ context.Context, tenant string) (bool, error) {
	return tenant == aggregate.TenantID(o.Team), nil
}

// signingSecret signs sessions.
const signingSecret = "signs"

func (o *ownWorkspace) SigningSecret(context.Context) (string, error) { return signingSecret, nil }

func (o *ownWorkspace) TenantAdmin(context.Context) (string, error) {
	if o.Admin == "" {
		return "", secret.ErrMissing
	}
	return o.Admin, nil
}

// openID stands in for Slack's token endpoint: the code it gets is the id of the person who signs in.
type openID struct {
	API    string
	Person map[string]string // claims added to the usual ones
	now    func() time.Time
}

func (o *openID) Client(context.Context) (id, secret, api string, err error) {
	return "1.2", "s", o.API, nil
}

func (o *openID) token(w http.ResponseWriter, r *http.Request) {
	claims := map[string]any{"iss": "https://slack.com", "aud": "1.2", "exp": o.now().Add(5 * time.Minute).Unix(),
		"nonce": r.PostFormValue("code")}
	for name, value := range o.Person {
		claims[name] = value
	}
	b, _ := json.Marshal(claims)
	json.NewEncoder(w).Encode(map[string]any{"ok": true, "access_token": "x", "token_type": "Bearer",
		"id_token": "e30." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"})
}

// Cases are tests by name; each gets its own workspace.
type Cases map[string]func(*testing.T, *World)

func Each(t *testing.T, all Cases) {
	db := storetest.Start(t)
	for name, run := range all {
		t.Run(name, func(t *testing.T) { run(t, New(t, db)) })
	}
}

func Start(t *testing.T) *World { return New(t, storetest.Start(t)) }

// New makes a workspace in an empty table.
func New(t *testing.T, db *storetest.Server) *World {
	t.Helper()
	_, table := db.Store(t)
	all := store.New(db.DB, table, store.Kinds()...)
	s := store.TasksOf(all)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: ringitest.Team, Member: true}
	w := &World{Story: ringitest.Story{T: t, Store: s, By: by}, Slack: ringitest.StartSlack(t),
		Results: storetest.Bucket{},
		DB:      db.DB, Table: table}
	w.StartClock()
	w.People = &Directory{Slack: w.Slack.Client, changed: map[string]func(*slackapi.User) error{},
		Called: map[string]string{}}
	w.OIDC, w.Own = &openID{now: w.Now}, &ownWorkspace{Team: ringitest.Team}
	server := expect.Server(t, http.HandlerFunc(w.OIDC.token))
	w.OIDC.API = server.URL + "/api/"
	w.Console = &console.Console{
		Site: web.Site{Store: store.TasksOf(all), Results: w.Results, Slack: w.People, Listing: w.Slack.Client,
			People: &people.People{Slack: w.People, Now: w.Now}, Own: w.Own, Now: w.Now,
		},
		Conversations: store.ConversationsOf(all), Contests: store.ContestsOf(all, w.Results),
		SignIn: &slackapi.SignIn{App: w.OIDC, HTTP: server.Client(), Now: w.Now},
	}
	w.Console.Messages, w.Console.Links = w.Slack.Client, w.Slack.Client
	w.Console.Conversations.Now, w.Console.Contests.Now = w.Now, w.Now
	w.Tenant = w.Found(ringitest.Team, webapi.Suzuki)
	w.Ref.Tenant = w.Tenant.ID
	return w
}

// Found adds a workspace as a tenant.
func (w *World) Found(team string, admins ...string) tenancy.Tenant {
	w.T.Helper()
	t := tenancy.Tenant{ID: aggregate.TenantID(team), Name: team, TeamID: team, Admins: admins}
	return expect.Value(w.Store.Bootstrap(w.T.Context(), t, w.Now()))(w.T)
}

// Ask receives a request from Sato in #人事.
func (w *World) Ask() {
	w.T.Helper()
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, "今月の勤怠をまとめて")
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts})
}

// Browser sends requests and stores cookies.
type Browser struct {
	World   *World
	user    string // who is signed in; empty: nobody
	host    string
	Locale  string
	Site    string // where its forms come from; empty: the console
	Cookies map[string]string
	Over    http.Handler // handler of the requests; nil: the console's
}

// Browser returns one in which nobody is signed in.
func (w *World) Browser() *Browser {
	return &Browser{World: w, host: Host, Locale: "ja", Cookies: map[string]string{}}
}

// As returns a browser in which a user of the world's own tenant is signed in.
func (w *World) As(user string) *Browser { w.T.Helper(); return w.Of(w.Tenant, user) }

// Of returns a browser in which a user of tenant t is signed in.
func (w *World) Of(t tenancy.Tenant, user string) *Browser {
	w.T.Helper()
	b := w.Browser()
	s := store.NewSession(t.ID, t.TeamID, user, user, w.Now())
	b.Cookies["__Host-ringi"], b.user = expect.Value(s.Signed(signingSecret))(w.T), user
	return b
}

// In has the browser ask for pages in a language from now on, and returns it.
func (b *Browser) In(locale string) *Browser {
	b.Locale = locale
	return b
}

// Answer is the console's answer to a browser.
type Answer struct {
	Asked  string // for what, by whom
	Status int
	To     string // where it is led
	Body   string
	Header http.Header
}

// Text returns the page's text without markup.
func (a Answer) Text() string {
	_, main, _ := strings.Cut(a.Body, "<main")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<main"+main, " ")), " ")
}

func (b *Browser) Get(path string) Answer { return b.Send("GET", path, nil) }

func (b *Browser) Post(path string, form url.Values) Answer {
	if form == nil {
		form = url.Values{}
	}
	return b.Send("POST", path, form)
}

func Logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	return &b
}

func (w *World) SettingsNow() tenancy.Settings {
	w.T.Helper()
	return expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T)
}

// Administered gives the workspace these administrators.
func (w *World) Administered(users ...string) {
	w.T.Helper()
	owner := expect.Value(w.Store.Tenant(w.T.Context(), w.Tenant.ID))(w.T)
	owner.Admins = users
	expect.NoError(w.T, w.Store.SaveTenant(w.T.Context(), owner, w.By, w.Now()))
}

// Audited returns the newest entries of the audit log that a filter leaves, the newest first.
func (w *World) Audited(f store.AuditFilter) []aggregate.AuditEntry {
	w.T.Helper()
	return expect.Value(w.Store.Audit(w.T.Context(), w.Tenant.ID, f, "", 100))(w.T).Items
}

// Record commits audit entries without the changes they describe.
func (w *World) Record(entries ...aggregate.AuditEntry) {
	w.T.Helper()
	w.Ask()
	for part := range slices.Chunk(entries, 90) { // a transaction has at most 100 actions
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			head := a.Head
			return aggregate.Change{Head: &head, Now: w.Now(), Audit: part}, nil
		})
	}
}
