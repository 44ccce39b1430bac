package iam

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The condition keys that calls are given.
const (
	leadingKeys        = "dynamodb:LeadingKeys"
	attributes         = "dynamodb:Attributes"
	enclosingOperation = "dynamodb:EnclosingOperation"
	encryptionContext  = "kms:EncryptionContext:"
	signingAlgorithm   = "kms:SigningAlgorithm"
	sourceFunction     = "lambda:SourceFunctionArn" // of every call that a function's own code makes
)

// Account says what the names in calls stand for.
type Account struct {
	Region, ID string
	// PartitionKeys are the attributes that tables, by name, and their indexes, as table/index/name, are partitioned by.
	PartitionKeys map[string]string
	// Waiting are the ARNs of the state machines that wait for task tokens.
	Waiting []string
	// Same lists the resources of the template that a request's resource may stand for, as tests have several of each; nil
	// means that it stands for itself alone.
	Same func(Role, Request) []string
}

func (a Account) arn(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, a.Region, a.ID, resource)
}

// call is an HTTP request to AWS, its body read.
type call struct {
	*http.Request
	body    []byte
	service string // of the signature
	caller  string // access key id
}

// read finds out who calls which service; the caller is "" when nobody signed it. It reads the body where a request
// says what it asks for, or who asks, in it: then whoever reads on reads it again.
func read(r *http.Request) (c call, err error) {
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

// operation is what a call of one of AWS's JSON protocols asks for; "" for another.
func (c call) operation() string {
	_, operation, _ := strings.Cut(c.Header.Get("X-Amz-Target"), ".")
	return operation
}

// requests are what a call asks to be allowed. It returns an error for a call that it does not know.
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

// unknown is a call that is not judged, because no function makes it.
type unknown string

func (u unknown) Error() string {
	return "the local stack does not know which rights " + string(u) + " needs"
}

// fill reads a JSON body.
func (c call) fill(into any) error {
	if err := json.Unmarshal(c.body, into); err != nil {
		return fmt.Errorf("read the body of %s: %w", c.operation(), err)
	}
	return nil
}
