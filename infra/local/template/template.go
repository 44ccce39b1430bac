// Package template reads template.yaml, the description of the system, and resolves every intrinsic to its value in a
// local stack.
//
// Bench judges calls to AWS by the role of the calling function, as AWS does: an explicit Deny wins, and a request that
// no statement allows is refused. It knows the part of the policy language that template.yaml uses. Reading a policy
// with anything else returns an error, so that no call is judged by half a policy. It does not judge bucket and key
// policies, permissions boundaries or policies of an organization.
package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The resource types that a local stack supports.
const (
	typeFunction = "AWS::Serverless::Function"
	typeMachine  = "AWS::Serverless::StateMachine"
	typeTable    = "AWS::DynamoDB::Table"
	typeQueue    = "AWS::SQS::Queue"
	typeFIFO     = "AWS::SQS::Queue (FIFO)" // ours: such a queue's name ends in .fifo
	typeBucket   = "AWS::S3::Bucket"
	typeKey      = "AWS::KMS::Key"
	typeSecret   = "AWS::SecretsManager::Secret"
)

// Template has the resources that a local stack needs. Each list is sorted by ID.
type Template struct {
	Functions []Function
	Tables    []Table
	Queues    []Queue
	Machines  []Machine
	Buckets   []Bucket
	Keys      []CryptoKey
	Secrets   []Resource
}

// Resource is a resource of which only the name is needed.
type Resource struct {
	ID   string // logical id
	Name string // physical name; for a key its id, if known
}

// Bucket is an S3 bucket. A bucket with a Retention locks its objects.
type Bucket struct {
	Resource
	Retention Retention
	Versioned bool // it keeps the earlier versions of objects
}

// Retention is how long a bucket locks objects that set no time of their own.
type Retention struct {
	Mode string // GOVERNANCE, COMPLIANCE or ""
	Days int32
}

// CryptoKey is a KMS key. Spec and Usage are empty for an encryption key.
type CryptoKey struct {
	Resource
	Spec, Usage string
}

