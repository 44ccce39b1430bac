package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"ringi/shared/secret/vault"
)

// asked asks for consent in the person's browser, and connects with the token that the vendor returns.
func (o order) asked(ctx context.Context, out io.Writer) error {
	prefix := strings.ToUpper(o.provider)
	client := vault.OAuthClient{ID: os.Getenv(prefix + "_CLIENT_ID"), Secret: os.Getenv(prefix + "_CLIENT_SECRET")}
	if client.ID == "" || client.Secret == "" {
		return fmt.Errorf("set %[1]s_CLIENT_ID and %[1]s_CLIENT_SECRET, as %[2]s gave them to your app", prefix, o.provider)
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen for the browser's return, choose another address with -listen: %w", err)
	}
	p := o.server()
	consent, address := p.Begin(client, o.tenant, "http://"+l.Addr().String()+"/callback", time.Now())
	fmt.Fprintf(out, "Open this address in your browser and give access:\n\n  %s\n\n", address)
	ctx, cancel := context.WithDeadline(ctx, consent.Until)
	defer cancel()
	token, err := o.returned(ctx, l, p, client, consent)
	if err != nil {
		return fmt.Errorf("connect %s: %w", o.provider, err)
	}
	return o.vault.Connect(ctx, o.tenant, o.provider, vault.Of(token, client), vault.About(token), o.by)
}

// returned waits for the browser's redirect. It answers 400 to a redirect with another state and goes on waiting; any
// other redirect ends the wait with a token or an error.
func (o order) returned(ctx context.Context, l net.Listener, p vault.OAuthProvider, client vault.OAuthClient,
	consent vault.Consent) (vault.Token, error) {
	type result struct {
		token vault.Token
		err   error
	}
	results := make(chan result, 1)
	m := http.NewServeMux()
	m.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		token, err := p.Finish(ctx, client, consent, r.URL.Query(), time.Now())
		if errors.Is(err, vault.ErrState) {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err == nil && token.Refresh == "" {
			err = errors.New("the vendor gave no refresh token: remove the app's access at the vendor, then begin again")
		}
		if err != nil {
			http.Error(w, "Not connected. The command says why.", http.StatusBadRequest)
		} else {
			fmt.Fprintln(w, "Connected. You can close this page.")
		}
		select {
		case results <- result{token, err}:
		default: // a second redirect; the first counts
		}
	})
	s := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)
	defer func() {
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		s.Shutdown(done)
	}()
	select {
	case r := <-results:
		return r.token, r.err
	case <-ctx.Done():
		return vault.Token{}, fmt.Errorf("nobody came back from %s: %w", o.provider, ctx.Err())
	}
}
