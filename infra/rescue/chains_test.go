package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.yaml.in/yaml/v3"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/records"
	"ringi/shared/store/seal"
	"ringi/shared/store/storetest"
)

var sealedAt = time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)

// sealed appends one link to a tenant's chain.
func sealed(t *testing.T, s *store.TaskStore, row string) error {
	t.Helper()
	is := expect.Value(seal.RowsIn(s.Table()).Chain(t.Context(), "01TENANT"))(t)
	l := expect.Value(chain.Next(is.Head, strings.Repeat("0a", 32), []chain.Row{{Key: "AUDIT#01TENANT#2026-04/" + row}},
		sealedAt))(t)
	l.Signature = []byte("signed")
	return seal.RowsIn(s.Table()).AppendLink(t.Context(), l)
}

// anew makes a table with a chain of three links, and another whose chain has started again.
func anew(t *testing.T) (server *storetest.Server, is *store.TaskStore, from, table string) {
	t.Helper()
	server = storetest.Start(t)
	was, from := server.Store(t)
	is, table = server.Store(t)
	for _, row := range []string{"1", "2", "3"} {
		expect.NoError(t, sealed(t, was, row))
	}
	expect.NoError(t, sealed(t, is, "1"))
	return server, is, from, table
}

// bring copies rows from one table to another.
func bring(t *testing.T, server *storetest.Server, from, table string) string {
	t.Helper()
	var out bytes.Buffer
	expect.NoError(t, (&rows{db: server.DB, from: from, table: table, apply: true, out: &out}).missing(t.Context()))
	return out.String()
}

func drop(t *testing.T, server *storetest.Server, table, pk, sk string) {
	t.Helper()
	expect.Value(server.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table,
		Key: item{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk}}}))(t)
}

// A new stack starts a chain of its own, with its own key, as soon as the first audit row is copied.
func TestAChainGoesOnAfterAnothersRowsCame(t *testing.T) {
	server, is, from, table := anew(t)
	bring(t, server, from, table)
	for _, row := range []string{"2", "3", "4"} {
		err := sealed(t, is, row)
		expect.Must(t, err == nil, "nothing is sealed any more: %v", err)
	}
}

// Links that were deleted come back, and so does the head that they belong to.
func TestAChainComesBack(t *testing.T) {
	server, is, from, table := anew(t)
	expect.NoError(t, sealed(t, is, "2"))
	drop(t, server, table, "CHAIN#01TENANT", "LINK#0000000001")
	bring(t, server, from, table)
	n := 0
	for _, err := range seal.RowsIn(is.KindStore.Table()).Links(t.Context(), "01TENANT", false) {
		expect.NoError(t, err)
		n++
	}
	expect.That(t, n == 2, "%d links of a chain of 2", n)
}

// A person who signed out stays signed out.
func TestNoSessionComesBack(t *testing.T) {
	server := storetest.Start(t)
	was, from := server.Store(t)
	is, table := server.Store(t)
	now := time.Now()
	expect.NoError(t, records.SessionsOf(was.KindStore.Table()).BeginSession(t.Context(), "cookie",
		records.NewSession("01TENANT", "T1", "U1", "鈴木", true, now)))
	bring(t, server, from, table)
	s, err := records.SessionsOf(is.KindStore.Table()).Session(t.Context(), "cookie", now)
	expect.That(t, err != nil, "a session that had ended is there again: %+v", s)
}

// left are the names of what a deleted stack left, as the runbook's command gives them.
var left = []string{"Table=ringi-Table-1", "ResultsBucket=ringi-results-1", "HeadsBucket=ringi-heads-1",
	"ChainKey=arn:aws:kms:us-east-1:123456789012:key/11111111-2222", "CredentialsKey=33333333-4444",
	"SlackSecret=arn:aws:secretsmanager:us-east-1:123456789012:secret:S-1",
	"ModelSecret=arn:aws:secretsmanager:us-east-1:123456789012:secret:M-1"}

type described struct {
	Transform  string               `yaml:"Transform"`
	Parameters map[string]yaml.Node `yaml:"Parameters"`
	Conditions map[string]yaml.Node `yaml:"Conditions"`
	Resources  map[string]yaml.Node `yaml:"Resources"`
}

// The import is rehearsed on the template: it has all that stays, as the next deployment describes it, and refers to
// nothing else. CloudFormation takes a template of 51,200 bytes from the command line.
func TestWhatADeletedStackLeftIsImported(t *testing.T) {
	template := expect.Value(os.ReadFile("../../template.yaml"))(t)
	body, list, err := importing(template, left)
	expect.NoError(t, err)
	var whole, got described
	expect.NoError(t, yaml.Unmarshal(template, &whole))
	expect.NoError(t, yaml.Unmarshal(body, &got))
	var all []imported
	expect.NoError(t, json.Unmarshal(list, &all))
	expect.That(t, got.Transform == "" && len(body) < 51200 && len(all) == len(left), "%d bytes, %d resources", len(body),
		len(all))
	expect.Is(t, len(got.Resources), len(left), "resources")
	for id, r := range whole.Resources {
		var kind struct {
			Type           string `yaml:"Type"`
			DeletionPolicy string `yaml:"DeletionPolicy"`
		}
		expect.NoError(t, r.Decode(&kind))
		stays, there := strings.HasPrefix(kind.DeletionPolicy, "Retain"), got.Resources[id]
		expect.Must(t, stays == (there.Kind != 0), "%s: it stays %v", id, stays)
		if !stays {
			continue
		}
		expect.Is(t, string(expect.Value(yaml.Marshal(&there))(t)), string(expect.Value(yaml.Marshal(&r))(t)), id)
		i := slices.IndexFunc(all, func(x imported) bool { return x.LogicalResourceId == id })
		expect.That(t, i >= 0 && all[i].ResourceType == kind.Type && all[i].ResourceIdentifier[identifiers[kind.Type]] != "",
			"%s: %+v", id, all)
	}
	expect.That(t, strings.Contains(string(list), `"KeyId": "11111111-2222"`), "a key is imported by its id: %s", list)
	for _, m := range regexp.MustCompile(`!(?:Ref|GetAtt|If|Condition) "?\[?([A-Za-z]+)|`+
		`\$\{([A-Za-z]+)[.}]`).FindAllStringSubmatch(string(body), -1) {
		name := m[1] + m[2]
		_, parameter := got.Parameters[name]
		_, condition := got.Conditions[name]
		_, resource := got.Resources[name]
		expect.That(t, parameter || condition || resource || name == "AWS", "it refers to %s, which is not imported", name)
	}
}

func TestAnImportNamesAllThatStays(t *testing.T) {
	template := expect.Value(os.ReadFile("../../template.yaml"))(t)
	for want, named := range map[string][]string{
		"ModelSecret=<name or ARN> is missing": left[:len(left)-1],
		"the template keeps no Pipeline":       append(slices.Clone(left), "Pipeline=p"),
		"is not <resource>=<name or ARN>":      append(slices.Clone(left), "Table"),
	} {
		_, _, err := importing(template, named)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
}
