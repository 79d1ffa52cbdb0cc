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

	crd *crd
}

// ReadUsage lists the objects of a CRD.
func ReadUsage(ctx context.Context, api *cluster.Client, name string, progress func(done int, left int64)) (*Usage, error) {
	c, err := readCRD(ctx, api, name)
	if err != nil {
		return nil, err
	}
	p := &pass{api: api, crd: c, limiter: rate.NewLimiter(rate.Inf, 1), patch: look, lost: nothingLost, report: progress}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return &Usage{Survey: p.survey, crd: c}, nil
}

// Count adds what the API server has counted.
func (u *Usage) Count(ctx context.Context, api *cluster.Client) error {
	text, err := api.Text(ctx, "/metrics")
	u.read(text, u.crd.Spec.Group, u.crd.Spec.Names.Plural, u.crd.Metadata.Name)
	return err
}

var labels = regexp.MustCompile(`(\w+)="([^"\\]*)"`)

// read sums up the metrics of kube-apiserver about a resource.
func (u *Usage) read(text []byte, group, plural, name string) {
	u.Requests, u.Conversions = map[string]float64{}, map[string]float64{}
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
