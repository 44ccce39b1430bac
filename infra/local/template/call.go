package template

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The condition keys that calls can carry.
const (
	leadingKeys        = "dynamodb:LeadingKeys"
	attributes         = "dynamodb:Attributes"
	enclosingOperation = "dynamodb:EnclosingOperation"
	encryptionContext  = "kms:EncryptionContext:"
	signingAlgorithm   = "kms:SigningAlgorithm"
	sourceFunction     = "lambda:SourceFunctionArn" // on every call of a function's own code
)

// call is an HTTP request to AWS whose body was read.
type call struct {
	*http.Request
	body    []byte
	service string // from the signature
	caller  string // access key id
}

// readPolicy determines the caller and the service of a request. The caller is "" if the request is not signed. It
// reads the body of a POST, which may name the action or the signer, and puts back a copy for the next reader.
func readPolicy(r *http.Request) (c call, err error) {
	c = call{Request: r}
	if r.Method == http.MethodPost {
		if c.body, err = io.ReadAll(r.Body); err != nil {
			return c, err
		}
		r.Body = io.NopCloser(bytes.NewReader(c.body))
	}
	credential := ""
	if _, after, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		credential, _, _ = strings.Cut(after, ",")
	} else if r.URL.RawQuery != "" {
		credential = r.URL.Query().Get("X-Amz-Credential")
	}
	credential = cmp.Or(credential, c.form("x-amz-credential"))
	if scope := strings.Split(credential, "/"); len(scope) == 5 { // key id, date, region, service, aws4_request
		c.caller, c.service = scope[0], scope[3]
	}
	return c, nil
}

// operation returns the operation of a call in one of AWS's JSON protocols, or "" for other calls.
func (c call) operation() string {
	_, operation, _ := strings.Cut(c.Header.Get("X-Amz-Target"), ".")
	return operation
}

// requests returns the rights that a call needs. It returns an error for a call that it does not know.
func (b *Bench) requests(c call) ([]Request, error) {
	read := map[string]func(call) ([]Request, error){
		"dynamodb": b.readDynamoDB, "sqs": readSQS, "states": b.readStates, "kms": readKMS,
		"secretsmanager": readSecretsManager, "lambda": readLambda, "s3": readS3,
	}[c.service]
	if read == nil {
		return nil, unknown(c.service + ":" + c.operation())
	}
	all, err := read(c)
	for i := range all {
		if all[i].Context == nil {
			all[i].Context = map[string][]string{}
		}
		all[i].Context[sourceFunction] = []string{ARN("lambda", "function:"+c.caller)}
	}
	return all, err
}

// unknown is the error for a call that can't be judged. No function makes such calls.
type unknown string

func (u unknown) Error() string {
	return "the local stack does not know which rights " + string(u) + " needs"
}

// fill decodes the JSON body.
func (c call) fill(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return fmt.Errorf("read the body of %s: %w", c.operation(), err)
	}
	return nil
}

// known decodes the body of a call, or returns an error unless the operation is one of these.
func (c call) known(service, operation string, into any, operations ...string) error {
	if !slices.Contains(operations, operation) {
		return unknown(service + ":" + operation)
	}
	return c.fill(into)
}

// readSQS treats a batch operation as the single one, since each message needs the same right.
func readSQS(c call) ([]Request, error) {
	var in struct{ QueueUrl string }
	operation := strings.TrimSuffix(c.operation(), "Batch")
	if err := c.known("sqs", operation, &in, "SendMessage", "ChangeMessageVisibility"); err != nil {
		return nil, err
	}
	return []Request{{Action: "sqs:" + operation, Resource: ARN("sqs", path.Base(in.QueueUrl))}}, nil
}

func (b *Bench) readStates(c call) ([]Request, error) {
	var in struct{ StateMachineArn, ExecutionArn string }
	switch operation := c.operation(); operation {
	case "DescribeExecution", "StartExecution":
		err := c.fill(&in)
		return []Request{{Action: "states:" + operation, Resource: cmp.Or(in.ExecutionArn, in.StateMachineArn)}}, err
	case "SendTaskSuccess":
		if len(b.Waiting) != 1 { // a token doesn't name its state machine
			return nil, unknown("states:" + operation + " of one of several state machines")
		}
		return []Request{{Action: "states:" + operation, Resource: b.Waiting[0]}}, nil
	default:
		return nil, unknown("states:" + operation)
	}
}

