package outbound

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func TestAddressesThatAreNotPublic(t *testing.T) {
	for about, addresses := range map[string][]string{
		"loopback":           {"127.0.0.1", "127.9.9.9", "::1"},
		"unspecified":        {"0.0.0.0", "0.1.2.3", "::"},
		"private":            {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12::1"},
		"metadata":           {"169.254.169.254", "fd00:ec2::254", "169.254.170.2", "100.100.100.200"},
		"link-local":         {"169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"},
		"carrier-grade NAT":  {"100.64.0.1", "100.127.255.255"},
		"multicast":          {"224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"},
		"broadcast, future":  {"255.255.255.255", "240.0.0.1"},
		"mapped":             {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe"},
		"compatible":         {"::127.0.0.1", "::8.8.8.8"},
		"translated":         {"::ffff:0:127.0.0.1"},
		"NAT64":              {"64:ff9b::169.254.169.254", "64:ff9b::8.8.8.8", "64:ff9b:1::10.0.0.1"},
		"6to4":               {"2002:7f00:1::1", "2002:a9fe:a9fe::1"},
		"Teredo":             {"2001:0:7f00:1::1"},
		"documentation":      {"192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"},
		"benchmarks, others": {"198.18.0.1", "192.0.0.8", "192.88.99.1", "5f00::1", "100::1"},
	} {
		for _, a := range addresses {
			expect.That(t, !Public(netip.MustParseAddr(a)), "%s: %s counts as public", about, a)
		}
	}
	for _, a := range []string{"8.8.8.8", "::ffff:8.8.8.8", "172.32.0.1", "100.128.0.1", "169.253.1.1", "2606:4700::1111",
		"2a00:1450::1"} {
		expect.That(t, Public(netip.MustParseAddr(a)), "%s does not count as public", a)
	}
	expect.That(t, !Public(netip.Addr{}), "no address counts as public")
}

// listening is a server on this machine; met counts its connections.
func listening(t *testing.T, do http.HandlerFunc) (s *httptest.Server, met *atomic.Int32) {
	t.Helper()
	met = new(atomic.Int32)
	s = httptest.NewUnstartedServer(do)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			met.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, met
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func refused(t *testing.T, c *http.Client, url string) {
	t.Helper()
	res, err := c.Post(url, "text/plain", strings.NewReader("secret"))
	if err == nil {
		res.Body.Close()
		t.Fatalf("%s was called", url)
	}
	expect.Must(t, errors.Is(err, ErrRefused), "%s: %v", url, err)
}

func TestNothingOnThisMachineIsReached(t *testing.T) {
	s, met := listening(t, hello)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	expect.NoError(t, err)
	// Lambda's Runtime API is on loopback too, and functions know its address.
	t.Setenv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:"+port)
	t.Setenv("HTTPS_PROXY", s.URL)
	t.Setenv("HTTP_PROXY", s.URL)
	c := Dialer{}.Client()
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
		"127.1.1.1"} {
		refused(t, c, "https://"+host+":"+port+"/2018-06-01/runtime/invocation/next")
	}
	for _, url := range []string{
		"http://" + s.Listener.Addr().String(), "https://169.254.169.254/latest/meta-data/", "https://[fd00:ec2::254]/",
		"https://192.168.0.1/",
		"http://8.8.8.8/", "ftp://8.8.8.8/", "https://name:word@8.8.8.8/",
	} {
		refused(t, c, url)
	}
	expect.Is(t, met.Load(), 0, "connections were made")
}

func TestANameIsJudgedByWhatItResolvesToAsTheCallIsMade(t *testing.T) {
	s, met := listening(t, hello)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	expect.NoError(t, err)
	// The name resolves to a public address first and to this machine when it is called.
	names, asked := nameserver(t, "93.184.216.34", "127.0.0.1")
	looked, err := names.LookupNetIP(t.Context(), "ip4", "rebind.test")
	expect.Must(t, err == nil && len(looked) == 1 && Public(looked[0]), "the first look: %v, %v", looked, err)
	refused(t, Dialer{Resolver: names}.Client(), "https://rebind.test:"+port+"/")
	expect.Is(t, met.Load(), 0, "connections were made")
	expect.That(t, asked.Load() >= 2, "the name was not looked up for the call")
}

func TestWhatIsAllowedIsReachedAndNothingBesideIt(t *testing.T) {
	s := expect.Server(t, http.HandlerFunc(hello))
	other, met := listening(t, hello)
	d := Allowing(" " + s.Listener.Addr().String() + ", example.com:443,")
	expect.Must(t, len(d.Allow) == 2, "%q", d.Allow)
	res := expect.Value(d.Client().Get(s.URL))(t)
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	expect.That(t, string(b) == "hello", "got %q", b)
	refused(t, d.Client(), other.URL)
	expect.Is(t, met.Load(), 0, "connections were made")
}

func TestRedirects(t *testing.T) {
	other, met := listening(t, hello)
	var posted atomic.Int32
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/there":
			posted.Add(1)
			hello(w, r)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusTemporaryRedirect)
		case "/seen":
			http.Redirect(w, r, "/there", http.StatusSeeOther)
		case "/same":
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	}))
	// Both hosts are allowed, so only the redirect is refused.
	d := Dialer{Allow: []string{s.Listener.Addr().String(), other.Listener.Addr().String()}}
	for _, path := range []string{"/elsewhere", "/round", "/seen"} {
		refused(t, d.Client(), s.URL+path)
	}
	expect.That(t, met.Load() == 0 && posted.Load() == 0, "elsewhere %d, there %d", met.Load(), posted.Load())
	res := expect.Value(d.Client().Post(s.URL+"/same", "text/plain", strings.NewReader("x")))(t)
	res.Body.Close()
	expect.Is(t, posted.Load(), 1, "a redirect on the same host was not followed")
}

