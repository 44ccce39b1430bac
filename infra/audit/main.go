// Command audit checks the audit log of a tenant against its sealed chain, and writes what proves an execution, or an
// agent's action, into one file:
//
//	go run ./infra/audit check -table <TableName> -key <ChainKeyArn> -heads <HeadsBucketName> -tenant <id>
//	go run ./infra/audit prove … -tenant <id> [-results <ResultsBucketName> <execution, task or action>] > proof.json
//
// For the local stack, -aws-addr is its AWS endpoint and takes the place of all names. The command uses the AWS CLI's
// credentials, region and AWS_ENDPOINT_URL. verify.py judges the file; README.md says what it finds.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/seal"
	"ringi/shared/words/language"
)

const (
	exitFound = 1 // something is wrong with the log
	exitError = 2 // nothing could be checked
)

// errFound: the check found something wrong, and has printed it.
var errFound = errors.New("it does not hold")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errFound):
		os.Exit(exitFound)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitError)
	}
}

// order is the parsed command line.
type order struct {
	command, tenant, execution        string
	table, key, heads, results, local string
}

func read(args []string, out io.Writer) (o order, err error) {
	if len(args) == 0 {
		return o, errors.New("say what to do: check or prove")
	}
	o.command = args[0]
	f := flag.NewFlagSet("audit "+o.command, flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.tenant, "tenant", "", "the tenant's `id`, of 26 characters")
	team := f.String("team", "", "the Slack workspace's `id`, T…, in place of the tenant's")
	f.StringVar(&o.table, "table", "", "the `name` of the stack's table (output TableName)")
	f.StringVar(&o.key, "key", "", "the `ARN` of the key that signs (output ChainKeyArn)")
	f.StringVar(&o.heads, "heads", "", "the `name` of the bucket of heads (output HeadsBucketName)")
	f.StringVar(&o.results, "results", "", "the `name` of the bucket of results (output ResultsBucketName); of an "+
		"execution only")
	f.StringVar(&o.local, "aws-addr", "", "`host:port` of the local stack's AWS endpoint, in place of these four")
	if err := f.Parse(args[1:]); err != nil {
		return o, err
	}
	if o.execution = f.Arg(0); *team != "" && o.tenant == "" {
		o.tenant = aggregate.TenantID(*team)
	}
	switch {
	case f.NArg() > 1:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(1))
	case o.command != "check" && o.command != "prove":
		return o, fmt.Errorf("%.20q is neither check nor prove", o.command)
	case o.command == "check" && o.execution != "":
		return o, fmt.Errorf("unexpected argument %q", o.execution)
	case o.tenant == "":
		return o, errors.New("-tenant is missing, or -team")
	case o.local != "":
		return o, nil
	case o.table == "" || o.key == "" || o.heads == "":
		return o, errors.New("-table, -key and -heads are the stack's outputs TableName, ChainKeyArn and HeadsBucketName; " +
			"all are wanted, or -aws-addr")
	case o.execution != "" && o.results == "":
		return o, errors.New("-results is missing: the stack's output ResultsBucketName")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := read(args, out)
	if err != nil {
		return err
	}
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	return s.run(ctx, o, out)
}

