package infra_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
)

// dimensions are the names under which each service publishes its metrics. A graph with another dimension never has
// data.
var dimensions = map[string]string{
	"AWS/Lambda": "FunctionName", "AWS/States": "StateMachineArn", "AWS/SQS": "QueueName", "AWS/DynamoDB": "TableName",
	"AWS/ApiGateway": "ApiId", boot.MetricNamespace: "function",
}

// page is a dashboard's body, with references ${X} as in the template.
type page struct {
	Widgets []struct {
		Properties struct {
			Alarms  []string
			Metrics [][]any
		}
	}
}

var reference = regexp.MustCompile(`\$\{([A-Za-z0-9]+)(?:\.[A-Za-z]+)?\}`)

// counted returns the names of metrics that each function's code uses, by folder.
var counted = sync.OnceValues(func() (map[string][]string, error) {
	all, err := packages()
	written := map[string][]string{}
	for _, p := range all {
		if err == nil {
			written[p.ImportPath], err = metricsIn(p)
		}
	}
	of := map[string][]string{}
	for _, p := range all {
		if folder, ok := strings.CutPrefix(p.ImportPath, "ringi/functions/"); ok {
			for _, pkg := range append(p.Deps, p.ImportPath) {
				of[folder] = append(of[folder], written[pkg]...)
			}
		}
	}
	return of, err
})

// metricsIn returns the names of metrics that a package uses.
func metricsIn(p listed) (names []string, err error) {
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "boot" &&
					slices.Contains(boot.MetricNames(), boot.MetricName(s.Sel.Name)) {
					names = append(names, s.Sel.Name)
				}
			}
			return true
		})
	}
	return names, nil
}

func dashboardRules() []rule {
	return []rule{dashboardRule, routeMetricRule}
}

// routeMetricRule: API Gateway charges for metrics per route, and no alarm or graph reads them.
func routeMetricRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::Serverless::HttpApi") {
		wrong.where(at(s.resources[id].Properties, "DefaultRouteSettings", "DetailedMetricsEnabled") != nil,
			"%s pays for metrics that nobody reads", id)
	}
}

func dashboardRule(s *stack, wrong report) {
	boards := s.of("AWS::CloudWatch::Dashboard")
	if len(boards) != 1 {
		wrong("there are %d dashboards, one is wanted", len(boards))
		return
	}
	body := text(at(s.resources[boards[0]].Properties["DashboardBody"], "Fn::Sub"))
	for _, m := range reference.FindAllStringSubmatch(body, -1) {
		wrong.where(s.resources[m[1]].Type == "" && !s.mapping(m[1]), "the dashboard shows %s, which does not exist", m[1])
	}
	for id := range s.functions { // run-sandbox is there only where it is wanted, and is searched for by its name
		wrong.where(!strings.Contains(body, id), "the dashboard shows nothing of %s", id)
	}
	var p page
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		wrong("the dashboard's body is no JSON: %v", err)
		return
	}
	var alarms []string
	var drawn []watched
	for _, w := range p.Widgets {
		alarms = append(alarms, w.Properties.Alarms...)
		for _, m := range w.Properties.Metrics {
			if len(m) < 4 { // an expression
				continue
			}
			mapping := text(m[0]) == "AWS/Lambda" && text(m[2]) == "EventSourceMappingUUID"
			wrong.where(!mapping && text(m[2]) != dimensions[text(m[0])], "the dashboard names a dimension %s of %s", m[2], m[0])
			drawn = append(drawn, watched{text(m[0]), text(m[1]), strings.NewReplacer("${", "", "}", "").Replace(text(m[3]))})
		}
	}
	var watching []watched
	for _, id := range s.of("AWS::CloudWatch::Alarm") {
		wrong.where(!slices.Contains(alarms, "${"+id+".Arn}"), "the dashboard does not show %s", id)
		watching = append(watching, watches(s.resources[id].Properties)...)
	}
	for _, w := range watching {
		wrong.where(!slices.Contains(drawn, w),
			"the dashboard does not draw %s %s of %s, which an alarm watches", w.namespace, w.name, w.of)
	}
	for _, name := range boot.MetricNames() {
		wrong.where(!slices.ContainsFunc(drawn, func(w watched) bool {
			return w.namespace == boot.MetricNamespace &&
				w.name == string(name)
		}), "the dashboard does not draw %s", name)
	}
	checkCounted(s, slices.Concat(watching, drawn), wrong)
}

// mapping reports whether SAM makes an event source mapping of this name.
func (s *stack) mapping(name string) bool {
	for id, f := range s.functions {
		for _, m := range f.Streams {
			if name == id+m.Event {
				return true
			}
		}
	}
	return false
}

// checkCounted compares Ringi's metrics in alarms and graphs with those that functions write.
func checkCounted(s *stack, all []watched, wrong report) {
	writes, err := counted()
	wrong.where(err != nil, "go list: %v", err)
	for _, w := range all {
		if w.namespace != boot.MetricNamespace {
			continue
		}
		if !slices.Contains(boot.MetricNames(), boot.MetricName(w.name)) {
			wrong("no function counts %s %s", w.namespace, w.name)
		} else if !slices.Contains(writes[s.functions[w.of].Folder], w.name) {
			wrong("the template watches %s of %s, which never counts it", w.name, w.of)
		}
	}
}

// The rules only check names in this list, so nobody would notice a missing one.
func TestMetricNamesAreAllListed(t *testing.T) {
	file := expect.Value(parser.ParseFile(token.NewFileSet(), filepath.Join(repository, "shared/runtime/boot/boot.go"),
		nil, 0))(t)
	listed := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "MetricName" {
				continue
			}
			listed++
			value := strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
			expect.That(t, v.Names[0].Name == value && slices.Contains(boot.MetricNames(), boot.MetricName(value)),
				"boot.%s = %q is not in MetricNames under that name", v.Names[0].Name, value)
		}
	}
	expect.That(t, listed >= 20, "only %d names of metrics", listed)
}
