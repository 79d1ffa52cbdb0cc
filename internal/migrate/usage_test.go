package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMetricsOfTheAPIServer(t *testing.T) {
	t.Parallel()
	u := &Usage{}
	u.read([]byte(`# HELP apiserver_request_total x
apiserver_request_total{code="200",group="example.com",resource="crontabs",subresource="",verb="GET",version="v1beta1"} 3
apiserver_request_total{code="200",group="example.com",resource="crontabs",subresource="",verb="LIST",version="v1beta1"} 4
apiserver_request_total{code="200",group="example.com",resource="others",verb="GET",version="v1beta1"} 5
apiserver_request_total{code="200",group="example.com",resource="crontabs",verb="GET",version="v1"} 1.5e+03
apiserver_crd_conversion_webhook_duration_seconds_bucket{crd_name="crontabs.example.com",from_version="v1",to_version="v1beta1",le="1"} 9
apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="crontabs.example.com",from_version="v1",succeeded="true",to_version="v1beta1"} 7
apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="others.example.com",from_version="v1",succeeded="true",to_version="v1beta1"} 8
`), "example.com", "crontabs", "crontabs.example.com")
	want := &Usage{Requests: map[string]float64{"v1beta1": 7, "v1": 1500}, Conversions: map[string]float64{"v1 -> v1beta1": 7}}
	if diff := cmp.Diff(want, u, cmpopts.IgnoreUnexported(Usage{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
