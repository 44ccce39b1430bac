package slackapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

var now = time.Unix(1531420618, 0)

func TestVerify(t *testing.T) {
	// From the example in Slack's documentation.
	const secret = "8f742231b10e8888abcd99yyyzzz85a5"
	body := "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
		"channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&" +
		"response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
		"trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	const good = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	at := strconv.FormatInt(now.Unix(), 10)
	sign := func(stamp string) string { return Sign(stamp, []byte(body), secret) }
	shifted := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for _, tt := range []struct {
		name, stamp, signature, body, secret string
		want                                 error
	}{
		{"Slack's own example", at, good, body, secret, nil},
		{"no timestamp", "", good, body, secret, ErrUnsigned},
		{"no signature", at, "", body, secret, ErrUnsigned},
		{"a timestamp that is no number", "soon", sign("soon"), body, secret, ErrUnsigned},
		{"another body", at, good, body + "&x=1", secret, ErrSignature},
		{"another secret", at, good, body, "other", ErrSignature},
		{"no secret is configured", at, Sign(at, []byte(body), ""), body, "", ErrNoSecret},
		{"another version", at, "v1" + good[2:], body, secret, ErrSignature},
		{"capital digits", at, strings.ToUpper(good), body, secret, ErrSignature},
		{"cut off", at, good[:20], body, secret, ErrSignature},
		{"signed for another time", shifted(time.Second), good, body, secret, ErrSignature},
		{"five minutes old", shifted(-Tolerance), sign(shifted(-Tolerance)), body, secret, nil},
		{"older", shifted(-Tolerance - time.Second), sign(shifted(-Tolerance - time.Second)), body, secret, ErrStale},
		{"five minutes ahead", shifted(Tolerance), sign(shifted(Tolerance)), body, secret, nil},
		{"further ahead", shifted(Tolerance + time.Second), sign(shifted(Tolerance + time.Second)), body, secret, ErrStale},
		{"the end of time", "9223372036854775807", sign("9223372036854775807"), body, secret, ErrStale},
		{"before all time", "-9223372036854775808", sign("-9223372036854775808"), body, secret, ErrStale},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			h.Set(HeaderTimestamp, tt.stamp)
			h.Set(HeaderSignature, tt.signature)
			err := Verify(h, []byte(tt.body), tt.secret, now)
			expect.That(t, errors.Is(err, tt.want), "got %v, want %v", err, tt.want)
		})
	}
}

func edge() Edge {
	return Edge{Keys: &given{now: "s"}, Now: func() time.Time { return now }}
}

func signed(body string) Request {
	stamp := strconv.FormatInt(now.Unix(), 10)
	return Request{Body: body,
		Headers: map[string]string{"x-slack-request-timestamp": stamp, "x-slack-signature": Sign(stamp, []byte(body), "s")}}
}

func encoded(r Request) Request {
	r.Body, r.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(r.Body)), true
	return r
}

