package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tables asks for what `kubectl get` shows, at each version: its columns come from the fields of
// that version. Selectable fields are those of the version as well.
func Tables(t *testing.T, e *Env) {
	t.Helper()
	e.subject(t, withColumns(t), e.Webhookd(t)).run("columns and selectable fields of each version", func(s subject) {
		s.create("v1beta1", "a", cronTab().before("v1beta1"))
		s.create("v1", "b", cronTab().after("v1"))
		s.shows("v1beta1", []string{"Name", "Where", "Replicas"},
			[][]any{{"a", "localhost:1234", int64(1)}, {"b", "[2001:db8::1]:8080", int64(3)}})
		s.shows("v1", []string{"Name", "Host", "Port", "Replicas"},
			[][]any{{"a", "localhost", "1234", int64(1)}, {"b", "2001:db8::1", "8080", int64(3)}})
		if e.Cluster.Minor() < 31 {
			return // it has no selectable fields
		}
		s.selects("v1beta1", "hostPort=localhost:1234", "a")
		s.selects("v1beta1", "hostPort!=localhost:1234", "b")
		s.selects("v1", "host=2001:db8::1,port=8080", "b")
		s.selects("v1", "port=1234", "a")
	})
}

// withColumns is the CRD of CronTabs with columns and selectable fields of each version's own.
func withColumns(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := CRD(t, cronTab().crd)
	for version, columns := range map[string][]apiextensionsv1.CustomResourceColumnDefinition{
		"v1beta1": {
			{Name: "Where", Type: "string", JSONPath: ".hostPort"},
			{Name: "Replicas", Type: "integer", JSONPath: ".spec.replicas"},
		},
		"v1": {
			{Name: "Host", Type: "string", JSONPath: ".host"},
			{Name: "Port", Type: "string", JSONPath: ".port"},
			{Name: "Replicas", Type: "integer", JSONPath: ".spec.replicas"},
		},
	} {
		v := Version(t, crd, version)
		v.AdditionalPrinterColumns = columns
		for _, c := range columns[:len(columns)-1] {
			v.SelectableFields = append(v.SelectableFields, apiextensionsv1.SelectableField{JSONPath: c.JSONPath})
		}
	}
	return crd
}

// shows compares the table of all objects.
func (s subject) shows(version string, columns []string, rows [][]any) {
	s.t.Helper()
	all := s.table(version, "")
	if diff := cmp.Diff(columns, columnNames(all)); diff != "" {
		s.t.Errorf("columns at %s (-want +got):\n%s", version, diff)
	}
	if diff := cmp.Diff(rows, cells(all)); diff != "" {
		s.t.Errorf("rows at %s (-want +got):\n%s", version, diff)
	}
}

// selects lists with a selector of fields.
func (s subject) selects(version, selector, want string) {
	s.t.Helper()
	list, err := s.At(version).List(s.t.Context(), metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		s.t.Fatalf("list at %s: %v", version, err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	if diff := cmp.Diff([]string{want}, names); diff != "" {
		s.t.Errorf("%s at %s (-want +got):\n%s", selector, version, diff)
	}
}

// table asks for a table as Resource.Table does.
func (s subject) table(version, more string) *metav1.Table {
	s.t.Helper()
	table, err := s.Table(s.t, version, more)
	if err != nil {
		s.t.Fatalf("table at %s: %v", version, err)
	}
	return table
}

func columnNames(table *metav1.Table) []string {
	names := make([]string, 0, len(table.ColumnDefinitions))
	for _, c := range table.ColumnDefinitions {
		names = append(names, c.Name)
	}
	return names
}

func cells(table *metav1.Table) [][]any {
	rows := make([][]any, 0, len(table.Rows))
	for _, row := range table.Rows {
		cells := append([]any{}, row.Cells...)
		for i, cell := range cells {
			if number, ok := cell.(float64); ok { // encoding/json's
				cells[i] = int64(number)
			}
		}
		rows = append(rows, cells)
	}
	return rows
}
