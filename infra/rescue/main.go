// Command rescue carries out the procedures of infra/runbook.md that need more
// than the AWS CLI:
//
//	go run ./infra/rescue cards   -from <CardDeadLettersUrl> -to <CardQueueUrl>
//	go run ./infra/rescue changes -from <ChangeDeadLettersUrl> -table <TableName>
//	go run ./infra/rescue rows    -from <restored table> -table <TableName> [-task <tenant>/<task>] [-apply]
//
// It uses the AWS CLI's credentials, region and AWS_ENDPOINT_URL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/aggregate"
	"ringi/shared/kinds"
	"ringi/shared/store"
	"ringi/shared/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		err = run(ctx, cfg, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg aws.Config, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say what to rescue: cards, changes or rows")
	}
	f := flag.NewFlagSet("rescue "+args[0], flag.ContinueOnError)
	f.SetOutput(out)
	from := f.String("from", "", "cards, changes: the `URL` of the dead letters; rows: the name of the restored table")
	to := f.String("to", "", "cards: the `URL` of the card queue (output CardQueueUrl)")
	table := f.String("table", "", "changes, rows: the `name` of the stack's table (output TableName)")
	one := f.String("task", "", "rows: set this `tenant/task` back to what the restored table says; empty: put back what is missing")
	apply := f.Bool("apply", false, "rows: do it; without, it is only said")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case *from == "":
		return errors.New("-from is missing")
	case args[0] == "cards" && *to == "":
		return errors.New("-to is missing: the stack's output CardQueueUrl")
	case args[0] != "cards" && *table == "":
		return errors.New("-table is missing: the stack's output TableName")
	case *from == *to || *from == *table:
		return errors.New("-from must be another than what is rescued")
	}
	queue, db := sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	switch args[0] {
	case "cards":
		return (&cards{queue, *from, *to, out}).move(ctx)
	case "changes":
		return (&changes{letters{queue, *from}, dynamodbstreams.NewFromConfig(cfg), store.New(db, *table, kinds.All()...), out}).replay(ctx)
	case "rows":
		r := &rows{db, *from, *table, *apply, out}
		if *one == "" {
			return r.missing(ctx)
		}
		tenant, id, _ := strings.Cut(*one, "/")
		if !aggregate.ValidID(tenant) || !aggregate.ValidID(id) {
			return fmt.Errorf("-task %.60q is not <tenant>/<task>, two ids of 26 characters", *one)
		}
		return r.setBack(ctx, task.RefOf(tenant, id))
	}
	return fmt.Errorf("%.20q is none of cards, changes and rows", args[0])
}
