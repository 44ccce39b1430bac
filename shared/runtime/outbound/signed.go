package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Service is one of AWS's services in a function's region, called by single requests. They are signed and repeated with
// the SDK's signer and retryer, and their errors are those of the SDK's clients. It is for services of which functions
// need a few calls: their clients are up to a tenth of a function's binary, and some prepare all shapes of their APIs
// at each start. It is safe for concurrent use.
type Service struct {
	id, endpoint, region string
	http                 aws.HTTPClient
	credentials          aws.CredentialsProvider
	signer               *v4.Signer
	attempts             *retry.Attempt
	read                 ErrorReader
}

// ErrorReader reads the code and the message of an answer that is an error, both empty if the answer has none.
type ErrorReader func(header http.Header, body []byte) (code, message string)

// Request is a request of a service.
type Request struct {
	Operation string // the SDK's name of it
	Method    string
	Path      string // escaped, with the query if there is one
	Header    map[string]string
	Body      []byte
	Limit     int64 // of the body of an answer that is no error, in bytes; a longer one is an error
}

// maxError is more than any error of a service has, in bytes.
const maxError = 64 << 10

// ServiceAt returns the service of which the SDK has this id, such as "S3".
func ServiceAt(cfg aws.Config, id string, read ErrorReader) *Service {
	s := &Service{
		id: id, endpoint: endpoint(cfg, strings.ToLower(id)), region: cfg.Region, http: cfg.HTTPClient,
		credentials: cfg.Credentials, read: read,
		// Only S3 signs a path as it is sent; all others escape it once more.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = id == "S3" }),
	}
	if s.http == nil {
		s.http = awshttp.NewBuildableClient()
	}
	var retryer aws.Retryer = retry.NewStandard()
	if cfg.Retryer != nil {
		retryer = cfg.Retryer()
	}
	same := func(request any) any { return request } // once makes a request of its own
	s.attempts = retry.NewAttemptMiddleware(retryer, same)
	return s
}

// Below returns the service at the host below its own that has this name.
func (s *Service) Below(name string) *Service {
	other := *s
	scheme, host, _ := strings.Cut(s.endpoint, "://")
	other.endpoint = scheme + "://" + name + "." + host
	return &other
}

// URL returns the address of a path.
func (s *Service) URL(path string) string { return s.endpoint + path }

func endpoint(cfg aws.Config, name string) string {
	if cfg.BaseEndpoint != nil {
		return strings.TrimSuffix(*cfg.BaseEndpoint, "/")
	}
	host := "https://" + name + "." + cfg.Region + ".amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		host += ".cn"
	}
	return host
}

// Call makes a request, and again if the SDK would. Its errors have the form of the SDK's.
func (s *Service) Call(ctx context.Context, r Request) (header http.Header, body []byte, err error) {
	once := func(ctx context.Context, _ middleware.FinalizeInput) (
		out middleware.FinalizeOutput, m middleware.Metadata, err error) {
		header, body, err = s.once(ctx, r)
		return out, m, err
	}
	_, _, err = s.attempts.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(once))
	if err != nil {
		return nil, nil, s.Failed(r.Operation, err)
	}
	return header, body, nil
}

// once makes a request once, and reads the answer.
func (s *Service) once(ctx context.Context, r Request) (http.Header, []byte, error) {
	answer, err := s.open(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, r.Limit+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	case int64(len(body)) > r.Limit:
		return nil, nil, fmt.Errorf("the answer is over %d bytes", r.Limit)
	}
	return answer.Header, body, nil
}

// open makes a request once, and returns its answer unless that is an error.
func (s *Service) open(ctx context.Context, r Request) (*http.Response, error) {
	request, err := s.request(ctx, r)
	if err != nil {
		return nil, err
	}
	answer, err := s.http.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &smithy.CanceledError{Err: ctx.Err()}
	case err != nil:
		return nil, &smithyhttp.RequestSendError{Err: err}
	case answer.StatusCode >= http.StatusMultipleChoices:
		defer answer.Body.Close()
		return nil, s.refused(answer)
	}
	return answer, nil
}

