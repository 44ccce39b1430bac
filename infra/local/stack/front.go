package stack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi"
)

// startFront serves the template's routes, and the sandbox on all other paths.
func (s *Stack) startFront(ctx context.Context, l net.Listener) error {
	s.Sandbox = s.newSandbox()
	s.onClose(serve(l, lambda.NewGateway(s.Template.Functions, s.Lambda, s.Sandbox.Handler, s.log)))
	s.onClose(s.Sandbox.Close) // ends the browsers' streams, which would block the server's shutdown
	if s.options.PrepareTeam == nil {
		return nil
	}
	if err := s.options.PrepareTeam(ctx, s, s.Sandbox.TeamID()); err != nil {
		return fmt.Errorf("prepare the workspace: %w", err)
	}
	return nil
}

func (s *Stack) newSandbox() *sandbox.Sandbox {
	o := s.options.Sandbox
	o.SigningSecret, o.BotToken, o.ClientSecret = s.SigningSecret, s.BotToken, s.ClientSecret
	o.Self, o.Events = s.URL, s.URL+"/slack/events"
	o.Interactions, o.Commands = s.URL+"/slack/interactions", s.URL+"/slack/commands"
	o.Speak, o.Logger = s.speak, s.log
	o.Links = map[string]string{}
	for _, name := range s.Vendors.GitHub.Names() {
		o.Links["https://github.com/"+name+"/"] = s.VendorsURL + vendors.GitHubPages + name + "/"
	}
	o.FailWrites = func(failing bool) {
		for _, tool := range []string{"write_rows_to_google_sheet", vendors.BookRoom, vendors.PlaceOrder} {
			s.Vendors.Fail(tool, http.StatusBadRequest, failing) // a definite refusal, so a retry is safe
		}
	}
	return sandbox.New(o)
}

var ErrInUse = errors.New("the port is in use")

// listen opens a listener. If the port is in use, the error names the flag that changes it.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %s; stop what uses it or choose another with %s (%s takes a free one)", ErrInUse, addr,
			flag, anyPort)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s (%s): %w", addr, flag, err)
	}
	return l, nil
}

// address returns a listener's URL without a trailing slash.
func address(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || addr.IP.IsUnspecified() {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return "http://127.0.0.1:" + port
	}
	return "http://" + l.Addr().String()
}

func port(l net.Listener) int {
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		return addr.Port
	}
	return 0
}

// serve answers programs and its own pages on a listener until stop is called.
func serve(l net.Listener, h http.Handler) (stop func()) {
	s := &http.Server{Handler: lambda.Guard(h), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ErrServerClosed, since only stop ends it
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			s.Close() // streams to browsers never end by themselves
		}
		<-done
	}
}

// unsigned is the signature of a sample request: only zeros.
var unsigned = "v0=" + strings.Repeat("0", 64)

// sign gives a sample request the current time and a valid signature for the deployment at endpoint. It returns any
// other event unchanged.
func sign(ctx context.Context, endpoint, secretID string, event []byte) ([]byte, error) {
	var request map[string]any
	if secretID == "" || json.Unmarshal(event, &request) != nil {
		return event, nil
	}
	headers, _ := request["headers"].(map[string]any)
	if headers["x-slack-signature"] != unsigned {
		return event, nil
	}
	text, _ := request["body"].(string)
	body := []byte(text)
	if encoded, _ := request["isBase64Encoded"].(bool); encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("sign the event: body: %w", err)
		}
	}
	key, err := (&secret.Slack{Reader: secret.ReaderAt(config(endpoint)), ID: secretID,
		Now: time.Now}).SigningSecret(ctx)
	if err != nil {
		return nil, fmt.Errorf("sign the event: %w", err)
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	headers["x-slack-request-timestamp"], headers["x-slack-signature"] = stamp, slackapi.Sign(stamp, body, key)
	return json.Marshal(request)
}