func TestAnAnswerThatIsTooLarge(t *testing.T) {
	size := MaxBody
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, int64(size)))
	}))
	d := Dialer{Allow: []string{s.Listener.Addr().String()}}
	read := func() (int, error) {
		res := expect.Value(d.Client().Get(s.URL))(t)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return len(b), err
	}
	expect.Is(t, expect.Value(read())(t), size, "bytes")
	size++
	n, err := read()
	expect.That(t, errors.Is(err, ErrTooLarge) && n == MaxBody, "%d bytes, %v", n, err)
}

func TestACallEndsWithItsContext(t *testing.T) {
	s := expect.Server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	d := Dialer{Allow: []string{s.Listener.Addr().String()}}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := expect.Value(http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil))(t)
	if res, err := d.Client().Do(r); !errors.Is(err, context.DeadlineExceeded) {
		if err == nil {
			res.Body.Close()
		}
		t.Errorf("got %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// nameserver answers successive questions for an IPv4 address with successive answers, repeating the last one. It knows
// no IPv6 addresses. asked counts the questions.
func nameserver(t *testing.T, answers ...string) (r *net.Resolver, asked *atomic.Int32) {
	t.Helper()
	c := expect.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	asked = new(atomic.Int32)
	done := make(chan struct{})
	t.Cleanup(func() { c.Close(); <-done })
	go func() {
		defer close(done)
		for buffer := make([]byte, 1500); ; {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			reply, address := dnsQuestion(buffer[:n])
			if address {
				to := netip.MustParseAddr(answers[min(int(asked.Add(1)), len(answers))-1]).As4()
				binary.BigEndian.PutUint16(reply[6:], 1) // one answer: the same name, type A, class IN, TTL 0
				reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), to[:]...)
			}
			_, _ = c.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", c.LocalAddr().String())
	}}, asked
}

