package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// commandOf returns the arguments of the command that the register prints, with a stack's names for its outputs.
func commandOf(t *testing.T, id string, o order) []string {
	t.Helper()
	args, is := strings.CutPrefix(chain.ProofCommand(o.tenant, id), "go run ./infra/audit ")
	expect.Must(t, is, "another program: %s", args)
	return strings.Fields(strings.NewReplacer("<TableName>", o.table, "<ChainKeyArn>", o.key,
		"<HeadsBucketName>", o.heads, "<ResultsBucketName>", o.results).Replace(args))
}

func TestThePrintedCommandNamesAllThatItNeeds(t *testing.T) {
	names := order{tenant: tenant, table: "ringi-Table", key: "arn:aws:kms:us-east-1:1:key/k", heads: "ringi-heads",
		results: "ringi-results"}
	got := expect.Value(read(commandOf(t, taskID, names), io.Discard))(t)
	names.command, names.execution = "prove", taskID
	expect.That(t, got.command == names.command && got.execution == names.execution && got.tenant == names.tenant &&
		got.table == names.table && got.key == names.key && got.heads == names.heads && got.results == names.results,
		"%+v", got)
}

// proves runs the command that the register prints, as somebody does who has the stack's outputs and credentials.
func (a *audited) proves(id string) {
	a.Helper()
	o := order{tenant: a.tenant, local: strings.TrimPrefix(a.s.AWSEndpoint, "http://")}
	expect.Value(o.look(a.Context()))(a)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": a.s.AWSEndpoint, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"} {
		a.Setenv(name, value)
	}
	var out strings.Builder
	err := run(a.Context(), commandOf(a.T, id, o), &out)
	expect.That(a, err == nil && !errors.Is(err, errFound) && strings.HasPrefix(out.String(), "it holds"), "%v:\n%s", err, &out)
}
