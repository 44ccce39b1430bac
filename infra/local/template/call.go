package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// Account describes the resources that calls name.
type Account struct {
	Region, ID string
	// PartitionKeys has the partition key of each table, by name, and of each index, as table/index/name.
	PartitionKeys map[string]string
	Waiting       []string
	// Same lists the template's resources that a request's resource may stand for, since tests create several of each.
	// If Same is nil, a resource only stands for itself.
	Same func(Role, Request) []string
	// EachItem judges each item of a transaction by its own key, and not all items with the same action together.
	EachItem bool
}

func (a Account) arn(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, a.Region, a.ID, resource)
}

// call is an HTTP request to AWS whose body was read.
type call struct {
	*http.Request
	body    []byte
	service string // from the signature
	caller  string // access key id
}

// read determines the caller and the service of a request. The caller is "" if the request is not signed. It reads the
// body of a POST, which may name the action or the signer, and puts back a copy for the next reader.
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
func (a Account) requests(c call) ([]Request, error) {
	read := map[string]func(call) ([]Request, error){
		"dynamodb": a.dynamodb, "sqs": a.sqs, "states": a.states, "kms": a.kms, "secretsmanager": a.secretsManager, "lambda": a.lambda, "s3": a.s3,
	}[c.service]
	if read == nil {
		return nil, unknown(c.service + ":" + c.operation())
	}
	all, err := read(c)
	for i := range all {
		if all[i].Context == nil {
			all[i].Context = map[string][]string{}
		}
		all[i].Context[sourceFunction] = []string{a.arn("lambda", "function:"+c.caller)}
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
