// Command connect gives a deployed Ringi the token with which a workspace's tools
// call a vendor. It seals the token with the deployment's key before it is kept:
//
//	go run ./infra/connect -table … -key … -team T0123ABCD freee < token
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/task"
)

// maxToken is the longest token that is taken, in bytes.
const maxToken = 16 << 10

var (
	providers = []string{"freee", "google"}
	team      = regexp.MustCompile(`^T[A-Z0-9]{2,20}$`)
)

func main() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		err = run(ctx, cfg, os.Args[1:], os.Stdin, os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg aws.Config, args []string, in io.Reader, out io.Writer) error {
	f := flag.NewFlagSet("connect", flag.ContinueOnError)
	table := f.String("table", "", "the `name` of the stack's table (output TableName)")
	key := f.String("key", "", "the `ARN` of the key that seals credentials (output CredentialsKeyArn)")
	workspace := f.String("team", "", "the Slack workspace's `id`, T…")
	by := f.String("by", "", "your Slack user `id`, for the audit log; empty: the system")
	if err := f.Parse(args); err != nil {
		return err
	}
	provider := f.Arg(0)
	switch {
	case *table == "":
		return errors.New("-table is missing: the stack's output TableName")
	case *key == "":
		return errors.New("-key is missing: the stack's output CredentialsKeyArn")
	case !team.MatchString(*workspace):
		return fmt.Errorf("-team %.40q is not a Slack workspace's id like T0123ABCD", *workspace)
	case f.NArg() != 1 || !slices.Contains(providers, provider):
		return fmt.Errorf("name one provider: %s", strings.Join(providers, " or "))
	}
	token, err := io.ReadAll(io.LimitReader(in, maxToken+1))
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	text := strings.TrimSpace(string(token))
	if text == "" || len(token) > maxToken {
		return fmt.Errorf("the token on standard input must have 1 to %d bytes", maxToken)
	}
	actor := task.System()
	if *by != "" {
		actor = task.Actor{Type: task.ActorUser, ID: *by, Team: *workspace}
	}
	rows := store.New(dynamodb.NewFromConfig(cfg), *table)
	envelope := vault.Envelope{KMS: kms.NewFromConfig(cfg), KeyID: *key}
	if err := vault.Connect(ctx, rows, envelope, task.TenantID(*workspace), provider, text, actor, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is connected for %s\n", provider, *workspace)
	return nil
}
