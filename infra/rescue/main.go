// Command rescue carries out the procedures of infra/runbook.md that need more
// than the AWS CLI:
//
//	go run ./infra/rescue cards   -from <CardDeadLettersUrl> -to <CardQueueUrl>
//	go run ./infra/rescue changes -from <ChangeDeadLettersUrl> -table <TableName>
//	go run ./infra/rescue rows    -from <restored table> -table <TableName> [-task <tenant>/<task>] [-apply]
//	go run ./infra/rescue contest -table <TableName> -contest <tenant>/<execution> [-close] [-apply]
//	go run ./infra/rescue rounds  -table <TableName> -tenant <tenant>
//	go run ./infra/rescue import  <resource>=<name or ARN> …
//	go run ./infra/rescue session -table <TableName> -session <tenant>/<session> [-apply]
//
// It uses the AWS CLI's credentials, region and AWS_ENDPOINT_URL.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"go.yaml.in/yaml/v3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/store"
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

// options are the parsed command line.
type options struct {
	command, from, to, table       string
	task, contest, tenant, session string
	closing, apply                 bool
}

const commands = "cards, changes, rows, contest, rounds, session or import"

func run(ctx context.Context, cfg aws.Config, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "import" {
		return writeImport("template.yaml", args[1:], out)
	}
	w, err := read(args, out)
	if err != nil {
		return err
	}
	queue, db := sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
	rescued := store.New(db, w.table, store.Kinds()...)
	played := &games{store.ContestsOf(rescued, nil), w.apply, w.closing, out}
	switch w.command {
	case "cards":
		return moveCards(ctx, letters{queue, w.from}, w.to, out)
	case "changes":
		return (&changes{letters{queue, w.from}, dynamodbstreams.NewFromConfig(cfg), rescued,
			store.CounterOf(rescued.Table(), rescued.Kinds()), out}).replay(ctx)
	case "contest":
		tenant, id, _ := strings.Cut(w.contest, "/")
		if !aggregate.ValidID(tenant) || !contest.ValidID(id) {
			return fmt.Errorf("-contest %.80q is not <tenant>/<execution>, an id of 26 characters and a UUID", w.contest)
		}
		return played.again(ctx, contest.Ref(tenant, id))
	case "session":
		tenant, id, _ := strings.Cut(w.session, "/")
		if !aggregate.ValidID(tenant) || !conversation.ValidID(id) {
			return fmt.Errorf("-session %.80q is not <tenant>/<session>, an id of 26 characters and a UUID", w.session)
		}
		return lookAgain(ctx, store.ConversationsOf(rescued), conversation.RefOf(tenant, id), w.apply, out)
	case "rounds":
		if !aggregate.ValidID(w.tenant) {
			return fmt.Errorf("-tenant %.60q is not an id of 26 characters", w.tenant)
		}
		return played.count(ctx, w.tenant)
	}
	r := &rows{db, w.from, w.table, w.apply, out}
	if w.task == "" {
		return r.missing(ctx)
	}
	tenant, id, _ := strings.Cut(w.task, "/")
	if !aggregate.ValidID(tenant) || !aggregate.ValidID(id) {
		return fmt.Errorf("-task %.60q is not <tenant>/<task>, two ids of 26 characters", w.task)
	}
	return r.setBack(ctx, task.RefOf(tenant, id))
}

// read parses a command line. Its error names what is missing.
func read(args []string, out io.Writer) (w options, err error) {
	if len(args) == 0 {
		return w, errors.New("say what to rescue: " + commands)
	}
	w.command = args[0]
	f := flag.NewFlagSet("rescue "+w.command, flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&w.from, "from", "", "cards, changes: the `URL` of the dead letters; rows: the name of the restored table")
	f.StringVar(&w.to, "to", "", "cards: the `URL` of the card queue (output CardQueueUrl)")
	f.StringVar(&w.table, "table", "", "all but cards: the `name` of the stack's table (output TableName)")
	f.StringVar(&w.task, "task", "",
		"rows: set this `tenant/task` back to what the restored table says; empty: put back what is missing")
	f.StringVar(&w.contest, "contest", "", "contest: the `tenant/execution` to look at, and to begin another run of")
	f.StringVar(&w.tenant, "tenant", "", "rounds: the `tenant` whose teams' scored rounds are counted")
	f.StringVar(&w.session, "session", "",
		"session: the `tenant/session` of a conversation to look at, and to have looked at again")
	f.BoolVar(&w.closing, "close", false, "contest: stop the teams that still play, and sum up what all have")
	f.BoolVar(&w.apply, "apply", false, "rows, contest, session: do it; without, it is only said")
	if err := f.Parse(args[1:]); err != nil {
		return w, err
	}
	alone := slices.Contains([]string{"contest", "rounds", "session"}, w.command) // these read no other table or queue
	switch {
	case f.NArg() > 0:
		return w, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case !slices.Contains([]string{"cards", "changes", "rows", "contest", "rounds", "session"}, w.command):
		return w, fmt.Errorf("%.20q is none of %s", w.command, commands)
	case w.from == "" && !alone:
		return w, errors.New("-from is missing")
	case w.command == "cards" && w.to == "":
		return w, errors.New("-to is missing: the stack's output CardQueueUrl")
	case w.command != "cards" && w.table == "":
		return w, errors.New("-table is missing: the stack's output TableName")
	case !alone && (w.from == w.to || w.from == w.table):
		return w, errors.New("-from must be another than what is rescued")
	}
	return w, nil
}