func readKMS(c call) ([]Request, error) {
	var in struct {
		KeyId, CiphertextBlob, SigningAlgorithm string
		EncryptionContext                       map[string]string
	}
	operation := c.operation()
	if err := c.known("kms", operation, &in, "Decrypt", "GenerateDataKey", "Sign", "GetPublicKey"); err != nil {
		return nil, err
	}
	q := Request{Action: "kms:" + operation, Resource: in.KeyId, Context: map[string][]string{}}
	if q.Resource == "" { // then the ciphertext names the key; the stand-in's begins with the key's id
		const idLength = 36
		if text, err := base64.StdEncoding.DecodeString(in.CiphertextBlob); err == nil && len(text) > idLength {
			q.Resource = string(text[:idLength])
		}
	}
	if !strings.HasPrefix(q.Resource, "arn:") {
		q.Resource = ARN("kms", "key/"+q.Resource)
	}
	for name, value := range in.EncryptionContext {
		q.Context[encryptionContext+name] = []string{value}
	}
	if in.SigningAlgorithm != "" {
		q.Context[signingAlgorithm] = []string{in.SigningAlgorithm}
	}
	return []Request{q}, nil
}

func readSecretsManager(c call) ([]Request, error) {
	var in struct{ SecretId string }
	operation := c.operation()
	if err := c.known("secretsmanager", operation, &in, "GetSecretValue"); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.SecretId, "arn:") {
		in.SecretId = ARN("secretsmanager", "secret:"+in.SecretId)
	}
	return []Request{{Action: "secretsmanager:" + operation, Resource: in.SecretId}}, nil
}

// readLambda reads the paths of invocations, also of those that stream; both need the same right.
func readLambda(c call) ([]Request, error) {
	parts := strings.Split(strings.Trim(c.URL.EscapedPath(), "/"), "/")
	if len(parts) != 4 || parts[1] != "functions" || !strings.HasSuffix(parts[3], "invocations") {
		return nil, unknown("lambda:" + c.URL.Path)
	}
	name, err := url.PathUnescape(parts[2])
	if err != nil {
		return nil, unknown("lambda:" + c.URL.Path)
	}
	if !strings.HasPrefix(name, "arn:") {
		name = ARN("lambda", "function:"+name)
	}
	return []Request{{Action: "lambda:InvokeFunction", Resource: name}}, nil
}

const bucketARN = "arn:aws:s3:::"

// The actions of calls on objects and buckets, by method and by what the query asks for.
var (
	onObjects = map[string]string{"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject"}
	onBuckets = map[string]string{"HEAD": "s3:ListBucket", "GET list-type": "s3:ListBucket",
		"GET versions": "s3:ListBucketVersions"}
	// plainQueries ask for no action of their own.
	plainQueries = []string{"x-id", "prefix", "delimiter", "continuation-token", "max-keys", "start-after",
		"encoding-type", "key-marker", "version-id-marker", "response-content-disposition", "response-content-type"}
)

// readS3 reads calls that name the bucket in the path.
func readS3(c call) ([]Request, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(c.URL.Path, "/"), "/")
	kind := c.Method
	for _, name := range slices.Sorted(maps.Keys(c.URL.Query())) {
		if !strings.HasPrefix(name, "X-Amz-") && !slices.Contains(plainQueries, name) {
			kind += " " + name
		}
	}
	for name := range c.Header {
		if strings.HasPrefix(name, "X-Amz-Object-Lock-") || name == "X-Amz-Acl" || name == "X-Amz-Tagging" ||
			name == "X-Amz-Copy-Source" {
			return nil, unknown("s3:" + kind + " with " + name)
		}
	}
	switch {
	case key == "" && kind == "POST delete":
		return c.deletions(bucket)
	case key == "" && kind == "POST": // an upload by a signed form
		if key = c.form("key"); key != "" {
			kind = "PUT"
		}
	case key == "" && onBuckets[kind] != "":
		return []Request{{Action: onBuckets[kind], Resource: bucketARN + bucket}}, nil
	}
	if key == "" || onObjects[kind] == "" {
		return nil, unknown("s3:" + kind)
	}
	return []Request{{Action: onObjects[kind], Resource: bucketARN + bucket + "/" + key}}, nil
}

// deletions reads a call that deletes many objects, or versions of objects.
func (c call) deletions(bucket string) (all []Request, err error) {
	var in struct {
		Object []struct{ Key, VersionId string }
	}
	if err := xml.Unmarshal(c.body, &in); err != nil {
		return nil, fmt.Errorf("read the body of DeleteObjects: %w", err)
	}
	for _, o := range in.Object {
		action := "s3:DeleteObject"
		if o.VersionId != "" {
			action = "s3:DeleteObjectVersion"
		}
		all = append(all, Request{Action: action, Resource: bucketARN + bucket + "/" + o.Key})
	}
	return all, nil
}

// form returns a field of an upload form, or "" if there is none.
func (c call) form(field string) string {
	kind, parameters, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return ""
	}
	for parts := multipart.NewReader(bytes.NewReader(c.body), parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil || part.FormName() == "file" { // like S3, ignores fields after the file
			return ""
		}
		if strings.EqualFold(part.FormName(), field) {
			text, err := io.ReadAll(part)
			if err != nil {
				return ""
			}
			return string(text)
		}
	}
}
