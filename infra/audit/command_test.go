package main

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// credentials are those of the stack, as the AWS CLI has them.
func (a *audited) credentials() {
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": a.s.AWSEndpoint, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"} {
		a.Setenv(name, value)
	}
}

// proves runs the command that the register prints, as somebody does who has the stack's outputs and credentials.
func (a *audited) proves(id string) {
	a.Helper()
	o := order{tenant: a.tenant, local: strings.TrimPrefix(a.s.AWSEndpoint, "http://")}
	expect.Value(o.look(a.Context()))(a)
	a.credentials()
	var out strings.Builder
	err := run(a.Context(), commandOf(a.T, id, o), &out)
	expect.That(a, err == nil && !errors.Is(err, errFound) && strings.HasPrefix(out.String(), "it holds"), "%v:\n%s", err, &out)
}

// A receipt brings its own key, so both verifiers name it, and refuse a receipt that another key signed than those that
// were asked for, the earlier ones included.
func TestBothVerifiersSayWhoseKeySigned(t *testing.T) {
	file, r := filepath.Join(t.TempDir(), "receipt.json"), proved(t)
	replaced := expect.Value(x509.MarshalPKIXPublicKey(&newSealer(t).key.PublicKey))(t)
	r.Earlier = []string{base64.StdEncoding.EncodeToString(replaced)}
	expect.NoError(t, os.WriteFile(file, expect.Value(json.Marshal(r))(t), 0o600))
	keys := expect.Value(r.fingerprints())(t)
	own, earlier := keys[1], keys[0]
	for key, want := range map[string]int{
		own + "," + earlier: 0, earlier + "," + strings.ToUpper(own): 0, own: exitFound, earlier: exitFound,
		strings.Repeat("0", 64) + "," + own: exitFound, "none": 0, "": exitError, own[:63]: exitError, own + ",": exitError,
		own + earlier: exitError, "zz" + own[2:]: exitError,
	} {
		args, flags := []string{"check", "-key", key, file}, []string{"verify.py", "--key", key, file}
		if key == "none" {
			args, flags = []string{"check", file}, []string{"verify.py", file}
		}
		var out bytes.Buffer
		err := run(t.Context(), args, &out)
		got := exitError
		if err == nil {
			got = 0
		} else if errors.Is(err, errFound) {
			got = exitFound
		}
		c := exec.Command("python3", flags...)
		said, _ := c.Output()
		expect.That(t, got == want && c.ProcessState.ExitCode() == want, "-key %s: %v, verify.py %d, want %d",
			key, err, c.ProcessState.ExitCode(), want)
		for by, text := range map[string]string{"audit": out.String(), "verify.py": string(said)} {
			named := strings.Contains(text, "signed by the key with the fingerprint "+own+", before it by "+earlier)
			expect.Is(t, named, want != exitError, "%s names the keys, -key %s:\n%s", by, key, text)
			expect.Is(t, strings.Contains(text, "whose key that is"), key == "none", "%s, -key %s:\n%s", by, key, text)
			expect.Is(t, strings.Contains(text, "another than those"), want == exitFound, "%s, -key %s:\n%s", by, key, text)
		}
	}
}
