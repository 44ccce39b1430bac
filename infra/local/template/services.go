package template

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"path"
	"slices"
	"strings"
)

// known decodes the body of a call, or returns an error unless the operation is one of these.
func (c call) known(service, operation string, into any, operations ...string) error {
	if !slices.Contains(operations, operation) {
		return unknown(service + ":" + operation)
	}
	return c.fill(into)
}

// sqs treats a batch operation as the single one, since each message needs the same right.
func (a Account) sqs(c call) ([]Request, error) {
	var in struct{ QueueUrl string }
	operation := strings.TrimSuffix(c.operation(), "Batch")
	if err := c.known("sqs", operation, &in, "SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes"); err != nil {
		return nil, err
	}
	return []Request{{Action: "sqs:" + operation, Resource: a.arn("sqs", path.Base(in.QueueUrl))}}, nil
}

func (a Account) states(c call) ([]Request, error) {
	var in struct{ StateMachineArn, ExecutionArn string }
	switch operation := c.operation(); operation {
	case "DescribeExecution", "StartExecution":
		err := c.fill(&in)
		return []Request{{Action: "states:" + operation, Resource: cmp.Or(in.ExecutionArn, in.StateMachineArn)}}, err
	case "SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat":
		if len(a.Waiting) != 1 { // a token doesn't name its state machine
			return nil, unknown("states:" + operation + " of one of several state machines")
		}
		return []Request{{Action: "states:" + operation, Resource: a.Waiting[0]}}, nil
	default:
		return nil, unknown("states:" + operation)
	}
}

func (a Account) kms(c call) ([]Request, error) {
	var in struct {
		KeyId, CiphertextBlob, SigningAlgorithm string
		EncryptionContext                       map[string]string
	}
	operation := c.operation()
	if err := c.known("kms", operation, &in, "Encrypt", "Decrypt", "GenerateDataKey", "Sign", "Verify", "GetPublicKey", "DescribeKey"); err != nil {
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
		q.Resource = a.arn("kms", "key/"+q.Resource)
	}
	for name, value := range in.EncryptionContext {
		q.Context[encryptionContext+name] = []string{value}
	}
	if in.SigningAlgorithm != "" {
		q.Context[signingAlgorithm] = []string{in.SigningAlgorithm}
	}
	return []Request{q}, nil
}

func (a Account) secretsManager(c call) ([]Request, error) {
	var in struct{ SecretId string }
	operation := c.operation()
	if err := c.known("secretsmanager", operation, &in, "GetSecretValue"); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.SecretId, "arn:") {
		in.SecretId = a.arn("secretsmanager", "secret:"+in.SecretId)
	}
	return []Request{{Action: "secretsmanager:" + operation, Resource: in.SecretId}}, nil
}

// lambda reads the paths of invocations, also of those that stream; both need the same right.
func (a Account) lambda(c call) ([]Request, error) {
	parts := strings.Split(strings.Trim(c.URL.EscapedPath(), "/"), "/")
	if len(parts) != 4 || parts[1] != "functions" || !strings.HasSuffix(parts[3], "invocations") {
		return nil, unknown("lambda:" + c.URL.Path)
	}
	name, err := url.PathUnescape(parts[2])
	if err != nil {
		return nil, unknown("lambda:" + c.URL.Path)
	}
	if !strings.HasPrefix(name, "arn:") {
		name = a.arn("lambda", "function:"+name)
	}
	return []Request{{Action: "lambda:InvokeFunction", Resource: name}}, nil
}
