// Package secret reads the deployment's own secrets. Tenants' credentials are in shared/secret/vault.
package secret

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
)

const (
	// slackKeptFor is how long the secret is cached, so that running functions notice a replaced one.
	slackKeptFor = 5 * time.Minute
	// slackReadEvery is the least time between two reads by one environment.
	slackReadEvery = 30 * time.Second
	// slackRereadWithin bounds a read while an older value can still be used: Slack waits three seconds for an answer.
	slackRereadWithin = 500 * time.Millisecond
	// slackPreloadWithin is how long a function's start waits for the secret.
	slackPreloadWithin = 2 * time.Second
	// publicSlack is the address of Slack's Web API.
	publicSlack = "https://slack.com/api/"
)

// SlackSecret has an app's signing secret, by which Slack signs its calls, and the bot's token. Neither may be logged;
// printing a SlackSecret shows nothing.
type SlackSecret struct {
	Hidden
	SigningSecret string `json:"signing_secret"`
	BotToken      string `json:"bot_token"`
	ClientID      string `json:"client_id"` // with which people sign in to the console; not secret
	ClientSecret  string `json:"client_secret"`
	// the app's id; empty: calls of any app that signs with the secret are accepted
	AppID       string `json:"app_id"`
	APIURL      string `json:"api_url"`      // of the Web API, ends with a slash
	TenantAdmin string `json:"tenant_admin"` // the first administrator of the deployment's own workspace; not secret
}

// Reader reads the text of the secret with an id.
type Reader func(ctx context.Context, id string) (string, error)

// maxAnswer is more than Secrets Manager's limit of a secret, 64 KiB, in JSON.
const maxAnswer = 512 << 10

// ReaderAt reads from Secrets Manager.
func ReaderAt(cfg aws.Config) Reader {
	manager := outbound.ServiceAt(cfg, "SecretsManager", outbound.JSONError)
	return func(ctx context.Context, id string) (string, error) {
		var out struct{ SecretString string } // empty for a binary one, which is not JSON either
		err := manager.JSON(ctx, "secretsmanager.GetSecretValue", map[string]string{"SecretId": id}, &out, maxAnswer)
		return out.SecretString, err
	}
}

// ErrMissing means that a member was not pasted into the Slack secret yet.
var ErrMissing = errors.New("not pasted into the Slack secret yet")

// Slack caches the Slack secret: JSON with signing_secret, bot_token, client_id, client_secret and tenant_admin, and
// optionally app_id and the api_url of another Slack than slack.com. It reads the secret when it is first
// needed, again after five minutes, and when it was refused. Its errors name the missing member but never contain a
// value.
type Slack struct {
	address string // of the Web API if the secret has none

	Reader Reader
	ID     string
	Now    func() time.Time

	mu    sync.Mutex
	read  time.Time // when kept was read; zero: never
	asked time.Time // when a read was last tried
	kept  SlackSecret
}

// OpenSlack returns the secret that the environment names. A secret without api_url uses the environment's.
func OpenSlack(cfg aws.Config, env boot.Slack) *Slack {
	return &Slack{Reader: ReaderAt(cfg), ID: env.SlackSecretID, Now: time.Now, address: env.SlackAPIURL}
}

// Preload reads the secret while a function starts, so that the first request need not wait. It ignores failures: the
// first call that needs the secret reads it again and reports the error.
func (s *Slack) Preload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, slackPreloadWithin)
	defer cancel()
	if _, err := s.get(ctx, func(SlackSecret) bool { return true }); err != nil {
		slog.WarnContext(ctx, "start without the Slack secret", "err", err)
	}
}

// SigningSecret returns the secret by which Slack signs its calls, or ErrMissing.
func (s *Slack) SigningSecret(ctx context.Context) (string, error) {
	kept, err := s.with(ctx, "signing_secret", func(k SlackSecret) bool { return k.SigningSecret != "" })
	return kept.SigningSecret, err
}

// AppID returns the id of the secret's app, empty if the secret has none.
func (s *Slack) AppID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.AppID
}

// Bot returns the bot's token and the Web API's address, or ErrMissing.
func (s *Slack) Bot(ctx context.Context) (token, api string, err error) {
	kept, err := s.with(ctx, "bot_token", func(k SlackSecret) bool { return k.BotToken != "" })
	return kept.BotToken, cmp.Or(kept.APIURL, s.address, publicSlack), err
}

// Client returns the app's client for sign-ins and the Web API's address, or ErrMissing.
func (s *Slack) Client(ctx context.Context) (id, secret, api string, err error) {
	kept, err := s.with(ctx, "client_id and client_secret",
		func(k SlackSecret) bool { return k.ClientID != "" && k.ClientSecret != "" })
	return kept.ClientID, kept.ClientSecret, cmp.Or(kept.APIURL, s.address, publicSlack), err
}

// TenantAdmin returns the Slack user id of the first administrator of the deployment's own workspace, or ErrMissing.
func (s *Slack) TenantAdmin(ctx context.Context) (string, error) {
	kept, err := s.with(ctx, "tenant_admin", func(k SlackSecret) bool { return k.TenantAdmin != "" })
	return kept.TenantAdmin, err
}