// dnsQuestion makes a reply, without an answer yet, to a message's question, and reports whether it asks for an IPv4
// address.
func dnsQuestion(m []byte) (reply []byte, address bool) {
	end := 12
	for m[end] != 0 {
		end += 1 + int(m[end])
	}
	end += 5
	reply = append([]byte{m[0], m[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, m[12:end]...)
	return reply, binary.BigEndian.Uint16(m[end-4:]) == 1
}

type question struct{ Name string }

// lambda answers with the handlers, one after another, and the last one from then on.
func startLambda(t *testing.T, answers ...http.HandlerFunc) (cfg aws.Config, asked *[]*http.Request) {
	asked = new([]*http.Request)
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.That(t, err == nil && string(body) == `{"Name":"x"}`, "it was asked %q: %v", body, err)
		*asked = append(*asked, r)
		answers[min(len(*asked), len(answers))-1](w, r)
	}))
	return aws.Config{Region: "ap-northeast-1", BaseEndpoint: &s.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "session"), Retryer: func() aws.Retryer {
			return retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
		}}, asked
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func refuses(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/com.amazonaws.lambda/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"Type":"User","message":"said by AWS"}`)
	}
}

func TestAFunctionIsAskedAndAnswers(t *testing.T) {
	cfg, asked := startLambda(t, says(`{"Name":"y"}`))
	var traced any = "x-amzn-trace-id"
	var out question
	ctx := context.WithValue(t.Context(), traced, "Root=1-2-3;Sampled=1")
	expect.NoError(t, FunctionAt(cfg, "arn:aws:lambda:ap-northeast-1:1:function:read-file").Call(ctx, question{"x"}, &out))
	expect.Same(t, question{"y"}, out)
	r := (*asked)[0]
	expect.Same(t, "/2015-03-31/functions/arn%3Aaws%3Alambda%3Aap-northeast-1%3A1%3Afunction%3Aread-file/invocations",
		r.URL.EscapedPath())
	expect.Same(t, []string{"POST", "RequestResponse", "session", "Root=1-2-3;Sampled=1"}, []string{r.Method,
		r.Header.Get("X-Amz-Invocation-Type"), r.Header.Get("X-Amz-Security-Token"), r.Header.Get("X-Amzn-Trace-Id")})
	signed := r.Header.Get("Authorization")
	expect.That(t, strings.HasPrefix(signed, "AWS4-HMAC-SHA256 Credential=key/") &&
		strings.Contains(signed, "/ap-northeast-1/lambda/aws4_request"), "it is signed %q", signed)
}

// Lambda throttles, and its own faults pass: both are tried three times, as the SDK's clients do. What is wrong with
// the request stays wrong, and a function that ended with an error has run.
func TestOnlyWhatMayPassIsRepeated(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		code    string // of Lambda's error
		ended   bool
	}{
		"throttled once": {[]http.HandlerFunc{refuses(429, "TooManyRequestsException"), says(`{}`)}, 2, "", false},
		"throttled": {[]http.HandlerFunc{refuses(429, "TooManyRequestsException")}, 3, "TooManyRequestsException",
			false},
		"a fault of Lambda": {[]http.HandlerFunc{refuses(500, "ServiceException"), says(`{}`)}, 2, "", false},
		"the function is missing": {[]http.HandlerFunc{refuses(404, "ResourceNotFoundException")}, 1,
			"ResourceNotFoundException", false},
		"the connection is cut": {[]http.HandlerFunc{func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, says(`{}`)}, 2, "", false},
		"the function ended badly": {[]http.HandlerFunc{ends}, 1, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, asked := startLambda(t, tt.answers...)
			var out question
			err := FunctionAt(cfg, "f").Call(t.Context(), question{"x"}, &out)
			expect.Same(t, tt.asked, len(*asked))
			expect.Same(t, tt.ended, errors.Is(err, ErrEnded))
			var api smithy.APIError
			if errors.As(err, &api) {
				expect.Same(t, tt.code, api.ErrorCode())
				expect.Same(t, "said by AWS", api.ErrorMessage())
			} else {
				expect.Same(t, tt.code, "")
				expect.That(t, err == nil || tt.ended, "%v", err)
			}
		})
	}
}

func ends(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Amz-Function-Error", "Unhandled")
	_, _ = io.WriteString(w, `{"errorType":"Runtime.ExitError"}`)
}

func TestAnAnswerThatIsNoJSONIsAnError(t *testing.T) {
	cfg, asked := startLambda(t, says(`<html>`))
	err := FunctionAt(cfg, "f").Call(t.Context(), question{"x"}, &question{})
	_, unreadable := errors.AsType[*json.SyntaxError](err)
	expect.That(t, unreadable, "%v", err)
	expect.Same(t, 1, len(*asked))
}

func TestACallOfAFunctionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg, asked := startLambda(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	expect.Fails(t, FunctionAt(cfg, "f").Call(ctx, question{"x"}, &question{}), context.Canceled)
	expect.Same(t, 1, len(*asked))
}

// If Lambda reports that it could not invoke the function, nothing was run, and people are not told that the outcome is
// unknown.
func TestWhatLambdaCouldNotInvokeHasNotBegun(t *testing.T) {
	for code, want := range map[string]struct{ notBegun, cannot bool }{
		"ENINotReadyException":            {true, false},
		"ResourceNotReadyException":       {true, false},
		"TooManyRequestsException":        {true, false},
		"EC2ThrottledException":           {true, false},
		"InvalidSubnetIDException":        {true, true},
		"InvalidSecurityGroupIDException": {true, true},
		"KMSDisabledException":            {true, true},
		"ResourceNotFoundException":       {true, true},
		"ServiceException":                {false, false},
	} {
		err := begun(&smithy.GenericAPIError{Code: code})
		expect.That(t, errors.Is(err, isolated.ErrNotBegun) == want.notBegun &&
			errors.Is(err, isolated.ErrCannot) == want.cannot, "%s: %v", code, err)
	}
}
