package template

import (
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
	// Known are names that only their service can give: "Key" is what !Ref Key
	// is, "Table.StreamArn" what !GetAtt is. Others follow from the template.
	Known map[string]string
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
	if known, ok := n.Known[id]; ok {
		return known
	}
	name := n.Name(id, kind)
	switch kind {
	case typeQueue, typeFIFO:
		return n.Endpoint + "/" + n.Account + "/" + name
	case typeMachine, typePlainMachine:
		return n.arn("states", "stateMachine:"+name)
	default:
		return name
	}
}

// Attribute is what !GetAtt of a resource gives. Attributes that nothing in a
// local stack uses, such as a log group's ARN, are a plausible text.
func (n Names) Attribute(id, kind, attribute string) string {
	if known, ok := n.Known[id+"."+attribute]; ok {
		return known
	}
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
		return n.arn("kms", "key/"+n.Ref(id, kind))
	case typeRole + ".Arn":
		return "arn:aws:iam::" + n.Account + ":role/" + name
	case typeMachine + ".Arn", typePlainMachine + ".Arn":
		return n.Ref(id, kind)
	default:
		return n.arn("local", id+"/"+attribute)
	}
}

// FunctionARN is the unqualified ARN of a function.
func (n Names) FunctionARN(id string) string { return n.arn("lambda", "function:"+id) }