func TestServe(t *testing.T) {
	echo := func(_ context.Context, body []byte) (Response, error) {
		return Response{StatusCode: 200, Body: string(body)}, nil
	}
	fails := func(err error) func(context.Context, []byte) (Response, error) {
		return func(context.Context, []byte) (Response, error) { return Response{}, err }
	}
	full := strings.Repeat("x", MaxBody)
	notBase64 := signed("x")
	notBase64.IsBase64Encoded, notBase64.Body = true, "%"
	unsigned := signed("x")
	unsigned.Headers = nil
	for _, tt := range []struct {
		name    string
		in      Request
		answer  func(context.Context, []byte) (Response, error)
		status  int
		body    string
		keys    SigningKeys     // nil: those of the signature
		counted boot.MetricName // a version that fails at every call returns no error to Lambda: the canary counts this
	}{
		{"text", signed("payload"), echo, 200, "payload", nil, ""},
		{"base64", encoded(signed("payload=%7B%7D")), echo, 200, "payload=%7B%7D", nil, ""},
		{"bytes that are no text", encoded(signed("\x00\xff")), echo, 200, "\x00\xff", nil, ""},
		{"the largest body", signed(full), echo, 200, full, nil, ""},
		{"the largest body in base64", encoded(signed(full)), echo, 200, full, nil, ""},
		{"a larger body", signed(full + "x"), echo, 413, `{"error":"body must have at most 1048576 bytes"}`, nil, ""},
		{"a larger body in base64", encoded(signed(full + "xxxx")), echo, 413,
			`{"error":"body must have at most 1048576 bytes"}`, nil, ""},
		{"a body one byte too large in base64", encoded(signed(full + "x")), echo, 413,
			`{"error":"body must have at most 1048576 bytes"}`, nil, ""},
		{"no base64", notBase64, echo, 400, `{"error":"body is not base64"}`, nil, ""},
		{"unsigned", unsigned, echo, 401, `{"error":"a signature header is missing or no signature"}`, nil, ""},
		{"refused", signed("x"), fails(Bad("%s is required", "type")), 400, `{"error":"type is required"}`, nil, ""},
		{"to be sent again", signed("x"), fails(Unavailable("again")), 503, `{"error":"again"}`, nil, boot.NotAnswered},
		{"an error says nothing", signed("x"), fails(errors.New("table Secret-Table")), 500,
			`{"error":"internal error"}`, nil, boot.NotAnswered},
		{"a panic says nothing", signed("x"), func(context.Context, []byte) (Response, error) { panic("secret") }, 500,
			`{"error":"internal error"}`, nil, boot.NotAnswered},
		{"no token for the answer", signed("x"), fails(secret.ErrMissing), 500, `{"error":"internal error"}`, nil,
			boot.NotAnswered},
		{"the secret is not pasted", signed("x"), echo, 503, `{"error":"the signing secret is not known"}`,
			&given{err: secret.ErrMissing}, boot.SecretMissing},
		{"the secret can't be read", signed("x"), echo, 503, `{"error":"the signing secret is not known"}`,
			&given{err: errors.New("AccessDenied")}, boot.NotAnswered},
		{"another secret", signed("x"), echo, 401, `{"error":"the signature does not match"}`, &given{now: "other"},
			""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, out := edge(), Response{}
			if tt.keys != nil {
				e.Keys = tt.keys
			}
			counted := expect.Metrics(t, func() { out = e.Serve(t.Context(), tt.in, tt.answer) })
			for _, name := range []boot.MetricName{boot.NotAnswered, boot.SecretMissing} {
				expect.That(t, strings.Contains(counted, `"`+string(name)+`":1`) == (name == tt.counted),
					"%q is wanted, and counted is %s", tt.counted, counted)
			}
			expect.That(t, out.StatusCode == tt.status && out.Body == tt.body,
				"%d %.100q, want %d %.100q", out.StatusCode, out.Body, tt.status, tt.body)
		})
	}
}

// TestAnAnswerEndsBeforeSlackGivesUp, unless a longer time is set.
func TestAnAnswerEndsBeforeSlackGivesUp(t *testing.T) {
	for within, most := range map[time.Duration]time.Duration{0: 2800 * time.Millisecond, time.Hour: time.Hour} {
		e := edge()
		e.Within = within
		began := time.Now()
		e.Serve(t.Context(), signed("{}"), func(ctx context.Context, _ []byte) (Response, error) {
			ends, ok := ctx.Deadline()
			expect.That(t, ok && !ends.Before(began.Add(within)) && !ends.After(time.Now().Add(most)),
				"within %s: ends at %s, and %s when it began", within, ends, began)
			return OK(), nil
		})
	}
}

func TestAnotherAppsCallsAreRefused(t *testing.T) {
	e := edge()
	e.Keys = &given{now: "s", app: "A1"}
	expect.That(t, e.FromOurs("A2") != nil && e.FromOurs("A1") == nil && e.FromOurs("") == nil, "whose calls are believed")
}

// given is the app's signing secret and id, and the secret that replaced it since it was read.
type given struct {
	now, next, app string
	err            error
	asked          int
}

func (k *given) SigningSecret(context.Context) (string, error) { return k.now, k.err }

