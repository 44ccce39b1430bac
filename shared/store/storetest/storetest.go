// Package storetest gives tests of other packages a store over a real DynamoDB API.
package storetest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/moto"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// Server is the one database server of a test binary.
type Server struct {
	DB        *dynamodb.Client
	Config    aws.Config        // of the other services that the server emulates
	Transport http.RoundTripper // of both; in a function's tests it checks calls against the role
}

const region, accessKey = "us-east-1", "local"

// tables numbers the tables of all tests, since they share the server.
var tables atomic.Int32

// described is what template.yaml describes, read once: that takes longer than most tests.
var described = sync.OnceValues(func() (*template.Template, error) {
	root, err := process.ModuleRoot()
	if err != nil {
		return nil, err
	}
	return template.Read(filepath.Join(root, "template.yaml"), template.Names{}, map[string]string{"Stage": "dev"})
})

// Start starts the server unless an earlier test did. The server is shared with other tests.
func Start(t testing.TB) *Server {
	t.Helper()
	endpoint := moto.ForTests(t)
	cfg := aws.Config{Region: region, BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider(accessKey, "local", "")}
	s := &Server{Transport: judged(t, awshttp.NewBuildableClient().GetTransport())}
	cfg.HTTPClient = &http.Client{Transport: s.Transport}
	s.DB, s.Config = dynamodb.NewFromConfig(cfg), cfg
	return s
}

// Store returns a store over a new table that is created as template.yaml describes it, and the table's name.
func (s *Server) Store(t testing.TB) (*store.TaskStore, string) {
	t.Helper()
	described := expect.Value(described())(t)
	name := fmt.Sprintf("rows-%d", tables.Add(1))
	expect.Value(s.DB.CreateTable(t.Context(), described.Tables[0].Input(name)))(t)
	return store.NewTasks(s.DB, name), name
}
