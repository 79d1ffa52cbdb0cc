package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
)

// A Source is a database of samples, and a time range.
type Source struct {
	Engine   promql.QueryEngine
	DB       storage.Queryable
	From, To time.Time
	Step     time.Duration // between two values
	Scrape   time.Duration // between two scrapes
	// Absent are the metrics and labels that the database does not have, and why. A query with one
	// that is neither there nor here, or both, is an error.
	Absent map[string]string
}

// A Result is what a query returns: one series for each line, or for each row of a table.
type Result struct {
	Title  string // of the panel
	Ref    string // number of the panel and refId, such as 23A
	Expr   string // without variables
	Series []Series
}

// A Series has its points in the order of time.
type Series struct {
	Labels labels.Labels
	Points []promql.FPoint
}

// Shows reports whether a query has a value other than 0.
func (r *Result) Shows() bool {
	return slices.ContainsFunc(r.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Points, func(p promql.FPoint) bool { return p.F != 0 && !math.IsNaN(p.F) })
	})
}

// Results evaluates all queries of a dashboard. It returns an error for each query that does not
// parse, or that has an unknown variable, metric or label.
func (s *Source) Results(ctx context.Context, d *Dashboard) ([]Result, error) {
	variables, err := s.choose(ctx, d)
	if err != nil {
		return nil, err
	}
	var all []Result
	var problems []error
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			r, err := s.result(ctx, &t, variables)
			if err != nil {
				problems = append(problems, fmt.Errorf("panel %d %q, query %s: %w", p.ID, p.Title, t.RefID, err))
				continue
			}
			r.Title, r.Ref = p.Title, fmt.Sprint(p.ID, t.RefID)
			all = append(all, *r)
		}
	}
	return all, errors.Join(problems...)
}

// choose chooses "All" of each variable.
func (s *Source) choose(ctx context.Context, d *Dashboard) (Variables, error) {
	variables := Variables{"__rate_interval": RateInterval(s.Step, s.Scrape).String()}
	for _, variable := range d.Templating.List {
		switch variable.Type {
		case "datasource":
		case "query":
			values, err := s.valuesOf(ctx, variable.Definition, variables)
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
			variables[variable.Name] = anyOf(values)
		default:
			return nil, fmt.Errorf("variable %s: type %q is not supported", variable.Name, variable.Type)
		}
	}
	return variables, nil
}

// valuesOf evaluates label_values(SELECTOR, LABEL).
func (s *Source) valuesOf(ctx context.Context, definition string, variables Variables) ([]string, error) {
	selector, label, err := labelValues(definition)
	if err != nil {
		return nil, err
	}
	if selector, err = variables.Expand(selector); err != nil {
		return nil, err
	}
	matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(selector)
	if err != nil {
		return nil, err
	}
	querier, err := s.DB.Querier(s.From.UnixMilli(), s.To.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer func() { _ = querier.Close() }() // nothing was written
	values, _, err := querier.LabelValues(ctx, label, nil, matchers...)
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("no values: %s", definition)
	}
	return slices.Clone(values), err
}

// result evaluates a query, at the end of the range or over all of it.
func (s *Source) result(ctx context.Context, t *Target, variables Variables) (*Result, error) {
	expression, err := variables.Expand(t.Expr)
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx, expression); err != nil {
		return nil, fmt.Errorf("%w: %s", err, expression)
	}
	r := &Result{Expr: expression}
	if t.Instant {
		err = r.evaluate(ctx, func() (promql.Query, error) { return s.Engine.NewInstantQuery(ctx, s.DB, nil, expression, s.To) })
	} else {
		err = r.evaluate(ctx, func() (promql.Query, error) {
			return s.Engine.NewRangeQuery(ctx, s.DB, nil, expression, s.From, s.To, s.Step)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, expression)
	}
	for i := range r.Series {
		if _, err := Legend(t.LegendFormat, r.Series[i].Labels); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Result) evaluate(ctx context.Context, newQuery func() (promql.Query, error)) error {
	query, err := newQuery()
	if err != nil {
		return err
	}
	defer query.Close()
	switch result := query.Exec(ctx); value := result.Value.(type) {
	case promql.Matrix:
		for _, s := range value {
			r.Series = append(r.Series, Series{Labels: s.Metric.Copy(), Points: slices.Clone(s.Floats)})
		}
	case promql.Vector:
		for _, s := range value {
			r.Series = append(r.Series, Series{Labels: s.Metric.Copy(), Points: []promql.FPoint{{T: s.T, F: s.F}}})
		}
		slices.SortFunc(r.Series, func(a, b Series) int { return labels.Compare(a.Labels, b.Labels) })
	default:
		return errors.Join(result.Err, fmt.Errorf("a query of type %T", value))
	}
	return nil
}

// check returns an error if an expression has a metric or a label that the database does not have.
func (s *Source) check(ctx context.Context, expression string) error {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return err
	}
	querier, err := s.DB.Querier(s.From.UnixMilli(), s.To.UnixMilli())
	if err != nil {
		return err
	}
	defer func() { _ = querier.Close() }() // nothing was written
	var known []string                     // labels of all metrics in the expression
	absent := false                        // any of the metrics
	for _, selector := range parser.ExtractSelectors(parsed) {
		var metric *labels.Matcher
		for _, m := range selector {
			if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
				metric = m
			}
		}
		if metric == nil {
			return errors.New("a selector without the name of a metric")
		}
		has, _, err := querier.LabelNames(ctx, nil, metric)
		switch _, mayBeAbsent := s.Absent[metric.Value]; {
		case err != nil:
			return err
		case len(has) == 0 && !mayBeAbsent:
			return fmt.Errorf("no such metric: %s", metric.Value)
		case len(has) > 0 && mayBeAbsent:
			return fmt.Errorf("listed as absent, but it is there: %s", metric.Value)
		case mayBeAbsent:
			absent = true
			continue
		}
		for _, m := range selector {
			if !slices.Contains(has, m.Name) {
				return fmt.Errorf("metric %s has no label %s", metric.Value, m.Name)
			}
		}
		known = append(known, has...)
	}
	if absent {
		return nil
	}
	return s.checkGrouping(parsed, known)
}

// checkGrouping returns an error if an expression aggregates by an unknown label.
func (s *Source) checkGrouping(parsed parser.Expr, known []string) error {
	var problems []error
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregate, is := node.(*parser.AggregateExpr); is {
			for _, label := range aggregate.Grouping {
				_, mayBeAbsent := s.Absent[label]
				switch has := slices.Contains(known, label); {
				case has && mayBeAbsent:
					problems = append(problems, fmt.Errorf("listed as absent, but it is there: label %s", label))
				case !has && !mayBeAbsent:
					problems = append(problems, fmt.Errorf("no metric in the query has a label %s", label))
				}
			}
		}
		return nil
	})
	return errors.Join(problems...)
}