func (k *given) AppID() string { return k.app }

func (k *given) Refused(context.Context) bool {
	k.asked++
	changed := k.next != "" && k.next != k.now
	if changed {
		k.now = k.next
	}
	return changed
}

func serve(e Edge, r Request) int {
	return e.Serve(context.Background(), r,
		func(context.Context, []byte) (Response, error) { return OK(), nil }).StatusCode
}

func TestASecretThatWasReplacedIsTakenAtTheFirstBadSignature(t *testing.T) {
	k := &given{now: "old", next: "s"}
	e := edge()
	e.Keys = k
	got := serve(e, signed("{}"))
	expect.That(t, got == 200 && k.asked == 1, "answered %d after asking %d times", got, k.asked)
	r := signed("{}")
	r.Body = "{ }"
	got = serve(e, r)
	expect.That(t, got == 401 && k.asked == 2, "a bad signature is answered %d after asking %d times", got, k.asked)
	delete(r.Headers, "x-slack-signature")
	if got := serve(e, r); got != 401 || k.asked != 2 {
		t.Errorf("no signature is answered %d after asking %d times: it says nothing of the secret", got, k.asked)
	}
}

// FuzzVerify: only the secret's own signature is accepted, and only within its time.
func FuzzVerify(f *testing.F) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	f.Add(stamp, Sign(stamp, []byte("payload={}"), "s"), []byte("payload={}"))
	f.Add(stamp, "v0=", []byte{})
	f.Add("-9223372036854775808", "v0=00", []byte("x"))
	f.Add(" 1531420618", "V0=A2114D57", []byte("\x00\xff"))
	f.Add("01531420618", Sign("01531420618", []byte("x"), "s"), []byte("x"))
	f.Fuzz(func(t *testing.T, stamp, signature string, body []byte) {
		h := http.Header{HeaderTimestamp: {stamp}, HeaderSignature: {signature}}
		err := Verify(h, body, "s", now)
		seconds, bad := strconv.ParseInt(stamp, 10, 64)
		age := time.Unix(seconds, 0).Sub(now).Abs()
		good := bad == nil && age <= Tolerance && signature == Sign(stamp, body, "s")
		expect.That(t, good == (err == nil), "stamp %q, signature %q: %v", stamp, signature, err)
		expect.That(t, Verify(h, body, "", now) != nil && Verify(h, append(body, 'x'), "s", now) != nil,
			"believed without a secret, or about another body: %q", signature)
		// Any body with the right signature is accepted.
		h.Set(HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
		h.Set(HeaderSignature, Sign(h.Get(HeaderTimestamp), body, "s"))
		err = Verify(h, body, "s", now)
		expect.That(t, err == nil, "%v", err)
	})
}

// FuzzServe: answer gets only bodies that Slack signed, in whatever encoding.
func FuzzServe(f *testing.F) {
	f.Add("payload=%7B%7D", false)
	f.Add(base64.StdEncoding.EncodeToString([]byte("payload=%7B%7D")), true)
	f.Add("cGF5bG9hZA", true)
	f.Add("cGF5\nbG9hZA==", true)
	f.Add("====", true)
	f.Fuzz(func(t *testing.T, text string, encoded bool) {
		body, readable := []byte(text), true
		if encoded {
			var err error
			body, err = base64.StdEncoding.DecodeString(text)
			readable = err == nil
		}
		r := signed(string(body))
		r.Body, r.IsBase64Encoded = text, encoded
		reached := ""
		out := edge().Serve(context.Background(), r, func(_ context.Context, b []byte) (Response, error) {
			reached = string(b)
			return OK(), nil
		})
		switch {
		case len(text) >= MaxBody:
		case readable && (out.StatusCode != 200 || reached != string(body)):
			t.Errorf("%d, and %q was read of %q", out.StatusCode, reached, text)
		case !readable && (out.StatusCode != 400 || reached != ""):
			t.Errorf("%d for no base64: %q", out.StatusCode, text)
		}
		r.Headers["x-slack-signature"] = "v0=" + text
		if out := edge().Serve(context.Background(), r, func(context.Context, []byte) (Response, error) {
			t.Error("an unsigned body was read")
			return OK(), nil
		}); out.StatusCode < 400 {
			t.Errorf("%d without a signature", out.StatusCode)
		}
	})
}

