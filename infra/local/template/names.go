package template

import (
	"fmt"
	"strings"
)

// Names gives the template's resources their physical names. Each stack has its own AWS stand-ins, so stacks may use
// the same names.
type Names struct {
	Stack    string // e.g. "ringi"
	Region   string
	Account  string
	Endpoint string // URL of the AWS stand-ins, without a trailing slash; part of queue URLs
	// Known has the names that only the services can give: "Key" is the value of !Ref Key, and "Table.StreamArn" that
	// of !GetAtt Table.StreamArn. All other names follow from the template.
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

// Name returns a resource's physical name. A function's is its logical id, which is convenient in the AWS CLI.
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

// Ref returns the value of !Ref for a resource.
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

// Attribute returns the value of !GetAtt for a resource. Attributes that a local stack does not use, such as a log
// group's ARN, get a plausible value.
func (n Names) Attribute(id, kind, attribute string) string {
	if known, ok := n.Known[id+"."+attribute]; ok {
		return known
	}
	name := n.Name(id, kind)
	switch kind + "." + attribute {
	case typeFunction + ".Arn":
		return n.FunctionARN(id)
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

func (n Names) FunctionARN(id string) string { return n.arn("lambda", "function:"+id) }
