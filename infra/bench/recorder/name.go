package recorder

import "strings"

// services are short names of what AWS calls its own on the wire.
var services = map[string]string{"AWSStepFunctions": "StepFunctions", "AmazonSQS": "SQS", "TrentService": "KMS", "secretsmanager": "SecretsManager"}

// name makes service and action of what the Lambda service calls a moment.
func name(kind string) string {
	method, path, isPath := strings.Cut(kind, " /")
	if !isPath {
		service, action, ok := strings.Cut(kind, ".")
		if short := services[service]; ok && short != "" {
			return short + "." + action
		}
		return kind
	}
	parts := strings.Split(path, "/")
	switch parts[0] {
	case "api":
		return "slack " + strings.Join(parts[1:], "/")
	case "freee", "sheets":
		return parts[0] + " " + method + " " + parts[len(parts)-1]
	}
	switch method {
	case "PUT":
		return "S3.PutObject"
	case "GET":
		return "S3.GetObject"
	}
	return kind
}