// document is the part of a template file that is read.
type document struct {
	Parameters map[string]struct {
		Type          string `yaml:"Type"`
		Default       *any   `yaml:"Default"`
		AllowedValues []any  `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
	Conditions map[string]yaml.Node `yaml:"Conditions"`
	Globals    struct {
		Function yaml.Node `yaml:"Function"`
	} `yaml:"Globals"`
	Resources map[string]struct {
		Type       string    `yaml:"Type"`
		Condition  string    `yaml:"Condition"`
		Properties yaml.Node `yaml:"Properties"`
		Connectors yaml.Node `yaml:"Connectors"`
	} `yaml:"Resources"`
}

// Read parses the template at path. parameters override defaults. Read returns an error for an unknown parameter and
// for a value that the template does not allow.
func Read(path string, names Names, parameters map[string]string) (*Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := parse(text, filepath.Dir(path), names, parameters)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return t, nil
}

func parse(text []byte, dir string, names Names, overrides map[string]string) (*Template, error) {
	d, r, err := resolving(text, names, overrides)
	if err != nil {
		return nil, err
	}
	global, err := r.object(&d.Globals.Function)
	if err != nil {
		return nil, fmt.Errorf("Globals.Function: %w", err)
	}
	present, err := d.present(r)
	if err != nil {
		return nil, err
	}
	t := &Template{}
	for _, id := range present {
		res := d.Resources[id]
		if err := t.add(r, id, r.resources[id], &res.Properties, global, dir); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	return t, nil
}

// resolving reads a template, and returns a resolver that knows its names and parameters.
func resolving(text []byte, names Names, overrides map[string]string) (d document, r *resolver, err error) {
	if err := yaml.Unmarshal(text, &d); err != nil {
		return d, nil, err
	}
	r = &resolver{names: names, conditions: d.Conditions, resources: map[string]string{}}
	if r.parameters, err = d.values(overrides); err != nil {
		return d, nil, err
	}
	for id, res := range d.Resources {
		r.resources[id] = res.Type
		if res.Type == typeQueue && isFIFO(&res.Properties) {
			r.resources[id] = typeFIFO
		}
	}
	return d, r, nil
}

// present returns the sorted logical ids of the resources whose conditions hold.
func (d *document) present(r *resolver) (ids []string, err error) {
	for _, id := range slices.Sorted(maps.Keys(d.Resources)) {
		holds := true
		if name := d.Resources[id].Condition; name != "" {
			if holds, err = r.condition(name); err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
		}
		if holds {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// values returns the parameters' values: overrides, or else defaults.
func (d *document) values(overrides map[string]string) (map[string]any, error) {
	for name := range overrides {
		if _, ok := d.Parameters[name]; !ok {
			return nil, fmt.Errorf("there is no parameter %q", name)
		}
	}
	values := map[string]any{}
	for name, p := range d.Parameters {
		v, overridden := overrides[name]
		switch {
		case overridden:
		case p.Default != nil:
			v = fmt.Sprint(*p.Default)
		default:
			return nil, fmt.Errorf("parameter %s has no default and no value", name)
		}
		if p.AllowedValues != nil && !slices.ContainsFunc(p.AllowedValues, func(a any) bool { return fmt.Sprint(a) == v }) {
			return nil, fmt.Errorf("parameter %s: %q is none of %v", name, v, p.AllowedValues)
		}
		values[name] = v
		if p.Type == "Number" {
			number, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %q is no number", name, v)
			}
			values[name] = number
		}
	}
	return values, nil
}

// add adds one resource. It ignores types that a local stack does not need.
func (t *Template) add(r *resolver, id, kind string, properties *yaml.Node, global map[string]any, dir string) error {
	name := r.names.Name(id, kind)
	switch kind {
	case typeSecret:
		t.Secrets = append(t.Secrets, Resource{ID: id, Name: name})
		return nil
	case typeBucket, typeKey, typeFunction, typeMachine, typeTable, typeQueue, typeFIFO:
	default:
		return nil
	}
	p, err := r.object(properties)
	if err != nil {
		return err
	}
	switch kind {
	case typeBucket:
		var b struct {
			VersioningConfiguration struct{ Status string }
			ObjectLockConfiguration struct {
				Rule struct{ DefaultRetention Retention }
			}
		}
		err := decode(p, &b)
		t.Buckets = append(t.Buckets, Bucket{
			Resource{ID: id, Name: name}, b.ObjectLockConfiguration.Rule.DefaultRetention,
			b.VersioningConfiguration.Status == "Enabled",
		})
		return err
	case typeKey:
		var k struct{ KeySpec, KeyUsage string }
		err := decode(p, &k)
		t.Keys = append(t.Keys, CryptoKey{Resource{ID: id, Name: r.names.Ref(id, kind)}, k.KeySpec, k.KeyUsage})
		return err
	case typeFunction:
		f, err := readFunction(id, merge(global, p))
		t.Functions = append(t.Functions, f)
		return err
	case typeTable:
		table, err := readTable(id, name, p)
		t.Tables = append(t.Tables, table)
		return err
	case typeQueue, typeFIFO:
		q, err := readQueue(id, name, p)
		q.URL, q.ARN = r.names.Ref(id, kind), r.names.Attribute(id, kind, "Arn")
		t.Queues = append(t.Queues, q)
		return err
	default:
		m, err := readMachine(id, name, dir, p)
		m.ARN = r.names.Ref(id, kind)
		t.Machines = append(t.Machines, m)
		return err
	}
}

// isFIFO reads a queue's properties before names are resolved.
func isFIFO(properties *yaml.Node) bool {
	var p struct {
		FifoQueue bool `yaml:"FifoQueue"`
	}
	return properties.Decode(&p) == nil && p.FifoQueue
}

// object resolves a node that holds a map. A missing node is an empty map.
func (r *resolver) object(n *yaml.Node) (map[string]any, error) {
	if n.Kind == 0 {
		return map[string]any{}, nil
	}
	v, err := r.value(n)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("line %d: a map is wanted here", n.Line)
	}
	return m, nil
}

// merge applies own to global as SAM does: maps are merged, and other values are replaced. The globals have no lists of
// which functions have more.
func merge(global, own map[string]any) map[string]any {
	out := maps.Clone(global)
	for k, v := range own {
		g, isMap := out[k].(map[string]any)
		if m, ok := v.(map[string]any); ok && isMap {
			v = merge(g, m)
		}
		out[k] = v
	}
	return out
}

func decode(properties, into any) error {
	text, err := json.Marshal(properties)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Each local stack has AWS stand-ins of its own, so all have the same names.
const (
	Stack   = "ringi"
	Region  = "us-east-1"
	Account = "123456789012"
)

// ARN returns the ARN of a resource in a local stack's account.
func ARN(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, Region, Account, resource)
}

// Names gives the template's resources their physical names.
type Names struct {
	Endpoint string // URL of the AWS stand-ins, without a trailing slash; part of queue URLs
	// Known has the names that only the services can give: "Key" is the value of !Ref Key, and "Table.StreamArn" that
	// of !GetAtt Table.StreamArn. All other names follow from the template.
	Known map[string]string
}

// pseudo are the values of CloudFormation's own parameters.
var pseudo = map[string]string{"AWS::AccountId": Account, "AWS::Region": Region, "AWS::Partition": "aws",
	"AWS::StackName": Stack, "AWS::URLSuffix": "amazonaws.com"}

// Name returns a resource's physical name. A function's is its logical id, which is convenient in the AWS CLI.
func (n Names) Name(id, kind string) string {
	switch kind {
	case typeFunction:
		return id
	case typeBucket:
		return strings.ToLower(Stack + "-" + id)
	case typeFIFO:
		return Stack + "-" + id + ".fifo"
	default:
		return Stack + "-" + id
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
		return n.Endpoint + "/" + Account + "/" + name
	case typeMachine:
		return ARN("states", "stateMachine:"+name)
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
		return ARN("lambda", "function:"+id)
	case typeTable + ".Arn":
		return ARN("dynamodb", "table/"+name)
	case typeTable + ".StreamArn":
		return ARN("dynamodb", "table/"+name+"/stream/local")
	case typeQueue + ".Arn", typeFIFO + ".Arn":
		return ARN("sqs", name)
	case typeQueue + ".QueueName", typeFIFO + ".QueueName", typeMachine + ".Name":
		return name
	case typeBucket + ".Arn":
		return "arn:aws:s3:::" + name
	case typeKey + ".Arn":
		return ARN("kms", "key/"+n.Ref(id, kind))
	case typeRole + ".Arn":
		return "arn:aws:iam::" + Account + ":role/" + name
	case typeMachine + ".Arn":
		return n.Ref(id, kind)
	default:
		return ARN("local", id+"/"+attribute)
	}
}