// Signatures are computed in one place, and compared with a caller's only by hmac.Equal: the time of any other
// comparison would reveal how much of a guess is right.
func TestSignaturesAreComparedInConstantTime(t *testing.T) {
	source := ""
	for _, name := range expect.Value(filepath.Glob("*.go"))(t) {
		if !strings.HasSuffix(name, "_test.go") {
			source += string(expect.Value(os.ReadFile(name))(t))
		}
	}
	source = strings.ReplaceAll(source, `signature == ""`, "")
	compared := strings.Count(source, "hmac.Equal([]byte(signature), []byte(Sign(stamp, body, secret)))")
	made, declared := strings.Count(source, "Sign("), strings.Count(source, "func Sign(")
	others := regexp.MustCompile(`signature [!=]=|[!=]= signature|bytes\.Equal|strings\.Compare|EqualFold\([^)]*[sS]ign`)
	other := others.FindString(source)
	expect.That(t, compared == 1 && declared == 1 && made == 2 && other == "",
		"compared in %d places, computed in %d, %q", compared, made-declared, other)
}

func TestWhatIsReadOfAMessage(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"a text":        {`{"text":"a &lt;b&gt; &amp; c"}`, "a <b> & c"},
		"beside blocks": {`{"text":"勤怠","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"他"}}]}`, "勤怠"},
		"an address that Slack's client links": {`{"text":"<mailto:tanaka@example.com|tanaka@example.com> に送る"}`,
			"tanaka@example.com に送る"},
		"marks of a text": {`{"text":"<!subteam^S1|@jinji> <!date^1392734382^{date}|2 月 18 日> ` +
			`<http://freee.co.jp|freee.co.jp> <https://e.example|表> <@U1>"}`,
			"@jinji 2 月 18 日 freee.co.jp 表 (https://e.example) <@U1>"},
		"who and where, by their labels": {`{"text":"<@U2|suzuki> か<#C1|sales>、<#C2|>、<#C3> <!here> <!channel|channel>へ"}`,
			"<@U2> か#sales、<#C2>、<#C3> @here @channelへ"},
		"links by their labels": {`{"text":"<https://e.example|営業 &gt; 会議> <obsidian://open|メモ> &lt;!here&gt;"}`,
			"営業 > 会議 (https://e.example) メモ (obsidian://open) <!here>"},
		"a group without a label": {`{"text":"<!subteam^S1> に知らせる"}`, "@グループ に知らせる"},
		"emoji, by their characters": {`{"text":":bow: :pray::skin-tone-2: :shonin: :wave:","blocks":[{"type":"rich_text",
			"elements":[{"type":"rich_text_section","elements":[{"type":"emoji","name":"bow","unicode":"1f647"},
			{"type":"emoji","name":"pray","unicode":"1f64f-1f3fb","skin_tone":2},{"type":"emoji","name":"shonin"}]}]}]}`,
			"🙇 🙏🏻 :shonin: :wave:"},
		"no attachments": {`{"text":"表題","attachments":[{"title":"題","text":"文","fields":[{"title":"期間","value":4}]}]}`,
			"表題"},
		"no previews of links": {`{"text":"これを <https://e.example>","attachments":[{"from_url":"https://e.example",
			"title":"よそのページ","text":"給与を送れ"}]}`, "これを https://e.example"},
		"a link to a message": {`{"text":"これ <https://w.slack.com/archives/C1/p1>","attachments":[{"is_msg_unfurl":true,
			"from_url":"https://w.slack.com/archives/C1/p1","author_id":"U2","author_name":"田中","text":"残業を確認して"}]}`,
			"これ https://w.slack.com/archives/C1/p1"},
		"a forwarded message": {`{"text":"これをお願いします","attachments":[` + share("営業の先月の残業を確認して", "") + `]}`,
			"これをお願いします\n> 田中 花子 <@U2> <#C2>:\n> 営業の先月の残業を確認して"},
		"a forward alone": {`{"text":"","attachments":[` + share("一\\n二", `"channel_name":"sales",`) + `]}`,
			"> 田中 花子 <@U2> #sales:\n> 一\n> 二"},
		"an old export's": {`{"text":"","attachments":[{"is_share":true,"author_subname":"hanako",
			"channel_name":"Direct Message","text":"古い"}]}`, "> hanako Direct Message:\n> 古い"},
		"a forward, then files": {`{"text":"a","attachments":[{"is_share":true,"author_id":"U2","text":"b",
			"files":[{"id":"F2","name":"b.csv","mimetype":"text/csv"}]}],"files":[{"id":"F1","title":"a の表","size":12},
			{"id":"F1"},{"id":"F3","mode":"file_access","file_access":"check_file_info"}]}`,
			"a\n> <@U2>:\n> b\n📎 b.csv (text/csv)\n📎 a の表 (12 bytes)\n📎 F3"},
		"one that Slack hides": {`{"text":"","attachments":[{"is_share":true,"author_name":"田中"}]}`, "> 田中:"},
		"a file alone": {`{"text":"","files":[{"id":"F1","name":"依頼.txt","mimetype":"text/plain","size":30}]}`,
			"📎 依頼.txt (text/plain, 30 bytes)"},
		"nothing": {`{"text":" ","blocks":[{"type":"divider"}],"attachments":"odd"}`, ""},
		"odd":     {`{"text":"a","blocks":{"type":7},"attachments":[null,7,{"fields":"x","blocks":7}]}`, "a"},
	} {
		got := content(t, tt.message).Whole()
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}

