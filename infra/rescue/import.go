package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// identifiers are the properties by which CloudFormation imports resources.
var identifiers = map[string]string{"AWS::DynamoDB::Table": "TableName", "AWS::S3::Bucket": "BucketName",
	"AWS::KMS::Key": "KeyId", "AWS::SecretsManager::Secret": "Id"}

// The files that importing writes, for aws cloudformation create-change-set.
const importTemplate, importList = "import.yaml", "import.json"

// writeImport writes a template of nothing but what a deleted stack left behind, and the list of it. A stack begins by
// importing that, and then is deployed as usual.
func writeImport(path string, named []string, out io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	body, list, err := importing(text, named)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s and %s say what is imported\n", importTemplate, importList)
	return errors.Join(os.WriteFile(importTemplate, body, 0o600), os.WriteFile(importList, list, 0o600))
}

type imported struct {
	ResourceType, LogicalResourceId string
	ResourceIdentifier              map[string]string
}

// importing returns both files for resources named as <resource>=<name or ARN>, which must be all that stay.
func importing(template []byte, named []string) (body, list []byte, err error) {
	names := map[string]string{}
	for _, n := range named {
		resource, name, ok := strings.Cut(n, "=")
		if names[resource] = name; !ok || name == "" {
			return nil, nil, fmt.Errorf("%.80q is not <resource>=<name or ARN>", n)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(template, &doc); err != nil || len(doc.Content) != 1 {
		return nil, nil, fmt.Errorf("read the template: %w", err)
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	var all []imported
	for key, v := range pairs(doc.Content[0]) {
		switch key.Value {
		case "Resources":
			v, all, err = kept(v, names)
		case "AWSTemplateFormatVersion", "Parameters", "Conditions":
		default: // no transform, and nothing that needs other resources
			continue
		}
		out.Content = append(out.Content, key, v)
	}
	if missing := slices.Sorted(maps.Keys(names)); err == nil && len(missing) > 0 {
		err = fmt.Errorf("the template keeps no %s", strings.Join(missing, ", "))
	}
	if err != nil {
		return nil, nil, err
	}
	if body, err = yaml.Marshal(out); err == nil {
		list, err = json.MarshalIndent(all, "", "  ")
	}
	return body, list, err
}

// kept returns the resources that outlive their stack. It removes their names from names.
func kept(resources *yaml.Node, names map[string]string) (out *yaml.Node, all []imported, err error) {
	out = &yaml.Node{Kind: yaml.MappingNode}
	for key, v := range pairs(resources) {
		var r struct{ Type, DeletionPolicy string }
		for name, field := range pairs(v) {
			switch name.Value {
			case "Type":
				r.Type = field.Value
			case "DeletionPolicy":
				r.DeletionPolicy = field.Value
			}
		}
		if !strings.HasPrefix(r.DeletionPolicy, "Retain") {
			continue
		}
		name, known := names[key.Value]
		if by := identifiers[r.Type]; !known || by == "" {
			return nil, nil, fmt.Errorf("%s=<name or ARN> is missing", key.Value)
		} else if _, id, ok := strings.Cut(name, ":key/"); ok { // the ARN of a key
			all = append(all, imported{r.Type, key.Value, map[string]string{by: id}})
		} else {
			all = append(all, imported{r.Type, key.Value, map[string]string{by: name}})
		}
		delete(names, key.Value)
		out.Content = append(out.Content, key, v)
	}
	return out, all, nil
}

// pairs yields the keys and values of a mapping.
func pairs(m *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if !yield(m.Content[i], m.Content[i+1]) {
				return
			}
		}
	}
}
