package lambda

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variables returns all environment variables of a function's process: Lambda's own, then the function's. The process
// inherits none of this program's variables.
func variables(o Options, f Function, runtimeAPI string) []string {
	all := map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          runtimeAPI,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      time.Now().UTC().Format("2006/01/02") + "/[$LATEST]local",
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"AWS_REGION":                      o.Region,
		"AWS_DEFAULT_REGION":              o.Region,
		"AWS_ACCESS_KEY_ID":               f.Name, // identifies the function's calls
		"AWS_SECRET_ACCESS_KEY":           SecretKey(f.Name),
		"AWS_SESSION_TOKEN":               "local",
		"AWS_EC2_METADATA_DISABLED":       "true",
		"LAMBDA_TASK_ROOT":                filepath.Dir(f.Binary),
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
		"_HANDLER":                        "bootstrap",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"LANG":                            "en_US.UTF-8",
		"TZ":                              ":UTC",
	}
	if o.Endpoint != "" {
		all["AWS_ENDPOINT_URL"] = o.Endpoint
	}
	if f.LogLevel != "" {
		all["AWS_LAMBDA_LOG_FORMAT"], all["AWS_LAMBDA_LOG_LEVEL"] = "JSON", f.LogLevel
	}
	maps.Copy(all, f.Environment)
	list := make([]string, 0, len(all))
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// SecretKey is the secret access key of a function. No service checks it; it differs so that a leak can be found.
func SecretKey(function string) string { return "local-secret-key-of-" + function }

func arn(o Options, name string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", o.Region, o.Account, name)
}

// plainName extracts the function's name from a name or ARN, which may be partial and may have a qualifier.
func plainName(name string) string {
	if _, after, ok := strings.Cut(name, "function:"); ok {
		name = after
	}
	name, _, _ = strings.Cut(name, ":")
	return name
}
