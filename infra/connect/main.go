// Command connect connects a deployed Ringi's workspace with vendors, and disconnects it. It seals credentials with the
// deployment's key before it stores them:
//
//	go run ./infra/connect -table … -key … -team T0123ABCD -by U0123ABCD freee
//
// asks for a person's consent in the browser. The vendor's client id and secret are in the environment:
// FREEE_CLIENT_ID,
// FREEE_CLIENT_SECRET, GOOGLE_…. github reads the private key of a GitHub App on standard input, and its numbers in
// GITHUB_APP_ID and GITHUB_INSTALLATION_ID. slack needs neither: it records that the app is installed again.
//
//	go run ./infra/connect -table … -key … -team T0123ABCD -by U0123ABCD mcp:rooms < token
//	go run ./infra/connect -table … -key … -team T0123ABCD -by U0123ABCD mcp tools rooms
//
// save an MCP server's token for its present address, and show its tools. mcp without arguments lists its commands.
//
//	go run ./infra/connect -table … -team T0123ABCD -by U0123ABCD settings set max_cost_usd=5
//
// changes settings that administrators otherwise change in the console. It needs no key. settings, tool and tenant
// without arguments list their commands.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
)

// maxToken is the longest accepted token, in bytes.
const maxToken = 16 << 10

var (
	providers = []string{"freee", "google", "github", "slack"}
	server    = regexp.MustCompile(`^mcp:[a-z0-9-]{1,32}$`)
	team      = regexp.MustCompile(`^T[A-Z0-9]{2,20}$`)
	person    = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)
)

// decisions are the commands that need no credential.
var decisions = map[string]func(context.Context, *store.TaskStore, order, []string, io.Writer) error{
	"settings": edit("settings", settings), "tool": tools, "tenant": edit("tenant", tenant),
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		err = run(ctx, cfg, os.Args[1:], os.Stdin, os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// order is the parsed command line.
type order struct {
	vault            vault.Vault
	tenant, provider string
	team             string
	by               aggregate.Actor
	listen           string
	auth, tokens     string // addresses that replace the vendor's own
}

func run(ctx context.Context, cfg aws.Config, args []string, in io.Reader, out io.Writer) error {
	var o order
	f := flag.NewFlagSet("connect", flag.ContinueOnError)
	table := f.String("table", "", "the `name` of the stack's table (output TableName)")
	key := f.String("key", "", "the `ARN` of the key that seals credentials (output CredentialsKeyArn)")
	f.StringVar(&o.team, "team", "", "the Slack workspace's `id`, T…")
	by := f.String("by", "", "your Slack user `id`, U…, for the audit log")
	off := f.Bool("disconnect", false, "forget the credentials instead")
	f.StringVar(&o.listen, "listen", "127.0.0.1:8723",
		"the `address` to which the browser comes back; the app at the vendor names it as http://<address>/callback")
	f.StringVar(&o.auth, "auth-url", "", "another `address` to ask for consent at")
	f.StringVar(&o.tokens, "token-url", "", "another `address` to get tokens at")
	if err := f.Parse(args); err != nil {
		return err
	}
	provider := f.Arg(0)
	decide := decisions[provider]
	switch {
	case *table == "":
		return errors.New("-table is missing: the stack's output TableName")
	case *key == "" && decide == nil:
		return errors.New("-key is missing: the stack's output CredentialsKeyArn")
	case !team.MatchString(o.team):
		return fmt.Errorf("-team %.40q is not a Slack workspace's id like T0123ABCD", o.team)
	case !person.MatchString(*by):
		return fmt.Errorf("-by %.40q is not a Slack user's id like U0123ABCD: the audit log names who connects, "+
			"disconnects and decides", *by)
	case provider != "mcp" && decide == nil &&
		(f.NArg() != 1 || !slices.Contains(providers, provider) && !server.MatchString(provider)):
		return fmt.Errorf("name one provider: %s, mcp:<server>; or mcp, settings, tool or tenant and what to do about them",
			strings.Join(providers, ", "))
	}
	rows := store.NewTasks(dynamodb.NewFromConfig(cfg), *table)
	o.vault = vault.New(rows, vault.EnvelopeAt(cfg, *key))
	o.tenant, o.provider = aggregate.TenantID(o.team), provider
	o.by = aggregate.Actor{Type: aggregate.ActorUser, ID: *by, Team: o.team}
	if decide != nil {
		return decide(ctx, rows, o, f.Args()[1:], out)
	}
	if provider == "mcp" {
		return servers(ctx, rows, o, f.Args()[1:], out)
	}
	done, err := "connected", error(nil)
	switch {
	case *off:
		done, err = "disconnected", o.vault.Disconnect(ctx, o.tenant, provider, o.by)
	case provider == "slack":
		err = o.vault.Allow(ctx, o.tenant, provider, o.by)
	case provider == tenancy.GitHubProvider:
		err = o.app(ctx, in)
	case server.MatchString(provider):
		err = o.given(ctx, rows, in)
	default:
		err = o.asked(ctx, out)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is %s for %s\n", provider, done, o.team)
	return nil
}

// app connects GitHub by a GitHub App, whose private key comes on standard input.
func (o order) app(ctx context.Context, in io.Reader) error {
	key, err := io.ReadAll(io.LimitReader(in, maxToken+1))
	if err != nil {
		return fmt.Errorf("read the private key: %w", err)
	}
	return o.vault.ConnectApp(ctx, o.tenant, os.Getenv("GITHUB_APP_ID"), os.Getenv("GITHUB_INSTALLATION_ID"), string(key),
		o.by)
}

// given connects an MCP server with a token from standard input. The token is bound to the server's address in the
// settings and never sent elsewhere.
func (o order) given(ctx context.Context, rows *store.TaskStore, in io.Reader) error {
	address, err := o.address(ctx, rows, strings.TrimPrefix(o.provider, tenancy.ServerProvider))
	if err != nil {
		return err
	}
	token, err := io.ReadAll(io.LimitReader(in, maxToken+1))
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	text := strings.TrimSpace(string(token))
	if text == "" || len(token) > maxToken {
		return fmt.Errorf("the token on standard input must have 1 to %d bytes", maxToken)
	}
	return o.vault.Connect(ctx, o.tenant, o.provider, vault.Credential{AccessToken: text, Address: address}, "{}", o.by)
}

func (o order) server() vault.OAuthProvider {
	if o.provider == "google" {
		return vault.GoogleOAuth(cmp.Or(o.auth, vault.GoogleAuthURL), cmp.Or(o.tokens, vault.GoogleTokenURL))
	}
	return vault.FreeeOAuth(cmp.Or(o.auth, vault.FreeeAuthURL), cmp.Or(o.tokens, vault.FreeeTokenURL))
}

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
	return o.vault.Connect(ctx, o.tenant, o.provider, vault.CredentialOf(token, client), vault.About(token), o.by)
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