// JSON calls a service that speaks AWS JSON 1.1, and reads its answer into out. target is the operation, behind the
// service's name for its API and a dot.
func (s *Service) JSON(ctx context.Context, target string, in, out any, limit int64) error {
	_, operation, _ := strings.Cut(target, ".")
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	_, answer, err := s.Call(ctx, Request{
		Operation: operation, Method: http.MethodPost, Path: "/", Body: body, Limit: limit,
		Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": target},
	})
	if err != nil {
		return err
	}
	defer clear(answer) // of secrets
	if err := json.Unmarshal(answer, out); err != nil {
		return s.Failed(operation, &smithy.DeserializationError{Err: err})
	}
	return nil
}

// Failed returns an operation's error as the SDK wraps it, by which explain knows a call without an answer.
func (s *Service) Failed(operation string, err error) error {
	return &smithy.OperationError{ServiceID: s.id, OperationName: operation, Err: err}
}

// request returns a signed request.
func (s *Service) request(ctx context.Context, r Request) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, r.Method, s.URL(r.Path), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(r.Body)
	payload := hex.EncodeToString(hash[:])
	out.Header.Set("X-Amz-Content-Sha256", payload)
	out.Header.Set("Accept-Encoding", "identity") // else net/http asks for a packed answer, and unpacks it
	out.Header.Set("User-Agent", "ringi")
	for name, value := range r.Header {
		out.Header.Set(name, value)
	}
	if trace, ok := ctx.Value("x-amzn-trace-id").(string); ok && trace != "" { // aws-lambda-go's key
		out.Header.Set("X-Amzn-Trace-Id", trace)
	}
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	return out, s.signer.SignHTTP(ctx, keys, out, payload, strings.ToLower(s.id), s.region, time.Now())
}

// Address returns an address at which anybody can make a GET request of a path for some time.
func (s *Service) Address(ctx context.Context, path string, during time.Duration) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL(path), nil)
	if err != nil {
		return "", err
	}
	query := r.URL.Query()
	query.Set("X-Amz-Expires", strconv.Itoa(int(during.Seconds())))
	r.URL.RawQuery = query.Encode()
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return "", err
	}
	address, _, err := s.signer.PresignHTTP(ctx, keys, r, "UNSIGNED-PAYLOAD", strings.ToLower(s.id), s.region, time.Now())
	return address, err
}

// refused returns an error of the service as the SDK does, so that the retryer and explain know it.
func (s *Service) refused(answer *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxError)) // without all of it the status tells enough
	code, message := s.read(answer.Header, body)
	status := http.StatusText(answer.StatusCode) // of a gateway's page, which says nothing
	return &awshttp.ResponseError{
		RequestID: cmp.Or(answer.Header.Get("X-Amzn-Requestid"), answer.Header.Get("X-Amz-Request-Id")),
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: answer},
			Err: &smithy.GenericAPIError{
				Code: cmp.Or(code, strings.ReplaceAll(status, " ", "")), Message: cmp.Or(message, status),
			},
		},
	}
}

// SigningAlgorithm is how texts are signed, as forms name it.
const SigningAlgorithm = "AWS4-HMAC-SHA256"

// SigningKeys are the credentials with which texts are signed at a time.
type SigningKeys struct {
	Credential string // names the key, the day, the region and the service
	Token      string // of a session; empty for a key without one

	secret string
	scope  []string
}

// Keys returns the credentials of texts that are signed at a time.
func (s *Service) Keys(ctx context.Context, at time.Time) (SigningKeys, error) {
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return SigningKeys{}, err
	}
	scope := []string{at.UTC().Format("20060102"), s.region, strings.ToLower(s.id), "aws4_request"}
	return SigningKeys{keys.AccessKeyID + "/" + strings.Join(scope, "/"), keys.SessionToken, keys.SecretAccessKey,
		scope}, nil
}