// with is get, but returns ErrMissing for a secret that has not the wanted member, by its name.
func (s *Slack) with(ctx context.Context, member string, has func(SlackSecret) bool) (SlackSecret, error) {
	kept, err := s.get(ctx, has)
	if err == nil && !has(kept) {
		err = fmt.Errorf("%s: %w", member, ErrMissing)
	}
	return kept, err
}

// Refused reads the secret again, at most once in 30 seconds, because Slack refused the token or a signature did not
// match. It reports whether the secret has changed.
func (s *Slack) Refused(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Now().Sub(s.asked) < slackReadEvery {
		return false
	}
	before := s.kept
	// Anyone can send bad signatures, which must not slow the function down.
	if err := s.ask(ctx, !s.read.IsZero()); err != nil {
		slog.WarnContext(ctx, "with the Slack secret as it was", "err", err)
		return false
	}
	return s.kept != before
}

// get returns the cached secret if it is younger than slackKeptFor and has the wanted member. If reading it again
// fails, get returns the old value.
func (s *Slack) get(ctx context.Context, serves func(SlackSecret) bool) (SlackSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := s.Now(), !s.read.IsZero()
	serve := known && serves(s.kept)
	if serve && now.Sub(s.read) < slackKeptFor || known && now.Sub(s.asked) < slackReadEvery {
		return s.kept, nil
	}
	err := s.ask(ctx, serve)
	if err != nil && serve {
		slog.WarnContext(ctx, "with the Slack secret as it was", "err", err)
		err = nil
	}
	return s.kept, err
}

// ask reads the secret, shortly if the one that is kept may serve. The caller holds the lock.
func (s *Slack) ask(ctx context.Context, shortly bool) error {
	if shortly {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, slackRereadWithin)
		defer cancel()
	}
	s.asked = s.Now()
	if s.ID == "" {
		return errors.New("read the Slack secret: SLACK_SECRET_ID is empty")
	}
	text, err := s.Reader(ctx, s.ID)
	if err != nil {
		return fmt.Errorf("read the Slack secret: %w", err)
	}
	var v SlackSecret
	if json.Unmarshal([]byte(text), &v) != nil { // the error would quote the secret
		return errors.New("read the Slack secret: it is not JSON with signing_secret and bot_token")
	}
	if v.SigningSecret == "" && s.kept.SigningSecret != "" || v.BotToken == "" && s.kept.BotToken != "" {
		slog.Error("the Slack secret lacks a member that it had: paste all of them; until then the one that was known serves",
			"signing_secret", v.SigningSecret != "", "bot_token", v.BotToken != "")
		v = s.kept
	}
	s.kept, s.read = v, s.asked
	return nil
}

// Hidden, embedded in a struct of secrets, hides the whole struct in logs, errors and JSON.
type Hidden struct{}

// String shows nothing.
func (Hidden) String() string { return "(hidden)" }

// GoString shows nothing.
func (Hidden) GoString() string { return "(hidden)" }

// MarshalJSON shows nothing. Code that stores a secret encodes a struct of its own.
func (Hidden) MarshalJSON() ([]byte, error) { return []byte(`"(hidden)"`), nil }

// ModelSecret has the deployment's keys for model vendors. None of them may be logged; printing a ModelSecret shows
// nothing.
type ModelSecret struct {
	Hidden
	Anthropic  string                   `json:"anthropic"`
	OpenAI     string                   `json:"openai"`
	Bedrock    string                   `json:"bedrock"` // only outside of AWS; inside, the function's role does
	Compatible map[string]ModelEndpoint `json:"compatible"`
	// Agents are the keys that definitions of agents refer to. The address with a key is the only one that it may be
	// sent to: https://host/v1, or the name of a vendor.
	Agents map[string]ModelEndpoint `json:"agents"`
}

// ModelEndpoint is the address of a compatible model and its key. Either may be empty.
type ModelEndpoint struct {
	Hidden
	URL string `json:"url"` // what chat/completions is put behind: https://host/v1
	Key string `json:"key"`
}

// modelSecretKeptFor is how long the secret is cached, so that running functions notice a replaced key.
const modelSecretKeptFor = 5 * time.Minute

// Models reads the model secret at its first use and caches it.
type Models struct {
	Reader Reader
	ID     string

	mu   sync.Mutex
	read time.Time
	kept ModelSecret
}

// ErrMalformed means that the secret exists but has the wrong form.
var ErrMalformed = errors.New(`it is not JSON such as {"anthropic":"sk-…","openai":"sk-…",` +
	`"compatible":{"name":{"url":"https://…","key":"…"}}}`)

// Get returns the secret, or ErrMalformed. Its errors never contain a value.
func (m *Models) Get(ctx context.Context) (ModelSecret, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read.IsZero() && time.Since(m.read) < modelSecretKeptFor {
		return m.kept, nil
	}
	if m.ID == "" {
		return ModelSecret{}, errors.New("read the model secret: MODEL_SECRET_ID is empty")
	}
	text, err := m.Reader(ctx, m.ID)
	if err != nil {
		return ModelSecret{}, fmt.Errorf("read the model secret: %w", err)
	}
	var s ModelSecret
	if json.Unmarshal([]byte(text), &s) != nil { // the error would quote the secret
		return ModelSecret{}, fmt.Errorf("read the model secret: %w", ErrMalformed)
	}
	m.kept, m.read = s, time.Now()
	return s, nil
}

// Forget makes the next Get read the secret again, because a key was refused or missing.
func (m *Models) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read = time.Time{}
}
