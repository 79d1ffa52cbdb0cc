package versionuse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/versionuse"
)

func TestMetricsOfTheAPIServer(t *testing.T) {
	t.Parallel()
	got, err := versionuse.Scrape([]byte(`# HELP apiserver_request_total x
apiserver_request_total{code="200",group="example.com",resource="crontabs",subresource="",verb="GET",version="v1beta1"} 3
apiserver_request_total{code="200",group="example.com",resource="crontabs",subresource="",verb="LIST",version="v1beta1"} 4
apiserver_request_total{code="200",group="example.com",resource="others",verb="GET",version="v1beta1"} 5
apiserver_request_total{code="200",group="example.com",resource="crontabs",verb="GET",version="v1"} 1.5e+03
apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name="crontabs.example.com",from_version="v1",to_version="v1beta1",le="1"} 9
apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="crontabs.example.com",from_version="v1",succeeded="true",to_version="v1beta1"} 7
apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="others.example.com",from_version="v1",succeeded="true",to_version="v1beta1"} 8
`), versionuse.CRD{Name: "crontabs.example.com", Group: "example.com", Plural: "crontabs"})
	want := versionuse.Count{Requests: map[string]float64{"v1beta1": 7, "v1": 1500}, Conversions: map[string]float64{"v1 -> v1beta1": 7}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