// Sign returns a text's signature. The SDK's signer signs requests only.
func (k SigningKeys) Sign(text string) string {
	key := []byte("AWS4" + k.secret)
	for _, of := range append(k.scope[:len(k.scope):len(k.scope)], text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(of))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

// ErrEnded means that the function was started and ended with an error.
var ErrEnded = errors.New("the function ended with an error")

// maxAnswer is more than Lambda's limit of an answer, 6 MB and some.
const maxAnswer = 8 << 20

// Function calls one function. It is safe for concurrent use.
type Function struct {
	name   string
	lambda *Service
}

// FunctionAt returns the function with that name. It may take longer to answer than AWS's services do: only the context
// bounds a call.
func FunctionAt(cfg aws.Config, name string) *Function {
	cfg.HTTPClient = awshttp.NewBuildableClient()
	return &Function{name: name, lambda: ServiceAt(cfg, "Lambda", JSONError)}
}

// Call asks the function and reads its answer into out. It returns ErrEnded if the function ended with an error.
func (f *Function) Call(ctx context.Context, in, out any) error {
	payload, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("call %s: %w", f.name, err)
	}
	const operation = "Invoke"
	header, answer, err := f.lambda.Call(ctx, Request{
		Operation: operation, Method: http.MethodPost, Body: payload, Limit: maxAnswer,
		Path:   "/2015-03-31/functions/" + url.QueryEscape(f.name) + "/invocations",
		Header: map[string]string{"Content-Type": "application/json", "X-Amz-Invocation-Type": "RequestResponse"},
	})
	if ended := header.Get("X-Amz-Function-Error"); ended != "" {
		err = f.lambda.Failed(operation, fmt.Errorf("%w: %s", ErrEnded, ended))
	}
	if err != nil {
		return fmt.Errorf("call %s: %w", f.name, err)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of %s: %w", f.name, err)
	}
	return nil
}

// Stream asks the function once, never again, and returns its answer's bytes as they come. No environment serves two
// tenants. Where the function fails under way, the reader's error is Lambda's code for it.
func (f *Function) Stream(ctx context.Context, tenant string, payload []byte) (io.ReadCloser, error) {
	const operation = "InvokeWithResponseStream"
	answer, err := f.lambda.open(ctx, Request{
		Operation: operation, Method: http.MethodPost, Body: payload,
		Path: "/2021-11-15/functions/" + url.QueryEscape(f.name) + "/response-streaming-invocations",
		Header: map[string]string{"Content-Type": "application/json", "X-Amz-Invocation-Type": "RequestResponse",
			"X-Amz-Tenant-Id": tenant},
	})
	if err != nil {
		return nil, f.lambda.Failed(operation, err)
	}
	return &chunks{ReadCloser: answer.Body, decoder: eventstream.NewDecoder()}, nil
}

// chunks reads the payload of a stream of Lambda's events.
type chunks struct {
	io.ReadCloser
	decoder *eventstream.Decoder
	rest    []byte
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		m, err := c.decoder.Decode(c.ReadCloser, nil)
		if err != nil {
			return 0, err
		}
		of := func(name string) string {
			v, _ := m.Headers.Get(name).(eventstream.StringValue)
			return string(v)
		}
		switch kind := of(eventstreamapi.EventTypeHeader); {
		case of(eventstreamapi.MessageTypeHeader) != eventstreamapi.EventMessageType:
			return 0, errors.New(cmp.Or(of(eventstreamapi.ExceptionTypeHeader), of(eventstreamapi.ErrorCodeHeader)))
		case kind == "PayloadChunk":
			c.rest = m.Payload
		case kind == "InvokeComplete":
			var end struct{ ErrorCode string }
			if err := json.Unmarshal(m.Payload, &end); err != nil || end.ErrorCode == "" {
				return 0, cmp.Or(err, io.EOF)
			}
			return 0, errors.New(end.ErrorCode)
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// JSONError is the ErrorReader of services that answer in JSON. Some have the code in the body, and a namespace before
// it.
func JSONError(header http.Header, body []byte) (code, message string) {
	var in struct {
		Type    string `json:"__type"`
		Message string // or in lower case
	}
	_ = json.Unmarshal(body, &in)
	code, _, _ = strings.Cut(cmp.Or(header.Get("X-Amzn-Errortype"), in.Type), ":")
	return code[strings.Index(code, "#")+1:], in.Message
}
