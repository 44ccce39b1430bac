package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

// pastedSecret is the Slack secret, and counts how often it was read.
type pastedSecret struct {
	value string
	err   error
	reads int
}

func (v *pastedSecret) read(context.Context, string) (string, error) {
	v.reads++
	return v.value, v.err
}

func (v *pastedSecret) hold(value string) { v.value, v.err = value, nil }

// environment is a new execution environment with its clock.
func environment(v *pastedSecret) (*secret.Slack, *time.Time) {
	now := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	s := secret.OpenSlack(aws.Config{}, boot.Slack{SlackSecretID: "slack"})
	s.Reader, s.Now = v.read, func() time.Time { return now }
	return s, &now
}

const pasted = `{"signing_secret":"sign-himitsu","bot_token":"xoxb-himitsu","more":1}`

func TestSlackSecretSaysWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		value          string
		signing, token string // parts of the expected errors
	}{
		"good":              {pasted, "", ""},
		"nothing pasted":    {`{"signing_secret":"","bot_token":""}`, "signing_secret: not pasted", "bot_token: not pasted"},
		"no token yet":      {`{"signing_secret":"sign-himitsu","bot_token":""}`, "", "bot_token: not pasted"},
		"no signing secret": {`{"bot_token":"xoxb-himitsu"}`, "signing_secret: not pasted", ""},
		"not JSON":          {`himitsu`, "not JSON with signing_secret and bot_token", "not JSON with"},
		"of another type":   {`{"signing_secret":1,"bot_token":"xoxb-himitsu"}`, "not JSON with", "not JSON with"},
	} {
		t.Run(name, func(t *testing.T) {
			v := &pastedSecret{}
			v.hold(test.value)
			s, _ := environment(v)
			s.Preload(t.Context()) // a failure does not stop the start
			key, err := s.SigningSecret(t.Context())
			check(t, "sign-himitsu", key, err, test.signing)
			token, api, err := s.Bot(t.Context())
			check(t, "xoxb-himitsu", token, err, test.token)
			expect.That(t, err != nil || api == "https://slack.com/api/", "called at %s", api)
		})
	}
}

func check(t *testing.T, want, got string, err error, says string) {
	t.Helper()
	expect.That(t, says != "" || err == nil && got == want, "%q, %v", got, err)
	expect.That(t, says == "" || err != nil && strings.Contains(err.Error(), says) &&
		!strings.Contains(err.Error(), "himitsu") && errors.Is(err, secret.ErrMissing) == strings.Contains(says,
		"pasted"), "%v, want %q", err, says)
}

func TestAReplacedSecretIsTakenByWarmEnvironments(t *testing.T) {
	v := &pastedSecret{}
	v.hold(pasted)
	s, now := environment(v)
	token := func() string {
		t.Helper()
		got, _, err := s.Bot(t.Context())
		expect.NoError(t, err)
		return got
	}
	token()
	v.hold(strings.ReplaceAll(pasted, "xoxb-himitsu", "xoxb-new"))
	*now = now.Add(4 * time.Minute)
	got := token()
	expect.That(t, got == "xoxb-himitsu" && v.reads == 1, "%s after %d readings", got, v.reads)
	*now = now.Add(time.Minute)
	got = token()
	expect.That(t, got == "xoxb-new" && v.reads == 2, "%s after five minutes and %d readings", got, v.reads)
	v.value, v.err = "", errors.New("down")
	*now = now.Add(6 * time.Minute)
	expect.Is(t, token(), "xoxb-new", "while it can't be read")
}

func TestAMemberPastedAloneTakesNothingAway(t *testing.T) {
	const whole = `{"signing_secret":"sign-himitsu","bot_token":"xoxb-himitsu","app_id":"A1",
		"api_url":"https://stand.example/api/"}`
	was := []string{"sign-himitsu", "xoxb-himitsu", "A1", "https://stand.example/api/"}
	for name, test := range map[string]struct {
		pasted string
		want   []string
	}{
		"the token alone":          {`{"bot_token":"xoxb-new"}`, was},
		"the signing secret alone": {`{"signing_secret":"sign-new"}`, was},
		"empty members":            {`{"signing_secret":"","bot_token":""}`, was},
		"an address alone":         {`{"api_url":"http://elsewhere.example/api/"}`, was},
		"another app, without its id": {`{"signing_secret":"sign-new","bot_token":"xoxb-new"}`,
			[]string{"sign-new", "xoxb-new", "", "https://slack.com/api/"}},
	} {
		v := &pastedSecret{}
		v.hold(whole)
		s, now := environment(v)
		s.Preload(t.Context())
		v.hold(test.pasted)
		*now = now.Add(6 * time.Minute)
		key, err := s.SigningSecret(t.Context())
		expect.NoError(t, err)
		token, api, err := s.Bot(t.Context())
		expect.NoError(t, err)
		expect.That(t, slices.Equal([]string{key, token, s.AppID(), api}, test.want), "%s: %s %s %s %s", name, key, token,
			s.AppID(), api)
	}
}