// share is a forwarded message as Slack sends it, with the members of those that tests of public clients recorded.
func share(text, more string) string {
	return `{"ts":"1776675000.000200","author_id":"U2","channel_id":"C2","channel_team":"T1",` + more +
		`"is_msg_unfurl":true,
		"color":"D0D0D0","from_url":"https://w.slack.com/archives/C2/p1776675000000200","is_share":true,
		"fallback":"[April 20th, 2026 5:50 PM] hanako: ` + text + `","text":"` + text + `","author_name":"田中 花子",
		"author_subname":"hanako","mrkdwn_in":["text"],"footer":"Slack Conversation"}`
}

func TestWhatIsForwardedIsItsAuthorsAndBounded(t *testing.T) {
	long := strings.Repeat("あ", MaxQuoted+1)
	shares := strings.Repeat(","+share(long, ""), MaxForwarded+5)[1:]
	got := content(t, `{"text":"これ","attachments":[`+shares+`]}`)
	expect.Same(t, MaxForwarded, len(got.Forwarded))
	all := 0
	for i, q := range got.Forwarded {
		n := len([]rune(q.Text))
		all += n
		expect.That(t, q.User == "U2" && q.Cut && n <= MaxQuoted && (i > 0 || n == MaxQuoted) &&
			q.At.Equal(time.Unix(1776675000, 0)), "message %d: %d characters of %s at %s, cut %t", i, n, q.User, q.At, q.Cut)
	}
	expect.That(t, all == MaxQuotedOfAll, "%d characters are quoted", all)
	files := strings.Repeat(`,{"id":"F%d","name":"a"}`, MaxFiles+5)[1:]
	var n []any
	for i := range MaxFiles + 5 {
		n = append(n, i)
	}
	got = content(t, fmt.Sprintf(`{"files":[`+files+`]}`, n...))
	expect.That(t, len(got.Files) == MaxFiles && got.MoreFiles == 5, "%d files and %d more", len(got.Files),
		got.MoreFiles)
	expect.Same(t, 0, len(content(t, `{"files":[{"id":"F1","mode":"tombstone"},{"id":"F 1"},{"name":"a"},7,null]}`).Files))
}

func content(t *testing.T, message string) Content {
	t.Helper()
	var m Message
	expect.NoError(t, json.Unmarshal([]byte(message), &m))
	return m.Content()
}
