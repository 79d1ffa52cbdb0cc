package migrate

import (
	"bufio"
	"bytes"
	"context"
	"regexp"
	"strconv"

	"golang.org/x/time/rate"

	"github.com/crdconvert/webhookd/internal/cluster"
)

// A Usage says who uses the versions of a CRD.
type Usage struct {
	Survey *Survey
	// Requests are those for each version, and Conversions those between two versions, which are
	// FROM -> TO, as one API server has counted them since it started.
	Requests, Conversions map[string]float64
	// MetricsErr is set if its metrics cannot be read.
	MetricsErr error
}

// ReadUsage lists the objects of a CRD, and reads the metrics of the API server.
func ReadUsage(ctx context.Context, api *cluster.Client, name string, progress func(done int, left int64)) (*Usage, error) {
	c, err := readCRD(ctx, api, name)
	if err != nil {
		return nil, err
	}
	p := &pass{api: api, crd: c, limiter: rate.NewLimiter(rate.Inf, 1), patch: look, lost: nothingLost, report: progress}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	u := &Usage{Survey: p.survey, Requests: map[string]float64{}, Conversions: map[string]float64{}}
	text, err := api.Text(ctx, "/metrics")
	u.MetricsErr = err
	u.read(text, c.Spec.Group, c.Spec.Names.Plural, name)
	return u, nil
}

var labels = regexp.MustCompile(`(\w+)="([^"\\]*)"`)

// read sums up the metrics of kube-apiserver about a resource.
func (u *Usage) read(text []byte, group, plural, name string) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Bytes()
		isRequest := bytes.HasPrefix(line, []byte("apiserver_request_total{"))
		if !isRequest && !bytes.HasPrefix(line, []byte("apiserver_crd_conversion_webhook_duration_seconds_count{")) {
			continue
		}
		of := map[string]string{}
		for _, pair := range labels.FindAllSubmatch(line, -1) {
			of[string(pair[1])] = string(pair[2])
		}
		value, err := strconv.ParseFloat(string(line[bytes.LastIndexByte(line, ' ')+1:]), 64)
		switch {
		case err != nil:
		case isRequest && of["group"] == group && of["resource"] == plural:
			u.Requests[of["version"]] += value
		case !isRequest && of["crd_name"] == name:
			u.Conversions[of["from_version"]+" -> "+of["to_version"]] += value
		}
	}
}