func TestARefusedSecretIsReadAtOnceAndNotTooOften(t *testing.T) {
	v := &pastedSecret{}
	v.hold(pasted)
	s, now := environment(v)
	s.Preload(t.Context())
	*now = now.Add(30 * time.Second)
	expect.That(t, !s.Refused(t.Context()) && v.reads == 2, "%d readings, and the same secret is another one", v.reads)
	v.hold(strings.ReplaceAll(pasted, "xoxb-himitsu", "xoxb-new"))
	for range 29 {
		*now = now.Add(time.Second)
		expect.Must(t, !s.Refused(t.Context()) && v.reads == 2, "%d readings within 30 s", v.reads)
	}
	*now = now.Add(time.Second)
	expect.That(t, s.Refused(t.Context()) && v.reads == 3, "%d readings, and the new secret is not noticed", v.reads)
	got, _, err := s.Bot(t.Context())
	expect.That(t, got == "xoxb-new" && err == nil, "%v %v", got, err)
}

func TestAPastedSecretIsFoundWithinHalfAMinute(t *testing.T) {
	v := &pastedSecret{}
	v.hold(`{"signing_secret":"","bot_token":""}`)
	s, now := environment(v)
	for range 20 {
		_, err := s.SigningSecret(t.Context())
		expect.Must(t, errors.Is(err, secret.ErrMissing) && v.reads == 1, "%v after %d readings", err, v.reads)
		*now = now.Add(time.Second)
	}
	v.hold(pasted)
	*now = now.Add(10 * time.Second)
	key, err := s.SigningSecret(t.Context())
	expect.That(t, key == "sign-himitsu" && err == nil, "%v", err)
}

func TestASecretThatCannotBeReadIsNoMissingOne(t *testing.T) {
	for _, v := range []*pastedSecret{{err: errors.New("down")}, {}} {
		s, _ := environment(v)
		_, err := s.SigningSecret(t.Context())
		expect.That(t, err != nil && !errors.Is(err, secret.ErrMissing), "%v", err)
	}
	s, _ := environment(&pastedSecret{})
	s.ID = ""
	_, _, err := s.Bot(t.Context())
	expect.That(t, err != nil && strings.Contains(err.Error(), "SLACK_SECRET_ID"), "%v", err)
}

// hanging never answers.
func hanging(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// Slack waits three seconds: while Secrets Manager hangs, calls whose secret is cached must not wait.
func TestAKnownSecretServesWhileTheVaultHangs(t *testing.T) {
	v := &pastedSecret{}
	v.hold(`{"signing_secret":"s","bot_token":"t"}`)
	s, now := environment(v)
	s.Preload(t.Context())
	*now = now.Add(6 * time.Minute)
	s.Reader = hanging
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began := time.Now()
	if key, err := s.SigningSecret(ctx); err != nil || key != "s" || time.Since(began) > 8*time.Second {
		t.Errorf("%q, %v after %s", key, err, time.Since(began))
	}
	*now = now.Add(time.Minute)
	began = time.Now()
	expect.That(t, !s.Refused(ctx) && time.Since(began) <= 8*time.Second, "a signature that does not match takes %s",
		time.Since(began))
}

func TestPrintingSecretsShowsNothing(t *testing.T) {
	s := secret.ModelSecret{Anthropic: "sk-planted", OpenAI: "sk-planted", Bedrock: "sk-planted",
		Compatible: map[string]secret.ModelEndpoint{"box": {URL: "https://user:planted@example.com", Key: "sk-planted"}}}
	slack := secret.SlackSecret{SigningSecret: "planted", BotToken: "planted"}
	for _, v := range []any{s, &s, s.Compatible, s.Compatible["box"], slack, &slack} {
		b, err := json.Marshal(v)
		text := fmt.Sprintf("%v %+v %#v %s %s %v", v, v, v, v, b, err)
		expect.That(t, !strings.Contains(text, "planted"), "it shows %s", text)
	}
}
