package template

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Names gives the template's resources their physical names in one local
// stack. Every stack has AWS stand-ins of its own, so names need not differ
// between stacks.
type Names struct {
	Stack    string // e.g. "ringi"
	Region   string
	Account  string
	Endpoint string // of the AWS stand-ins, no slash at the end; part of queue URLs
}

func (n Names) pseudo(id string) (string, bool) {
	v, ok := map[string]string{
		"AWS::AccountId": n.Account,
		"AWS::Region":    n.Region,
		"AWS::Partition": "aws",
		"AWS::StackName": n.Stack,
		"AWS::StackId":   n.arn("cloudformation", "stack/"+n.Stack+"/local"),
		"AWS::URLSuffix": "amazonaws.com",
	}[id]
	return v, ok
}

func (n Names) arn(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, n.Region, n.Account, resource)
}

// Name is the physical name of a resource. A function's is its logical id, as
// the AWS CLI user types it.
func (n Names) Name(id, kind string) string {
	switch kind {
	case typeFunction:
		return id
	case typeBucket:
		return strings.ToLower(n.Stack + "-" + id)
	case typeFIFO:
		return n.Stack + "-" + id + ".fifo"
	default:
		return n.Stack + "-" + id
	}
}

// Ref is what !Ref of a resource gives.
func (n Names) Ref(id, kind string) string {
	name := n.Name(id, kind)
	switch kind {
	case typeQueue, typeFIFO:
		return n.Endpoint + "/" + n.Account + "/" + name
	case typeKey:
		return n.keyID(id)
	case typeMachine, typePlainMachine:
		return n.arn("states", "stateMachine:"+name)
	default:
		return name
	}
}

// Attribute is what !GetAtt of a resource gives. Attributes that nothing in a
// local stack uses, such as a log group's ARN, are a plausible text.
func (n Names) Attribute(id, kind, attribute string) string {
	name := n.Name(id, kind)
	switch kind + "." + attribute {
	case typeFunction + ".Arn":
		return n.FunctionARN(id)
	case typeFunction + ".Alias":
		return n.FunctionARN(id) + ":live"
	case typeFunction + ".Version":
		return n.FunctionARN(id) + ":1"
	case typeTable + ".Arn":
		return n.arn("dynamodb", "table/"+name)
	case typeTable + ".StreamArn":
		return n.arn("dynamodb", "table/"+name+"/stream/local")
	case typeQueue + ".Arn", typeFIFO + ".Arn":
		return n.arn("sqs", name)
	case typeQueue + ".QueueName", typeFIFO + ".QueueName", typeMachine + ".Name", typePlainMachine + ".Name":
		return name
	case typeBucket + ".Arn":
		return "arn:aws:s3:::" + name
	case typeKey + ".Arn":
		return n.arn("kms", "key/"+n.keyID(id))
	case typeMachine + ".Arn", typePlainMachine + ".Arn":
		return n.Ref(id, kind)
	default:
		return n.arn("local", id+"/"+attribute)
	}
}

// FunctionARN is the unqualified ARN of a function.
func (n Names) FunctionARN(id string) string { return n.arn("lambda", "function:"+id) }

// keyID is a UUID made of the names, so that it is known before the key exists.
func (n Names) keyID(id string) string {
	sum := sha256.Sum256([]byte(n.Stack + "/" + id))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
