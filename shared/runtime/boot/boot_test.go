package boot

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/runtime/expect"
)

// TestACallWithoutAnAnswerIsMadeAgain: the service does not answer the first call, and answers the second at once.
func TestACallWithoutAnAnswerIsMadeAgain(t *testing.T) {
	var calls atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			io.Copy(io.Discard, r.Body) // until it is read, the server doesn't notice that the caller is gone
			<-r.Context().Done()
			return
		}
		w.Write([]byte(`{"TableNames":["t"]}`))
	}))
	t.Cleanup(service.Close)
	c := dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", BaseEndpoint: &service.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: impatient(time.Minute, time.Second),
	})
	out := expect.Value(c.ListTables(t.Context(), &dynamodb.ListTablesInput{}))(t)
	expect.Same(t, []string{"t"}, out.TableNames)
	n := calls.Load()
	expect.That(t, n >= 2, "%d calls", n)
}
