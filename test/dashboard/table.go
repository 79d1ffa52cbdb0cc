package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// grid is a panel of rows and columns.
type grid struct {
	Head []string
	Rows [][]string
}

// newGrid returns the columns of an instant query in Grafana's order (the time, the labels and the
// value), unless the panel organizes them.
func newGrid(p *PanelView) *grid {
	series := p.series()
	if len(series) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, s := range series {
		s.Labels.Range(func(l labels.Label) { names[l.Name] = true })
	}
	const when, value = "Time", "Value"
	columns := slices.Concat([]string{when}, slices.Sorted(maps.Keys(names)), []string{value})
	renamed := map[string]string{}
	for _, t := range p.Transformations {
		columns = slices.DeleteFunc(columns, func(name string) bool { return t.Options.ExcludeByName[name] })
		slices.SortStableFunc(columns, func(a, b string) int { return cmp.Compare(t.Options.IndexByName[a], t.Options.IndexByName[b]) })
		maps.Copy(renamed, t.Options.RenameByName)
	}
	g := &grid{}
	for _, name := range columns {
		g.Head = append(g.Head, cmp.Or(renamed[name], name))
	}
	for _, s := range series {
		var cells []string
		point := s.Points[len(s.Points)-1]
		for _, name := range columns {
			switch name {
			case when:
				cells = append(cells, time.UnixMilli(point.T).UTC().Format(time.DateTime))
			case value:
				cells = append(cells, Format(point.F, p.FieldConfig.Defaults.Unit, p.FieldConfig.Defaults.Decimals))
			default:
				cells = append(cells, s.Labels.Get(name))
			}
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}