// run reads the log and prints the result of checking it, or the file that proves.
func (s *source) run(ctx context.Context, o order, out io.Writer) error {
	l, wrong, err := s.log(ctx, o.tenant)
	if err != nil {
		return err
	}
	if l.head == nil && len(l.links)+len(l.rows) == 0 && len(wrong) == 0 {
		return fmt.Errorf("there is no audit log of the tenant %.40q here: neither entries, nor links, nor heads; -team "+
			"takes the Slack workspace's id, T…, in place of the tenant's", o.tenant)
	}
	if o.command == "check" {
		return l.report(wrong, out)
	}
	r := l.receipt()
	if o.execution != "" {
		if r.Head == nil {
			return errors.New("no head of the chain was put away yet: try again in a minute")
		}
		if r, err = s.proof(ctx, r, o.execution); err != nil {
			return err
		}
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

func (o *order) open(ctx context.Context) (*source, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if o.local != "" {
		cfg, err = o.look(ctx)
	}
	if err != nil {
		return nil, err
	}
	rows := store.OpenAll(cfg, boot.Table{TableName: o.table})
	return &source{
		store: rows, chains: seal.RowsIn(rows.Table()), signer: seal.Signer{KMS: kms.NewFromConfig(cfg), Key: o.key},
		heads: seal.Open(cfg, o.heads), results: large.Open(cfg, boot.Results{ResultsBucket: o.results}),
	}, nil
}

// look asks the local stack for the names of its table, key and buckets.
func (o *order) look(ctx context.Context) (aws.Config, error) {
	endpoint := "http://" + o.local
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/_ringi/functions", nil)
	if err != nil {
		return aws.Config{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return aws.Config{}, fmt.Errorf("no local stack answers at %s: %w", o.local, err)
	}
	defer resp.Body.Close()
	var functions []struct {
		Folder      string
		Environment map[string]string
	}
	if err := json.NewDecoder(resp.Body).Decode(&functions); err != nil {
		return aws.Config{}, fmt.Errorf("what answers at %s is no local stack: %w", o.local, err)
	}
	for _, f := range functions {
		switch f.Folder {
		case "seal-audit":
			o.table, o.key, o.heads = f.Environment["TABLE_NAME"], f.Environment["CHAIN_KEY_ID"], f.Environment["HEADS_BUCKET"]
		case "execute-process":
			o.results = f.Environment["RESULTS_BUCKET"]
		}
	}
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}, nil
}

// few is how many keys list prints of each kind.
const few = 20

// check compares the log's rows with its chain.
func (l *log) check() (chain.Report, error) {
	signed, err := seal.Check(l.public)
	if err != nil {
		return chain.Report{}, err
	}
	return chain.Verify(l.tenant, l.head, l.links, l.rows, signed, l.at), nil
}

// report checks the log and prints first the faults: those in wrong, then its own. It returns errFound if anything is
// wrong. It spells out invisible characters and line breaks, so that no key of a row can hide or add a line.
func (l *log) report(wrong []string, out io.Writer) error {
	checked, err := l.check()
	if err != nil {
		return err
	}
	found := slices.Clone(wrong)
	for _, x := range checked.Findings {
		found = append(found, string(x.Flaw)+" "+x.Where)
	}
	if len(found) == 0 {
		spell(out, "it holds")
	} else {
		spell(out, fmt.Sprintf("%d findings:", len(found)))
	}
	for _, x := range found {
		spell(out, "  "+x)
	}
	head := ""
	if l.head != nil {
		head = fmt.Sprintf(", the head of %s names link %d", l.head.At.Format(time.RFC3339), l.head.Seq)
	}
	spell(out, fmt.Sprintf("tenant %s: %d rows, %d links%s", l.tenant, len(l.rows), len(l.links), head))
	spell(out, fmt.Sprintf("%d rows are as they were sealed", checked.Sealed))
	spell(out, fmt.Sprintf("signed by the key with the fingerprint %x", sha256.Sum256(l.public)))
	list(out, "rows were sealed late: whether they stood so from the first is not proved", checked.Late)
	list(out, "rows of the last minute are not sealed yet: nothing is proved of them", checked.Waiting)
	list(out, "rows are sealed and behind the head: if they went with their links, nobody would see it", checked.Behind)
	if len(found) > 0 {
		return errFound
	}
	return nil
}

// spell prints a line with invisible characters and line breaks spelled out. It keeps leading blanks.
func spell(out io.Writer, line string) {
	text := strings.TrimLeft(line, " ")
	fmt.Fprintf(out, "%s%s\n", line[:len(line)-len(text)], language.OneLine(text))
}

func list(out io.Writer, what string, keys []string) {
	if len(keys) == 0 {
		return
	}
	spell(out, fmt.Sprintf("%d %s", len(keys), what))
	for _, key := range keys[:min(few, len(keys))] {
		spell(out, "  "+key)
	}
	if len(keys) > few {
		spell(out, fmt.Sprintf("  and %d more", len(keys)-few))
	}
}
