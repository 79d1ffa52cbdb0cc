package cli

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/ruleset"
	"github.com/crdconvert/webhookd/internal/versionuse"
)

// prometheusFlags name a Prometheus.
type prometheusFlags struct{ url, match, tokenFile, caFile string }

func (f *prometheusFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "prometheus", "", "`URL` of a Prometheus, Thanos or Mimir to ask about the last 30 days, for --usage;\nUSER:PASSWORD@ in it is for basic authentication")
	flags.StringVar(&f.match, "prometheus-match", "", "`matchers` that select the cluster if Prometheus has several, such as 'cluster=\"prod\"'")
	flags.StringVar(&f.tokenFile, "prometheus-token-file", "", "`file` with a bearer token for Prometheus")
	flags.StringVar(&f.caFile, "prometheus-ca-file", "", "`file` with the CAs of Prometheus' certificate, in PEM (default those of the system)")
}

// check checks that the flags go together.
func (f *prometheusFlags) check(usage bool) error {
	switch {
	case f.url != "" && !usage:
		return errors.New("of no use without --usage: --prometheus")
	case f.url == "" && *f != (prometheusFlags{}):
		return errors.New("no Prometheus: give its URL with --prometheus, or leave out the flags that are about it")
	}
	return nil
}

// open returns nil without --prometheus.
func (f *prometheusFlags) open() (*versionuse.Prometheus, error) {
	if f.url == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	o := versionuse.Options{URL: f.url, Matchers: f.match, Timeout: time.Minute}
	if f.tokenFile != "" {
		token, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, ruleset.Origin{What: "the token", Remedy: "give its file with --prometheus-token-file"}.Unread(f.tokenFile, err)
		}
		o.Token = strings.TrimSpace(string(token))
	}
	cas, err := readBundle("prometheus-ca-file", f.caFile)
	if err != nil {
		return nil, err
	}
	if cas != nil {
		o.CAs = x509.NewCertPool()
		for _, ca := range cas {
			o.CAs.AddCert(ca)
		}
	}
	asked, err := versionuse.New(o)
	if err != nil {
		return nil, fmt.Errorf("--prometheus: %w", err)
	}
	return asked, nil
}

// measured is what versionuse needs to know of a CRD.
func measured(crd *crdwire.CRD) versionuse.CRD {
	m := versionuse.CRD{Name: crd.Name, Group: crd.Spec.Group, Plural: crd.Spec.Names.Plural, Kind: crd.Spec.Names.Kind}
	for i := range crd.Spec.Versions {
		m.Versions = append(m.Versions, crd.Spec.Versions[i].Name)
	}
	return m
}

// writeRecent prints what Prometheus has of the versions.
func writeRecent(line func(name, format string, args ...any), r *versionuse.Report) {
	for i := range r.Data {
		line("data", "%s", describeData(&r.Data[i], r.Days))
	}
	for i := range r.Versions {
		v := &r.Versions[i]
		switch v.Used {
		case versionuse.Used:
			line("used", "%s: %s", v.Name, strings.Join(uses(v), ", "))
		case versionuse.Unused:
			line("not used", "%s: no request and no conversion in %s", v.Name, lasted(v.Hours, r.Days))
		default:
			line("not known", "%s: no use is seen, but the data above are missing", v.Name)
		}
	}
}

func describeData(d *versionuse.Data, days int) string {
	switch {
	case d.Since.IsZero() && d.Optional:
		return fmt.Sprintf("none of %s: %s converted nothing yet, or Prometheus does not scrape it", d.Metric, d.Target)
	case d.Since.IsZero():
		return fmt.Sprintf("none of %s: let Prometheus scrape /metrics of %s", d.Metric, d.Target)
	case versionuse.Days(d.Hours) >= days:
		return fmt.Sprintf("%s of %s", count(days, "day"), d.Metric)
	}
	return fmt.Sprintf("only %s of %s, not %d days; the first on %s", duration(d.Hours), d.Metric, days, d.Since.Format(time.RFC3339))
}

// uses lists the numbers that are known.
func uses(v *versionuse.Version) []string {
	var texts []string
	if v.Requests != nil {
		texts = append(texts, count(int(*v.Requests), "request"))
	}
	if v.CallsFrom != nil {
		texts = append(texts, fmt.Sprintf("%s for conversion from it and %d to it", count(int(*v.CallsFrom), "call"), *v.CallsTo))
	}
	if v.ObjectsFrom != nil {
		texts = append(texts, fmt.Sprintf("%s converted from it and %d to it", count(int(*v.ObjectsFrom), "object"), *v.ObjectsTo))
	}
	return texts
}

func lasted(hours, days int) string {
	if versionuse.Days(hours) >= days {
		return count(days, "day")
	}
	return fmt.Sprintf("%s of data, which is less than %d days", duration(hours), days)
}

func duration(hours int) string {
	switch {
	case hours < 1:
		return "less than an hour"
	case hours < 48:
		return count(hours, "hour")
	}
	return count(versionuse.Days(hours), "day")
}
