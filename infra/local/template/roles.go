package template

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strings"
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
	d, r, err := resolving(text, names, parameters)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	r.names.Known = map[string]string{}
	maps.Copy(r.names.Known, names.Known)
	for id, kind := range r.resources {
		if kind == typeSecret { // in AWS, !Ref of a secret is its ARN
			r.names.Known[id] = ARN("secretsmanager", "secret:"+names.Name(id, kind))
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
		if res.Type != typeFunction && res.Type != typeMachine {
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
		arn, _ := p["Role"].(string)
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
	return fields(out, known...)
}

// listOf returns a list, or nil for a missing value.
func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// Bench checks the calls of functions against their roles before they reach AWS's stand-ins.
type Bench struct {
	// Roles maps a function's access key id to its role. Calls with other keys, those of people and tests, are not
	// checked.
	Roles map[string]Role
	Log   *slog.Logger
	// PartitionKeys has the partition key of each table, by name, and of each index, as table/index/name.
	PartitionKeys map[string]string
	Waiting       []string // ARNs of the state machines that wait for tokens
	// Same lists the template's resources that a request's resource may stand for, since tests create several of each.
	// If Same is nil, a resource only stands for itself.
	Same func(Role, Request) []string
}

// NewBench reads the template at path. It returns an error if Read or Roles does.
func NewBench(path string, names Names, parameters map[string]string, log *slog.Logger) (*Bench, error) {
	t, err := Read(path, names, parameters)
	if err != nil {
		return nil, err
	}
	b := &Bench{Log: log, PartitionKeys: map[string]string{}}
	for _, table := range t.Tables {
		b.PartitionKeys[table.Name] = partition(table.Key)
		for _, x := range table.Indexes {
			b.PartitionKeys[table.Name+"/index/"+*x.IndexName] = partition(x.KeySchema)
		}
	}
	for _, m := range t.Machines {
		if strings.Contains(m.Definition, ".waitForTaskToken") {
			b.Waiting = append(b.Waiting, m.ARN)
		}
	}
	b.Roles, err = Roles(path, names, parameters)
	return b, err
}

// Handler passes on the calls that the caller's role allows, and refuses the others as AWS does.
func (b *Bench) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := readPolicy(r)
		if err != nil {
			return // the caller has disconnected
		}
		role, judged := b.Roles[c.caller]
		if !judged {
			next.ServeHTTP(w, r)
			return
		}
		all, err := b.requests(c)
		if err != nil {
			b.Log.ErrorContext(r.Context(), "a call that can't be judged", "function", c.caller, "err", err)
			c.refuse(w, err.Error())
			return
		}
		for _, q := range all {
			if why := b.judge(c.caller, role, q); why != "" {
				b.Log.ErrorContext(r.Context(), "a call that the role doesn't allow", "function", c.caller, "action", q.Action,
					"resource", q.Resource)
				c.refuse(w, why)
				return
			}
		}
		if list, reads := listing(all); reads {
			w = &gone{ResponseWriter: w, call: c, refused: func() string { return b.judge(c.caller, role, list) }}
		}
		next.ServeHTTP(w, r)
	})
}

// judge returns why a request is refused, or "".
func (b *Bench) judge(caller string, role Role, q Request) string {
	v := role.Judge(q)
	if b.Same != nil {
		for _, q.Resource = range b.Same(role, q) {
			if v = role.Judge(q); v.Allowed {
				break
			}
		}
	}
	if !v.Allowed {
		return refusal(role, caller, q, v)
	}
	return ""
}

// listing returns the right that a caller needs to get a 404 for a missing object. Without that right, S3 answers 403.
func listing(all []Request) (Request, bool) {
	if len(all) != 1 || all[0].Action != "s3:GetObject" {
		return Request{}, false
	}
	bucket, _, _ := strings.Cut(all[0].Resource, "/")
	return Request{Action: "s3:ListBucket", Resource: bucket, Context: all[0].Context}, true
}

// gone replaces S3's 404 for a missing object by a 403 if the caller may not list the bucket.
type gone struct {
	http.ResponseWriter
	call    call
	refused func() string
	instead bool // the answer was replaced
}

func (g *gone) WriteHeader(status int) {
	if status == http.StatusNotFound {
		if why := g.refused(); why != "" {
			g.instead = true
			g.Header().Del("Content-Length")
			g.call.refuse(g.ResponseWriter, why)
			return
		}
	}
	g.ResponseWriter.WriteHeader(status)
}

func (g *gone) Write(b []byte) (int, error) {
	if g.instead {
		return len(b), nil
	}
	return g.ResponseWriter.Write(b)
}

// Unwrap lets the proxy flush the response.
func (g *gone) Unwrap() http.ResponseWriter { return g.ResponseWriter }

// Must returns an error unless the role of a function or state machine allows these actions, which AWS takes on its
// behalf.
func (b *Bench) Must(owner, resource string, actions ...string) error {
	for _, action := range actions {
		if why := b.judge(owner, b.Roles[owner], Request{Action: action, Resource: resource}); why != "" {
			return errors.New(why)
		}
	}
	return nil
}

// refusal returns AWS's message for a request that the role does not allow.
func refusal(role Role, caller string, q Request, v Verdict) string {
	action, resource := q.Action, q.Resource
	if strings.HasPrefix(action, "sqs:") { // SQS uses lower case
		action = strings.ToLower(action)
	}
	why := "because no identity-based policy allows the " + action + " action"
	if v.By != "" {
		why = "with an explicit deny in an identity-based policy"
	}
	if strings.HasPrefix(action, "s3:") {
		resource = `"` + resource + `"`
	}
	who := fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", Account, role.Name, caller)
	return fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", who, action, resource, why)
}

// refuse answers a refused call in the form of its service.
func (c call) refuse(w http.ResponseWriter, message string) {
	switch c.service {
	case "s3":
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if c.Method == http.MethodHead {
			return
		}
		body, _ := xml.Marshal(struct { // marshaling strings can't fail
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}{Code: "AccessDenied", Message: message})
		w.Write(append([]byte(xml.Header), body...))
	case "lambda":
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException")
		c.answer(w, http.StatusForbidden, map[string]string{"Message": message})
	case "sqs": // clients read the code of the older protocol first
		w.Header().Set("X-Amzn-Query-Error", "AccessDenied;Sender")
		c.answer(w, http.StatusForbidden, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"message": message})
	case "dynamodb":
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException",
			"Message": message})
	default:
		c.answer(w, http.StatusBadRequest, map[string]string{"__type": "AccessDeniedException", "Message": message})
	}
}

func (c call) answer(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", cmp.Or(c.Header.Get("Content-Type"), "application/json"))
	w.WriteHeader(status)
	text, _ := json.Marshal(body) // marshaling strings can't fail
	w.Write(text)
}
