package versionuse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

const (
	window = 30 * 24 * time.Hour
	step   = time.Hour // in which data are looked for
)

// A CRD is what metrics say of one.
type CRD struct {
	Name, Group, Plural, Kind string
	Versions                  []string
}

// A Report says how the versions of a CRD were used.
type Report struct {
	Days     int       `json:"days"` // that were asked for
	Data     []Data    `json:"data"`
	Versions []Version `json:"versions"`
}

// Data say how much Prometheus has of a counter.
type Data struct {
	Metric string    `json:"metric"`
	Target string    `json:"target"`         // which has it in its /metrics
	Since  time.Time `json:"since,omitzero"` // zero if there are none
	Hours  int       `json:"hours"`          // with data
	// Optional says that the target has no such series before it counts something.
	Optional bool `json:"-"`
}

// Verdicts on a version.
const (
	Used    = "yes"
	Unused  = "no"      // in the hours of data
	Unknown = "unknown" // no use is seen, but a counter is missing
)

// A Version says how one was used. A number is nil if Prometheus does not have the counter.
type Version struct {
	Name     string `json:"version"`
	Used     string `json:"used"`  // one of the verdicts
	Hours    int    `json:"hours"` // of data on which an Unused is based
	Requests *int64 `json:"requests,omitempty"`
	// Calls for conversions are those of the API server.
	CallsFrom *int64 `json:"callsFrom,omitempty"`
	CallsTo   *int64 `json:"callsTo,omitempty"`
	// Objects are those that webhookd converted.
	ObjectsFrom *int64 `json:"objectsFrom,omitempty"`
	ObjectsTo   *int64 `json:"objectsTo,omitempty"`
}

// Days returns hours as days, rounded, so that a late scrape at the end does not count.
func Days(hours int) int { return int(math.Round(float64(hours) / 24)) }

// A question asks for a counter of a CRD, and says where the answers go: one for each label of By.
type question struct {
	Counter

	matchers string
	into     func(*Version) []**int64
}

func questions(crd CRD) []question {
	return []question{
		{Requests(), fmt.Sprintf("group=%q, resource=%q", crd.Group, crd.Plural), func(v *Version) []**int64 { return []**int64{&v.Requests} }},
		{Calls(), fmt.Sprintf("crd_name=%q", crd.Name), func(v *Version) []**int64 { return []**int64{&v.CallsFrom, &v.CallsTo} }},
		{Objects(), fmt.Sprintf("kind=%q", crd.Kind+"."+crd.Group), func(v *Version) []**int64 { return []**int64{&v.ObjectsFrom, &v.ObjectsTo} }},
	}
}

// Read asks for the use of a CRD's versions, and of others that clients still ask for.
func (p *Prometheus) Read(ctx context.Context, crd CRD) (*Report, error) {
	r := &Report{Days: Days(int(window / step)), Versions: []Version{}}
	for _, name := range crd.Versions {
		r.add(name)
	}
	now := time.Now().Truncate(time.Second)
	var counts []func()
	for _, q := range questions(crd) {
		data, err := p.data(ctx, q.Counter, now)
		if err != nil {
			return nil, err
		}
		r.Data = append(r.Data, data)
		if data.Since.IsZero() {
			continue
		}
		since := model.Duration(max(now.Sub(data.Since), step))
		grown, err := p.query(ctx, q.Growth(join(q.matchers, p.matchers), since.String(), q.By...), now)
		if err != nil {
			return nil, err
		}
		r.addAll(q.By, grown)
		counts = append(counts, func() { r.count(&q, grown) })
	}
	for _, count := range counts { // once all versions are known
		count()
	}
	for i := range r.Versions {
		r.Versions[i].judge(r.Data)
	}
	return r, nil
}

// data looks for a counter in each hour.
func (p *Prometheus) data(ctx context.Context, c Counter, now time.Time) (Data, error) {
	d := Data{Metric: c.Metric, Target: c.Target, Optional: c.Witness.Labels == nil}
	found, err := p.queryRange(ctx, c.presence(p.matchers), now)
	if err != nil || len(found) == 0 || len(found[0].Values) == 0 {
		return d, err
	}
	d.Since = found[0].Values[0].Timestamp.Time().UTC()
	d.Hours = len(found[0].Values) - 1
	return d, nil
}

// add adds a version unless it is there.
func (r *Report) add(name string) {
	if !slices.ContainsFunc(r.Versions, func(v Version) bool { return v.Name == name }) {
		r.Versions = append(r.Versions, Version{Name: name})
	}
}

// addAll adds the versions of samples.
func (r *Report) addAll(by []string, grown model.Vector) {
	for _, sample := range grown {
		for _, label := range by {
			r.add(string(sample.Metric[model.LabelName(label)]))
		}
	}
}

// count adds the samples up for each version.
func (r *Report) count(q *question, grown model.Vector) {
	for i := range r.Versions {
		v := &r.Versions[i]
		for j, number := range q.into(v) {
			sum := 0.0
			for _, sample := range grown {
				if string(sample.Metric[model.LabelName(q.By[j])]) == v.Name {
					sum += float64(sample.Value)
				}
			}
			*number = new(int64(math.Round(sum)))
		}
	}
}

// judge needs to know the requests, and the conversions from one side: the other may have had none.
func (v *Version) judge(data []Data) {
	requests, calls, objects := data[0], data[1], data[2]
	v.Hours = min(requests.Hours, max(calls.Hours, objects.Hours))
	v.Used = Unused
	if requests.Since.IsZero() || calls.Since.IsZero() && objects.Since.IsZero() {
		v.Used = Unknown
	}
	for _, number := range []*int64{v.Requests, v.CallsFrom, v.CallsTo, v.ObjectsFrom, v.ObjectsTo} {
		if number != nil && *number > 0 {
			v.Used = Used
		}
	}
}
