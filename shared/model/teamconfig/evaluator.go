package teamconfig

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Defaults and limits of evaluators and judges.
const (
	DefaultModel            = "google-gla:gemini-2.5-flash"
	defaultEvaluatorTimeout = 300 // seconds
	defaultJudgeTimeout     = 60  // seconds
	// weightSlack is the allowed difference between 1 and the sum of weights.
	weightSlack = 0.001
	// MaxMetrics limits the calls that a round makes at the same time, because their cost is known only afterwards.
	MaxMetrics = 20
)

// BuiltIn lists the metrics that need no instruction. Their weights apply if a file names no metric.
var BuiltIn = []Metric{{Name: "ClarityCoherence", Weight: 0.334}, {Name: "Coverage", Weight: 0.333},
	{Name: "Relevance", Weight: 0.333}}

// BuiltIn reports whether the metric is one that needs no instruction.
func (m Metric) BuiltIn() bool {
	return slices.ContainsFunc(BuiltIn, func(b Metric) bool { return b.Name == m.Name })
}

// Evaluator reads an evaluator's file or that of a contest, which names one. For no file Evaluator reads
// configs/evaluator.toml if it exists.
func (w Workspace) Evaluator(file string) (Evaluator, []Finding) {
	r := &reading{w: w}
	if file == "" {
		return r.evaluatorOf(r.section(evaluatorFile, "", map[string]any{})), r.found
	}
	tables := r.file(file, "")
	if tables == nil {
		return Evaluator{}, r.found
	}
	if _, ok := tables["orchestrator"]; ok {
		c, found := w.Contest(file)
		return c.Evaluator, found
	}
	return r.evaluator(file, "", tables), r.found
}

func (r *reading) evaluatorOf(s *section) Evaluator {
	file, tables := s.fileOr("evaluator_config", evaluatorFile)
	if tables == nil {
		s.names("evaluator_config", DefaultModel)
		return defaultEvaluator()
	}
	return r.evaluator(file, "evaluator.", tables)
}

func defaultEvaluator() Evaluator {
	e := Evaluator{DefaultModel: DefaultModel, Metrics: slices.Clone(BuiltIn),
		Call: called(Call{}, defaultEvaluatorTimeout)}
	for i := range e.Metrics {
		e.Metrics[i].Model = e.DefaultModel
	}
	return e
}

// Over fills in unset fields from another call.
func (c Call) Over(other Call) Call {
	c.Temperature, c.MaxTokens, c.TimeoutSeconds = cmp.Or(c.Temperature, other.Temperature),
		cmp.Or(c.MaxTokens, other.MaxTokens), cmp.Or(c.TimeoutSeconds, other.TimeoutSeconds)
	c.MaxRetries, c.TopP, c.Seed = cmp.Or(c.MaxRetries, other.MaxRetries), cmp.Or(c.TopP, other.TopP),
		cmp.Or(c.Seed, other.Seed)
	if c.StopSequences == nil {
		c.StopSequences = other.StopSequences
	}
	return c
}

// called fills in the timeout and the retries if they are not set.
func called(c Call, timeout int) Call {
	c.TimeoutSeconds = cmp.Or(c.TimeoutSeconds, &timeout)
	return retried(c)
}

func retried(c Call) Call {
	c.MaxRetries = cmp.Or(c.MaxRetries, new(DefaultMaxRetries))
	return c
}

func (r *reading) judgmentOf(s *section) Judgment {
	file, tables := s.fileOr("judgment_config", judgmentFile)
	if tables == nil {
		s.names("judgment_config", DefaultModel)
		return Judgment{Model: DefaultModel, Call: judged(Call{})}
	}
	return r.judgment(file, "judgment.", tables)
}

// judged fills in a judge's temperature (0) and timeout if they are not set.
func judged(c Call) Call {
	c.Temperature = cmp.Or(c.Temperature, new(0.0))
	return called(c, defaultJudgeTimeout)
}

func (r *reading) judgment(file, path string, tables map[string]any) Judgment {
	s := r.section(file, path, tables)
	j := Judgment{Model: s.model("model", DefaultModel), Call: judged(s.call())}
	if t := s.instruction("system_instruction"); t != nil && !blank(*t) {
		j.SystemInstruction = *t
	}
	s.ignored("after the last round there is nothing to decide", "judge_on_final_round")
	s.end()
	return j
}

func (r *reading) evaluator(file, path string, tables map[string]any) Evaluator {
	s := r.section(file, path, tables)
	model, call := s.model("default_model", DefaultModel), s.call()
	if keys := s.table("llm_default"); keys != nil {
		d := r.section(file, path+"llm_default.", keys)
		model, call = d.model("model", model), d.call().Over(call)
		d.end()
		for key := range keys {
			r.assign(path+key, file)
		}
		if _, ok := keys["model"]; ok {
			r.assign(path+"default_model", file)
		}
	}
	e := Evaluator{DefaultModel: model, Metrics: []Metric{}, Call: called(call, defaultEvaluatorTimeout)}
	entries := s.list("metrics", "[[metrics]]")
	if len(entries) == 0 {
		s.refuse("metrics", "an evaluator needs a metric: [[metrics]] with name")
	}
	if n := len(entries); n > MaxMetrics {
		s.refuse("metrics", "must be at most %d metrics", MaxMetrics)
		entries = entries[:MaxMetrics]
	}
	weighed := 0
	var names []string
	for i, keys := range entries {
		m := r.section(file, fmt.Sprintf("%smetrics[%d].", path, i), keys)
		metric := m.metric(e.DefaultModel)
		if _, ok := keys["weight"]; ok {
			weighed++
		}
		if !blank(metric.Name) {
			names = append(names, metric.Name)
		}
		e.Metrics = append(e.Metrics, metric)
	}
	if twice := repeated(names); twice != "" {
		s.refuse("metrics", "Duplicate metric name detected: %s", twice)
	}
	s.weigh(e.Metrics, weighed)
	if _, ok := s.take("custom_metrics"); ok {
		s.refuse("custom_metrics", "can't be used: write a metric of your own as [[metrics]] with system_instruction")
	}
	s.end()
	return e
}

func (s *section) metric(model string) Metric {
	m := Metric{Name: strings.Join(strings.Fields(s.name("name")), " "), Model: s.model("model", model), Call: s.call()}
	if w := s.number("weight", 0, 1); w != nil {
		m.Weight = *w
	}
	if t := s.instruction("system_instruction"); t != nil && !blank(*t) {
		m.SystemInstruction = *t
	}
	if m.Name != "" && !m.BuiltIn() && m.SystemInstruction == "" {
		s.refuse("name", "isn't a metric Ringi knows: use ClarityCoherence, Coverage or Relevance, or define your own with system_instruction")
	}
	s.end()
	return m
}

// weigh gives equal weights to metrics without any. It refuses weights of only some metrics, and sums other than 1.
func (s *section) weigh(metrics []Metric, weighed int) {
	switch {
	case len(metrics) == 0:
	case weighed == 0:
		for i := range metrics {
			metrics[i].Weight = 1 / float64(len(metrics))
		}
	case weighed < len(metrics):
		s.refuse("metrics", "must all have a weight, or none: %d of %d have one", weighed, len(metrics))
	default:
		sum := 0.0
		for _, m := range metrics {
			sum += m.Weight
		}
		if math.Abs(sum-1) > weightSlack+1e-9 {
			s.refuse("metrics", "must have weights that sum to 1 within %v, but these sum to %.7g", weightSlack, sum)
		}
	}
}
