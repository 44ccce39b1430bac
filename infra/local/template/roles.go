package template

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	typeRole          = "AWS::IAM::Role"
	typeManagedPolicy = "AWS::IAM::ManagedPolicy"
)

// Roles reads the rights of each function and state machine in the template at path, by logical id. It returns an error
// if a function has no role of its own, or has rights in another form. SAM's policy templates and connectors are not
// supported; the template does not use them.
func Roles(path string, names Names, parameters map[string]string) (map[string]Role, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	r, err := d.resolver(names, parameters)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	r.names.Known = maps.Clone(r.names.Known)
	if r.names.Known == nil {
		r.names.Known = map[string]string{}
	}
	for id, kind := range r.resources {
		if kind == typeSecret { // in AWS, !Ref of a secret is its ARN
			r.names.Known[id] = names.arn("secretsmanager", "secret:"+names.Name(id, kind))
		}
	}
	out, err := (&roles{document: d, resolver: r, byName: map[string]Role{}}).all()
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return out, nil
}

// roles reads the template's IAM resources.
type roles struct {
	document document
	resolver *resolver
	byName   map[string]Role
}

func (x *roles) all() (map[string]Role, error) {
	managed := map[string]Policy{}
	carried := map[string][]any{} // managed policies that name a role, by role
	present, err := x.document.present(x.resolver)
	if err != nil {
		return nil, err
	}
	for _, id := range present {
		kind := x.document.Resources[id].Type
		switch {
		case kind == typeManagedPolicy:
			p, roles, err := x.managed(id)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			managed[x.resolver.names.Ref(id, kind)] = p
			for _, role := range roles {
				carried[role] = append(carried[role], x.resolver.names.Ref(id, kind))
			}
		case kind == typeRole:
		case strings.HasPrefix(kind, "AWS::IAM::"), kind == "AWS::Serverless::Connector":
			return nil, fmt.Errorf("%s: rights by %s are not read", id, kind)
		}
	}
	for _, id := range present {
		if x.document.Resources[id].Type == typeRole {
			if err := x.role(id, managed, carried); err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
		}
	}
	return x.owners(present)
}

// owners maps the logical ids of functions and state machines to their roles.
func (x *roles) owners(present []string) (map[string]Role, error) {
	out := map[string]Role{}
	for _, id := range present {
		res := x.document.Resources[id]
		if res.Type != typeFunction && res.Type != typeMachine && res.Type != typePlainMachine {
			continue
		}
		p, err := x.resolver.object(&res.Properties)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		for _, way := range []string{"Policies", "PermissionsBoundary", "Connectors"} {
			if p[way] != nil || res.Connectors.Kind != 0 {
				return nil, fmt.Errorf("%s: rights by %s are not read: a role says them", id, way)
			}
		}
		arn, _ := cmp.Or(p["Role"], p["RoleArn"]).(string)
		role, known := x.byName[arn[strings.LastIndex(arn, "/")+1:]]
		if !known {
			return nil, fmt.Errorf("%s: it has no role of this template", id)
		}
		out[id] = role
	}
	return out, nil
}

func (x *roles) managed(id string) (p Policy, of []string, err error) {
	properties, err := x.properties(id, "Description", "Roles", "PolicyDocument")
	if err != nil {
		return p, nil, err
	}
	for _, v := range listOf(properties["Roles"]) {
		of = append(of, fmt.Sprint(v))
	}
	p, err = ReadPolicy(id, properties["PolicyDocument"])
	return p, of, err
}

func (x *roles) role(id string, managed map[string]Policy, carried map[string][]any) error {
	p, err := x.properties(id, "AssumeRolePolicyDocument", "ManagedPolicyArns", "Policies")
	if err != nil {
		return err
	}
	name := x.resolver.names.Name(id, typeRole)
	role := Role{Name: name}
	for _, v := range append(listOf(p["ManagedPolicyArns"]), carried[name]...) {
		policy, known := managed[fmt.Sprint(v)]
		if !known {
			return fmt.Errorf("the policy %v is not in the template", v)
		}
		role.Policies = append(role.Policies, policy)
	}
	for _, v := range listOf(p["Policies"]) {
		own, _ := v.(map[string]any)
		policy, err := ReadPolicy(fmt.Sprint(own["PolicyName"]), own["PolicyDocument"])
		if err != nil {
			return err
		}
		role.Policies = append(role.Policies, policy)
	}
	x.byName[name] = role
	return nil
}

// properties resolves a resource's properties. It returns an error for a property that is not in known.
func (x *roles) properties(id string, known ...string) (map[string]any, error) {
	properties := x.document.Resources[id].Properties
	out, err := x.resolver.object(&properties)
	if err != nil {
		return nil, err
	}
	for name := range out {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s is not known here", name)
		}
	}
	return out, nil
}

// listOf returns a list, or nil for a missing value.
func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// Account returns the account with the details of the template's resources that calls refer to.
func (t *Template) Account(names Names) Account {
	account := Account{Region: names.Region, ID: names.Account, PartitionKeys: map[string]string{},
		EachItem: os.Getenv("RINGI_LEADING_KEYS") != "together"} // as .ci/run sets it
	for _, table := range t.Tables {
		account.PartitionKeys[table.Name] = partition(table.Key)
		for _, x := range table.Indexes {
			account.PartitionKeys[table.Name+"/index/"+*x.IndexName] = partition(x.KeySchema)
		}
	}
	for _, m := range t.Machines {
		if strings.Contains(m.Definition, ".waitForTaskToken") {
			account.Waiting = append(account.Waiting, m.ARN)
		}
	}
	return account
}