// identifiers are the properties by which CloudFormation imports resources.
var identifiers = map[string]string{"AWS::DynamoDB::Table": "TableName", "AWS::S3::Bucket": "BucketName",
	"AWS::KMS::Key": "KeyId", "AWS::SecretsManager::Secret": "Id"}

// The files that importing writes, for aws cloudformation create-change-set.
const importTemplate, importList = "import.yaml", "import.json"

// writeImport writes a template of nothing but what a deleted stack left behind, and the list of it. A stack begins by
// importing that, and then is deployed as usual.
func writeImport(path string, named []string, out io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	body, list, err := importing(text, named)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s and %s say what is imported\n", importTemplate, importList)
	return errors.Join(os.WriteFile(importTemplate, body, 0o600), os.WriteFile(importList, list, 0o600))
}

type imported struct {
	ResourceType, LogicalResourceId string
	ResourceIdentifier              map[string]string
}

// importing returns both files for resources named as <resource>=<name or ARN>, which must be all that stay.
func importing(template []byte, named []string) (body, list []byte, err error) {
	names := map[string]string{}
	for _, n := range named {
		resource, name, ok := strings.Cut(n, "=")
		if names[resource] = name; !ok || name == "" {
			return nil, nil, fmt.Errorf("%.80q is not <resource>=<name or ARN>", n)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(template, &doc); err != nil || len(doc.Content) != 1 {
		return nil, nil, fmt.Errorf("read the template: %w", err)
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	var all []imported
	for key, v := range pairs(doc.Content[0]) {
		switch key.Value {
		case "Resources":
			v, all, err = kept(v, names)
		case "AWSTemplateFormatVersion", "Parameters", "Conditions":
		default: // no transform, and nothing that needs other resources
			continue
		}
		out.Content = append(out.Content, key, v)
	}
	if missing := slices.Sorted(maps.Keys(names)); err == nil && len(missing) > 0 {
		err = fmt.Errorf("the template keeps no %s", strings.Join(missing, ", "))
	}
	if err != nil {
		return nil, nil, err
	}
	if body, err = yaml.Marshal(out); err == nil {
		list, err = json.MarshalIndent(all, "", "  ")
	}
	return body, list, err
}

// kept returns the resources that outlive their stack. It removes their names from names.
func kept(resources *yaml.Node, names map[string]string) (out *yaml.Node, all []imported, err error) {
	out = &yaml.Node{Kind: yaml.MappingNode}
	for key, v := range pairs(resources) {
		var r struct{ Type, DeletionPolicy string }
		for name, field := range pairs(v) {
			switch name.Value {
			case "Type":
				r.Type = field.Value
			case "DeletionPolicy":
				r.DeletionPolicy = field.Value
			}
		}
		if !strings.HasPrefix(r.DeletionPolicy, "Retain") {
			continue
		}
		name, known := names[key.Value]
		if by := identifiers[r.Type]; !known || by == "" {
			return nil, nil, fmt.Errorf("%s=<name or ARN> is missing", key.Value)
		} else if _, id, ok := strings.Cut(name, ":key/"); ok { // the ARN of a key
			all = append(all, imported{r.Type, key.Value, map[string]string{by: id}})
		} else {
			all = append(all, imported{r.Type, key.Value, map[string]string{by: name}})
		}
		delete(names, key.Value)
		out.Content = append(out.Content, key, v)
	}
	return out, all, nil
}

// pairs yields the keys and values of a mapping.
func pairs(m *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if !yield(m.Content[i], m.Content[i+1]) {
				return
			}
		}
	}
}
